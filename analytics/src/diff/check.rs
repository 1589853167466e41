//! Whether two profiles can be compared: reports in, warnings or a refusal out.

use super::{DiffError, DiffOptions};
use crate::barriers::TIE_CYCLES;
use crate::clock::{ClockKind, initial_sync_crop};
use crate::profile::{Granularity, ProfileReport};
use crate::query::QueryResult;

/// One of two compared profiles as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Tile clock in hertz; 0 is unknown.
    pub clock_hz: u64,
    /// Profiled tiles, those without samples included.
    pub tile_count: u64,
    /// All samples.
    pub sample_count: u64,
    /// How finely the run was sampled.
    pub granularity: Granularity,
    /// Cycles from the zero of the clock to the end of the run.
    pub run: u64,
}

impl Side {
    pub(super) fn new(report: &ProfileReport, result: &QueryResult) -> Self {
        Self {
            clock_hz: result.clock_hz,
            tile_count: result.tile_count,
            sample_count: result.sample_count,
            granularity: report.header().granularity,
            run: result.span.get(),
        }
    }
}

/// Largest change in cycles that counts as none.
pub(super) fn noise(before: &ProfileReport, after: &ProfileReport, options: &DiffOptions) -> u64 {
    let simulated = [before, after].map(|it| it.header().simulated == Some(true));
    let usual = if simulated == [true; 2] {
        0
    } else {
        TIE_CYCLES
    };
    options.noise.unwrap_or(usual)
}

/// What differs between the two besides their cycles.
pub(super) fn warnings(
    before: &ProfileReport,
    after: &ProfileReport,
    options: &DiffOptions,
) -> Result<Vec<String>, DiffError> {
    refuse(before, after, options)?;
    let mut found: Vec<String> = FACTS
        .iter()
        .filter_map(|(what, so, of)| differs(what, [before, after].map(of), so))
        .collect();
    for name in ["workload", "kernel_generation"] {
        let values = [before, after].map(|it| provenance(it, name));
        found.extend(differs(name, values, "the comparison may say little"));
    }
    if options.clock == ClockKind::Tile {
        let said = "each tile has a clock of its own, on which no tile waits for another: what a \
                    change made of the run is unknown; use the cropped or the shared clock";
        found.push(said.to_owned());
    }
    if options.clock == ClockKind::Cropped {
        let [old, new] = [before, after].map(|it| initial_sync_crop(it).get());
        if old.abs_diff(new) > noise(before, after, options) {
            found.push(format!(
                "the start-up that is cropped differs: {old} cycles before, {new} after; compare \
                 whole runs with the shared clock"
            ));
        }
    }
    let [old, new] = [before, after].map(|it| it.tiles().iter().map(|tile| tile.tile));
    if before.tiles().len() == after.tiles().len() && !old.eq(new) {
        found.push("the profiles have different physical tiles; tiles are paired by id".to_owned());
    }
    Ok(found)
}

/// Phases and kernels of two known granularities do not correspond.
fn refuse(
    before: &ProfileReport,
    after: &ProfileReport,
    options: &DiffOptions,
) -> Result<(), DiffError> {
    let [old, new] = [before, after].map(|it| it.header().granularity);
    if options.force || old == new || [old, new].contains(&Granularity::Unknown) {
        return Ok(());
    }
    Err(DiffError::Unlike {
        what: "granularity",
        before: old.name().to_owned(),
        after: new.name().to_owned(),
    })
}

type Fact = (&'static str, &'static str, fn(&ProfileReport) -> String);

/// What two profiles should have in common, what follows where they do not, and how it reads.
const FACTS: [Fact; 4] = [
    (
        "granularity",
        "phases and kernels may not correspond",
        |it| it.header().granularity.name().to_owned(),
    ),
    (
        "tiles",
        "tile-cycles and utilisation are of devices of different width",
        |it| it.tiles().len().to_string(),
    ),
    (
        "tile clock",
        "equal cycles are different times",
        |it| match it.header().clock_hz {
            0 => "unknown".to_owned(),
            hertz => format!("{hertz} Hz"),
        },
    ),
    (
        "origin",
        "cycles of a model and of a device are compared",
        |it| {
            let words = match it.header().simulated {
                None => "unknown",
                Some(true) => "simulated",
                Some(false) => "measured",
            };
            words.to_owned()
        },
    ),
];

fn differs(what: &str, [before, after]: [String; 2], so: &str) -> Option<String> {
    (before != after)
        .then(|| format!("the profiles differ in {what}: {before} before, {after} after; {so}"))
}

fn provenance(report: &ProfileReport, name: &str) -> String {
    let pairs = &report.header().provenance;
    let found = pairs.iter().find(|(key, _)| key == name);
    found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.clone())
}
