//! Two profiles compared: what became faster, slower, new or gone, by structure.
//!
//! Kinds, kernels, operations and tiles are paired by name, phases by what runs in them
//! (`align.rs`). A change is judged by phase cycles, the time that the device spends; one of at
//! most the noise is none. What a change did to the run is the change of its cycles on the critical
//! path (`on_path.rs`), which sum to the run. Nothing is averaged.

mod align;
mod check;
mod content;
mod on_path;
mod pairing;

use crate::aggregate::Measures;
use crate::clock::ClockKind;
use crate::critical::Parts;
use crate::order;
use crate::profile::{PhaseKey, ProfileReport, SampleKind};
use crate::query::{
    Filter, Group, GroupBy, Query, QueryError, QueryResult, SortKey, query, query_of_work,
};
use on_path::OnPath;
use pairing::Pairing;

pub use check::Side;

/// How two profiles are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffOptions {
    /// The clock that both runs are on.
    pub clock: ClockKind,
    /// Largest change in cycles that counts as none; `None` is [`crate::barriers::TIE_CYCLES`], or
    /// 0 where both profiles are simulated.
    pub noise: Option<u64>,
    /// Whether profiles of different granularity are compared all the same.
    pub force: bool,
}

/// Two profiles that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A question to one of them has no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// They were recorded too differently.
    #[error("the profiles differ in {what}: {before} before, {after} after")]
    Unlike {
        /// What differs.
        what: &'static str,
        /// Of the first.
        before: String,
        /// Of the second.
        after: String,
    },
}

/// What became of something between two profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// More cycles, by more than the noise.
    Slower,
    /// Fewer cycles, by more than the noise.
    Faster,
    /// Only in the second.
    New,
    /// Only in the first.
    Gone,
    /// Within the noise.
    Same,
}

impl Verdict {
    /// Every verdict, in the order of summaries.
    pub const ALL: [Self; 5] = [
        Self::Slower,
        Self::Faster,
        Self::New,
        Self::Gone,
        Self::Same,
    ];

    /// The word in text and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Same => "same",
        }
    }
}

/// One kind, kernel, operation, phase or tile in both profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// For people: one name, or two with an arrow where they differ.
    pub name: String,
    /// What is done in it, of phases; else empty.
    pub work: String,
    /// The place in the first profile, of phases.
    pub before_place: Option<PhaseKey>,
    /// The place in the second profile, of phases.
    pub after_place: Option<PhaseKey>,
    /// Its figures in the first; `None` where it is not there.
    pub before: Option<Measures>,
    /// Its figures in the second.
    pub after: Option<Measures>,
    /// Cycles on the critical path by kind, before and after; `None` of tiles, and on each tile's
    /// own clock.
    pub path: Option<[Parts; 2]>,
    /// What became of it.
    pub verdict: Verdict,
}

impl Change {
    /// Phase cycles in the first, zero where it is not there.
    #[must_use]
    pub fn before_cycles(&self) -> u64 {
        self.before.map_or(0, |it| it.phase_cycles.get())
    }

    /// Phase cycles in the second, zero where it is not there.
    #[must_use]
    pub fn after_cycles(&self) -> u64 {
        self.after.map_or(0, |it| it.phase_cycles.get())
    }

    /// Phase cycles after minus before.
    #[must_use]
    pub const fn delta(before: u64, after: u64) -> i64 {
        after.cast_signed().wrapping_sub(before.cast_signed())
    }

    /// Cycles on the critical path after minus before: what it made of the run.
    #[must_use]
    pub fn path_change(&self) -> Option<i64> {
        let [before, after] = self.path?;
        Some(Self::delta(before.total(), after.total()))
    }

    /// Useful efficiency after minus before, as a fraction; `None` where either is unknown.
    #[must_use]
    pub fn efficiency_delta(&self) -> Option<f64> {
        Some(self.after?.useful_efficiency()? - self.before?.useful_efficiency()?)
    }
}

/// A list of changes, largest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The changes: by size of the change on the critical path, then of that in phase cycles, both
    /// descending, then in the order of tiles, of phases, or of names.
    pub changes: Vec<Change>,
}

impl Section {
    /// How many changes have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.changes
            .iter()
            .filter(|it| it.verdict == verdict)
            .count()
    }
}

/// Two profiles compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileDiff {
    /// The clock that both runs are on.
    pub clock: ClockKind,
    /// Largest change in cycles that counts as none.
    pub noise: u64,
    /// The first profile.
    pub before: Side,
    /// The second profile.
    pub after: Side,
    /// What became of the run.
    pub verdict: Verdict,
    /// All samples by kind.
    pub kinds: Section,
    /// Compute samples by kernel.
    pub kernels: Section,
    /// By operation: figures of the samples in which a tile works, see [`ProfileDiff::phases`].
    pub operations: Section,
    /// By phase, aligned by structure. Figures are of computes and exchanges: how long tiles wait
    /// in a phase says more of other phases. Those of a phase without work are of all its samples.
    pub phases: Section,
    /// Compute samples by tile.
    pub tiles: Section,
    /// Cycles of both runs that no sample of their critical paths covers; `None` on each tile's own
    /// clock.
    pub unattributed: Option<[u64; 2]>,
    /// What a reader should know before trusting the comparison.
    pub warnings: Vec<String>,
}

impl ProfileDiff {
    /// The sections with their names, in the order of reports.
    #[must_use]
    pub const fn sections(&self) -> [(&'static str, &Section); 5] {
        [
            ("kind", &self.kinds),
            ("kernel", &self.kernels),
            ("operation", &self.operations),
            ("phase", &self.phases),
            ("tile", &self.tiles),
        ]
    }

    /// Whether the second run is longer by more than `limit` hundredths of a percent of the first.
    #[must_use]
    pub fn is_slower_by_more_than(&self, limit: u32) -> bool {
        let (before, after) = (u128::from(self.before.run), u128::from(self.after.run));
        after.saturating_sub(before) * 10_000 > before * u128::from(limit)
    }
}

/// Compares `before` with `after`.
///
/// # Errors
/// Where the two differ in granularity and `options` do not force it, or a chunk cannot be decoded.
pub fn diff(
    before: &ProfileReport,
    after: &ProfileReport,
    options: &DiffOptions,
) -> Result<ProfileDiff, DiffError> {
    let mut warnings = check::warnings(before, after, options)?;
    let noise = check::noise(before, after, options);
    let path = OnPath::find([before, after], options.clock).map_err(QueryError::from)?;
    let pairing = Pairing {
        path: path.as_ref(),
        noise,
    };
    let reports = [before, after];
    let by_name = |group_by: GroupBy, kind| -> Result<Section, DiffError> {
        let [old, new] = ask(reports, &question(group_by, kind, options.clock))?;
        Ok(pairing.by_key(&old.groups, &new.groups))
    };
    let compute = Some(SampleKind::Compute);
    let [old, new] = ask(reports, &question(GroupBy::Phase, None, options.clock))?;
    let [old_phases, new_phases] = of_work(reports, [&old, &new])?;
    let operations = ask(reports, &question(GroupBy::Operation, None, options.clock))?;
    let [old_operations, new_operations] = of_work(reports, [&operations[0], &operations[1]])?;
    let in_both = |it: &String| old.warnings.contains(it) && new.warnings.contains(it);
    for (side, result) in [("before", &old), ("after", &new)] {
        for warning in &result.warnings {
            if !in_both(warning) {
                warnings.push(format!("{side}: {warning}"));
            } else if side == "before" {
                warnings.push(warning.clone());
            }
        }
    }
    let (phases, near) = pairing.phases(reports, [&old_phases, &new_phases]);
    warnings.extend(near);
    let sides = [(before, &old), (after, &new)].map(|(report, it)| Side::new(report, it));
    let [before_side, after_side] = sides;
    Ok(ProfileDiff {
        clock: options.clock,
        noise,
        verdict: judge(Some(before_side.run), Some(after_side.run), noise),
        before: before_side,
        after: after_side,
        kinds: by_name(GroupBy::Kind, None)?,
        kernels: by_name(GroupBy::Kernel, compute)?,
        operations: pairing.by_key(&old_operations, &new_operations),
        phases,
        tiles: by_name(GroupBy::Tile, compute)?,
        unattributed: path.as_ref().map(OnPath::unattributed),
        warnings,
    })
}

fn ask(reports: [&ProfileReport; 2], question: &Query) -> Result<[QueryResult; 2], DiffError> {
    let [before, after] = reports.map(|report| query(report, question));
    Ok([before?, after?])
}

/// The groups of both answers with the figures of the samples in which a tile works, in the order
/// in which work on them begins: a tile may wait in a phase long before. Where no tile works on
/// either side, the figures are of all samples.
fn of_work(
    reports: [&ProfileReport; 2],
    all: [&QueryResult; 2],
) -> Result<[Vec<Group>; 2], DiffError> {
    let [old, new] = [0, 1].map(|at: usize| -> Result<_, DiffError> {
        let question = question(all[at].group_by.clone(), None, all[at].clock);
        let groups = query_of_work(reports[at], &question)?.groups.into_iter();
        Ok(order::map(groups.map(|it| (it.key.clone(), it))))
    });
    let working = [old?, new?];
    // Phases of two runs with the same number need not be one another.
    let is_phase = all[0].group_by == GroupBy::Phase;
    Ok([0, 1].map(|at: usize| {
        let one = |it: &Group| {
            if let Some(found) = working[at].get(&it.key) {
                return found.clone();
            }
            let is_work = !is_phase && working[1 - at].contains_key(&it.key);
            let measures = match is_work {
                true => without_work(&it.measures),
                false => it.measures,
            };
            Group {
                measures,
                ..it.clone()
            }
        };
        let mut groups: Vec<Group> = all[at].groups.iter().map(one).collect();
        order::by(&mut groups, |a, b| {
            let begins = |it: &Group| it.measures.first_offset;
            begins(a).cmp(&begins(b)).then_with(|| a.key.cmp(&b.key))
        });
        groups
    }))
}

/// The figures of something that is there without work.
fn without_work(all: &Measures) -> Measures {
    Measures {
        first_offset: all.first_offset,
        last_offset: all.last_offset,
        ..Measures::default()
    }
}

fn question(group_by: GroupBy, kind: Option<SampleKind>, clock: ClockKind) -> Query {
    Query {
        group_by,
        filter: Filter {
            kind,
            ..Filter::default()
        },
        clock,
        sort_by: SortKey::FirstOffset,
        limit: 0,
        samples: 0,
    }
}

fn judge(before: Option<u64>, after: Option<u64>, noise: u64) -> Verdict {
    match (before, after) {
        (None, _) => Verdict::New,
        (_, None) => Verdict::Gone,
        (Some(before), Some(after)) if before.abs_diff(after) <= noise => Verdict::Same,
        (Some(before), Some(after)) if after > before => Verdict::Slower,
        (Some(_), Some(_)) => Verdict::Faster,
    }
}
