//! `profile-convert`: columnar ↔ row, without loss.

use analytics::format::{FileKind, open_bytes, row, sniff};
use analytics::profile::Condition;
use analytics::text::count;

use super::args::{ConvertArgs, FormatArg};
use super::output::{print, write_file, wrote};
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: ConvertArgs, io: &mut Io<'_>) -> Outcome {
    let ConvertArgs {
        profile,
        output,
        to,
    } = args;
    let input = open::map(&profile)?;
    let damaged = |error| open::refused(&error, &profile);
    let from = sniff(&input);
    let report = open_bytes(input.clone()).map_err(damaged)?;
    if let Condition::Truncated { at } = report.condition() {
        let hint = "record it again; a conversion would hide that samples are missing";
        let what = format!("the profile is cut after byte {at}");
        return Err(CliError::user(what, profile.display(), hint).into());
    }
    let (name, bytes) = match to {
        FormatArg::Columnar if from == FileKind::Columnar => ("columnar", input),
        FormatArg::Columnar => ("columnar", row::to_file(&input).map_err(damaged)?.into()),
        FormatArg::Row => ("row", row::encode(&report).map_err(damaged)?.into()),
    };
    write_file(&output, &bytes)?;
    let (tiles, samples) = (
        count(report.tiles().len() as u64),
        count(report.sample_count()),
    );
    let wrote = wrote(&output, bytes.len() as u64);
    let text = format!("{wrote}: a {name} profile of {tiles} tiles and {samples} samples\n");
    print(io.stdout, &text)
}
