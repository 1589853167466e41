//! The device while it runs: tile memories, tile clocks, and the walk through the schedule.

use std::sync::Arc;

use analytics::units::{Bytes, Cycles};
use rayon::prelude::*;

use super::iteration::{self, Patches};
use super::options::{Rounding, RunOptions};
use super::program::{Program, tile_id};
use super::report::{PhaseKind, PhaseReport, Progress, Stage};
use super::superstep::{spread, superstep};
use super::{RunError, skew};
use crate::exchange::{
    ExchangeOutcome, PhaseContext, TimedRow, compare_deliveries, decode_row, move_words, resolve,
};
use crate::fault::{Fault, FaultRule, Faults};
use crate::host;
use crate::kernels::{Engine, Rounder, execute};
use crate::machine::arch;
use crate::machine::memory::{OutOfRange, TileMemory};
use crate::package::{Call, ScheduleItem, TileProgram};
use crate::record::{Place, Recorder};

/// A loaded device.
pub(crate) struct Device<'a, 'p> {
    program: &'a Program<'p>,
    options: &'a RunOptions,
    engine: Engine,
    pub(crate) memories: Vec<TileMemory>,
    /// Where each tile is in time, in cycles since the run began.
    pub(crate) now: Vec<u64>,
    /// Kernel calls that each tile has made.
    calls_made: Vec<u64>,
    /// Outcomes of exchanges inside Repeats, which run again.
    kept: Vec<Option<Arc<ExchangeOutcome>>>,
    patches: Patches,
    /// Cycles of each tile in kernels whose cost is assumed.
    pub(crate) assumed: Vec<Cycles>,
    pub(crate) recorder: Option<Recorder<'a>>,
    pub(crate) phases: Vec<PhaseReport>,
}

/// Where the walk is.
#[derive(Clone, Copy)]
struct At {
    /// Flat position of the item.
    position: u32,
    /// Whether boundaries are recorded; they are not in the later iterations of a Repeat.
    is_recorded: bool,
    /// Whether the item may run again.
    is_repeated: bool,
    /// Iteration of the innermost Repeat, from 0.
    iteration: u32,
}

impl<'a, 'p> Device<'a, 'p> {
    /// A device with code, zero ranges, inputs and parameters in place and every tile at its start.
    pub(crate) fn load(
        program: &'a Program<'p>,
        options: &'a RunOptions,
    ) -> Result<Self, RunError> {
        let package = program.package;
        let tiles = package.tiles.par_iter();
        let mut memories: Vec<TileMemory> = tiles
            .map(|tile| load_tile(tile, options.poison))
            .collect::<Result<_, _>>()
            .map_err(RunError::Memory)?;
        if !options.timing_only {
            host::load(package, &mut memories)?;
        }
        let tiles = package.tiles.len();
        Ok(Self {
            program,
            options,
            engine: Engine::detect(),
            memories,
            now: skew::starts(tiles, options.seed, options.start_skew),
            calls_made: vec![0; tiles],
            kept: vec![None; package.exchanges.len()],
            patches: Patches::new(package),
            assumed: vec![Cycles::ZERO; tiles],
            recorder: None,
            phases: Vec::new(),
        })
    }

    /// Runs the whole schedule.
    pub(crate) fn execute(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), RunError> {
        let total = executed_items(&self.program.package.schedule);
        let mut tell = |device: &Self| {
            let done = device.phases.len() as u64;
            progress(Progress {
                stage: Stage::Execute,
                done,
                total,
            });
        };
        tell(self);
        let at = At {
            position: 0,
            is_recorded: true,
            is_repeated: false,
            iteration: 0,
        };
        self.walk(&self.program.package.schedule, at, &mut tell)?;
        Ok(())
    }

    /// Runs a list of items; returns the flat position after them.
    fn walk(
        &mut self,
        items: &'p [ScheduleItem],
        mut at: At,
        tell: &mut dyn FnMut(&Self),
    ) -> Result<u32, RunError> {
        for item in items {
            match item {
                ScheduleItem::Exchange(exchange) => {
                    self.exchange(*exchange, at)?;
                    at.position += 1;
                    tell(self);
                }
                ScheduleItem::Compute(phase) => {
                    self.compute(*phase, at)?;
                    at.position += 1;
                    tell(self);
                }
                ScheduleItem::Repeat { count, body } => {
                    at.position = self.repeat(*count, body, at, tell)?;
                }
            }
        }
        Ok(at.position)
    }

    fn repeat(
        &mut self,
        count: u32,
        body: &'p [ScheduleItem],
        at: At,
        tell: &mut dyn FnMut(&Self),
    ) -> Result<u32, RunError> {
        let is_repeated = at.is_repeated || count > 1;
        let first = At {
            is_repeated,
            iteration: 0,
            ..at
        };
        let after = self.walk(body, first, tell)?;
        if count == 1 {
            return Ok(after);
        }
        let starts = self.now.clone();
        if let Some(recorder) = self.recorder.as_mut().filter(|_| at.is_recorded) {
            recorder.later_iterations(&starts);
        }
        for iteration in 1..count {
            let next = At {
                is_recorded: false,
                iteration,
                ..first
            };
            self.walk(body, next, tell)?;
        }
        let place = self.place(at);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| at.is_recorded) {
            recorder.remainder(place, after, count - 1, &starts, &self.now);
        }
        Ok(after)
    }

    fn place(&self, at: At) -> Place {
        Place {
            phase: at.position,
            epoch: self.program.epoch(at.position),
        }
    }

    fn exchange(&mut self, index: u32, at: At) -> Result<(), RunError> {
        self.patch(index, at)?;
        let outcome = self.outcome(index, at)?;
        let exchange = &self.program.package.exchanges[index as usize];
        if !self.options.timing_only {
            move_words(&outcome, &mut self.memories);
        }
        let arrivals = std::mem::take(&mut self.now);
        let horizons = outcome.horizons.iter().copied();
        let mut step = superstep(&arrivals, horizons, &self.options.timing);
        let recorder = self.recorder.as_ref().filter(|_| at.is_recorded);
        let sampling = recorder.map_or(0, Recorder::exchange_overhead);
        for exit in &mut step.exits {
            *exit = exit.saturating_add(sampling);
        }
        let place = self.place(at);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| at.is_recorded) {
            let activities = outcome.activities(&self.program.topology);
            recorder.exchange(
                place,
                index,
                &arrivals,
                step.release,
                &step.exits,
                &activities,
            );
        }
        let latest = arrivals.iter().copied().max().unwrap_or(0);
        let active = (0..arrivals.len())
            .filter(|&t| !outcome.messages[t].is_empty() || !outcome.landings[t].is_empty())
            .count();
        let received = (0..arrivals.len()).map(|tile| outcome.received(tile_id(tile)));
        self.phases.push(PhaseReport {
            phase: place.phase,
            epoch: place.epoch,
            kind: PhaseKind::Exchange,
            operation: exchange.operation.clone(),
            arrival_spread: spread(&arrivals),
            horizon: Cycles::new(u64::from(outcome.horizon())),
            cycles: Cycles::new(step.exits.iter().copied().max().unwrap_or(latest) - latest),
            bytes_sent: outcome.sent(),
            bytes_received: received.sum(),
            active_tiles: u32::try_from(active).unwrap_or(u32::MAX),
        });
        self.now = step.exits;
        Ok(())
    }

    /// The supervisors rewrite the words of the exchange that are for another iteration.
    fn patch(&mut self, index: u32, at: At) -> Result<(), RunError> {
        if !self.patches.turn(index, at.iteration) {
            return Ok(());
        }
        let tiles = self.memories.par_iter_mut().zip(&mut self.now);
        let patches = &self.patches;
        tiles
            .zip(&self.program.package.tiles)
            .try_for_each(|((memory, now), tile)| {
                let words = patches.rewrite(tile, index, memory)?;
                *now = now.saturating_add(arch::PATCH_CYCLES.get().saturating_mul(words));
                Ok(())
            })
            .map_err(RunError::Memory)
    }

    /// What the exchange's rows do, decoded from the memories as they are now.
    fn outcome(&mut self, index: u32, at: At) -> Result<Arc<ExchangeOutcome>, RunError> {
        let package = self.program.package;
        let in_phase = |faults: Faults| faults.in_phase(at.position);
        self.check_code().map_err(in_phase)?;
        if let Some(outcome) = &self.kept[index as usize] {
            return Ok(Arc::clone(outcome));
        }
        let rows = self.decode_rows(index).map_err(in_phase)?;
        let exchange = &package.exchanges[index as usize];
        let context = PhaseContext {
            phase: at.position,
            declared_horizon: Some(exchange.event_cycles),
            untested: self.options.untested,
        };
        let outcome = Arc::new(resolve(context, &rows, &self.program.topology)?);
        let deliveries = iteration::deliveries(exchange, at.iteration);
        compare_deliveries(&deliveries, &outcome).map_err(in_phase)?;
        Faults::check(self.program.buffers.check(at.position, &outcome)).map_err(in_phase)?;
        if at.is_repeated && self.patches.is_fixed(package, index) {
            self.kept[index as usize] = Some(Arc::clone(&outcome));
        }
        Ok(outcome)
    }

    /// Programs and memories of all tiles, by position.
    fn tiles(&self) -> impl IndexedParallelIterator<Item = (usize, (&TileProgram, &TileMemory))> {
        let programs = self.program.package.tiles.par_iter();
        programs.zip(&self.memories).enumerate()
    }

    fn decode_rows(&self, index: u32) -> Result<Vec<Option<TimedRow>>, Faults> {
        let rows: Vec<Result<_, Fault>> = self
            .tiles()
            .map(|(tile, (program, memory))| {
                let found = program
                    .rows
                    .binary_search_by_key(&index, |row| row.exchange)
                    .ok();
                let Some(row) = found.map(|found| &program.rows[found]) else {
                    return Ok(None);
                };
                let (incoming, outgoing) = (row.incoming_base, row.outgoing_base);
                decode_row(tile_id(tile), memory, row.address, incoming, outgoing).map(Some)
            })
            .collect();
        Faults::check(rows.iter().filter_map(|row| row.as_ref().err()).cloned())?;
        Ok(rows.into_iter().filter_map(Result::ok).collect())
    }

    /// Loaded code is still what was loaded: no landing, binding or kernel has overwritten it.
    fn check_code(&self) -> Result<(), Faults> {
        let changed = self.tiles().filter_map(|(tile, (program, memory))| {
            let damaged = program.segments.iter().find(|segment| {
                let length = u32::try_from(segment.bytes.len()).unwrap_or(u32::MAX);
                memory.read(segment.address, length) != Ok(&*self.patches.code(program, segment))
            })?;
            let detail = format!("{} loaded bytes have changed", damaged.bytes.len());
            let fault = Fault::new(FaultRule::CodeOverwrite, tile_id(tile), detail);
            Some(fault.at_address(damaged.address))
        });
        Faults::check(changed.collect::<Vec<_>>())
    }

    fn compute(&mut self, phase: u32, at: At) -> Result<(), RunError> {
        let program = self.program;
        let calls: Vec<&'p [Call]> = (0..self.now.len())
            .map(|tile| program.calls(tile, phase))
            .collect();
        if !self.options.timing_only {
            self.run_kernels(phase, at.iteration)
                .map_err(|faults| faults.in_phase(at.position))?;
        }
        let place = self.place(at);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| at.is_recorded) {
            recorder.compute(place, phase, &self.now, &calls, |call| program.cost(call));
        }
        let arrival_spread = spread(&self.now);
        let mut longest = Cycles::ZERO;
        let recorder = self.recorder.as_ref().filter(|_| at.is_recorded);
        for (now, calls) in self.now.iter_mut().zip(&calls) {
            let kernels: Cycles = calls.iter().map(|call| program.cost(call)).sum();
            let sampling = recorder.map_or(0, |recorder| recorder.compute_overhead(calls));
            let cycles = kernels + Cycles::new(sampling);
            longest = longest.max(cycles);
            *now += cycles.get();
        }
        if program.has_assumed {
            for (assumed, calls) in self.assumed.iter_mut().zip(&calls) {
                *assumed += program.assumed_cost(calls);
            }
        }
        let active = calls.iter().filter(|calls| !calls.is_empty()).count();
        self.phases.push(PhaseReport {
            phase: place.phase,
            epoch: place.epoch,
            kind: PhaseKind::Compute,
            operation: program.package.compute_phases[phase as usize]
                .operation
                .clone(),
            arrival_spread,
            horizon: Cycles::ZERO,
            cycles: longest,
            bytes_sent: Bytes::ZERO,
            bytes_received: Bytes::ZERO,
            active_tiles: u32::try_from(active).unwrap_or(u32::MAX),
        });
        Ok(())
    }

    fn run_kernels(&mut self, phase: u32, iteration: u32) -> Result<(), Faults> {
        let (program, options, engine) = (self.program, self.options, self.engine);
        let tiles = self.memories.par_iter_mut().zip(&mut self.calls_made);
        let faults = tiles.enumerate().filter_map(|(tile, (memory, made))| {
            let own = &program.package.tiles[tile];
            for index in program.call_range(tile, phase) {
                let call = &own.calls[index];
                let template = &program.package.call_templates[call.template as usize];
                let rounder = match options.rounding {
                    Rounding::NearestEven => Rounder::NearestEven,
                    Rounding::Stochastic => {
                        Rounder::stochastic(options.seed, tile_id(tile).get(), *made)
                    }
                };
                *made += 1;
                let operands = iteration::operands(own, index, iteration);
                let done = execute(engine, &template.kernel, &operands, &rounder, memory);
                if let Err(violation) = done {
                    let detail = format!("{}: {}", template.symbol, violation.detail);
                    let fault = Fault::new(violation.rule, tile_id(tile), detail);
                    return Some(fault.at_address(violation.address));
                }
            }
            None
        });
        Faults::check(faults.collect::<Vec<_>>())
    }
}

/// A tile's memory with its code and zero ranges in place.
fn load_tile(tile: &TileProgram, poison: bool) -> Result<TileMemory, OutOfRange> {
    let mut memory = if poison {
        TileMemory::poisoned()
    } else {
        TileMemory::new()
    };
    for range in &tile.zero_ranges {
        if poison {
            memory.write_with(range.address, range.bytes, |to| to.fill(0))?;
        } else {
            // Fresh memory is zero; writing it would only touch its pages.
            memory.mark_initialised(range.address, range.bytes)?;
        }
    }
    for segment in &tile.segments {
        memory.write(segment.address, &segment.bytes)?;
    }
    Ok(memory)
}

/// Items that a run executes, Repeat iterations included; validation has bounded it.
fn executed_items(items: &[ScheduleItem]) -> u64 {
    let executed = |item: &ScheduleItem| match item {
        ScheduleItem::Exchange(_) | ScheduleItem::Compute(_) => 1,
        ScheduleItem::Repeat { count, body } => executed_items(body) * u64::from(*count),
    };
    items.iter().map(executed).sum()
}
