//! What can be asked and what is answered; plain values without behaviour of their own.

use crate::aggregate::Measures;
use crate::clock::ClockKind;
use crate::profile::SampleKind;
use crate::query::SortKey;
use crate::units::{Cycles, PhysicalTile, Work};

/// What makes samples one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// Kernel symbol.
    #[default]
    Kernel,
    /// Model-level operation.
    Operation,
    /// Phase and epoch.
    Phase,
    /// Physical tile.
    Tile,
    /// Sample kind.
    Kind,
    /// Value of the first metadata pair of this name.
    Metadata(String),
}

/// Which samples are looked at. All conditions must hold; empty lists and `None` hold always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Physical tiles, any of them.
    pub tiles: Vec<PhysicalTile>,
    /// Phases as recorded, any of them, in every epoch.
    pub phases: Vec<u32>,
    /// Kernel symbol, exact.
    pub kernel: Option<String>,
    /// Part of the operation, case-sensitive.
    pub operation_contains: Option<String>,
    /// Sample kind, after `active=false` computes became idle.
    pub kind: Option<SampleKind>,
    /// Metadata conditions, all of them.
    pub metadata: Vec<MetadataFilter>,
    /// Only samples that run at this cycle of the *tile* clock.
    pub at: Option<u64>,
    /// Only samples that run at this cycle of the clock in force.
    pub at_offset: Option<u64>,
}

/// One condition on the metadata of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataFilter {
    /// Name that must be present.
    pub name: String,
    /// Value that one pair of this name must have; `None` is any value.
    pub value: Option<String>,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What makes samples one group.
    pub group_by: GroupBy,
    /// Which samples are looked at.
    pub filter: Filter,
    /// The clock that offsets, cropping and unions refer to.
    pub clock: ClockKind,
    /// Order of the groups.
    pub sort_by: SortKey,
    /// Groups to return after sorting; 0 is all.
    pub limit: usize,
    /// Longest matching samples to return; 0 is none.
    pub samples: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            group_by: GroupBy::default(),
            filter: Filter::default(),
            clock: ClockKind::default(),
            sort_by: SortKey::default(),
            limit: 20,
            samples: 0,
        }
    }
}

/// An answer. Counts of what was left out are part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryResult {
    /// The clock in force.
    pub clock: ClockKind,
    /// Tile clock in hertz; 0 is unknown.
    pub clock_hz: u64,
    /// Profiled tiles of the file, those without samples included.
    pub tile_count: u64,
    /// All samples of the file.
    pub sample_count: u64,
    /// End of the timeline on the clock in force, whatever the filters.
    pub span: Cycles,
    /// What made samples one group.
    pub group_by: GroupBy,
    /// Order of the groups.
    pub sort_by: SortKey,
    /// The conditions that were in force.
    pub filter: Filter,
    /// All matching samples as one group.
    pub totals: Measures,
    /// Groups before the limit was applied.
    pub group_count: usize,
    /// The groups, sorted, at most `limit` of them.
    pub groups: Vec<Group>,
    /// The longest matching samples: duration descending, then tile, then offset ascending.
    pub samples: Vec<SampleDetail>,
    /// What a reader should know before trusting the numbers, such as near names of a filter that
    /// matched nothing.
    pub warnings: Vec<String>,
}

/// One group of matching samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// For people, unique in the answer: `(no kernel)`, `tile 3`, `phase 7/0`, `(missing)`,
    /// `(empty)`.
    pub name: String,
    /// What the name says, as values.
    pub key: GroupKey,
    /// The figures.
    pub measures: Measures,
}

impl Group {
    /// A group under the name of its key.
    pub(crate) fn new(key: GroupKey, measures: Measures) -> Self {
        Self {
            name: key.name(),
            key,
            measures,
        }
    }
}

/// The value that the samples of a group share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKey {
    /// Kernel symbol; may be empty.
    Kernel(String),
    /// Operation; may be empty.
    Operation(String),
    /// Place in the schedule.
    Phase {
        /// As recorded: bit 31 marks an exchange id.
        phase: u32,
        /// Exchange epoch, or Repeat body.
        epoch: u32,
    },
    /// Physical tile.
    Tile(PhysicalTile),
    /// Sample kind.
    Kind(SampleKind),
    /// Metadata value; `None` where the name is absent.
    Metadata(Option<String>),
}

/// Everything about one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleDetail {
    /// Physical tile.
    pub tile: PhysicalTile,
    /// Position in [`crate::profile::ProfileReport::tiles`].
    pub tile_index: u32,
    /// Position in the tile's list of samples.
    pub ordinal: u64,
    /// Start in cycles on the clock in force.
    pub offset: u64,
    /// Length in cycles, after cropping.
    pub duration: Cycles,
    /// Whether the crop shortened the sample.
    pub cut: bool,
    /// What the tile did.
    pub kind: SampleKind,
    /// Phase as recorded.
    pub phase: u32,
    /// Epoch.
    pub epoch: u32,
    /// Model-level operation; may be empty.
    pub operation: String,
    /// Kernel symbol; may be empty.
    pub kernel: String,
    /// Horizon of the static exchange schedule in cycles; 0 is unknown.
    pub event_cycles: u32,
    /// Useful work; `None` where unknown, and on cut samples.
    pub useful: Option<Work>,
    /// Physical work, known when `useful` is.
    pub physical: Option<Work>,
    /// The rule that gave the estimate; empty where there is none.
    pub basis: String,
    /// Metadata pairs in file order.
    pub metadata: Vec<(String, String)>,
}

impl SampleDetail {
    /// Useful efficiency U/D.
    #[must_use]
    pub fn useful_efficiency(&self) -> Option<f64> {
        crate::aggregate::ratio(self.useful?.as_cycles(), self.duration.get())
    }

    /// Work-cycle fraction P/D.
    #[must_use]
    pub fn work_cycle_fraction(&self) -> Option<f64> {
        crate::aggregate::ratio(self.physical?.as_cycles(), self.duration.get())
    }

    /// Lane occupancy U/P; `None` where there is no physical work.
    #[must_use]
    pub fn lane_occupancy(&self) -> Option<f64> {
        let physical = self.physical?;
        (physical != Work::ZERO).then(|| {
            self.useful
                .map(|useful| useful.as_cycles() / physical.as_cycles())
        })?
    }
}
