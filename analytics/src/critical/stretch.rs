//! Stretches between last arrivals: boundaries and samples in, the critical path out.

use std::collections::BTreeMap;

use super::segments::{Crowd, Piece, Segment, cut};
use super::{CriticalOptions, CriticalPath, KernelOnPath, Parts, StepOnPath, Stretch, WHOLE};
use crate::barriers::boundary::{Arrivals, Boundaries, file_positions, is_member};
use crate::clock::{ClockKind, Frame};
use crate::format::DecodeError;
use crate::order;
use crate::profile::{ProfileReport, Sample};

/// What the pass over the samples gathers.
struct Gather<'a> {
    report: &'a ProfileReport,
    boundaries: &'a Boundaries,
    /// Zero of the clock on the shared clock; nothing before it counts.
    origin: u64,
    faster: u32,
    /// By tile: its samples since its last arrival.
    pieces: Vec<Vec<Piece>>,
    arrivals: Arrivals,
    /// By stretch: the boundaries in order, then the end of the run.
    crowds: Vec<Crowd>,
    /// By stretch: what its straggler did.
    paths: Vec<Path>,
}

/// What the straggler of one stretch did.
#[derive(Clone, Debug, Default)]
struct Path {
    segment: Segment,
    /// Cycles by step.
    steps: BTreeMap<u32, u64>,
}

impl Path {
    /// Of `pieces` between `from` and `to`; `segment` is theirs.
    fn new(segment: Segment, pieces: &[Piece], from: u64, to: u64) -> Self {
        let mut steps = BTreeMap::new();
        cut(pieces, from, to, |piece, cycles| {
            if let Some(piece) = piece {
                *steps.entry(piece.step).or_default() += cycles;
            }
        });
        Self { segment, steps }
    }
}

pub(super) fn measure(
    report: &ProfileReport,
    boundaries: &Boundaries,
    options: &CriticalOptions,
) -> Result<CriticalPath, DecodeError> {
    let clock = options.clock();
    let frame = Frame::new(report, clock);
    let origin = frame.crop();
    let count = boundaries.list.len() + 1;
    let mut gather = Gather {
        report,
        boundaries,
        origin,
        faster: options.faster.min(WHOLE),
        pieces: vec![Vec::new(); report.tiles().len()],
        arrivals: Arrivals::new(report),
        crowds: vec![Crowd::default(); count],
        paths: vec![Path::default(); count],
    };
    report.visit_samples(|sample| gather.add(sample))?;
    let run = frame.span(report)?.get();
    let last = gather.end_run(origin + run);
    Ok(gather.finish(clock, run, last))
}

impl Gather<'_> {
    fn add(&mut self, sample: &Sample) {
        let step = &self.report.steps()[sample.step as usize];
        if is_member(step, sample)
            && self.arrivals.is_first(sample.tile, step.phase_row)
            && let Some(at) = self.boundaries.at(step.phase_row)
        {
            self.arrive(sample.tile, at, sample.start);
        }
        if sample.duration > 0 {
            self.pieces[sample.tile as usize].push(Piece {
                start: sample.start,
                end: sample.end(),
                kind: step.kind,
                kernel_row: step.kernel_row,
                step: sample.step,
            });
        }
    }

    /// Where stretch `at` starts, on the shared clock.
    fn start(&self, at: usize) -> u64 {
        let before = at.checked_sub(1).map(|at| &self.boundaries.list[at]);
        before.map_or(self.origin, |it| it.last_entry.max(self.origin))
    }

    /// A tile ends stretch `at` at `instant`.
    fn arrive(&mut self, tile: u32, at: usize, instant: u64) {
        let mut pieces = std::mem::take(&mut self.pieces[tile as usize]);
        self.close(&pieces, at, tile, instant);
        // A sample of no length may lie inside another one, which goes on in the next stretch.
        pieces.retain(|it| it.end > instant);
        self.pieces[tile as usize] = pieces;
    }

    fn close(&mut self, pieces: &[Piece], at: usize, tile: u32, instant: u64) {
        let from = self.start(at);
        let to = instant.max(from);
        let segment = Segment::of(pieces, from, to);
        let faster = u128::from(self.faster);
        let saved = |cycles: u64| {
            let saved = u128::from(cycles) * faster / u128::from(WHOLE);
            u64::try_from(saved).unwrap_or(cycles)
        };
        let time = instant.saturating_sub(from);
        self.crowds[at].arrive(time, &segment.kernels, saved);
        let boundary = self.boundaries.list.get(at);
        if boundary.is_some_and(|it| it.last_tile == tile && it.last_entry == instant) {
            self.paths[at] = Path::new(segment, pieces, from, to);
        }
    }

    /// Ends the last stretch with the run; returns the tile that ends last, the first in file order
    /// of several.
    fn end_run(&mut self, end: u64) -> Option<u32> {
        let at = self.boundaries.list.len();
        let from = self.start(at);
        let file_position = file_positions(self.report);
        let mut last: Option<(u64, u32)> = None;
        for tile in 0..self.pieces.len() {
            let pieces = std::mem::take(&mut self.pieces[tile]);
            let Some(instant) = pieces.iter().map(|it| it.end).max() else {
                continue;
            };
            let tile = u32::try_from(tile).unwrap_or(u32::MAX);
            self.close(&pieces, at, tile, instant);
            let is_later = last.is_none_or(|(latest, other)| {
                let earlier_in_file = file_position[tile as usize] < file_position[other as usize];
                instant > latest || (instant == latest && earlier_in_file)
            });
            if is_later {
                last = Some((instant, tile));
                let to = end.max(from);
                self.paths[at] = Path::new(Segment::of(&pieces, from, to), &pieces, from, to);
            }
        }
        last.map(|(_, tile)| tile)
    }

    fn finish(self, clock: ClockKind, run: u64, last: Option<u32>) -> CriticalPath {
        let count = self.crowds.len();
        let stretches: Vec<Stretch> = (0..count).map(|at| self.stretch(at, run, last)).collect();
        let parts = stretches
            .iter()
            .fold(Parts::default(), |sum, it| sum.plus(it.parts));
        CriticalPath {
            clock,
            clock_hz: self.report.header().clock_hz,
            tile_count: self.report.tiles().len() as u64,
            run,
            faster: self.faster,
            kernels: self.kernels(run),
            steps: self.steps(),
            warnings: self.warnings(),
            stretches,
            parts,
        }
    }

    fn stretch(&self, at: usize, run: u64, last: Option<u32>) -> Stretch {
        let (report, crowd, path) = (self.report, &self.crowds[at], &self.paths[at].segment);
        let boundary = self.boundaries.list.get(at);
        let start = self.start(at) - self.origin;
        let end = boundary.map_or(run, |it| it.last_entry.saturating_sub(self.origin));
        let longest = path.kernels.iter().rev().max_by_key(|it| it.1);
        let kernel = longest.map(|&(row, cycles)| (self.kernel(row).to_owned(), cycles));
        let straggler = boundary.map(|it| it.last_tile).or(last);
        Stretch {
            boundary: boundary.map(|it| {
                let place = report.phases()[it.phase_row as usize];
                (place.phase, place.epoch)
            }),
            start,
            end: end.max(start),
            straggler: straggler.map(|tile| report.tiles()[tile as usize].tile),
            kernel,
            parts: path.parts,
            tiles: crowd.tiles,
            slack: (crowd.longest * crowd.tiles).saturating_sub(crowd.sum),
            maximum_slack: crowd.longest - crowd.shortest,
        }
    }

    fn kernel(&self, row: u32) -> &str {
        self.report.string(self.report.kernels()[row as usize])
    }

    fn kernels(&self, run: u64) -> Vec<KernelOnPath> {
        let rows = self.report.kernels().len();
        let mut cycles = vec![0; rows];
        let mut stretches = vec![0; rows];
        let mut saved: Vec<Option<u64>> = vec![None; rows];
        for (crowd, path) in self.crowds.iter().zip(&self.paths) {
            for &(row, of_kernel) in &path.segment.kernels {
                cycles[row as usize] += of_kernel;
                stretches[row as usize] += 1;
            }
            for (row, of_kernel) in crowd.savings() {
                *saved[row as usize].get_or_insert(0) += of_kernel;
            }
        }
        let kernel = |row: usize| {
            let saved = saved[row]?;
            Some(KernelOnPath {
                kernel: self.kernel(u32::try_from(row).ok()?).to_owned(),
                cycles: cycles[row],
                stretches: stretches[row],
                run_if_faster: run.saturating_sub(saved),
            })
        };
        let mut kernels: Vec<KernelOnPath> = (0..rows).filter_map(kernel).collect();
        order::by(&mut kernels, |a, b| {
            (b.cycles.cmp(&a.cycles)).then_with(|| a.kernel.cmp(&b.kernel))
        });
        kernels
    }

    fn steps(&self) -> Vec<StepOnPath> {
        let mut cycles = vec![0; self.report.steps().len()];
        for (step, more) in self.paths.iter().flat_map(|path| &path.steps) {
            cycles[*step as usize] += more;
        }
        let steps = (0..).zip(cycles).filter(|(_, cycles)| *cycles > 0);
        steps
            .map(|(step, cycles)| StepOnPath { step, cycles })
            .collect()
    }

    fn warnings(&self) -> Vec<String> {
        let tiles = self.report.tiles().iter();
        let running = tiles.filter(|tile| tile.sample_count > 0).count() as u64;
        let list = &self.boundaries.list;
        let partial = list.iter().filter(|it| it.tiles < running).count();
        let mut warnings = self.report.warnings();
        if list.is_empty() {
            warnings.push("the profile has no exchanges: the run is one stretch".to_owned());
        }
        if partial > 0 {
            warnings.push(format!(
                "{partial} of {} exchange boundaries have no sample on some tiles; these tiles \
                 count as busy until their next boundary",
                list.len(),
            ));
        }
        warnings
    }
}
