//! One tile while it is recorded: its counter unwrapped, its samples and activities pending.

use crate::format::activities::{ACTIVITIES_PER_CHUNK, ACTIVITIES_PER_SAMPLE};
use crate::format::error::WriteError;
use crate::format::samples::{SAMPLES_PER_TILE, gap_to_step};
use crate::profile::ExchangeActivity;
use crate::units::{PhysicalTile, RawCounter};

/// A sample that is in no record yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Tile clock.
    pub(crate) start: u64,
    pub(crate) duration: u32,
    pub(crate) step: u32,
    /// Local index minus ordinal, wrapping.
    pub(crate) local: u32,
}

/// The activities of one sample that are in no record yet: the next `count` of the tile's list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingList {
    pub(crate) ordinal: u64,
    pub(crate) count: usize,
}

/// The state of a tile's recording.
#[derive(Debug)]
pub(crate) struct Tile {
    pub(crate) physical: PhysicalTile,
    pub(crate) first_counter: RawCounter,
    /// Samples appended.
    pub(crate) samples: u64,
    /// Counter, tile-clock instant and duration at the end of the last sample.
    end_counter: RawCounter,
    end: u64,
    end_duration: u32,
    pending: Vec<Pending>,
    /// Pending samples before this one are in records.
    taken: usize,
    pub(crate) lists: Vec<PendingList>,
    pub(crate) activities: Vec<ExchangeActivity>,
}

/// The oldest pending samples of a tile, on their way into a chunk.
pub(crate) struct Window<'a> {
    pub(crate) physical: PhysicalTile,
    pub(crate) first_counter: RawCounter,
    pub(crate) first_ordinal: u64,
    pub(crate) samples: &'a [Pending],
}

impl Tile {
    pub(crate) fn new(physical: PhysicalTile) -> Self {
        Self {
            physical,
            first_counter: RawCounter::default(),
            samples: 0,
            end_counter: RawCounter::default(),
            end: 0,
            end_duration: 0,
            pending: Vec::new(),
            taken: 0,
            lists: Vec::new(),
            activities: Vec::new(),
        }
    }

    /// Appends a sample.
    pub(crate) fn push(
        &mut self,
        start: RawCounter,
        end: RawCounter,
        step: u32,
        local_index: Option<u32>,
    ) {
        if self.samples == 0 {
            self.first_counter = start;
            self.end_counter = start;
        }
        let gap = start.get().wrapping_sub(self.end_counter.get());
        let duration = end.get().wrapping_sub(start.get());
        let at = self
            .end
            .saturating_add_signed(gap_to_step(gap, self.end_duration));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "local indices have 32 bits"
        )]
        let ordinal = self.samples as u32;
        let local = local_index.map_or(0, |index| index.wrapping_sub(ordinal));
        self.pending.push(Pending {
            start: at,
            duration,
            step,
            local,
        });
        self.samples += 1;
        self.end = at + u64::from(duration);
        self.end_counter = end;
        self.end_duration = duration;
    }

    /// Keeps the activities of the sample appended last.
    pub(crate) fn push_activities(
        &mut self,
        activities: &[ExchangeActivity],
    ) -> Result<(), WriteError> {
        if activities.len() > ACTIVITIES_PER_SAMPLE {
            let limit = ACTIVITIES_PER_SAMPLE as u64;
            return Err(WriteError::TooMany {
                what: "activities of a sample",
                limit,
            });
        }
        if !activities.is_empty() {
            self.lists.push(PendingList {
                ordinal: self.samples - 1,
                count: activities.len(),
            });
            self.activities.extend_from_slice(activities);
        }
        Ok(())
    }

    /// Number of pending samples.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len() - self.taken
    }

    /// Whether the pending activities alone fill a record.
    pub(crate) fn activities_fill_a_record(&self) -> bool {
        self.activities.len() >= ACTIVITIES_PER_CHUNK
    }

    /// The oldest pending samples, at most [`SAMPLES_PER_TILE`].
    pub(crate) fn window(&self) -> Window<'_> {
        let count = self.pending().min(SAMPLES_PER_TILE);
        Window {
            physical: self.physical,
            first_counter: self.first_counter,
            first_ordinal: self.samples - self.pending() as u64,
            samples: &self.pending[self.taken..self.taken + count],
        }
    }

    /// Forgets the samples of [`Self::window`].
    pub(crate) fn take_window(&mut self) {
        self.taken += self.pending().min(SAMPLES_PER_TILE);
        if self.taken == self.pending.len() {
            // A tile that was recorded in one go may never need the room again.
            self.pending = Vec::new();
            self.taken = 0;
        } else if self.taken > self.pending.len() / 2 {
            self.pending.drain(..self.taken);
            self.taken = 0;
        }
    }
}
