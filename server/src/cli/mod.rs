//! The `ipu-stack` command: arguments → one subcommand → results on standard output, exit status.
//!
//! [`run`] is the whole command as a function of its arguments and an [`Io`], so tests call it
//! in-process. Arguments are read in two stages: [`args`] holds what was typed, each subcommand
//! turns it into what was meant before it touches a file.

pub mod args;
mod barriers;
mod browser;
mod compile;
mod convert;
mod critical;
mod demo;
mod device;
mod diff;
mod export;
mod fidelity;
mod host;
mod inspect;
mod output;
mod part;
mod percent;
mod plan_args;
mod plot;
mod profile_args;
mod progress;
mod query;
mod raster;
mod render;
mod report;
mod run_report;
mod schedule_bench;
mod simulate;
mod slice;
mod synth;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser as _;

use crate::error::{CliError, Fault};
use args::{Cli, Command};

pub(crate) use diff::comparison;
pub(crate) use query::{empty, question};

/// What the command touches besides files and sockets.
pub struct Io<'a> {
    /// Results.
    pub stdout: &'a mut (dyn Write + Send),
    /// Errors and progress.
    pub stderr: &'a mut (dyn Write + Send),
    /// Whether a person watches standard error, so that progress is worth drawing.
    pub interactive: bool,
    /// Environment variables by name.
    pub environment: &'a (dyn Fn(&str) -> Option<OsString> + Sync),
}

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Exit status 0.
    Success,
    /// Exit status 1: the arguments or the input are at fault.
    UserError,
    /// Exit status 2: this program is at fault.
    InternalError,
    /// Exit status 3: a figure passed the limit that was asked for.
    LimitPassed,
}

impl Status {
    /// The exit status for the operating system.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::UserError => 1,
            Self::InternalError => 2,
            Self::LimitPassed => 3,
        }
    }
}

/// Runs the command. `arguments` start with the program's name, as the system gives them.
pub fn run(arguments: impl IntoIterator<Item = OsString>, io: &mut Io<'_>) -> Status {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(refusal) => return refuse(&refusal, io),
    };
    match dispatch(cli.command, &words, io).and_then(|()| output::flush(io.stdout)) {
        Ok(()) => Status::Success,
        Err(Stop::ReaderGone) => Status::Success,
        Err(Stop::Failed(error)) => {
            // Nobody is left to tell when standard error is gone too.
            let _told = writeln!(io.stderr, "error: {error}");
            match error.fault() {
                Fault::User => Status::UserError,
                Fault::Internal => Status::InternalError,
                Fault::Limit => Status::LimitPassed,
            }
        }
    }
}

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The reader of standard output has seen enough; that is no failure.
    ReaderGone,
    /// It failed.
    Failed(CliError),
}

impl From<CliError> for Stop {
    fn from(error: CliError) -> Self {
        Self::Failed(error)
    }
}

type Outcome = Result<(), Stop>;

/// `words` is what was typed: a command that takes settings from elsewhere reads it again.
fn dispatch(command: Command, words: &[OsString], io: &mut Io<'_>) -> Outcome {
    match command {
        Command::Compile(args) => compile::run(args, io),
        Command::Run(args) => simulate::run(args, io),
        Command::ProfileQuery(args) => query::run(&args, io),
        Command::ProfileBarriers(args) => barriers::run(&args, io),
        Command::ProfileCriticalPath(args) => critical::run(&args, io),
        Command::ProfileDiff(args) => diff::run(&args, io),
        Command::ProfileExport(args) => export::run(&args, io),
        Command::ProfileSlice(args) => slice::run(&args, io),
        Command::ProfilePlot(args) => plot::run(&args, io),
        Command::Report(args) => report::run(&args, io),
        Command::ProfileInspect(args) => inspect::run(&args, io),
        Command::ProfileConvert(args) => convert::run(args, io),
        Command::ProfileRender(args) => render::run(args, io),
        Command::ProfileSynth(args) => synth::run(args, io),
        Command::Serve(_) => host::serve::run(words, io),
        Command::ServeToken(args) => host::token::run(&args, io),
        Command::Publish(args) => host::publish::run(&args, io),
        Command::Open(args) => host::open::run(&args, io),
        Command::Fetch(args) => host::fetch::run(&args, io),
        Command::Demo(args) => demo::run(&args, io),
        Command::ScheduleBench(args) => schedule_bench::run(&args, io),
        Command::Fidelity(args) => fidelity::run(&args, io),
    }
}

/// Help and version are results; anything else is a mistake in the arguments.
fn refuse(refusal: &clap::Error, io: &mut Io<'_>) -> Status {
    let text = refusal.render();
    if refusal.use_stderr() {
        let _told = write!(io.stderr, "{text}");
        return Status::UserError;
    }
    let _told = write!(io.stdout, "{text}").and_then(|()| io.stdout.flush());
    Status::Success
}
