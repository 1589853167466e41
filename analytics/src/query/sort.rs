//! The order of groups: every reported figure is a sort key.

use std::cmp::Ordering;

use crate::query::{Group, GroupKey};

/// Declares the sort keys once: variant, name in flags and links, figure of a group.
macro_rules! sort_keys {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $figure:expr;)*) => {
        /// What groups are sorted by: figures descending with unknown ones last, names and first
        /// offsets ascending. Ties go by first offset, then name. Names that are numbers, or hold
        /// one, such as those of tiles, are in the order of the numbers.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SortKey {
            $($(#[$doc])* $variant,)*
        }

        impl SortKey {
            /// Every key, in the order of help texts.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name in flags, links and JSON.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The figure of `group`; `None` where unknown. Names have no figure.
            #[must_use]
            pub fn figure(self, group: &Group) -> Option<f64> {
                let figure: fn(&Group) -> Option<f64> = match self {
                    $(Self::$variant => $figure,)*
                };
                figure(group)
            }
        }
    };
}

sort_keys! {
    /// Sum over phases of the longest tile.
    #[default]
    PhaseCycles, "phase-cycles", |it| Some(count(it.measures.phase_cycles.get()));
    /// Sum of durations.
    WorkCycles, "work-cycles", |it| Some(count(it.measures.work_cycles.get()));
    /// Length of the interval union.
    TimelineCycles, "timeline-cycles", |it| Some(count(it.measures.timeline_cycles.get()));
    /// Longest sample.
    MaximumCycles, "maximum-cycles", |it| Some(count(it.measures.maximum.get()));
    /// Mean duration.
    MeanCycles, "mean-cycles", |it| it.measures.mean();
    /// Median duration.
    P50Cycles, "p50-cycles", |it| Some(count(it.measures.p50.get()));
    /// 95th percentile of durations.
    P95Cycles, "p95-cycles", |it| Some(count(it.measures.p95.get()));
    /// Number of samples.
    Samples, "samples", |it| Some(count(it.measures.sample_count));
    /// Number of tiles.
    Tiles, "tiles", |it| Some(count(it.measures.tile_count));
    /// Number of phases.
    Phases, "phases", |it| Some(count(it.measures.phase_count));
    /// Work cycles over phase cycles.
    AverageActiveTiles, "average-active-tiles", |it| it.measures.average_active_tiles();
    /// Useful work.
    UsefulCycles, "useful-cycles", |it| it.measures.useful().map(|it| it.as_cycles());
    /// Measured cycles with estimates that were no useful work.
    WastedCycles, "wasted-cycles", |it| it.measures.wasted();
    /// Physical work.
    PhysicalWorkCycles, "physical-work-cycles",
        |it| it.measures.physical().map(|it| it.as_cycles());
    /// Measured cycles with estimates.
    EstimatedWorkCycles, "estimated-work-cycles",
        |it| Some(count(it.measures.estimated_cycles.get()));
    /// U/D.
    UsefulEfficiency, "useful-efficiency", |it| it.measures.useful_efficiency();
    /// P/D.
    WorkCycleFraction, "work-cycle-fraction", |it| it.measures.work_cycle_fraction();
    /// U/P.
    LaneOccupancy, "lane-occupancy", |it| it.measures.lane_occupancy();
    /// Useful work over the union on all profiled tiles.
    DeviceUseful, "device-useful", |it| it.measures.device_useful();
    /// Measured cycles with estimates over measured cycles.
    Coverage, "coverage", |it| it.measures.coverage();
    /// First cycle, ascending.
    FirstOffset, "first-offset", |it| Some(count(it.measures.first_offset));
    /// One past the last cycle.
    LastOffset, "last-offset", |it| Some(count(it.measures.last_offset));
    /// Name, ascending.
    Name, "name", |_| None;
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an order key: exact up to 2^53 cycles"
)]
fn count(value: u64) -> f64 {
    value as f64
}

impl SortKey {
    /// The key with this name; `mean`, `p50`, `p95` and `maximum` are short forms.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named =
            |key: &Self| key.name() == name || key.name().strip_suffix("-cycles") == Some(name);
        let exact = Self::ALL.iter().copied().find(|key| key.name() == name);
        exact.or_else(|| Self::ALL.iter().copied().find(is_named))
    }

    /// Whether the figure is a fraction, shown as a percentage.
    #[must_use]
    pub const fn is_fraction(self) -> bool {
        matches!(
            self,
            Self::UsefulEfficiency
                | Self::WorkCycleFraction
                | Self::LaneOccupancy
                | Self::DeviceUseful
                | Self::Coverage
        )
    }

    /// The order of two groups.
    #[must_use]
    pub fn compare(self, a: &Group, b: &Group) -> Ordering {
        let by_key = match self {
            Self::Name => by_name(a, b),
            Self::FirstOffset => Ordering::Equal,
            _ => descending(self.figure(a), self.figure(b)),
        };
        by_key
            .then_with(|| a.measures.first_offset.cmp(&b.measures.first_offset))
            .then_with(|| by_name(a, b))
    }
}

/// Tiles and phases by number, metadata values by number where they are numbers, and before those
/// that are not; everything else by its text.
fn by_name(a: &Group, b: &Group) -> Ordering {
    match (&a.key, &b.key) {
        (GroupKey::Tile(_), GroupKey::Tile(_))
        | (GroupKey::Phase { .. }, GroupKey::Phase { .. }) => a.key.cmp(&b.key),
        (GroupKey::Metadata(x), GroupKey::Metadata(y)) => {
            let by_number = match [number(x), number(y)] {
                [Some(x), Some(y)] => x.cmp(&y),
                [x, y] => y.is_some().cmp(&x.is_some()),
            };
            by_number.then_with(|| a.name.cmp(&b.name))
        }
        _ => a.name.cmp(&b.name),
    }
}

fn number(value: &Option<String>) -> Option<u64> {
    value.as_deref()?.parse().ok()
}

/// Larger first, unknown last.
fn descending(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
