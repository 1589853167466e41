//! The run phase by phase: for whom the tiles waited, and what balance would save.

use analytics::barriers::{self, BarrierSort};
use analytics::clock::ClockKind;
use analytics::critical::{CriticalOptions, Parts};
use analytics::order;
use analytics::phases::{self, Phase, PhaseReport};
use analytics::profile::ProfileReport;
use analytics::report;
use analytics::text;
use analytics::units::{Cycles, PhysicalTile};
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::list::{List, Press, cycles_with_time};
use super::protocol::{Fact, clock_name};
use super::table::Cell;

/// Which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhasesAsked {
    /// The clock in force; the tile clock stands for the shared one.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
}

/// All phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhasesAnswer {
    /// What was asked.
    pub(crate) asked: PhasesAsked,
    /// The clock that instants are on.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// The run as a whole.
    pub(crate) facts: Vec<Fact>,
    /// For the picture, in time order.
    pub(crate) bars: Vec<PhaseBar>,
    /// The same phases as a table.
    pub(crate) phases: List,
    /// Kernels of the critical path.
    pub(crate) kernels: List,
    /// Kernels that the others waited for.
    pub(crate) culprits: List,
    /// Tiles that the others waited for, most first.
    pub(crate) tiles: List,
    /// What a reader should know first.
    pub(crate) warnings: Vec<String>,
}

/// Parts of a phase: barrier, exchange, compute, idle, unattributed.
pub(crate) const PARTS: usize = 5;

/// One phase in the picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhaseBar {
    /// Its name, unique in the run.
    pub(crate) name: String,
    /// (phase, epoch) of the exchange boundary that ends it; `None` at the end of the run.
    pub(crate) boundary: Option<(u32, u32)>,
    /// Physical id of the tile that arrives last.
    pub(crate) straggler: Option<u32>,
    /// First cycle.
    pub(crate) from: u64,
    /// One past the last cycle.
    pub(crate) to: u64,
    /// First arrival at its end.
    pub(crate) first_arrival: u64,
    /// Cycles of the straggler by what it did, in the order of [`PARTS`].
    pub(crate) parts: [u64; PARTS],
    /// The kernel that took most of its time.
    pub(crate) kernel: Option<String>,
    /// The phase in one line.
    pub(crate) said: String,
}

/// The answer from a report in memory.
pub(crate) fn phases(report: &ProfileReport, asked: PhasesAsked) -> Result<PhasesAnswer, Failure> {
    let found = phases::phases(report, &options(asked.clock))?;
    let path = &found.path;
    let bars = found.phases.iter().zip(&path.stretches);
    Ok(PhasesAnswer {
        asked,
        clock: path.clock,
        facts: facts(&found),
        bars: bars.map(|(phase, it)| bar(phase, it.boundary)).collect(),
        phases: listed(&found.phases),
        kernels: kernels(&found),
        culprits: culprits(&found),
        tiles: tiles(&found),
        warnings: path.warnings.clone(),
    })
}

/// What `profile-critical-path --json --limit 0` prints.
pub(crate) fn phases_json(report: &ProfileReport, asked: PhasesAsked) -> Result<String, Failure> {
    let path = analytics::critical::critical_path(report, &options(asked.clock))?;
    Ok(report::critical_json(&path, 0))
}

/// What `profile-barriers --json --limit 0` prints.
pub(crate) fn barriers_json(report: &ProfileReport) -> Result<String, Failure> {
    let found = barriers::barriers(report)?;
    Ok(report::barriers_json(&found, BarrierSort::default(), 0))
}

/// The critical path on a clock.
pub(super) fn options(clock: ClockKind) -> CriticalOptions {
    CriticalOptions {
        shared: clock.common() == ClockKind::Shared,
        ..CriticalOptions::default()
    }
}

const fn parts(it: &Parts) -> [u64; PARTS] {
    [
        it.barrier,
        it.exchange,
        it.compute,
        it.idle,
        it.unattributed,
    ]
}

fn bar(phase: &Phase, boundary: Option<(u32, u32)>) -> PhaseBar {
    let kernel = phase.kernel.as_ref().map(|it| it.0.clone());
    let waited_for = phase.waited_for.as_ref().or(phase.kernel.as_ref());
    let waited_for = waited_for.map(|it| it.0.as_str());
    let waits = match phase.straggler {
        Some(tile) => format!(
            "waits for tile {tile}{}, {}",
            tied(phase),
            waited_for
                .filter(|it| !it.is_empty())
                .unwrap_or("no kernel")
        ),
        None => "no tile arrives".to_owned(),
    };
    let count = text::count;
    PhaseBar {
        name: phase.name.clone(),
        boundary,
        straggler: phase.straggler.map(PhysicalTile::get),
        from: phase.start,
        to: phase.end,
        first_arrival: phase.first_arrival,
        parts: parts(&phase.parts),
        said: format!(
            "{}: {} cycles, {waits}; arrival spread {}, longest slack {}, waiting {} \
             tile-cycles; balanced it would save {}",
            phase.name,
            count(phase.cycles()),
            count(phase.arrival_spread()),
            count(phase.maximum_wait),
            count(phase.waiting),
            count(phase.saved_if_balanced)
        ),
        kernel,
    }
}

/// That no tile alone is to blame, where others came as late.
fn tied(phase: &Phase) -> String {
    match phase.tied {
        None | Some(0) => String::new(),
        Some(tiles) => format!(" (one of {} that tie)", text::count(tiles)),
    }
}

fn facts(found: &PhaseReport) -> Vec<Fact> {
    let path = &found.path;
    let share = |cycles: u64| text::percent(Cycles::new(cycles).share_of(path.run_cycles()));
    let balanced = path.run_if_balanced();
    let part = |cycles: u64| format!("{} · {}", text::count(cycles), share(cycles));
    vec![
        Fact::new("run", "Run", cycles_with_time(path.run, path.clock_hz)),
        Fact::new(
            "balanced",
            "If every phase were balanced",
            format!(
                "{} · {}",
                cycles_with_time(balanced, path.clock_hz),
                share(balanced)
            ),
        ),
        Fact::new("compute", "Compute on the path", part(path.parts.compute)),
        Fact::new("exchange", "Exchange", part(path.parts.exchange)),
        Fact::new("barrier", "Barriers", part(path.parts.barrier)),
        Fact::new("idle", "Idle", part(path.parts.idle)),
        Fact::new("unattributed", "No sample", part(path.parts.unattributed)),
        Fact::new(
            "waiting",
            "Waiting, all tiles",
            format!("{} tile-cycles", text::count(found.barriers.waiting())),
        ),
    ]
}

/// Columns of the table of phases: name, heading, meaning.
const COLUMNS: [(&str, &str, &str); 14] = [
    (
        "phase",
        "Up to",
        "The exchange boundary that ends the stretch; press to bring it into view",
    ),
    ("start", "Start", "First cycle: the last arrival before"),
    (
        "cycles",
        "Cycles",
        "From the last arrival before to its own",
    ),
    ("straggler", "Waits for tile", "The tile that arrives last"),
    (
        "waitedFor",
        "because of",
        "What that tile ran while the others waited",
    ),
    (
        "kernel",
        "It ran most",
        "What took most of that tile's time",
    ),
    ("kernelCycles", "for", "Cycles that this took"),
    (
        "lateBy",
        "Late by",
        "Cycles by which it is later than any other tile; up to 24 is a tie",
    ),
    (
        "tied",
        "Tied",
        "Tiles that came last together, at most 24 cycles apart; 0 where one tile alone was late",
    ),
    (
        "arrivalSpread",
        "Arrival spread",
        "Last arrival minus first arrival",
    ),
    (
        "waiting",
        "Waiting",
        "Tile-cycles that the other tiles waited: the sum of their slack",
    ),
    ("maximumSlack", "Longest slack", "Longest wait of one tile"),
    (
        "savedIfBalanced",
        "Saved if balanced",
        "Mean slack: what the phase would be shorter by if its work were spread evenly",
    ),
    (
        "overhead",
        "Over schedule",
        "Cycles that the exchange takes beyond its static schedule",
    ),
];

fn listed(phases: &[Phase]) -> List {
    let mut list = List::new(&COLUMNS);
    for phase in phases {
        let (waited_for, kernel) = (phase.waited_for.as_ref(), phase.kernel.as_ref());
        let straggler = phase.straggler.map(|it| Cell::id(it.get()));
        list.push(
            Press::Jump(phase.start, phase.end),
            vec![
                Cell::name(&phase.name),
                Cell::count(phase.start),
                Cell::count(phase.cycles()),
                straggler.unwrap_or_else(Cell::unknown),
                waited_for.map_or_else(Cell::unknown, |it| Cell::name(&it.0)),
                kernel.map_or_else(Cell::unknown, |it| Cell::name(&it.0)),
                Cell::count_or_unknown(kernel.map(|it| it.1)),
                Cell::count_or_unknown(phase.late_by),
                Cell::count_or_unknown(phase.tied),
                Cell::count(phase.arrival_spread()),
                Cell::count(phase.waiting),
                Cell::count(phase.maximum_wait),
                Cell::count(phase.saved_if_balanced),
                Cell::count_or_unknown(phase.overhead),
            ],
        );
    }
    list.with_bars("waiting")
}

fn kernels(found: &PhaseReport) -> List {
    let path = &found.path;
    let mut list = List::new(&[
        (
            "kernel",
            "Kernel on the path",
            "Press to focus it in the timeline",
        ),
        (
            "cycles",
            "Cycles",
            "Its cycles on the stragglers: those that the run is made of",
        ),
        ("share", "Of the run", "The same as a part of the run"),
        ("phases", "Phases", "Phases whose straggler ran it"),
        (
            "runIfFaster",
            "Run if 10 % faster",
            "The run if every call of the kernel took a tenth less time",
        ),
        ("saved", "Saves", "What that saves"),
    ]);
    for it in &path.kernels {
        let saved = Cycles::new(path.run).saturating_sub(Cycles::new(it.run_if_faster));
        list.push(
            Press::Kernel(it.kernel.clone()),
            vec![
                Cell::name(&it.kernel),
                Cell::count(it.cycles),
                Cell::share(Cycles::new(it.cycles).share_of(path.run_cycles())),
                Cell::count(it.stretches),
                Cell::count(it.run_if_faster),
                Cell::count(saved.get()),
            ],
        );
    }
    list.with_bars("saved")
}

fn culprits(found: &PhaseReport) -> List {
    let mut list = List::new(&[
        (
            "kernel",
            "Who made the others wait",
            "Kernel that the last tile ran meanwhile; press to focus it",
        ),
        ("waiting", "Waiting", "Tile-cycles that the others waited"),
        ("barriers", "Barriers", "Boundaries at which it did"),
        ("tiles", "Tiles", "Distinct tiles that ran it then"),
    ]);
    for it in &found.barriers.culprits {
        let (press, name) = match &it.kernel {
            Some(kernel) if !kernel.is_empty() => (Press::Kernel(kernel.clone()), kernel.as_str()),
            Some(_) => (Press::Nothing, "(no kernel)"),
            None => (Press::Nothing, "left the boundary before late"),
        };
        list.push(
            press,
            vec![
                Cell::name(name),
                Cell::count(it.waiting),
                Cell::count(it.barriers),
                Cell::count(it.tiles),
            ],
        );
    }
    list.with_bars("waiting")
}

fn tiles(found: &PhaseReport) -> List {
    let mut list = List::new(&[
        (
            "tile",
            "Tile that came last",
            "Physical id; press to bring it into view",
        ),
        (
            "caused",
            "Made others wait",
            "Tile-cycles that the others waited for it",
        ),
        ("lastAt", "Last at", "Boundaries at which it arrived last"),
        (
            "waiting",
            "Waited itself",
            "Cycles that it waited for others",
        ),
        (
            "barrier",
            "Barrier cost",
            "Cycles of synchronization after the last arrival",
        ),
    ]);
    let mut tiles: Vec<_> = found
        .barriers
        .tiles
        .iter()
        .filter(|it| it.last_at > 0)
        .collect();
    order::by_key(&mut tiles, |it| (std::cmp::Reverse(it.caused), it.tile));
    for it in tiles {
        let tile = it.tile.get();
        list.push(
            Press::Tile(tile),
            vec![
                Cell::id(tile),
                Cell::count(it.caused),
                Cell::count(it.last_at),
                Cell::count(it.waiting.saturating_add(it.waiting_in_exchange)),
                Cell::count(it.barrier),
            ],
        );
    }
    list.with_bars("caused")
}

#[cfg(test)]
mod tests {
    use analytics::format::{ProfileWriter, open_bytes};
    use analytics::profile::{ProfileHeader, SampleKind, StepDescriptor};
    use analytics::units::RawCounter;

    use super::*;
    use crate::engine::answer;
    use crate::engine::held::Held;
    use crate::engine::protocol::{Answer, Request};
    use crate::engine::read::Input;

    fn step(kind: SampleKind, phase: u32) -> StepDescriptor {
        StepDescriptor {
            kind,
            phase,
            epoch: 0,
            operation: String::new(),
            kernel: match kind {
                SampleKind::Compute => "gemm".to_owned(),
                _ => String::new(),
            },
            exchange_event_cycles: 0,
            metadata: Vec::new(),
            estimate: None,
        }
    }

    /// A run where `cycles` says how long a tile computes before the exchange of a phase; that ends
    /// at once on all tiles.
    fn report(tiles: u32, phases: u32, cycles: impl Fn(u32, u32) -> u32) -> ProfileReport {
        let mut writer = ProfileWriter::new(&ProfileHeader::default());
        let kinds = [SampleKind::Compute, SampleKind::Exchange];
        let steps: Vec<_> = (0..phases)
            .map(|phase| kinds.map(|kind| writer.step(&step(kind, phase))))
            .collect();
        for tile in 0..tiles {
            let mut at = 0;
            for (phase, [compute, exchange]) in (0..).zip(&steps) {
                let (arrival, end) = (at + cycles(tile, phase), at + 1_000);
                for (from, to, step) in [(at, arrival, compute), (arrival, end, exchange)] {
                    let (from, to) = (RawCounter::new(from), RawCounter::new(to));
                    writer.sample(PhysicalTile::new(tile), from, to, *step, &[]);
                }
                at = end;
            }
        }
        let bytes = writer.finish().expect("a valid profile");
        open_bytes(bytes::Bytes::from(bytes)).expect("a valid profile")
    }

    fn answered(report: &ProfileReport) -> PhasesAnswer {
        let clock = ClockKind::Cropped;
        phases(report, PhasesAsked { clock }).expect("all samples are here")
    }

    #[test]
    fn every_tile_that_came_last_somewhere_is_listed() {
        // At each boundary another tile is the last one, and later ones by more.
        let report = report(60, 60, |tile, phase| match tile == phase {
            true => 200 + tile,
            false => 100,
        });
        let tiles = answered(&report).tiles;
        let names: Vec<_> = tiles
            .rows
            .iter()
            .map(|it| it.cells[0].raw.clone())
            .collect();
        let most_first: Vec<_> = (0..60).rev().map(|tile| tile.to_string()).collect();
        assert_eq!(names, most_first);
    }

    #[test]
    fn the_json_of_the_barriers_is_what_the_command_prints() {
        let report = report(4, 30, |tile, phase| 100 + tile * phase);
        let held = Held::new(0, String::new(), report, Input::Whole(bytes::Bytes::new()));
        let profile = held.report.borrow();
        let sources = held.sources(&profile, None);
        let told = answer::exact(&sources, Request::BarriersJson, &held.groups);
        // All boundaries in the order that the command has by itself.
        let found = barriers::barriers(&profile).expect("all samples are here");
        let sort = BarrierSort::from_name("last-exit").expect("an order");
        let printed = report::barriers_json(&found, sort, 0);
        assert!(printed.contains("\"shownBarrierCount\": 30"), "{printed}");
        assert_eq!(told, Ok(Answer::Json(printed)));
    }

    #[test]
    fn a_tie_is_told_beside_the_tile_that_is_named() {
        let report = report(4, 2, |tile, phase| match (phase, tile) {
            (0, _) => [400, 395, 376, 375][tile as usize],
            (_, 2) => 500,
            _ => 100,
        });
        let found = answered(&report);
        let at = found.phases.columns.iter().position(|it| it.id == "tied");
        let at = at.expect("there is the column");
        let tolerance = format!("at most {} cycles", barriers::TIE_CYCLES);
        assert!(found.phases.columns[at].meaning.contains(&tolerance));
        let tied: Vec<_> = found
            .phases
            .rows
            .iter()
            .map(|it| it.cells[at].raw.as_str())
            .collect();
        assert_eq!(
            tied,
            ["3", "0", "null"],
            "three, one alone, the end of the run"
        );
        let said = |at: usize| found.bars[at].said.as_str();
        assert!(
            said(0).contains("waits for tile 0 (one of 3 that tie), gemm"),
            "{}",
            said(0)
        );
        assert!(said(1).contains("waits for tile 2, gemm"), "{}", said(1));
    }
}
