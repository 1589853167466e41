//! `profile-slice`: some tiles and cycles of a profile as a smaller profile.

use analytics::format::{SliceError, SliceOptions, open_bytes, slice};
use analytics::text::count;

use super::args::SliceArgs;
use super::output::{print, warn, write_file, wrote};
use super::query::clock;
use super::{Io, Outcome, part};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &SliceArgs, io: &mut Io<'_>) -> Outcome {
    let report = open::profile(&args.profile)?;
    let options = SliceOptions {
        tiles: part::tiles(&args.part, &report)?,
        range: part::range(&args.part)?,
        clock: clock(args.part.clock),
    };
    let bytes = slice(&report, &options).map_err(|error| refused(&error, args))?;
    write_file(&args.output, &bytes)?;
    warn(io, &report.warnings());
    let length = bytes.len() as u64;
    let part = open_bytes(bytes).map_err(|error| CliError::internal(error, "profile-slice"))?;
    let text = format!(
        "{}: {} of {} samples on {} of {} tiles\n",
        wrote(&args.output, length),
        count(part.sample_count()),
        count(report.sample_count()),
        count(part.tiles().len() as u64),
        count(report.tiles().len() as u64),
    );
    print(io.stdout, &text)
}

fn refused(error: &SliceError, args: &SliceArgs) -> CliError {
    let hint = match error {
        SliceError::Decode(error) => return open::refused(error, &args.profile),
        SliceError::NoSuchTile(_) => "profile-query --group-by tile --limit 0 lists the tiles",
        SliceError::Empty => "profile-query prints the span; choose a range inside it",
        _ => "choose fewer tiles or a shorter range",
    };
    CliError::user(error, args.profile.display(), hint)
}
