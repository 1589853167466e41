//! Charts of the profile, drawn by `analytics::chart`, with the data that they show.

use analytics::chart::{Chart, ChartData, ChartQuestion, Theme};
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{self, Filter, QueryResult, SortKey};
use analytics::text;
use plotters::drawing::IntoDrawingArea as _;
use plotters_svg::SVGBackend;
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::list::{List, Press};
use super::protocol::{chart_name, clock_name};
use super::table::Cell;
use crate::state::kind_choice::kind_counted;

/// Which chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlotAsked {
    /// What it shows.
    #[serde(with = "chart_name")]
    pub(crate) chart: Chart,
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

/// The answer from a report in memory.
pub(crate) fn plot(report: &ProfileReport, asked: &PlotAsked) -> Result<PlotAnswer, Failure> {
    let question = question(asked);
    let data = question.ask(report)?;
    let theme = if asked.dark {
        &Theme::DARK
    } else {
        &Theme::LIGHT
    };
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, asked.size).into_drawing_area();
        // Drawing into a string cannot fail.
        let _drawn = question.draw(&data, &area, theme);
        let _drawn = area.present();
    }
    let (csv, said) = match &data {
        ChartData::Durations(found) => (histogram_csv(found), histogram_in_words(found)),
        ChartData::Cumulative(found) => (cumulative_csv(found), cumulative_in_words(found)),
        ChartData::Groups(found) => (groups_csv(found), groups_in_words(found)),
    };
    Ok(PlotAnswer {
        asked: asked.clone(),
        svg,
        csv,
        json: question.json(&data),
        said,
    })
}

impl PlotAsked {
    /// The kind of the samples that count; `None` is all of them.
    pub(super) fn kind(&self) -> Option<SampleKind> {
        let all_kinds = self.chart == Chart::Phases && self.kernel.is_none();
        let usual = (!all_kinds).then_some(SampleKind::Compute);
        kind_counted(self.kernel.as_deref(), usual)
    }
}

fn question(asked: &PlotAsked) -> ChartQuestion {
    ChartQuestion {
        chart: asked.chart,
        figure: SortKey::WorkCycles,
        filter: Filter {
            kind: asked.kind(),
            kernel: asked.kernel.clone(),
            ..Filter::default()
        },
        clock: asked.clock,
    }
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
            "{samples} samples of up to {} cycles; most of one length, {}, take {} cycles or a \
             little more",
            text::count(found.longest),
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

fn groups_csv(found: &QueryResult) -> String {
    let table = super::table::rows(found);
    let columns: Vec<(&str, &str, &str)> = super::table::COLUMNS
        .iter()
        .map(|it| (it.id, "", ""))
        .collect();
    let mut list = List::new(&columns);
    for row in table.rows {
        list.push(Press::Nothing, row.cells);
    }
    written(&list)
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
    fn a_kind_in_focus_is_asked_for_as_a_kind() {
        let kind = |chart, kernel: Option<&str>| {
            let asked = PlotAsked {
                chart,
                clock: ClockKind::Cropped,
                kernel: kernel.map(str::to_owned),
                size: (900, 420),
                dark: false,
            };
            question(&asked).filter.kind
        };
        let waiting = Some(SampleKind::Synchronization);
        for chart in Chart::ALL {
            assert_eq!(kind(chart, Some("sync")), waiting, "{}", chart.name());
            assert_eq!(kind(chart, Some("gemm")), Some(SampleKind::Compute));
        }
        assert_eq!(kind(Chart::Tiles, None), Some(SampleKind::Compute));
        assert_eq!(kind(Chart::Phases, None), None);
    }

    #[test]
    fn a_histogram_is_told_by_its_highest_bin() {
        let bins = [(8, 2), (16, 1_200), (32, 3)];
        let bins = bins.map(|(first, samples)| query::Bin { first, samples });
        let found = query::Histogram {
            bins: bins.to_vec(),
            longest: 40,
        };
        assert_eq!(
            histogram_in_words(&found),
            "1\u{202f}205 samples of up to 40 cycles; most of one length, 1\u{202f}200, take 16 \
             cycles or a little more"
        );
        assert_eq!(
            histogram_in_words(&query::Histogram::default()),
            "0 samples"
        );
    }
}
