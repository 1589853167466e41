//! `profile-barriers`: where tiles wait for each other, as text or JSON.

use analytics::barriers::{BarrierSort, barriers, barriers_for};
use analytics::report::{barriers_json, barriers_text};

use super::args::BarriersArgs;
use super::output::print;
use super::query::unknown;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &BarriersArgs, io: &mut Io<'_>) -> Outcome {
    let sort = BarrierSort::from_name(&args.sort_by).ok_or_else(|| {
        let known = BarrierSort::ALL.iter().map(|sort| sort.name());
        unknown("figure", &args.sort_by, "--sort-by", known)
    })?;
    let report = open::profile(&args.profile)?;
    let found = match &args.kernel {
        Some(kernel) => barriers_for(&report, kernel),
        None => barriers(&report),
    };
    let found = found.map_err(|error| open::refused(&error, &args.profile))?;
    if args.strict && found.barriers.is_empty() {
        let hint = match found.warnings.join("; ") {
            warnings if warnings.is_empty() => "no tile waits for it".to_owned(),
            warnings => warnings,
        };
        let what = "no exchange boundary is left";
        return Err(CliError::user(what, args.profile.display(), hint).into());
    }
    let text = if args.json {
        barriers_json(&found, sort, args.limit)
    } else {
        barriers_text(&found, sort, args.limit)
    };
    print(io.stdout, &text)
}
