//! `report`: everything about one profile in one folder, for a CI artifact or a colleague.

use analytics::barriers::{BarrierSort, barriers};
use analytics::chart::{Chart, ChartQuestion, Theme};
use analytics::clock::ClockKind;
use analytics::critical::{CriticalOptions, critical_path};
use analytics::format::DecodeError;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{Filter, Query, QueryError, SortKey, query};
use analytics::report::{barriers_json, critical_json, query_json};

use super::args::ReportArgs;
use super::output::{print, unwritable, warn, write_file, wrote};
use super::plot::Plot;
use super::{Io, Outcome, raster};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &ReportArgs, io: &mut Io<'_>) -> Outcome {
    let input = open::map(&args.profile)?;
    let report = open::profile(&args.profile)?;
    let damaged = |error: &DecodeError| open::refused(error, &args.profile);
    let answer = |error: QueryError| match error {
        QueryError::Decode(error) => damaged(&error),
        other => CliError::internal(other, "report"),
    };
    let title = args.title.clone().unwrap_or_else(|| {
        let name = args.profile.file_name().unwrap_or(args.profile.as_os_str());
        name.to_string_lossy().into_owned()
    });
    let page = site::render_single_file(&input, &title)
        .map_err(|error| CliError::internal(error, "report"))?;
    let summary = query_json(&query(&report, &kernels()).map_err(answer)?);
    let waits = barriers(&report).map_err(|error| damaged(&error))?;
    let path = critical_path(&report, &CriticalOptions::default());
    let path = path.map_err(|error| damaged(&error))?;
    let chart = raster::png(&chart(&report).map_err(answer)?)?;
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|error| unwritable(&error, folder))?;
    let files: [(&str, &[u8]); 6] = [
        ("profile.ipuprofile", &input),
        ("viewer.html", &page),
        ("summary.json", summary.as_bytes()),
        (
            "barriers.json",
            &barriers_json(&waits, BarrierSort::default(), 0).into_bytes(),
        ),
        ("critical-path.json", &critical_json(&path, 0).into_bytes()),
        ("kernel-work.png", &chart),
    ];
    warn(io, &report.warnings());
    for (name, bytes) in files {
        let path = folder.join(name);
        write_file(&path, bytes)?;
        print(
            io.stdout,
            &format!("{}\n", wrote(&path, bytes.len() as u64)),
        )?;
    }
    Ok(())
}

/// All compute kernels, most work first.
fn kernels() -> Query {
    Query {
        filter: Filter {
            kind: Some(SampleKind::Compute),
            ..Filter::default()
        },
        sort_by: SortKey::WorkCycles,
        limit: 0,
        ..Query::default()
    }
}

fn chart(report: &ProfileReport) -> Result<String, QueryError> {
    Plot {
        question: ChartQuestion {
            chart: Chart::KernelWork,
            figure: SortKey::WorkCycles,
            filter: kernels().filter,
            clock: ClockKind::default(),
        },
        size: (960, 540),
        theme: Theme::LIGHT,
    }
    .svg(report)
}
