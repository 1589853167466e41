//! The data of charts that no query answers, as JSON.

use serde::Serialize;

use super::json::{Filters, WorkJson, pretty};
use crate::clock::ClockKind;
use crate::query::{Bin, Cumulative, CumulativePoint, Filter, Histogram};

/// Name and version of the contract.
pub const PLOT_SCHEMA: &str = "ipu-stack/profile-plot/1";

/// The bars of a histogram of durations as pretty JSON with a final newline.
#[must_use]
pub fn durations_json(found: &Histogram, filter: &Filter, clock: ClockKind) -> String {
    let bin = |it: &Bin| BinJson {
        first_cycles: it.first,
        sample_count: it.samples,
    };
    pretty(&Report {
        chart: "durations",
        sample_count: Some(found.sample_count()),
        longest_cycles: Some(found.longest),
        bins: Some(found.bins.iter().map(bin).collect()),
        ..Report::new(filter, clock)
    })
}

/// The points of work over time as pretty JSON with a final newline.
#[must_use]
pub fn cumulative_json(found: &Cumulative, filter: &Filter, clock: ClockKind) -> String {
    let point = |it: &CumulativePoint| PointJson {
        at: it.at,
        measured_cycles: it.measured.get(),
        physical_work_cycles: WorkJson(it.physical),
        useful_cycles: WorkJson(it.useful),
    };
    pretty(&Report {
        chart: "cumulative",
        run_cycles: Some(found.run),
        tile_count: Some(found.tile_count),
        points: Some(found.points.iter().map(point).collect()),
        ..Report::new(filter, clock)
    })
}

/// Only the figures of the chart are present.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    chart: &'static str,
    clock: &'static str,
    filters: Filters<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Vec<BinJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tile_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<PointJson>>,
}

impl<'a> Report<'a> {
    fn new(filter: &'a Filter, clock: ClockKind) -> Self {
        Self {
            schema: PLOT_SCHEMA,
            chart: "",
            clock: clock.name(),
            filters: Filters::new(filter),
            sample_count: None,
            longest_cycles: None,
            bins: None,
            run_cycles: None,
            tile_count: None,
            points: None,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BinJson {
    first_cycles: u64,
    sample_count: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PointJson {
    at: u64,
    measured_cycles: u64,
    physical_work_cycles: WorkJson,
    useful_cycles: WorkJson,
}
