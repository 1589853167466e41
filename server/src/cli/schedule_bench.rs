//! `schedule-bench`: an exchange problem from a file → scheduled, encoded, checked, timed.

use compiler::exchange::problem::{ProblemError, read};

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
    let fail = |error: ProblemError| match error {
        ProblemError::Encode { .. } | ProblemError::Verify { .. } => {
            CliError::internal(error, &place)
        }
        other => CliError::user(other, &place, "write the problem in schema version 4"),
    };
    let problem = read(text).map_err(fail)?;
    let progress = Progress::new(io.interactive);
    progress.stage("schedule", 0, 1);
    let reports = problem.run().map_err(fail)?;
    drop(progress);
    for report in reports {
        print(io.stdout, &format!("{report}\n"))?;
    }
    Ok(())
}
