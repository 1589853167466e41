//! The device while it runs: tile memories, tile clocks, and the walk through the schedule.

use std::sync::Arc;

use analytics::units::{Bytes, Cycles};
use rayon::prelude::*;

use super::options::{Rounding, RunOptions};
use super::program::{Program, tile_id};
use super::report::{PhaseKind, PhaseReport, Progress, Stage};
use super::superstep::{spread, superstep};
use super::{RunError, skew};
use crate::exchange::{
    ExchangeOutcome, PhaseContext, TimedRow, compare_deliveries, decode_row, move_words, resolve,
};
use crate::fault::{Fault, FaultRule};
use crate::host;
use crate::kernels::{Engine, Rounder, execute};
use crate::machine::memory::TileMemory;
use crate::package::{Call, ScheduleItem};
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
}

impl<'a, 'p> Device<'a, 'p> {
    /// A device with code, zero ranges, inputs and parameters in place and every tile at its start.
    pub(crate) fn load(
        program: &'a Program<'p>,
        options: &'a RunOptions,
    ) -> Result<Self, RunError> {
        let package = program.package;
        let mut memories: Vec<TileMemory> =
            package.tiles.iter().map(|_| TileMemory::new()).collect();
        memories
            .par_iter_mut()
            .zip(&package.tiles)
            .try_for_each(|(memory, tile)| {
                for range in &tile.zero_ranges {
                    memory.mark_initialised(range.address, range.bytes)?;
                }
                tile.segments
                    .iter()
                    .try_for_each(|s| memory.write(s.address, &s.bytes))
            })
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
        let after = self.walk(body, At { is_repeated, ..at }, tell)?;
        if count == 1 {
            return Ok(after);
        }
        let starts = self.now.clone();
        for _ in 1..count {
            self.walk(
                body,
                At {
                    is_repeated,
                    is_recorded: false,
                    ..at
                },
                tell,
            )?;
        }
        let place = self.place(at);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| at.is_recorded) {
            recorder.remainder(place, count - 1, &starts, &self.now);
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
        let outcome = self.outcome(index, at)?;
        let exchange = &self.program.package.exchanges[index as usize];
        if !self.options.timing_only {
            move_words(&outcome, &mut self.memories);
        }
        let arrivals = std::mem::take(&mut self.now);
        let horizons = outcome.horizons.iter().copied();
        let step = superstep(&arrivals, horizons, &self.options.timing);
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

    /// What the exchange's rows do, decoded from the memories as they are now.
    fn outcome(&mut self, index: u32, at: At) -> Result<Arc<ExchangeOutcome>, RunError> {
        let package = self.program.package;
        self.check_code(at)?;
        if let Some(outcome) = &self.kept[index as usize] {
            return Ok(Arc::clone(outcome));
        }
        let in_phase = |fault: Fault| fault.in_phase(at.position);
        let rows = self.decode_rows(index).map_err(in_phase)?;
        let exchange = &package.exchanges[index as usize];
        let context = PhaseContext {
            phase: at.position,
            declared_horizon: Some(exchange.event_cycles),
            untested: self.options.untested,
        };
        let outcome = Arc::new(resolve(context, &rows, &self.program.topology)?);
        compare_deliveries(&exchange.deliveries, &outcome).map_err(in_phase)?;
        if at.is_repeated {
            self.kept[index as usize] = Some(Arc::clone(&outcome));
        }
        Ok(outcome)
    }

    fn decode_rows(&self, index: u32) -> Result<Vec<Option<TimedRow>>, Fault> {
        let tiles = self
            .program
            .package
            .tiles
            .par_iter()
            .zip(&self.memories)
            .enumerate();
        let rows: Vec<_> = tiles
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
        rows.into_iter().collect()
    }

    /// Loaded code is still what was loaded: no landing, binding or kernel has overwritten it.
    fn check_code(&self, at: At) -> Result<(), Fault> {
        let tiles = self
            .program
            .package
            .tiles
            .par_iter()
            .zip(&self.memories)
            .enumerate();
        let changed = tiles.filter_map(|(tile, (program, memory))| {
            let damaged = program.segments.iter().find(|segment| {
                let length = u32::try_from(segment.bytes.len()).unwrap_or(u32::MAX);
                memory.read(segment.address, length) != Ok(&segment.bytes)
            })?;
            let detail = format!("{} loaded bytes have changed", damaged.bytes.len());
            let fault = Fault::new(FaultRule::CodeOverwrite, tile_id(tile), detail);
            Some((
                tile,
                fault.at_address(damaged.address).in_phase(at.position),
            ))
        });
        match changed.min_by_key(|&(tile, _)| tile) {
            None => Ok(()),
            Some((_, fault)) => Err(fault),
        }
    }

    fn compute(&mut self, phase: u32, at: At) -> Result<(), RunError> {
        let program = self.program;
        let calls: Vec<&'p [Call]> = (0..self.now.len())
            .map(|tile| program.calls(tile, phase))
            .collect();
        if !self.options.timing_only {
            self.run_kernels(&calls)
                .map_err(|fault| fault.in_phase(at.position))?;
        }
        let place = self.place(at);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| at.is_recorded) {
            recorder.compute(place, phase, &self.now, &calls, |call| program.cost(call));
        }
        let arrival_spread = spread(&self.now);
        let mut longest = Cycles::ZERO;
        for (now, calls) in self.now.iter_mut().zip(&calls) {
            let cycles: Cycles = calls.iter().map(|call| program.cost(call)).sum();
            longest = longest.max(cycles);
            *now += cycles.get();
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

    fn run_kernels(&mut self, calls: &[&'p [Call]]) -> Result<(), Fault> {
        let (package, options, engine) = (self.program.package, self.options, self.engine);
        let tiles = self
            .memories
            .par_iter_mut()
            .zip(&mut self.calls_made)
            .zip(calls)
            .enumerate();
        let faults = tiles.filter_map(|(tile, ((memory, made), calls))| {
            for call in *calls {
                let template = &package.call_templates[call.template as usize];
                let rounder = match options.rounding {
                    Rounding::NearestEven => Rounder::NearestEven,
                    Rounding::Stochastic => {
                        Rounder::stochastic(options.seed, tile_id(tile).get(), *made)
                    }
                };
                *made += 1;
                let done = execute(engine, &template.kernel, &call.operands, &rounder, memory);
                if let Err(violation) = done {
                    let detail = format!("{}: {}", template.symbol, violation.detail);
                    let fault = Fault::new(violation.rule, tile_id(tile), detail);
                    return Some((tile, fault.at_address(violation.address)));
                }
            }
            None
        });
        match faults.min_by_key(|&(tile, _)| tile) {
            None => Ok(()),
            Some((_, fault)) => Err(fault),
        }
    }
}

/// Items that a run executes, Repeat iterations included; validation has bounded it.
fn executed_items(items: &[ScheduleItem]) -> u64 {
    let executed = |item: &ScheduleItem| match item {
        ScheduleItem::Exchange(_) | ScheduleItem::Compute(_) => 1,
        ScheduleItem::Repeat { count, body } => executed_items(body) * u64::from(*count),
    };
    items.iter().map(executed).sum()
}
