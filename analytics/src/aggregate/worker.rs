//! One pass over the samples of some blocks: chunks in, tallies out.
//!
//! Everything that is tallied commutes (sums, maxima, unions, multisets, the longest by a total
//! order), so the answer does not depend on which worker took which block.

use super::Measures;
use super::block::Block;
use super::durations::{Durations, Ranks};
use super::intervals::IntervalSet;
use super::longest::{Longest, SampleRef};
use super::places::{Piece, Places};
use super::plan::{NO_GROUP, Plan, StepPlan, runs_at};
use super::steps::{StepRows, StepSum};
use crate::format::DecodeError;
use crate::profile::{ChunkScratch, TileSpan};
use crate::units::{Cycles, Work};

/// Sums of one group.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) durations: Durations,
    /// Of the current block: its tiles run nearly the same intervals.
    union: IntervalSet,
    /// Of the blocks before.
    whole_union: IntervalSet,
    pub(crate) samples: u64,
    pub(crate) cycles: u64,
    pub(crate) estimated: u64,
    pub(crate) useful: u64,
    pub(crate) physical: u64,
}

impl Tally {
    /// Adds one sample of `cycles`, not zero.
    #[inline]
    fn add(&mut self, step: &StepPlan, offset: u64, cycles: u32) {
        let cycles_wide = u64::from(cycles);
        self.samples += 1;
        self.cycles += cycles_wide;
        self.estimated += cycles_wide & step.covered;
        self.useful = self.useful.saturating_add(step.useful);
        self.physical = self.physical.saturating_add(step.physical);
        self.durations.add(cycles);
        self.union.add(offset, offset.saturating_add(cycles_wide));
    }

    /// Adds the samples of one step, but for their durations and all but the last of their
    /// intervals.
    fn add_step(&mut self, step: &StepPlan, sum: StepSum, last: (u64, u64)) {
        self.samples += sum.samples;
        self.cycles += sum.cycles;
        self.estimated += sum.cycles & step.covered;
        let times = |work: u64| work.saturating_mul(sum.samples);
        self.useful = self.useful.saturating_add(times(step.useful));
        self.physical = self.physical.saturating_add(times(step.physical));
        self.union.add(last.0, last.1);
    }

    fn end_block(&mut self) {
        if !self.union.is_empty() {
            self.whole_union.merge(std::mem::take(&mut self.union));
        }
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
        self.end_block();
        other.end_block();
        self.samples += other.samples;
        self.cycles += other.cycles;
        self.estimated += other.estimated;
        self.useful = self.useful.saturating_add(other.useful);
        self.physical = self.physical.saturating_add(other.physical);
        self.durations.merge(other.durations);
        self.whole_union.merge(other.whole_union);
    }

    /// The figures, but for those about tiles and phases.
    pub(crate) fn measures(&mut self) -> Measures {
        self.end_block();
        let Ranks { p50, p95, maximum } = self.durations.ranks();
        let intervals = self.whole_union.intervals();
        Measures {
            sample_count: self.samples,
            timeline_cycles: Cycles::new(self.whole_union.length()),
            work_cycles: Cycles::new(self.cycles),
            estimated_cycles: Cycles::new(self.estimated),
            useful_sum: Work::from_256ths(self.useful),
            physical_sum: Work::from_256ths(self.physical),
            p50,
            p95,
            maximum,
            first_offset: intervals.first().map_or(0, |it| it.0),
            last_offset: intervals.last().map_or(0, |it| it.1),
            ..Measures::default()
        }
    }
}

/// Tallies of the blocks that one worker took.
pub(crate) struct Worker<'p, 'a> {
    plan: &'p Plan<'a>,
    scratch: ChunkScratch,
    /// By group; by tile, by position of the tile in the block.
    pub(crate) tallies: Vec<Tally>,
    /// Sums of the current block by step; unused by tile.
    rows: StepRows,
    /// By tile: everything in earlier blocks.
    earlier: Tally,
    /// By tile: the figures of each tile with matching samples.
    pub(crate) tiles: Vec<(u32, Measures)>,
    pub(crate) places: Places,
    pub(crate) longest: Longest,
}

impl<'p, 'a> Worker<'p, 'a> {
    /// A worker for blocks of at most `widest` tiles.
    pub(crate) fn new(plan: &'p Plan<'a>, widest: usize) -> Self {
        let tallies = |count: usize| {
            let mut tallies = Vec::new();
            tallies.resize_with(count, Tally::default);
            tallies
        };
        Self {
            plan,
            scratch: ChunkScratch::new(),
            tallies: tallies(if plan.by_tile { 0 } else { plan.group_count }),
            rows: StepRows::new(if plan.by_tile { &[] } else { &plan.steps }),
            earlier: Tally::default(),
            tiles: Vec::new(),
            places: Places::new(plan, widest),
            longest: Longest::new(plan.longest),
        }
    }

    /// Tallies one block.
    pub(crate) fn run(&mut self, block: &Block) -> Result<(), DecodeError> {
        let tiles = block.tiles.len();
        self.places.begin_block(tiles);
        if self.plan.by_tile {
            self.tallies.resize_with(tiles, Tally::default);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        for &chunk in &block.chunks {
            self.plan.report.decode_chunk(chunk, &mut scratch)?;
            for span in &scratch.spans {
                self.span(block, &scratch, span);
            }
        }
        self.scratch = scratch;
        self.end_block(block);
        Ok(())
    }

    fn span(&mut self, block: &Block, scratch: &ChunkScratch, span: &TileSpan) {
        let plan = self.plan;
        if !plan.selection.tiles[span.tile as usize] {
            return;
        }
        let tile = &plan.report.tiles()[span.tile as usize];
        let all = span.samples.start as usize..span.samples.end as usize;
        let samples = Samples {
            tile: span.tile,
            local: (span.tile - block.tiles.start) as usize,
            origin: plan.frame.origin(tile),
            ordinal: span.first_ordinal,
            starts: &scratch.start[all.clone()],
            durations: &scratch.duration[all.clone()],
            steps: &scratch.step[all],
        };
        let mut piece = self.places.begin_piece(samples.local);
        let instants = plan.instants(tile);
        if instants == [None, None] {
            self.add(&samples, &mut piece);
        } else {
            let [at, at_offset] = instants;
            for index in 0..samples.starts.len() {
                let (start, duration) = (samples.starts[index], samples.durations[index]);
                let runs =
                    |cycle: Option<u64>| cycle.is_none_or(|cycle| runs_at(start, duration, cycle));
                if runs(at) && runs(at_offset) {
                    self.add(&samples.one(index), &mut piece);
                }
            }
        }
        self.places.end_piece(samples.local, piece);
    }

    /// Adds the samples, by what groups are and how times are kept: one loop for each.
    fn add(&mut self, samples: &Samples<'_>, piece: &mut Piece) {
        match (self.plan.by_tile, piece) {
            (true, Piece::Grid { grid, lane }) => {
                self.add_to_tile(samples, |place, cycles| grid.add(*lane, place, cycles));
            }
            (true, Piece::List(visits)) => {
                self.add_to_tile(samples, |place, cycles| visits.add(place, cycles));
            }
            (false, Piece::Grid { grid, lane }) => {
                self.add_to_groups(samples, |place, cycles| grid.add(*lane, place, cycles));
            }
            (false, Piece::List(visits)) => {
                self.add_to_groups(samples, |place, cycles| visits.add(place, cycles));
            }
        }
    }

    fn add_to_groups(&mut self, samples: &Samples<'_>, mut spend: impl FnMut(u32, u32)) {
        let whole = self.add_cut(samples, &mut spend);
        let (rows, tallies) = (self.rows.rows(), &mut self.tallies[..]);
        let mut floor = self.longest.floor();
        for (at, (start, cycles, step)) in samples.columns(whole) {
            let row = &mut rows[step as usize];
            if row.group == NO_GROUP || cycles == 0 {
                continue;
            }
            let offset = start - samples.origin;
            let tally = &mut tallies[row.group as usize];
            tally.durations.add(cycles);
            spend(row.place, cycles);
            if let Some((from, to)) = row.add(offset, cycles) {
                tally.union.add(from, to);
            }
            if u64::from(cycles) >= floor {
                let reference = samples.reference(at, offset, cycles, false);
                floor = self.longest.offer(reference);
            }
        }
    }

    fn add_to_tile(&mut self, samples: &Samples<'_>, mut spend: impl FnMut(u32, u32)) {
        let whole = self.add_cut(samples, &mut spend);
        let tally = &mut self.tallies[samples.local];
        let mut floor = self.longest.floor();
        for (at, (start, cycles, step)) in samples.columns(whole) {
            let step = &self.plan.steps[step as usize];
            if step.group == NO_GROUP || cycles == 0 {
                continue;
            }
            let offset = start - samples.origin;
            tally.add(step, offset, cycles);
            spend(step.place, cycles);
            if u64::from(cycles) >= floor {
                let reference = samples.reference(at, offset, cycles, false);
                floor = self.longest.offer(reference);
            }
        }
    }

    /// Adds what the crop leaves of the samples that start before it, time without an estimate;
    /// the number of those samples.
    fn add_cut(&mut self, samples: &Samples<'_>, spend: &mut impl FnMut(u32, u32)) -> usize {
        let count = samples
            .starts
            .partition_point(|&start| start < samples.origin);
        for at in 0..count {
            let step = self.plan.steps[samples.steps[at] as usize];
            let before = samples.origin - samples.starts[at];
            let cycles = u64::from(samples.durations[at]).saturating_sub(before);
            let Ok(cycles) = u32::try_from(cycles) else {
                continue;
            };
            if step.group == NO_GROUP || cycles == 0 {
                continue;
            }
            let group = if self.plan.by_tile {
                samples.local
            } else {
                step.group as usize
            };
            let uncovered = StepPlan {
                useful: 0,
                physical: 0,
                covered: 0,
                ..step
            };
            self.tallies[group].add(&uncovered, 0, cycles);
            spend(step.place, cycles);
            if u64::from(cycles) >= self.longest.floor() {
                let reference = samples.reference(at, 0, cycles, true);
                let _floor = self.longest.offer(reference);
            }
        }
        count
    }

    fn end_block(&mut self, block: &Block) {
        let (plan, tallies) = (self.plan, &mut self.tallies);
        let (tiles, earlier) = (&mut self.tiles, &mut self.earlier);
        self.places.end_block(plan, |local, phase_count| {
            if !plan.by_tile {
                return;
            }
            let mut tally = std::mem::take(&mut tallies[local]);
            let measures = tally.measures();
            let measures = Measures {
                tile_count: 1,
                phase_count,
                phase_cycles: measures.work_cycles,
                ..measures
            };
            tiles.extend(block.tiles.clone().nth(local).map(|tile| (tile, measures)));
            earlier.merge(tally);
        });
        self.rows.drain(&plan.steps, |step, sum, last| {
            tallies[step.group as usize].add_step(step, sum, last);
        });
        tallies.iter_mut().for_each(Tally::end_block);
    }

    #[cfg(feature = "native")]
    /// Adds what another worker of the same plan tallied.
    pub(crate) fn merge(&mut self, other: Self) {
        if !self.plan.by_tile {
            for (mine, others) in self.tallies.iter_mut().zip(other.tallies) {
                mine.merge(others);
            }
        }
        self.earlier.merge(other.earlier);
        self.tiles.extend(other.tiles);
        self.places.merge(&other.places);
        self.longest.merge(other.longest);
    }

    /// Everything as one tally. The groups are empty afterwards.
    pub(crate) fn take_all(&mut self) -> Tally {
        let mut all = std::mem::take(&mut self.earlier);
        for tally in &mut self.tallies {
            all.merge(std::mem::take(tally));
        }
        all
    }
}

/// Consecutive samples of one tile; starts ascend.
struct Samples<'s> {
    tile: u32,
    /// Position of the tile in its block.
    local: usize,
    /// Zero of the clock on the shared clock.
    origin: u64,
    /// Ordinal of the first one.
    ordinal: u64,
    starts: &'s [u64],
    durations: &'s [u32],
    steps: &'s [u32],
}

impl<'s> Samples<'s> {
    /// The sample at `index` alone.
    fn one(&self, index: usize) -> Self {
        Self {
            ordinal: self.ordinal + index as u64,
            starts: &self.starts[index..=index],
            durations: &self.durations[index..=index],
            steps: &self.steps[index..=index],
            ..*self
        }
    }

    /// Start, duration and step of each sample from position `from` on, with its position.
    #[inline]
    fn columns(&self, from: usize) -> impl Iterator<Item = (usize, (u64, u32, u32))> + use<'s> {
        let starts = self.starts[from..].iter();
        let columns = starts.zip(&self.durations[from..]).zip(&self.steps[from..]);
        (from..).zip(columns.map(|((&start, &cycles), &step)| (start, cycles, step)))
    }

    fn reference(&self, at: usize, offset: u64, cycles: u32, cut: bool) -> SampleRef {
        SampleRef {
            duration: u64::from(cycles),
            tile: self.tile,
            offset,
            ordinal: self.ordinal + at as u64,
            step: self.steps[at],
            cut,
        }
    }
}
