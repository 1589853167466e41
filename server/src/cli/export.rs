//! `profile-export`: samples of a profile as a file of another tool.

use std::path::Path;

use analytics::export::{ExportError, ExportFormat, ExportOptions, TimeUnit, export};
use analytics::text::count;

use super::args::{ExportArgs, TimeArg};
use super::output::{print, unwritable, warn, write_through, wrote};
use super::query::{clock, unknown};
use super::{Io, Outcome, part};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &ExportArgs, io: &mut Io<'_>) -> Outcome {
    let format = ExportFormat::from_name(&args.format).ok_or_else(|| {
        let known = ExportFormat::ALL.iter().map(|format| format.name());
        unknown("format", &args.format, "--format", known)
    })?;
    let report = open::profile(&args.profile)?;
    let options = ExportOptions {
        tiles: part::tiles(&args.part, &report)?,
        range: part::range(&args.part)?,
        clock: clock(args.part.clock),
        time: match args.time {
            TimeArg::Cycles => TimeUnit::Cycles,
            TimeArg::Clock => TimeUnit::Clock,
        },
        max_bytes: args.max_bytes,
    };
    let mut exported = None;
    let bytes = write_through(&args.output, |out| {
        let done = export(&report, format, &options, out);
        exported = Some(done.map_err(|error| refused(error, &args.profile, &args.output))?);
        Ok(())
    })?;
    warn(io, &report.warnings());
    let exported = exported.unwrap_or_default();
    let wrote = wrote(&args.output, bytes);
    let (samples, total) = (count(exported.samples), count(exported.total));
    let text = format!(
        "{wrote}: {samples} of {total} samples as {}\n",
        format.name()
    );
    print(io.stdout, &text)?;
    let empty = exported.selected - exported.samples;
    if empty > 0 {
        let clock = options.clock.name();
        let empty = count(empty);
        print(
            io.stdout,
            &format!("{empty} selected samples have no length on the {clock} clock\n"),
        )?;
    }
    Ok(())
}

fn refused(error: ExportError, profile: &Path, output: &Path) -> CliError {
    let hint = match &error {
        ExportError::Decode(error) => return open::refused(error, profile),
        ExportError::Write(error) => return unwritable(error, output),
        ExportError::TooLarge { .. } => "use --tiles, --range or --max-bytes, or a table format",
        ExportError::TooManyTiles { .. } => "use --tiles, or the format perfetto",
        ExportError::ClockUnknown => "use --time cycles",
        ExportError::NoSuchTile(_) => "profile-query --group-by tile --limit 0 lists the tiles",
        _ => "see profile-export --help",
    };
    CliError::user(error, profile.display(), hint)
}
