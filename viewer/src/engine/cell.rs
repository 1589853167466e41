//! What a group of tiles or samples spent in the cycles of one column, in words.

use analytics::clock::ClockKind;
use analytics::profile::ProfileReport;
use analytics::text;
use analytics::timeline::{CellKind, RowGroups, Spent, Sums, spent_of_group};
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::protocol::{Fact, HitAnswer, clock_name};
use crate::state::view::Rows;

/// Kernels that are named.
const KERNELS_MAX: usize = 4;

/// A cell of a grouped timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CellAsked {
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// What rows stand for.
    pub(crate) by: Rows,
    /// Position of the group.
    pub(crate) group: u32,
    /// First cycle.
    pub(crate) from: u64,
    /// One past the last cycle.
    pub(crate) to: u64,
}

/// What the cell holds; `None` where nothing was recorded in it.
///
/// # Errors
/// Where samples cannot be decoded.
pub(crate) fn cell(
    report: &ProfileReport,
    asked: CellAsked,
    groups: Option<&RowGroups>,
) -> Result<Option<HitAnswer>, Failure> {
    let Some(groups) = groups.filter(|it| (asked.group as usize) < it.names.len()) else {
        return Ok(None);
    };
    let cycles = asked.from..asked.to;
    let spent = spent_of_group(report, asked.clock, cycles, groups, asked.group)?;
    let kinds = spent.present_kinds();
    let Some((kind, _)) = kinds.first() else {
        return Ok(None);
    };
    let kernel = |it: &(_, Sums)| report.string(it.0).to_owned();
    let is_compute = *kind == CellKind::Compute;
    Ok(Some(HitAnswer {
        // A click puts the kernel in focus that most of a computing cell is.
        kernel: spent
            .kernels
            .first()
            .filter(|_| is_compute)
            .map(kernel)
            .unwrap_or_default(),
        heading: groups.names[asked.group as usize].clone(),
        kind: kind.name().to_owned(),
        from: asked.from,
        to: asked.to,
        facts: facts(report, asked, groups, &spent, &kinds),
        metadata: Vec::new(),
    }))
}

fn facts(
    report: &ProfileReport,
    asked: CellAsked,
    groups: &RowGroups,
    spent: &Spent,
    kinds: &[(CellKind, &Sums)],
) -> Vec<Fact> {
    let mut facts = Vec::with_capacity(12);
    let mut push = |id: &str, label: &str, text: String| facts.push(Fact::new(id, label, text));
    let tiles = groups.tiles[asked.group as usize];
    push("tiles", "Tiles", text::count(tiles.into()));
    let range = format!(
        "{} – {} ({} clock)",
        text::count(asked.from),
        text::count(asked.to),
        asked.clock.name()
    );
    push("range", "Cycles", range);
    let part = |sums: &Sums| {
        let share = text::percent(spent.share(sums.cycles));
        format!("{share}, {} samples", text::count(sums.samples))
    };
    for (kind, sums) in kinds {
        let name = kind.name();
        push(name, &format!("In {name}"), part(sums));
    }
    for (id, sums) in spent.kernels.iter().take(KERNELS_MAX) {
        let name = match report.string(*id) {
            "" => "(no kernel)",
            name => name,
        };
        push("kernel", name, part(sums));
    }
    let more = spent.kernels.len().saturating_sub(KERNELS_MAX);
    if more > 0 {
        push("kernels", "More kernels", text::count(more as u64));
    }
    let compute = &spent.kinds[CellKind::Compute as usize];
    if compute.samples > 0 {
        let efficiency = text::percent(compute.useful_efficiency());
        push("usefulEfficiency", "Useful efficiency U/D", efficiency);
        push("coverage", "Coverage", text::percent(compute.coverage()));
    }
    facts
}

#[cfg(test)]
mod tests {
    use analytics::format::open_bytes;
    use analytics::synth::{SynthOptions, generate_bytes};
    use analytics::timeline::RowsBy;

    use super::*;

    #[test]
    fn a_cell_says_what_its_group_spent() {
        let options = SynthOptions {
            samples: 4_000,
            tiles: 40,
            ..SynthOptions::default()
        };
        let report = open_bytes(generate_bytes(&options).expect("valid")).expect("it opens");
        let groups = RowGroups::new(&report, RowsBy::ChipColumn).expect("decodes");
        let mut asked = CellAsked {
            clock: ClockKind::Cropped,
            by: Rows::ChipColumn,
            group: 2,
            from: 10_000,
            to: 60_000,
        };
        let found = cell(&report, asked, groups.as_ref()).expect("decodes");
        let found = found.expect("something was recorded");
        let texts: Vec<String> = found
            .facts
            .iter()
            .map(|it| format!("{} {}: {}", it.id, it.label, it.text))
            .collect();
        expect_test::expect![[r#"
            column 2
            tiles Tiles: 4
            range Cycles: 10 000 – 60 000 (cropped clock)
            compute In compute: 63.2 %, 49 samples
            synchronization In synchronization: 18.9 %, 40 samples
            exchange In exchange: 17.9 %, 40 samples
            idle In idle: 0.0 %, 1 samples
            kernel gemm_f16_mlp_up: 18.5 %, 3 samples
            kernel gemm_f16_projection: 9.2 %, 3 samples
            kernel gemm_f16_qk_k80: 5.1 %, 3 samples
            kernel gemm_f16_pv_c80: 5.1 %, 3 samples
            kernels More kernels: 18
            usefulEfficiency Useful efficiency U/D: 57.0 %
            coverage Coverage: 89.8 %
        "#]]
        .assert_eq(&(found.heading + "\n" + &texts.join("\n") + "\n"));
        asked.from = u64::MAX - 5;
        asked.to = u64::MAX;
        assert_eq!(cell(&report, asked, groups.as_ref()), Ok(None));
        asked.group = 99;
        assert_eq!(cell(&report, asked, groups.as_ref()), Ok(None));
        assert_eq!(cell(&report, asked, None), Ok(None));
    }
}
