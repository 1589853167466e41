//! `profile-part`: what some tiles spent some cycles on, as text or JSON.

use analytics::profile::ProfileReport;
use analytics::report::{part_json, part_text};
use analytics::timeline::PartQuestion;
use analytics::units::StringId;

use super::args::SpentArgs;
use super::output::print;
use super::{Io, Outcome, part};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &SpentArgs, io: &mut Io<'_>) -> Outcome {
    let report = open::profile(&args.profile)?;
    let refused = |error| open::refused(&error, &args.profile);
    let kernel = args.kernel.as_deref();
    let question = PartQuestion {
        part: part::part(&args.part, &report, &args.profile)?,
        by_tile: args.by_tile,
        kernel: kernel.map(|name| id(&report, name)).transpose()?,
    };
    let spent = question.answer(&report).map_err(refused)?;
    let text = if args.json {
        part_json(&report, &question, &spent)
    } else {
        part_text(&report, &question, &spent)
    };
    print(io.stdout, &text)
}

/// The kernel with this name.
fn id(report: &ProfileReport, name: &str) -> Result<StringId, CliError> {
    let mut kernels = report.kernels().iter().copied();
    let found = kernels.find(|&id| report.string(id) == name);
    found.ok_or_else(|| {
        let what = format!("no sample runs the kernel {name:?}");
        let hint = "profile-query --limit 0 lists the kernels";
        CliError::user(what, "--kernel", hint)
    })
}
