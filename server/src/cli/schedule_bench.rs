//! `schedule-bench`: an exchange problem from a file → scheduled, encoded, checked, timed.

use std::fmt::Write as _;
use std::time::Instant;

use analytics::text::{count, cycles};
use compiler::exchange::problem::{ProblemPhase, read};
use compiler::exchange::{ExchangeContext, encode, schedule, verify};
use runtime::machine::topology::Topology;

use super::args::ScheduleBenchArgs;
use super::output::print;
use super::progress::Progress;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &ScheduleBenchArgs, io: &mut Io<'_>) -> Outcome {
    let place = args.problem.display();
    let bytes = open::map(&args.problem)?;
    let text = str::from_utf8(&bytes).map_err(|error| {
        CliError::user(
            format!("not text: {error}"),
            &place,
            "name a problem as JSON",
        )
    })?;
    let problem = read(text)
        .map_err(|error| CliError::user(error, &place, "write the problem in schema version 4"))?;
    let topology = Topology::first_tiles(problem.tiles);
    let context = ExchangeContext {
        topology: &topology,
        row_code: &[],
    };
    let progress = Progress::new(io.interactive);
    let mut answer = heading();
    for (done, phase) in problem.phases.iter().enumerate() {
        progress.stage("schedule", done as u64, problem.phases.len() as u64);
        answer.push_str(&measure(phase, &context, &place.to_string())?);
    }
    drop(progress);
    print(io.stdout, &answer)
}

fn heading() -> String {
    let columns = [
        "phase",
        "transfers",
        "horizon",
        "bound",
        "schedule",
        "encode",
        "row words",
    ];
    let [phase, transfers, horizon, bound, scheduled, encoded, words] = columns;
    format!(
        "{phase:>5} {transfers:>10} {horizon:>8} {bound:>8} {scheduled:>11} {encoded:>11} \
         {words:>11} {:>9}  check\n",
        "longest"
    )
}

/// One line for a phase: what it moves, how long it takes, how long the work took, what the
/// decoded rows say.
fn measure(
    phase: &ProblemPhase,
    context: &ExchangeContext<'_>,
    place: &str,
) -> Result<String, CliError> {
    let place = format!("{place}, phase {}", phase.phase);
    let started = Instant::now();
    let scheduled = schedule(&phase.transfers, context)
        .map_err(|error| CliError::user(error, &place, "change the transfers"))?;
    let schedule_ms = milliseconds(started);
    let started = Instant::now();
    let rows = encode(&scheduled, context).map_err(|error| CliError::internal(error, &place))?;
    let encode_ms = milliseconds(started);
    verify(&rows, &phase.transfers, context).map_err(|error| CliError::internal(error, &place))?;
    let lengths = || rows.iter().flatten().map(|row| row.words.len() as u64);
    let report = scheduled.report();
    let mut line = String::new();
    let _fits = writeln!(
        line,
        "{:>5} {:>10} {:>8} {:>8} {schedule_ms:>8.1} ms {encode_ms:>8.1} ms {:>11} {:>9}  passed",
        phase.phase,
        count(phase.transfers.len() as u64),
        cycles(report.horizon),
        cycles(report.bound),
        count(lengths().sum()),
        count(lengths().max().unwrap_or(0)),
    );
    Ok(line)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
