#![doc = include_str!("../README.md")]

mod assumed;
mod attempt;
mod error;
pub mod exchange;
mod finalists;
pub mod graph;
mod inspect;
mod instrument;
pub mod layout;
pub mod lower;
mod options;
pub mod place;
pub mod plan;
pub mod program;
mod report;
pub mod timing;

pub use error::CompileError;
pub use inspect::inspect_rows;
pub use options::{
    AttentionProducts, AttentionStrategy, ExchangeItems, Limits, OperandPolicy, OperandSlices,
    Options, PredictedCycles, Progress, ProgressSink, RepeatPolicy, TILES_MAX,
};
pub use report::{CompileReport, Compiled, ExchangeReport, Rate};

use std::collections::BTreeMap;

use rayon::prelude::*;
use runtime::machine::topology::Topology;
use runtime::package::MemoryRange;

use attempt::{ATTEMPTS_MAX, Reserve};
use exchange::mapping::{self, Mapping, Scorer};
use exchange::{ExchangeContext, Schedule, Transfer};
use finalists::Finalist;
use graph::Graph;
use lower::{EncodedExchange, Lowering};
use place::{Arena, Placement};
use program::Program;
use timing::{Meter, Timings, rss_peak};

/// Compiles a graph for the device.
///
/// # Errors
/// [`CompileError`] says which stage refused the input and why.
pub fn compile(
    graph: &Graph,
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Compiled, CompileError> {
    graph.validate()?;
    options.validate()?;
    if options.repeats == RepeatPolicy::Keep {
        let rolled = graph.rolled();
        if rolled.repeat().is_some() {
            let result = compile_as((graph, &rolled), options, progress);
            let unsettled = matches!(
                result,
                Err(CompileError::Plan(plan::PlanError::Repeat { .. }))
            );
            if !unsettled {
                return result;
            }
        }
    }
    compile_as((graph, graph), options, progress)
}

/// Compiles a graph in the form that is planned, `rolled`.
fn compile_as(
    (graph, rolled): (&Graph, &Graph),
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Compiled, CompileError> {
    let both = (graph, rolled);
    let mut timings = Timings::default();
    let mut reserve = Reserve::default();
    for _ in 1..ATTEMPTS_MAX {
        match attempt(both, options, reserve, (&mut timings, progress)) {
            Err(error) => reserve = reserve.after(&error).ok_or(error)?,
            Ok(compiled) => return Ok(timed(compiled, timings)),
        }
    }
    let compiled = attempt(both, options, reserve, (&mut timings, progress))?;
    Ok(timed(compiled, timings))
}

fn timed(compiled: Compiled, timings: Timings) -> Compiled {
    let rss_peak = rss_peak();
    Compiled {
        timings: Timings {
            rss_peak,
            ..timings
        },
        ..compiled
    }
}

/// The stages in order.
fn attempt(
    (graph, rolled): (&Graph, &Graph),
    options: &Options,
    reserve: Reserve,
    (timings, progress): (&mut Timings, ProgressSink<'_>),
) -> Result<Compiled, CompileError> {
    let mut stage = Stages { timings, progress };
    let plans = stage.run("plan", |meter| {
        meter.expect(rolled.operations().len());
        plan::plans_counted(rolled, options, reserve.plan_bytes, &|| meter.step())
    })?;
    let finalists = stage.run("expand", |meter| {
        finalists::expand(rolled, plans, options, meter)
    })?;
    let scheduled = |finalist| schedule(rolled, finalist, (options, reserve), &mut stage);
    let Scheduled {
        finalist: Finalist { plan, program },
        arena,
        placement,
        device,
        transfers,
        schedules,
    } = finalists::fastest(finalists, scheduled, |it| it.cycles(options))?;
    let exchanges = stage.run("encode", |meter| {
        device.encode(&program, transfers, &schedules, meter)
    })?;
    stage.run("verify", |meter| device.verify(&exchanges, meter))?;
    let package = stage.run("lower", |_| {
        lower::lower(&Lowering {
            graph,
            options,
            plan: &plan,
            program: &program,
            placement: &placement,
            exchanges: &exchanges,
            arena: &arena,
            topology: &device.topology,
        })
    })?;
    let report = CompileReport {
        assumed_kernels: assumed::check(&package, options)?,
        ..CompileReport::new(&plan, &program, &exchanges, &package)
    };
    Ok(Compiled {
        package,
        timings: Timings::default(),
        report,
    })
}

/// A plan with addresses and times.
struct Scheduled {
    finalist: Finalist,
    arena: Arena,
    placement: Placement,
    device: Device,
    transfers: Vec<(u32, Vec<Transfer>)>,
    schedules: Vec<Schedule>,
}

impl Scheduled {
    /// Cycles of the program with these times.
    fn cycles(&self, options: &Options) -> u64 {
        let steps = self.transfers.iter().map(|(step, _)| *step);
        let horizons = self.schedules.iter().map(|it| it.report().horizon.get());
        let horizons: BTreeMap<u32, u64> = steps.zip(horizons).collect();
        let generation = options.kernel_generation;
        finalists::span(&self.finalist.program, generation, |step, _| {
            horizons[&step]
        })
    }
}

/// The stages that give a finalist addresses and times.
fn schedule(
    graph: &Graph,
    finalist: Finalist,
    (options, reserve): (&Options, Reserve),
    stage: &mut Stages<'_>,
) -> Result<Scheduled, CompileError> {
    let (program, plan) = (&finalist.program, &finalist.plan);
    let arena = reserve.arena(program);
    let placement = stage.run("place", |_| {
        place::check_budget(program, options.limits.tile_bytes)?;
        place::place(program, &arena)
    })?;
    stage
        .run("verify", |_| place::verify(program, &placement))
        .map_err(|fault| CompileError::Verify {
            stage: "place",
            problem: fault.to_string(),
        })?;
    let transfers = stage.run("transfers", |meter| {
        let exchanges: Vec<_> = program.exchanges().collect();
        meter.expect(exchanges.len());
        let resolve = |&each: &(u32, _)| {
            let transfers = lower::transfers(program, &placement, each);
            meter.step();
            (each.0, transfers)
        };
        exchanges.par_iter().map(resolve).collect::<Vec<_>>()
    });
    check_transfers(program, &transfers, options.limits.transfers_per_tile)?;
    let first = options.tile_mapping.clone();
    let first = first.unwrap_or_else(|| mapping::identity(program.tiles));
    let mut device = Device::new(&first, &arena, options);
    let mut schedules = stage.run("schedule", |meter| {
        device.schedule(program, &transfers, meter)
    })?;
    let mappings = stage.run("map", |_| {
        mappings(program, (graph, plan), &transfers, options)
    });
    for mapping in mappings {
        let other = Device::new(&mapping, &arena, options);
        let mapped = stage.run("schedule", |meter| {
            other.schedule(program, &transfers, meter)
        })?;
        if cycles(program, &transfers, &mapped) < cycles(program, &transfers, &schedules) {
            (device, schedules) = (other, mapped);
        }
    }
    Ok(Scheduled {
        finalist,
        arena,
        placement,
        device,
        transfers,
        schedules,
    })
}

/// Runs stages under their names.
struct Stages<'a> {
    timings: &'a mut Timings,
    progress: ProgressSink<'a>,
}

impl Stages<'_> {
    fn run<T>(&mut self, part: &'static str, run: impl FnOnce(&Meter<'_>) -> T) -> T {
        self.timings.stage(part, self.progress, run)
    }
}

/// Exchanges by step with their transfers.
type Transfers = [(u32, Vec<Transfer>)];

/// Mappings of tiles that may shorten the exchanges, best first.
fn mappings(
    program: &Program,
    (graph, plan): (&Graph, &plan::Plan),
    exchanges: &Transfers,
    options: &Options,
) -> Vec<Mapping> {
    let is_fixed = options.tile_mapping.is_some() || options.items == ExchangeItems::Words;
    if is_fixed || options.limits.mappings == 0 {
        return Vec::new();
    }
    let runs = exchanges
        .iter()
        .map(|(step, transfers)| (transfers.as_slice(), program.runs(*step)));
    let scorer = Scorer::new(&runs.collect::<Vec<_>>(), program.tiles);
    let candidates = mapping::candidates(program.tiles, &plan.blocks(graph));
    let mut better = mapping::better(&scorer, candidates);
    better.truncate(options.limits.mappings);
    better
}

/// No tile takes part in more transfers of one exchange than it may.
fn check_transfers(
    program: &Program,
    exchanges: &Transfers,
    limit: u64,
) -> Result<(), CompileError> {
    for (step, transfers) in exchanges {
        let mut counts = vec![0; usize::from(program.tiles)];
        for transfer in transfers {
            counts[transfer.source.index()] += 1;
            for (tile, _) in &transfer.destinations {
                counts[tile.index()] += 1;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        if most > limit {
            let tile = counts.iter().position(|&count| count == most).unwrap_or(0);
            let problem =
                format!("tile {tile} takes part in {most} transfers, the limit is {limit}");
            let operation = program.steps[*step as usize].operation.clone();
            return Err(CompileError::Exchange { operation, problem });
        }
    }
    Ok(())
}

/// Events of all exchanges as often as they run.
fn cycles(program: &Program, exchanges: &Transfers, schedules: &[Schedule]) -> u64 {
    let runs = exchanges
        .iter()
        .map(|(step, _)| u64::from(program.runs(*step)));
    let horizons = schedules.iter().map(|it| it.report().horizon.get());
    runs.zip(horizons)
        .map(|(runs, horizon)| runs * horizon)
        .sum()
}

/// The exchange back end's view of the device; exchanges are independent of each other.
struct Device {
    topology: Topology,
    row_code: Vec<MemoryRange>,
    items: ExchangeItems,
}

impl Device {
    fn new(mapping: &Mapping, arena: &Arena, options: &Options) -> Self {
        let rows = arena.rows();
        let guard = runtime::machine::sram::FETCH_GUARD_BYTES;
        let range = MemoryRange {
            address: rows.start,
            bytes: rows.end - rows.start - guard,
        };
        Self {
            row_code: vec![range; mapping.len()],
            topology: mapping::topology(mapping),
            items: options.items,
        }
    }

    fn context(&self) -> ExchangeContext<'_> {
        ExchangeContext {
            topology: &self.topology,
            row_code: &self.row_code,
        }
    }

    fn schedule(
        &self,
        program: &Program,
        exchanges: &Transfers,
        meter: &Meter<'_>,
    ) -> Result<Vec<Schedule>, CompileError> {
        let context = self.context();
        meter.expect(exchanges.len());
        let schedule = |(step, transfers): &(u32, Vec<Transfer>)| {
            exchange::schedule_with(transfers, &context, self.items)
                .map_err(|error| exchange_error(program, *step, &error))
        };
        let mut alike: BTreeMap<u64, usize> = BTreeMap::new();
        let firsts: Vec<usize> = (0..)
            .zip(exchanges)
            .map(|(index, each)| *alike.entry(exchange::structure(&each.1)).or_insert(index))
            .collect();
        // Each of a kind is scheduled once; the others are sent at the same times if they may be.
        let is_first = |index: usize| firsts[index] == index;
        let scheduled: Vec<Option<Schedule>> = (0..exchanges.len())
            .into_par_iter()
            .map(|index| {
                let first = is_first(index).then(|| schedule(&exchanges[index]));
                first.inspect(|_| meter.step()).transpose()
            })
            .collect::<Result<_, _>>()?;
        let replayed = |index: usize| {
            let first = scheduled[firsts[index]].as_ref()?;
            let [like, own] = [firsts[index], index].map(|at| exchanges[at].1.as_slice());
            exchange::replay(first, like, own, &context)
        };
        let others: Vec<Option<Schedule>> = (0..exchanges.len())
            .into_par_iter()
            .map(|index| {
                let other = || replayed(index).map_or_else(|| schedule(&exchanges[index]), Ok);
                let other = (!is_first(index)).then(other);
                other.inspect(|_| meter.step()).transpose()
            })
            .collect::<Result<_, _>>()?;
        let both = scheduled.into_iter().zip(others);
        let one = |(first, other): (Option<Schedule>, _)| {
            first.or(other).expect("an exchange is a first or another")
        };
        Ok(both.map(one).collect())
    }

    fn encode(
        &self,
        program: &Program,
        exchanges: Vec<(u32, Vec<Transfer>)>,
        schedules: &[Schedule],
        meter: &Meter<'_>,
    ) -> Result<Vec<EncodedExchange>, CompileError> {
        let mut encoded = Vec::new();
        meter.expect(exchanges.len());
        for ((step, transfers), schedule) in exchanges.into_iter().zip(schedules) {
            let rows = exchange::encode(schedule, &self.context())
                .map_err(|error| exchange_error(program, step, &error))?;
            meter.step();
            encoded.push(EncodedExchange {
                step,
                transfers,
                rows,
                schedule: schedule.report(),
            });
        }
        Ok(encoded)
    }

    fn verify(&self, exchanges: &[EncodedExchange], meter: &Meter<'_>) -> Result<(), CompileError> {
        meter.expect(exchanges.len());
        exchanges.par_iter().try_for_each(|each| {
            let verified = exchange::verify(&each.rows, &each.transfers, &self.context());
            meter.step();
            verified.map_err(|error| CompileError::Verify {
                stage: "exchange",
                problem: error.to_string(),
            })
        })
    }
}

fn exchange_error(program: &Program, step: u32, error: &dyn std::error::Error) -> CompileError {
    let operation = program.steps[step as usize].operation.clone();
    CompileError::Exchange {
        operation,
        problem: error.to_string(),
    }
}
