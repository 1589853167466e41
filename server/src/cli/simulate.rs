//! `run`: a package on the simulated device → outputs checked, cycles reported, a profile recorded.

use std::path::{Path, PathBuf};
use std::time::Instant;

use analytics::profile::Granularity;
use compiler::graph::check::{CheckReport, Tolerance, check};
use compiler::graph::parse::parse;
use compiler::graph::workload::{WorkloadExtents, workload};
use runtime::host::TensorValues;
use runtime::package::Package;
use runtime::sim::{RunError, RunReport};

use super::args::{GranularityArg, RunArgs};
use super::device::DeviceArgs;
use super::output::{print, write_file, wrote};
use super::progress::Progress;
use super::run_report;
use super::{Io, Outcome, Stop};
use crate::error::CliError;
use crate::open;

/// Where the profile goes and how finely it samples.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Recording {
    output: PathBuf,
    granularity: Granularity,
}

/// A finished run with the check of its outputs.
pub(super) struct Finished {
    /// What the device reports.
    pub(super) report: RunReport,
    /// The comparison with the reference; `None` for a timing-only run.
    pub(super) checked: Option<CheckReport>,
    /// Wall time of run and check in seconds.
    pub(super) seconds: f64,
}

pub(super) fn run(args: RunArgs, io: &mut Io<'_>) -> Outcome {
    let recording = recording(args.output, args.granularity, io)?;
    let package = open::package(&args.package)?;
    let granularity = recording.as_ref().map(|recording| recording.granularity);
    let output = recording.as_ref().map(|it| it.output.as_path());
    let finished = simulate(
        &package,
        &args.device,
        (granularity, output),
        &args.package,
        io,
    )?;
    if let (Some(recording), Some(profile)) = (&recording, &finished.report.profile) {
        write_file(&recording.output, profile)?;
    }
    let text = if args.json {
        run_report::json(&package, &finished, output)?
    } else {
        run_report::text(&package, &finished, output)
    };
    print(io.stdout, &text)?;
    verdict(&finished, &args.package)?;
    Ok(())
}

/// Runs a package and compares every output element with the reference. The profile of a run that a
/// fault ended is written to the place that `recording` names with its granularity, if any.
pub(super) fn simulate(
    package: &Package,
    device: &DeviceArgs,
    (granularity, output): (Option<Granularity>, Option<&Path>),
    place: &Path,
    io: &Io<'_>,
) -> Result<Finished, CliError> {
    let started = Instant::now();
    let options = device.run_options(granularity)?;
    let progress = Progress::new(io.interactive);
    let report = runtime::sim::run(package, &options, &mut |at| {
        progress.stage(at.stage.name(), at.done, at.total);
    })
    .map_err(|error| refused(&error, place, output))?;
    progress.stage("check", 0, 1);
    let checked = if device.timing_only {
        None
    } else {
        Some(compare(package, &report, place)?)
    };
    Ok(Finished {
        report,
        checked,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Why a run ended; what was recorded of it is written, so that the viewer shows where.
fn refused(error: &RunError, place: &Path, output: Option<&Path>) -> CliError {
    let hint = "compile the package again";
    if let (RunError::Stopped { profile, .. }, Some(output)) = (error, output) {
        if let Err(Stop::Failed(error)) = write_file(output, profile) {
            return error;
        }
        let wrote = wrote(output, profile.len() as u64);
        return CliError::user(
            error,
            place.display(),
            format!("{hint}; {wrote}: the run up to there"),
        );
    }
    CliError::user(error, place.display(), hint)
}

/// Wrong outputs end the command with an error, after everything was reported.
pub(super) fn verdict(finished: &Finished, place: &Path) -> Result<(), CliError> {
    let Some(checked) = finished
        .checked
        .as_ref()
        .filter(|checked| !checked.passed())
    else {
        return Ok(());
    };
    let CheckReport {
        elements,
        failures,
        worst,
        rms,
        rms_failures,
    } = checked;
    let worst = worst.as_ref().map(|worst| {
        let (name, element) = (&worst.output, worst.element);
        format!(
            ", worst {name}[{element}] = {} instead of {}",
            worst.got, worst.expected
        )
    });
    let spread = (*rms_failures > 0).then(|| {
        let (error, reference) = (rms.error, rms.reference);
        format!(", root mean square {error:.6} of errors beside {reference:.6} of the reference")
    });
    let what = format!(
        "{failures} of {elements} output elements differ from the reference{}{}",
        worst.unwrap_or_default(),
        spread.unwrap_or_default()
    );
    Err(CliError::user(
        what,
        place.display(),
        "compile the package again; if it stays, report it",
    ))
}

fn compare(package: &Package, report: &RunReport, place: &Path) -> Result<CheckReport, CliError> {
    let manifest = &package.manifest;
    let graph = parse(&manifest.graph).map_err(|error| {
        let what = format!("the package's own graph is damaged: {error}");
        CliError::user(what, place.display(), "compile the package again")
    })?;
    // Only the tolerance is taken from the workload; extents do not change it.
    let named = workload(&manifest.workload, &WorkloadExtents::published(1));
    let tolerance = named.map_or(Tolerance::GAUSSIAN, |workload| workload.tolerance);
    let values = |name: &str| {
        let output = report.outputs.iter().find(|output| output.name == name)?;
        match &output.values {
            TensorValues::F16(values) => Some(values.as_slice()),
            TensorValues::F32(_) | TensorValues::F143(_) => None,
        }
    };
    check(&graph, tolerance, values)
        .map_err(|error| CliError::user(error, place.display(), "compile the package again"))
}

/// What the flags and the environment ask for: a flag beats its variable, and the aggregate switch
/// beats every granularity.
fn recording(
    output: Option<PathBuf>,
    granularity: Option<GranularityArg>,
    io: &Io<'_>,
) -> Result<Option<Recording>, CliError> {
    let asked = granularity.is_some();
    // An empty variable names no file: it is as good as unset.
    let named = || (io.environment)("IPU_PROFILE_OUTPUT").filter(|name| !name.is_empty());
    let output = output.or_else(|| named().map(PathBuf::from));
    let granularity = if (io.environment)("IPU_PROFILE_AGGREGATE").is_some() {
        Granularity::Graph
    } else if let Some(level) = granularity {
        level.into()
    } else if let Some(text) = (io.environment)("IPU_PROFILE_GRANULARITY") {
        granularity_named(&text.to_string_lossy())?
    } else {
        Granularity::default()
    };
    match output {
        Some(output) => Ok(Some(Recording {
            output,
            granularity,
        })),
        None if asked => {
            let hint = "name the profile to write with -o FILE";
            Err(CliError::user(
                "no profile is recorded",
                "--granularity",
                hint,
            ))
        }
        None => Ok(None),
    }
}

fn granularity_named(text: &str) -> Result<Granularity, CliError> {
    let levels = [
        Granularity::Graph,
        Granularity::Region,
        Granularity::Phase,
        Granularity::Step,
    ];
    levels
        .into_iter()
        .find(|level| level.name() == text)
        .ok_or_else(|| {
            let what = format!("unknown granularity {text:?}");
            CliError::user(
                what,
                "IPU_PROFILE_GRANULARITY",
                "use graph, region, phase or step",
            )
        })
}

impl From<GranularityArg> for Granularity {
    fn from(level: GranularityArg) -> Self {
        match level {
            GranularityArg::Graph => Self::Graph,
            GranularityArg::Region => Self::Region,
            GranularityArg::Phase => Self::Phase,
            GranularityArg::Step => Self::Step,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::*;

    /// The recording that flags and variables ask for, as text.
    fn asked(
        output: Option<&str>,
        level: Option<GranularityArg>,
        variables: &[(&str, &str)],
    ) -> String {
        let variables: BTreeMap<_, _> = variables.iter().copied().collect();
        let io = Io {
            stdout: &mut Vec::new(),
            stderr: &mut Vec::new(),
            interactive: false,
            environment: &|name| variables.get(name).map(OsString::from),
        };
        match recording(output.map(PathBuf::from), level, &io) {
            Ok(None) => "none".to_owned(),
            Ok(Some(found)) => {
                format!("{} {}", found.output.display(), found.granularity.name())
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn flags_beat_variables_and_the_aggregate_switch_beats_every_level() {
        let to = ("IPU_PROFILE_OUTPUT", "env");
        let level = ("IPU_PROFILE_GRANULARITY", "region");
        let aggregate = ("IPU_PROFILE_AGGREGATE", "");
        let step = Some(GranularityArg::Step);
        assert_eq!(asked(None, None, &[]), "none");
        assert_eq!(asked(None, None, &[aggregate, level]), "none");
        let empty = ("IPU_PROFILE_OUTPUT", "");
        assert_eq!(asked(None, None, &[empty, level]), "none");
        assert_eq!(asked(Some("flag"), None, &[empty]), "flag phase");
        assert_eq!(asked(None, None, &[to]), "env phase");
        assert_eq!(asked(None, None, &[to, level]), "env region");
        assert_eq!(asked(Some("flag"), None, &[to]), "flag phase");
        assert_eq!(asked(Some("flag"), step, &[to, level]), "flag step");
        assert_eq!(
            asked(Some("flag"), step, &[to, level, aggregate]),
            "flag graph"
        );
        let nothing_written = "no profile is recorded: --granularity: \
            name the profile to write with -o FILE";
        assert_eq!(asked(None, step, &[]), nothing_written);
        let unknown = "unknown granularity \"fine\": IPU_PROFILE_GRANULARITY: \
            use graph, region, phase or step";
        assert_eq!(
            asked(None, None, &[to, ("IPU_PROFILE_GRANULARITY", "fine")]),
            unknown
        );
    }
}
