//! The three clocks: a report and a clock in, the place of every sample on it out.
//!
//! * *shared*: the earliest first sample of the device is zero; counters are unwrapped where
//!   samples are written (`format/write/tile.rs`).
//! * *cropped* (the default): shared minus the initial-sync crop, which is the **latest** first
//!   sample over all tiles: what ran before the last tile began is cut off.
//! * *tile*: each tile's first sample is zero. It destroys relations between tiles, so it is never
//!   the default picture.
//!
//! A sample that straddles the crop is *cut*: its remaining time counts, its work estimate does
//! not. A sample of no length is on no clock.

use crate::format::DecodeError;
use crate::profile::{ChunkScratch, ProfileReport, TileEntry};
use crate::units::{Clock, CroppedClock, Cycles, SharedClock, TileClock};

/// Which time base offsets are counted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClockKind {
    /// Each tile's first sample starts at zero.
    Tile,
    /// One common origin, minus the initial-sync crop.
    #[default]
    Cropped,
    /// One common origin, no crop.
    Shared,
}

impl ClockKind {
    /// Every clock, in the order of help texts.
    pub const ALL: [Self; 3] = [Self::Tile, Self::Cropped, Self::Shared];

    /// The name in flags, links and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tile => TileClock::NAME,
            Self::Cropped => CroppedClock::NAME,
            Self::Shared => SharedClock::NAME,
        }
    }

    /// The clock of answers that need one origin for all tiles: the tile clock has none, and means
    /// the shared one there.
    #[must_use]
    pub const fn common(self) -> Self {
        match self {
            Self::Tile => Self::Shared,
            other => other,
        }
    }

    /// The clock with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|clock| clock.name() == name)
    }
}

/// A sample on a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Start in cycles on the clock.
    pub offset: u64,
    /// Length in cycles after cropping, at least one.
    pub duration: u64,
    /// Whether the crop shortened the sample.
    pub cut: bool,
}

impl Placed {
    /// One past the last cycle.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.offset.saturating_add(self.duration)
    }
}

/// One clock of one report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    kind: ClockKind,
    crop: u64,
}

impl Frame {
    /// The clock `kind` of `report`.
    #[must_use]
    pub fn new(report: &ProfileReport, kind: ClockKind) -> Self {
        let crop = match kind {
            ClockKind::Cropped => initial_sync_crop(report).get(),
            ClockKind::Tile | ClockKind::Shared => 0,
        };
        Self { kind, crop }
    }

    /// Which clock this is.
    #[must_use]
    pub const fn kind(self) -> ClockKind {
        self.kind
    }

    /// The zero of the clock on the shared one where all tiles have the same; 0 on the tile clock.
    #[must_use]
    pub(crate) const fn crop(self) -> u64 {
        self.crop
    }

    /// The shared-clock cycle before which samples of `tile` are cut off; also the zero of the
    /// clock.
    #[must_use]
    pub const fn origin(self, tile: &TileEntry) -> u64 {
        match self.kind {
            ClockKind::Tile => tile.first_start,
            ClockKind::Cropped | ClockKind::Shared => self.crop,
        }
    }

    /// Places a sample of `tile` that starts at `start` on the shared clock; `None` where nothing
    /// of it is left.
    #[must_use]
    pub fn place(self, tile: &TileEntry, start: u64, duration: u32) -> Option<Placed> {
        let origin = self.origin(tile);
        let end = start.saturating_add(u64::from(duration));
        let visible = start.max(origin);
        (end > visible).then(|| Placed {
            offset: visible - origin,
            duration: end - visible,
            cut: start < origin,
        })
    }

    /// End of the timeline on this clock: the latest end over all samples, whatever the filters.
    ///
    /// # Errors
    /// On the tile clock, which needs the last samples of the tiles: where a chunk cannot be
    /// decoded.
    pub fn span(self, report: &ProfileReport) -> Result<Cycles, DecodeError> {
        match self.kind {
            ClockKind::Cropped | ClockKind::Shared => {
                let end = report.chunks().iter().map(|chunk| chunk.cycles.end).max();
                Ok(Cycles::new(end.unwrap_or(0).saturating_sub(self.crop)))
            }
            ClockKind::Tile => tile_clock_span(report),
        }
    }
}

/// The initial-sync crop on the shared clock: the latest first sample over all tiles with samples.
#[must_use]
pub fn initial_sync_crop(report: &ProfileReport) -> Cycles {
    let starts = report.tiles().iter().filter(|tile| tile.sample_count > 0);
    Cycles::new(starts.map(|tile| tile.first_start).max().unwrap_or(0))
}

/// Decodes backwards, and leaves out chunks that end too early to matter.
fn tile_clock_span(report: &ProfileReport) -> Result<Cycles, DecodeError> {
    let tiles = report.tiles();
    let mut scratch = ChunkScratch::new();
    let mut span = 0;
    for (index, chunk) in report.chunks().iter().enumerate().rev() {
        let of_chunk = &tiles[chunk.tiles.start as usize..chunk.tiles.end as usize];
        let first = of_chunk
            .iter()
            .map(|tile| tile.first_start)
            .min()
            .unwrap_or(0);
        if chunk.cycles.end.saturating_sub(first) <= span {
            continue;
        }
        report.decode_chunk(index, &mut scratch)?;
        for piece in &scratch.spans {
            let first_start = tiles[piece.tile as usize].first_start;
            for at in piece.samples.start as usize..piece.samples.end as usize {
                let end = scratch.start[at] + u64::from(scratch.duration[at]);
                span = span.max(end.saturating_sub(first_start));
            }
        }
    }
    Ok(Cycles::new(span))
}
