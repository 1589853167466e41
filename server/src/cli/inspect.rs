//! `profile-inspect`: the figures of a profile as a file, as `key=value` lines or JSON.

use analytics::inspect::inspect;
use analytics::report::{inspect_json, inspect_text};

use super::args::InspectArgs;
use super::output::print;
use super::{Io, Outcome};
use crate::open;

pub(super) fn run(args: &InspectArgs, io: &mut Io<'_>) -> Outcome {
    let report = open::profile(&args.profile)?;
    let inspection = inspect(&report).map_err(|error| open::refused(&error, &args.profile))?;
    let text = if args.json {
        inspect_json(&inspection)
    } else {
        inspect_text(&inspection)
    };
    print(io.stdout, &text)
}
