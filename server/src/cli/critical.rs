//! `profile-critical-path`: what the run waited for, as text or JSON.

use analytics::critical::{CriticalOptions, WHOLE, critical_path};
use analytics::report::{critical_json, critical_text};

use super::args::CriticalPathArgs;
use super::output::print;
use super::percent::hundredths;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &CriticalPathArgs, io: &mut Io<'_>) -> Outcome {
    let faster = hundredths(&args.faster, "--faster")?;
    if faster > WHOLE {
        let hint = "a kernel saves at most 100 percent of its time";
        return Err(CliError::user("more than everything", "--faster", hint).into());
    }
    let options = CriticalOptions {
        shared: args.shared_clock,
        faster,
    };
    let report = open::profile(&args.profile)?;
    let found =
        critical_path(&report, &options).map_err(|error| open::refused(&error, &args.profile))?;
    let text = if args.json {
        critical_json(&found, args.limit)
    } else {
        critical_text(&found, args.limit)
    };
    print(io.stdout, &text)
}
