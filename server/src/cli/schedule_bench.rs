//! `schedule-bench`: an exchange problem from a file → scheduled, encoded, checked, timed.

use clap::ValueEnum;
use compiler::exchange::Synthetic;
use compiler::exchange::problem::{ProblemError, read};

use super::args::ScheduleBenchArgs;
use super::output::{print, write_file, wrote};
use super::progress::Progress;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

/// A problem that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProblemArg {
    /// A fragmented change of layout: 62,342 short messages from 162 tiles
    #[value(name = "prep62k")]
    Prep62k,
    /// A balanced redistribution: 200,000 short messages
    #[value(name = "unicast200k")]
    Unicast200k,
    /// One attention block: 160 panels to 91 tiles each
    Broadcast,
    /// Hazards of every kind: 20,000 messages
    Mixed,
}

impl From<ProblemArg> for Synthetic {
    fn from(problem: ProblemArg) -> Self {
        match problem {
            ProblemArg::Prep62k => Self::Prep62k,
            ProblemArg::Unicast200k => Self::Unicast200k,
            ProblemArg::Broadcast => Self::Broadcast,
            ProblemArg::Mixed => Self::Mixed,
        }
    }
}

pub(super) fn run(args: &ScheduleBenchArgs, io: &mut Io<'_>) -> Outcome {
    let place = args.problem.display();
    if let Some(problem) = args.write {
        let text = Synthetic::from(problem).text();
        let text = text.map_err(|error| CliError::internal(error, &place))?;
        write_file(&args.problem, text.as_bytes())?;
        let wrote = wrote(&args.problem, text.len() as u64);
        return print(io.stdout, &format!("{wrote}\n"));
    }
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
