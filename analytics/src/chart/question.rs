//! A chart of a profile: the question behind it, its picture, and its data as JSON.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};

use super::{
    Theme, cumulative_work, duration_histogram, kernel_work, phase_waterfall, roofline, tile_map,
};
use crate::clock::ClockKind;
use crate::profile::ProfileReport;
use crate::query::{
    self, CUMULATIVE_POINTS, Cumulative, Filter, GroupBy, Histogram, Query, QueryError,
    QueryResult, SortKey,
};
use crate::report::{cumulative_json, durations_json, query_json};

/// What a chart shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chart {
    /// Work cycles of each kernel, and their useful part.
    KernelWork,
    /// How many samples took how long.
    #[default]
    Durations,
    /// How measured, physical and useful work add up over the run.
    Cumulative,
    /// Useful efficiency of each kernel under the roof of its lane occupancy.
    Roofline,
    /// Phases from their first to their last sample.
    Phases,
    /// A figure of each tile.
    Tiles,
}

impl Chart {
    /// All charts, in the order of menus.
    pub const ALL: [Self; 6] = [
        Self::Durations,
        Self::Cumulative,
        Self::Roofline,
        Self::Phases,
        Self::Tiles,
        Self::KernelWork,
    ];

    /// The name in commands, in links and in names of files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KernelWork => "kernel-work",
            Self::Durations => "durations",
            Self::Cumulative => "cumulative",
            Self::Roofline => "roofline",
            Self::Phases => "phases",
            Self::Tiles => "tiles",
        }
    }

    /// What menus say.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::KernelWork => "Work of the kernels",
            Self::Durations => "Histogram of durations",
            Self::Cumulative => "Work over time",
            Self::Roofline => "Issue-cycle roofline",
            Self::Phases => "Waterfall of phases",
            Self::Tiles => "Heat map of tiles",
        }
    }

    /// The chart with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Which chart, of which samples.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartQuestion {
    /// What it shows.
    pub chart: Chart,
    /// What the colour of a tile says; of no matter to other charts.
    pub figure: SortKey,
    /// The samples that count.
    pub filter: Filter,
    /// The clock in force.
    pub clock: ClockKind,
}

/// What a chart shows, as figures.
#[derive(Clone, Debug, PartialEq)]
pub enum ChartData {
    /// Of kernels, phases or tiles.
    Groups(Box<QueryResult>),
    /// Of [`Chart::Durations`].
    Durations(Histogram),
    /// Of [`Chart::Cumulative`].
    Cumulative(Cumulative),
}

impl ChartQuestion {
    /// The figures of the chart.
    ///
    /// # Errors
    /// As [`query::query`].
    pub fn ask(&self, report: &ProfileReport) -> Result<ChartData, QueryError> {
        let (filter, clock) = (&self.filter, self.clock);
        let (group_by, sort_by) = match self.chart {
            Chart::Durations => {
                let found = query::histogram(report, filter, clock)?;
                return Ok(ChartData::Durations(found));
            }
            Chart::Cumulative => {
                let found = query::cumulative(report, filter, clock, CUMULATIVE_POINTS)?;
                return Ok(ChartData::Cumulative(found));
            }
            Chart::KernelWork | Chart::Roofline => (GroupBy::Kernel, SortKey::WorkCycles),
            Chart::Phases => (GroupBy::Phase, SortKey::FirstOffset),
            Chart::Tiles => (GroupBy::Tile, SortKey::Name),
        };
        let question = Query {
            group_by,
            filter: filter.clone(),
            clock,
            sort_by,
            limit: 0,
            samples: 0,
        };
        let found = query::query(report, &question)?;
        Ok(ChartData::Groups(Box::new(found)))
    }

    /// Draws the figures that [`Self::ask`] gave.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn draw<DB: DrawingBackend>(
        &self,
        data: &ChartData,
        area: &DrawingArea<DB, Shift>,
        theme: &Theme,
    ) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
        match data {
            ChartData::Durations(found) => duration_histogram(area, found, theme),
            ChartData::Cumulative(found) => cumulative_work(area, found, theme),
            ChartData::Groups(found) => match self.chart {
                Chart::Roofline => roofline(area, found, theme),
                Chart::Phases => phase_waterfall(area, found, theme),
                Chart::Tiles => tile_map(area, found, self.figure, theme),
                Chart::KernelWork | Chart::Durations | Chart::Cumulative => {
                    kernel_work(area, found, theme)
                }
            },
        }
    }

    /// The figures as JSON; of groups what `profile-query` prints.
    #[must_use]
    pub fn json(&self, data: &ChartData) -> String {
        match data {
            ChartData::Groups(found) => query_json(found),
            ChartData::Durations(found) => durations_json(found, &self.filter, self.clock),
            ChartData::Cumulative(found) => cumulative_json(found, &self.filter, self.clock),
        }
    }
}
