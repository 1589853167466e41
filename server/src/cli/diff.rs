//! `profile-diff`: two profiles compared, as text, Markdown or JSON; the exit status judges.

use analytics::diff::{DiffError, DiffOptions, diff};
use analytics::query::QueryError;
use analytics::report::{diff_json, diff_markdown, diff_text};

use super::args::{Command, DiffArgs};
use super::output::print;
use super::percent::hundredths;
use super::query::{clock, command};
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &DiffArgs, io: &mut Io<'_>) -> Outcome {
    let limit = args.fail_above.as_deref();
    let limit = limit
        .map(|text| hundredths(text, "--fail-above").map(|it| (text, it)))
        .transpose()?;
    let options = options(args);
    let before = open::profile(&args.before)?;
    let after = open::profile(&args.after)?;
    let found = diff(&before, &after, &options).map_err(|error| refused(error, args))?;
    let text = match (args.json, args.markdown) {
        (true, _) => diff_json(&found, args.limit),
        (false, true) => diff_markdown(&found, args.limit),
        (false, false) => diff_text(&found, args.limit),
    };
    print(io.stdout, &text)?;
    match limit {
        Some((text, limit)) if found.is_slower_by_more_than(limit) => {
            let percent = text.trim_end_matches('%').trim_end();
            let what = format!(
                "the run grew from {} to {} cycles, by more than {percent} %",
                found.before.run, found.after.run
            );
            Err(CliError::limit(what, "--fail-above").into())
        }
        _ => Ok(()),
    }
}

/// The comparison that flags ask for and its limit, as words of a command line without program,
/// command and files. It is for an answer in JSON: flags for other answers are refused.
pub(crate) fn comparison(flags: Vec<String>) -> Result<(DiffOptions, usize), String> {
    match command(&["profile-diff", "before", "after"], flags)? {
        Command::ProfileDiff(args) if args.markdown || args.fail_above.is_some() => {
            Err("--markdown and --fail-above are for the command line".to_owned())
        }
        Command::ProfileDiff(args) => Ok((options(&args), args.limit)),
        _ => Err("the flags are of another command".to_owned()),
    }
}

const fn options(args: &DiffArgs) -> DiffOptions {
    DiffOptions {
        clock: clock(args.clock),
        noise: args.noise,
        force: args.force,
    }
}

fn refused(error: DiffError, args: &DiffArgs) -> CliError {
    let place = format!("{} and {}", args.before.display(), args.after.display());
    match error {
        DiffError::Query(QueryError::Decode(error)) => open::refused(&error, &args.after),
        DiffError::Unlike { .. } => {
            CliError::user(error, place, "record both alike, or compare with --force")
        }
        other => CliError::user(other, place, "see profile-diff --help"),
    }
}
