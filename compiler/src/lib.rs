#![doc = include_str!("../README.md")]

mod assumed;
mod attempt;
mod error;
pub mod exchange;
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
    AttentionStrategy, OperandPolicy, Options, PredictedCycles, Progress, ProgressSink, TILES_MAX,
};
pub use report::{CompileReport, Compiled, ExchangeReport};

use rayon::prelude::*;
use runtime::machine::topology::Topology;
use runtime::package::MemoryRange;

use attempt::{ATTEMPTS_MAX, Reserve};
use exchange::{ExchangeContext, Schedule, Transfer};
use graph::Graph;
use lower::{EncodedExchange, Lowering};
use place::Arena;
use program::Program;
use timing::Timings;

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
    let mut timings = Timings::default();
    let mut reserve = Reserve::default();
    for _ in 1..ATTEMPTS_MAX {
        match attempt(graph, options, reserve, (&mut timings, progress)) {
            Err(error) => reserve = reserve.after(&error).ok_or(error)?,
            Ok(compiled) => {
                return Ok(Compiled {
                    timings,
                    ..compiled
                });
            }
        }
    }
    let compiled = attempt(graph, options, reserve, (&mut timings, progress))?;
    Ok(Compiled {
        timings,
        ..compiled
    })
}

/// The stages in order.
fn attempt(
    graph: &Graph,
    options: &Options,
    reserve: Reserve,
    (timings, progress): (&mut Timings, ProgressSink<'_>),
) -> Result<Compiled, CompileError> {
    let mut stage = Stages { timings, progress };
    let plan = stage.run("plan", || plan::plan(graph, options, reserve.plan_bytes))?;
    let program = stage.run("expand", || program::expand(graph, &plan, options.operands))?;
    let arena = reserve.arena(&program);
    let placement = stage.run("place", || place::place(&program, &arena))?;
    stage
        .run("verify", || place::verify(&program, &placement))
        .map_err(|fault| CompileError::Verify {
            stage: "place",
            problem: fault.to_string(),
        })?;
    let transfers = stage.run("transfers", || {
        let exchanges: Vec<_> = program.exchanges().collect();
        let resolve = |&(step, moves)| (step, lower::transfers(&program, &placement, moves));
        exchanges.par_iter().map(resolve).collect::<Vec<_>>()
    });
    let device = Device::new(&program, &arena);
    let schedules = stage.run("schedule", || device.schedule(&program, &transfers))?;
    let exchanges = stage.run("encode", || device.encode(&program, transfers, &schedules))?;
    stage.run("verify", || device.verify(&exchanges))?;
    let package = stage.run("lower", || {
        lower::lower(&Lowering {
            graph,
            options,
            plan: &plan,
            program: &program,
            placement: &placement,
            exchanges: &exchanges,
            arena: &arena,
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

/// Runs stages under their names.
struct Stages<'a> {
    timings: &'a mut Timings,
    progress: ProgressSink<'a>,
}

impl Stages<'_> {
    fn run<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        self.timings.stage(name, self.progress, run)
    }
}

/// The exchange back end's view of the device; exchanges are independent of each other.
struct Device {
    topology: Topology,
    row_code: Vec<MemoryRange>,
}

impl Device {
    fn new(program: &Program, arena: &Arena) -> Self {
        let rows = arena.rows();
        let guard = runtime::machine::sram::FETCH_GUARD_BYTES;
        let range = MemoryRange {
            address: rows.start,
            bytes: rows.end - rows.start - guard,
        };
        let topology = Topology::first_tiles(program.tiles);
        Self {
            topology,
            row_code: vec![range; usize::from(program.tiles)],
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
        exchanges: &[(u32, Vec<Transfer>)],
    ) -> Result<Vec<Schedule>, CompileError> {
        let schedule = |(step, transfers): &(u32, Vec<Transfer>)| {
            exchange::schedule(transfers, &self.context())
                .map_err(|error| exchange_error(program, *step, &error))
        };
        exchanges.par_iter().map(schedule).collect()
    }

    fn encode(
        &self,
        program: &Program,
        exchanges: Vec<(u32, Vec<Transfer>)>,
        schedules: &[Schedule],
    ) -> Result<Vec<EncodedExchange>, CompileError> {
        let mut encoded = Vec::new();
        for ((step, transfers), schedule) in exchanges.into_iter().zip(schedules) {
            let rows = exchange::encode(schedule, &self.context())
                .map_err(|error| exchange_error(program, step, &error))?;
            encoded.push(EncodedExchange {
                step,
                transfers,
                rows,
            });
        }
        Ok(encoded)
    }

    fn verify(&self, exchanges: &[EncodedExchange]) -> Result<(), CompileError> {
        exchanges.par_iter().try_for_each(|each| {
            exchange::verify(&each.rows, &each.transfers, &self.context()).map_err(|error| {
                CompileError::Verify {
                    stage: "exchange",
                    problem: error.to_string(),
                }
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
