//! How far the machine is from every published figure: simulated, published, error, provenance.
//!
//! Figures of kernels are asked of the cost table, those of rows and routes of the decoder, the
//! fabric and the superstep, all as a run asks them. Two kinds stand for kernels that no run calls,
//! with constants of their own: the vendor's AMP 1×1 dispatcher, which shares the cycles a row with
//! the products, and the softmax sets A to C, which share the formula of the other sets. The
//! published side is a committed table beside its rows; nothing here is fitted at run time.

mod attention;
pub(crate) mod exchange;
pub(crate) mod pointwise;
mod products;
pub(crate) mod routes;
pub(crate) mod sequences;

use crate::kernels::Generation;

/// How close a row must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Equal.
    Exact,
    /// Within this many percent of the published figure.
    Percent(f64),
    /// Reported; the machine claims nothing about it.
    Unclaimed,
}

/// One published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What kind of figure, such as `gemm`.
    pub group: &'static str,
    /// Which one, such as `184x288x48 interleaved`.
    pub name: String,
    /// Of which kernel set, where that matters.
    pub generation: Option<&'static str>,
    /// Unit of both figures.
    pub unit: &'static str,
    /// What this machine gives.
    pub simulated: f64,
    /// What was published.
    pub published: f64,
    /// How close the two must be.
    pub bound: Bound,
    /// Where the published figure comes from.
    pub provenance: &'static str,
}

impl Row {
    /// (simulated − published) / published in percent; `None` where the published figure is zero
    /// and the simulated one is not.
    #[must_use]
    pub fn error_percent(&self) -> Option<f64> {
        if self.simulated == self.published {
            return Some(0.0);
        }
        let relative = (self.simulated - self.published) / self.published.abs();
        relative.is_finite().then_some(relative * 100.0)
    }

    /// Whether the row is within its bound.
    #[must_use]
    pub fn passes(&self) -> bool {
        match self.bound {
            Bound::Exact => self.simulated == self.published,
            Bound::Percent(limit) => self.error_percent().is_some_and(|e| e.abs() <= limit),
            Bound::Unclaimed => true,
        }
    }
}

/// The rows of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Rows that are equal to the published figure.
    pub exact: usize,
    /// Mean of the absolute errors in percent, over rows that claim something.
    pub mean_percent: f64,
    /// Largest absolute error in percent, over rows that claim something.
    pub worst_percent: f64,
    /// What the mean may be.
    pub mean_bound: Option<f64>,
    /// Rows beyond their bound.
    pub failed: usize,
}

impl Group {
    /// Whether every row and the mean are within their bounds.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.failed == 0
            && self
                .mean_bound
                .is_none_or(|bound| self.mean_percent <= bound)
    }
}

/// Every published figure, and its summary by group.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The figures, by group.
    pub rows: Vec<Row>,
    /// The groups in order of their rows.
    pub groups: Vec<Group>,
}

impl Report {
    /// Whether every group is within its bounds.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.groups.iter().all(Group::passes)
    }
}

/// Bounds of group means in percent.
const MEAN_BOUNDS: &[(&str, f64)] = &[(products::GROUP, 0.6)];

/// Runs the machine against every published figure.
#[must_use]
pub fn report() -> Report {
    let rows = [
        products::rows(),
        products::amp_rows(),
        attention::softmax_rows(),
        attention::merge_rows(),
        pointwise::rows(),
        exchange::rows(),
        routes::rows(),
    ]
    .concat();
    let mut names: Vec<&'static str> = Vec::new();
    for row in &rows {
        if !names.contains(&row.group) {
            names.push(row.group);
        }
    }
    let groups = names.into_iter().map(|name| group(name, &rows)).collect();
    Report { rows, groups }
}

#[expect(clippy::cast_precision_loss, reason = "a report has few rows")]
fn group(name: &'static str, rows: &[Row]) -> Group {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.group == name).collect();
    let claimed = rows.iter().filter(|row| row.bound != Bound::Unclaimed);
    let errors: Vec<f64> = claimed
        .map(|row| row.error_percent().map_or(f64::INFINITY, f64::abs))
        .collect();
    Group {
        name,
        rows: rows.len(),
        exact: rows.iter().filter(|r| r.simulated == r.published).count(),
        mean_percent: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
        worst_percent: errors.iter().copied().fold(0.0, f64::max),
        mean_bound: MEAN_BOUNDS
            .iter()
            .find(|(group, _)| *group == name)
            .map(|&(_, bound)| bound),
        failed: rows.iter().filter(|row| !row.passes()).count(),
    }
}

/// A row in cycles.
#[expect(
    clippy::cast_precision_loss,
    reason = "published figures are far below 2^53"
)]
fn cycles(
    group: &'static str,
    name: String,
    (simulated, published): (u64, u64),
    bound: Bound,
    provenance: &'static str,
) -> Row {
    Row {
        group,
        name,
        generation: None,
        unit: "cycles",
        simulated: simulated as f64,
        published: published as f64,
        bound,
        provenance,
    }
}

impl Row {
    fn of(mut self, generation: Generation) -> Self {
        self.generation = Some(generation.name());
        self
    }

    fn of_set(mut self, set: &'static str) -> Self {
        self.generation = Some(set);
        self
    }

    fn in_unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }
}

#[cfg(test)]
mod tests;
