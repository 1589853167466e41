//! `profile-diff`: two profiles compared, as text, Markdown or JSON; the exit status judges.

use analytics::diff::{DiffError, DiffOptions, diff};
use analytics::query::QueryError;
use analytics::report::{diff_json, diff_markdown, diff_text};

use super::args::DiffArgs;
use super::output::print;
use super::percent::hundredths;
use super::query::clock;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &DiffArgs, io: &mut Io<'_>) -> Outcome {
    let limit = args.fail_above.as_deref();
    let limit = limit
        .map(|text| hundredths(text, "--fail-above").map(|it| (text, it)))
        .transpose()?;
    let options = DiffOptions {
        clock: clock(args.clock),
        noise: args.noise,
        force: args.force,
    };
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
