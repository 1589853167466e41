//! Charts of the profile, drawn by `analytics::chart`, with the data that they show.

use analytics::chart::{
    Theme, cumulative_work, duration_histogram, phase_waterfall, roofline, tile_map,
};
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{self, CUMULATIVE_POINTS, Filter, GroupBy, Query, QueryResult, SortKey};
use analytics::report::{cumulative_json, durations_json, query_json};
use analytics::text;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea as _};
use plotters_svg::SVGBackend;
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::list::{List, Press};
use super::protocol::clock_name;
use super::table::Cell;
use crate::state::panels::Plot;

/// Which chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlotAsked {
    /// What it shows.
    pub(crate) plot: Plot,
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// The kernel that it is about; `None` is all of them.
    pub(crate) kernel: Option<String>,
    /// Width and height in CSS pixels.
    pub(crate) size: (u32, u32),
    /// Whether its colours are those for dark pages.
    pub(crate) dark: bool,
}

/// A chart and its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlotAnswer {
    /// What was asked.
    pub(crate) asked: PlotAsked,
    /// The picture.
    pub(crate) svg: String,
    /// The data as comma-separated values.
    pub(crate) csv: String,
    /// The data as JSON.
    pub(crate) json: String,
    /// The main figures in words.
    pub(crate) said: String,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A picture's data as CSV and JSON, and its main figures in words.
type Data = [String; 3];

/// The answer from a report in memory.
pub(crate) fn plot(report: &ProfileReport, asked: &PlotAsked) -> Result<PlotAnswer, Failure> {
    let mut svg = String::new();
    let [csv, json, said] = {
        let area = SVGBackend::with_string(&mut svg, asked.size).into_drawing_area();
        let data = draw(report, asked, &area)?;
        // Drawing into a string cannot fail.
        let _drawn = area.present();
        data
    };
    Ok(PlotAnswer {
        asked: asked.clone(),
        svg,
        csv,
        json,
        said,
    })
}

fn draw(report: &ProfileReport, asked: &PlotAsked, area: &Area<'_>) -> Result<Data, Failure> {
    let theme = if asked.dark {
        &Theme::DARK
    } else {
        &Theme::LIGHT
    };
    let filter = filter(asked);
    let data = match asked.plot {
        Plot::Durations => {
            let found = query::histogram(report, &filter, asked.clock)?;
            let _drawn = duration_histogram(area, &found, theme);
            let json = durations_json(&found, &filter, asked.clock);
            [histogram_csv(&found), json, histogram_in_words(&found)]
        }
        Plot::Cumulative => {
            let found = query::cumulative(report, &filter, asked.clock, CUMULATIVE_POINTS)?;
            let _drawn = cumulative_work(area, &found, theme);
            let json = cumulative_json(&found, &filter, asked.clock);
            [cumulative_csv(&found), json, cumulative_in_words(&found)]
        }
        Plot::Roofline => {
            let found = ask(report, asked, GroupBy::Kernel, SortKey::WorkCycles)?;
            let _drawn = roofline(area, &found, theme);
            query_data(&found)
        }
        Plot::Phases => {
            let found = ask(report, asked, GroupBy::Phase, SortKey::FirstOffset)?;
            let _drawn = phase_waterfall(area, &found, theme);
            query_data(&found)
        }
        Plot::Tiles => {
            let found = ask(report, asked, GroupBy::Tile, SortKey::Name)?;
            let _drawn = tile_map(area, &found, SortKey::WorkCycles, theme);
            query_data(&found)
        }
    };
    Ok(data)
}

fn filter(asked: &PlotAsked) -> Filter {
    let all_kinds = asked.plot == Plot::Phases && asked.kernel.is_none();
    Filter {
        kind: (!all_kinds).then_some(SampleKind::Compute),
        kernel: asked.kernel.clone(),
        ..Filter::default()
    }
}

fn ask(
    report: &ProfileReport,
    asked: &PlotAsked,
    group_by: GroupBy,
    sort_by: SortKey,
) -> Result<QueryResult, Failure> {
    let question = Query {
        group_by,
        filter: filter(asked),
        clock: asked.clock,
        sort_by,
        limit: 0,
        samples: 0,
    };
    Ok(query::query(report, &question)?)
}

fn written(list: &List) -> String {
    let order: Vec<usize> = (0..list.rows.len()).collect();
    list.csv(&order)
}

fn histogram_csv(found: &query::Histogram) -> String {
    let mut list = List::new(&[("firstCycles", "", ""), ("sampleCount", "", "")]);
    for bin in &found.bins {
        let cells = vec![Cell::count(bin.first), Cell::count(bin.samples)];
        list.push(Press::Nothing, cells);
    }
    written(&list)
}

fn histogram_in_words(found: &query::Histogram) -> String {
    let samples = text::count(found.sample_count());
    match found.bins.iter().max_by_key(|it| it.samples) {
        Some(most) => format!(
            "{samples} samples; most of one length, {}, take {} cycles or a little more",
            text::count(most.samples),
            text::count(most.first)
        ),
        None => format!("{samples} samples"),
    }
}

fn cumulative_csv(found: &query::Cumulative) -> String {
    let columns = ["at", "measuredCycles", "physicalWorkCycles", "usefulCycles"];
    let mut list = List::new(&columns.map(|it| (it, "", "")));
    for it in &found.points {
        let work = |work: analytics::units::Work| Cell::decimal(Some(work.as_cycles()), 3);
        let measured = Cell::count(it.measured.get());
        let cells = vec![
            Cell::count(it.at),
            measured,
            work(it.physical),
            work(it.useful),
        ];
        list.push(Press::Nothing, cells);
    }
    written(&list)
}

fn cumulative_in_words(found: &query::Cumulative) -> String {
    let said = found.points.last().map(|it| {
        format!(
            "in the end {} tile cycles, physical work of {} and useful work of {} issue-cycles",
            text::cycles(it.measured),
            text::work(Some(it.physical)),
            text::work(Some(it.useful))
        )
    });
    said.unwrap_or_default()
}

/// The JSON is what `profile-query` prints.
fn query_data(found: &QueryResult) -> Data {
    let table = super::table::rows(found);
    let columns: Vec<(&str, &str, &str)> = super::table::COLUMNS
        .iter()
        .map(|it| (it.id, "", ""))
        .collect();
    let mut list = List::new(&columns);
    for row in table.rows {
        list.push(Press::Nothing, row.cells);
    }
    [written(&list), query_json(found), groups_in_words(found)]
}

fn groups_in_words(found: &QueryResult) -> String {
    let count = format!(
        "{} groups by {}",
        text::count(found.group_count as u64),
        found.group_by.name()
    );
    let groups = found.groups.iter();
    match groups.max_by_key(|it| it.measures.work_cycles) {
        Some(group) => format!(
            "{count}; most tile cycles, {}, took {}: useful efficiency {}, lane occupancy {}",
            text::cycles(group.measures.work_cycles),
            group.name,
            text::percent(group.measures.useful_efficiency()),
            text::percent(group.measures.lane_occupancy())
        ),
        None => count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_told_by_its_highest_bin() {
        let bins = [(8, 2), (16, 1_200), (32, 3)];
        let bins = bins.map(|(first, samples)| query::Bin { first, samples });
        let found = query::Histogram {
            bins: bins.to_vec(),
        };
        assert_eq!(
            histogram_in_words(&found),
            "1\u{202f}205 samples; most of one length, 1\u{202f}200, take 16 cycles or a little \
             more"
        );
        assert_eq!(
            histogram_in_words(&query::Histogram::default()),
            "0 samples"
        );
    }
}
