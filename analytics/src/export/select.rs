//! Which samples are exported, and where they are on the clock: options in, samples tile by tile
//! out.

use super::{ExportError, ExportOptions, Exported, TimeUnit};
use crate::aggregate::{Block, blocks};
use crate::clock::Frame;
use crate::format::DecodeError;
use crate::order;
use crate::profile::{ChunkScratch, ProfileReport, Sample, StepRow, visit_chunk};
use crate::units::MetadataSetId;

/// A sample on the clock in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Row in [`ProfileReport::steps`].
    pub(super) step: u32,
    /// Whether the crop shortened it.
    pub(super) cut: bool,
}

impl Slice {
    pub(super) const fn cycles(&self) -> u64 {
        self.end - self.start
    }
}

/// By metadata set: whether a name is in it more than once.
fn repeats(report: &ProfileReport) -> Vec<bool> {
    let sets = (0..).map(MetadataSetId::new);
    let repeats = |set| {
        let pairs = report.metadata(set);
        let count = pairs.len();
        order::set(pairs.map(|(name, _)| name)).len() < count
    };
    sets.take(report.metadata_set_count())
        .map(repeats)
        .collect()
}

/// The selected samples of a report.
pub(super) struct Selected<'a> {
    pub(super) report: &'a ProfileReport,
    pub(super) frame: Frame,
    /// By tile index.
    tiles: Vec<bool>,
    range: Option<(u64, u64)>,
    time: TimeUnit,
    /// By metadata set: whether a name is in it more than once.
    repeats: Vec<bool>,
}

impl<'a> Selected<'a> {
    pub(super) fn new(
        report: &'a ProfileReport,
        options: &ExportOptions,
    ) -> Result<Self, ExportError> {
        let mut tiles = vec![options.tiles.is_empty(); report.tiles().len()];
        for &tile in &options.tiles {
            let at = report
                .tile_index(tile)
                .ok_or(ExportError::NoSuchTile(tile))?;
            tiles[at as usize] = true;
        }
        if options.time == TimeUnit::Clock && report.header().clock_hz == 0 {
            return Err(ExportError::ClockUnknown);
        }
        Ok(Self {
            report,
            frame: Frame::new(report, options.clock),
            tiles,
            range: options.range,
            time: options.time,
            repeats: repeats(report),
        })
    }

    /// Selected tiles.
    pub(super) fn tile_count(&self) -> u64 {
        self.tiles.iter().filter(|&&selected| selected).count() as u64
    }

    /// What will be exported.
    pub(super) fn count(&self) -> Result<Exported, ExportError> {
        let mut found = Exported {
            total: self.report.sample_count(),
            ..Exported::default()
        };
        self.visit_blocks(|_, sample| {
            found.selected += u64::from(self.selects(sample));
            found.samples += u64::from(self.place(sample).is_some());
        })?;
        Ok(found)
    }

    /// Calls `visit` for each selected tile that has samples, ascending by physical id, with its
    /// samples in file order. Holds the samples of one block of tiles.
    pub(super) fn for_each_tile(
        &self,
        mut visit: impl FnMut(u32, &mut Vec<Slice>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        for block in self.blocks() {
            let mut tiles: Vec<Vec<Slice>> = vec![Vec::new(); block.tiles.len()];
            self.visit_block(&block, &mut |sample| {
                if let Some(slice) = self.place(sample) {
                    tiles[(sample.tile - block.tiles.start) as usize].push(slice);
                }
            })?;
            for (tile, slices) in block.tiles.clone().zip(&mut tiles) {
                if !slices.is_empty() {
                    visit(tile, slices)?;
                }
            }
        }
        Ok(())
    }

    fn blocks(&self) -> Vec<Block> {
        let entries = self.report.chunks();
        blocks(self.report, |chunk| {
            let tiles = entries[chunk].tiles.clone();
            self.tiles[tiles.start as usize..tiles.end as usize].contains(&true)
        })
    }

    fn visit_blocks(&self, mut visit: impl FnMut(&Block, &Sample)) -> Result<(), DecodeError> {
        for block in self.blocks() {
            self.visit_block(&block, &mut |sample| visit(&block, sample))?;
        }
        Ok(())
    }

    fn visit_block(
        &self,
        block: &Block,
        visit: &mut impl FnMut(&Sample),
    ) -> Result<(), DecodeError> {
        let mut scratch = ChunkScratch::new();
        for &chunk in &block.chunks {
            self.report.decode_chunk(chunk, &mut scratch)?;
            visit_chunk(&scratch, visit);
        }
        Ok(())
    }

    /// Whether a sample is of a selected tile and touches the range, of whatever length.
    fn selects(&self, sample: &Sample) -> bool {
        let tile = &self.report.tiles()[sample.tile as usize];
        let origin = self.frame.origin(tile);
        let touches = self.range.is_none_or(|(from, to)| {
            sample.start < origin.saturating_add(to) && sample.end() >= origin.saturating_add(from)
        });
        self.tiles[sample.tile as usize] && touches
    }

    /// Where a sample is, if it is exported.
    fn place(&self, sample: &Sample) -> Option<Slice> {
        if !self.tiles[sample.tile as usize] {
            return None;
        }
        let tile = &self.report.tiles()[sample.tile as usize];
        let placed = self.frame.place(tile, sample.start, sample.duration)?;
        let (start, end) = (placed.offset, placed.end());
        let touches = |(from, to): (u64, u64)| start < to && end > from;
        self.range.is_none_or(touches).then_some(Slice {
            start,
            end,
            step: sample.step,
            cut: placed.cut,
        })
    }

    /// The step of a slice.
    pub(super) fn step(&self, slice: &Slice) -> &'a StepRow {
        &self.report.steps()[slice.step as usize]
    }

    /// Metadata of a step, each name once: where it repeats, its first value, as grouping has it.
    pub(super) fn metadata(&self, step: &StepRow) -> impl Iterator<Item = (&'a str, &'a str)> {
        let (report, set) = (self.report, step.metadata);
        let pairs = move || report.metadata(set);
        let repeats = self.repeats[set.index()];
        pairs().enumerate().filter_map(move |(at, pair)| {
            let is_first = !repeats || pairs().take(at).all(|(name, _)| name != pair.0);
            is_first.then_some(pair)
        })
    }

    /// What a slice is called: its kernel, else its operation, else its kind.
    pub(super) fn name(&self, step: &StepRow) -> String {
        let texts = [step.kernel, step.operation].map(|id| self.report.string(id));
        match texts.into_iter().find(|text| !text.is_empty()) {
            Some(name) => name.to_owned(),
            None => crate::text::kind(step.kind),
        }
    }

    /// An instant in the unit of timelines: cycles, or nanoseconds rounded down. Rounding keeps
    /// the order of instants, so what nests in cycles nests in time.
    pub(super) fn instant(&self, cycles: u64) -> u64 {
        let hertz = u128::from(self.report.header().clock_hz);
        match self.time {
            TimeUnit::Clock if hertz > 0 => {
                let nanoseconds = u128::from(cycles) * 1_000_000_000 / hertz;
                u64::try_from(nanoseconds).unwrap_or(u64::MAX)
            }
            TimeUnit::Clock | TimeUnit::Cycles => cycles,
        }
    }

    /// What the unit of [`Self::instant`] is shown as, and what it stands for.
    pub(super) fn unit_note(&self, shown: &str) -> String {
        match self.time {
            TimeUnit::Cycles => {
                format!("1 {shown} is 1 cycle ({} clock)", self.frame.kind().name())
            }
            TimeUnit::Clock => format!("time ({} clock)", self.frame.kind().name()),
        }
    }

    /// Whether timelines are in real time.
    pub(super) fn is_real_time(&self) -> bool {
        self.time == TimeUnit::Clock
    }
}
