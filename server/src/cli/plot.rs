//! `profile-plot`: a chart of a profile as SVG, or as PNG rasterised from it.

use std::path::Path;

use analytics::chart::{
    Theme, cumulative_work, duration_histogram, kernel_work, phase_waterfall, roofline, tile_map,
};
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{
    Filter, GroupBy, Query, QueryError, QueryResult, SortKey, cumulative, histogram, query,
};
use plotters::drawing::DrawingArea;
use plotters::drawing::IntoDrawingArea as _;
use plotters_svg::SVGBackend;

use super::args::{ChartArg, PlotArgs};
use super::output::{print, warn, write_file, wrote};
use super::query::{clock, kind, unknown};
use super::{Io, Outcome, raster};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &PlotArgs, io: &mut Io<'_>) -> Outcome {
    let plot = Plot::new(args)?;
    let is_png = is_png(&args.output)?;
    let report = open::profile(&args.profile)?;
    let svg = plot.svg(&report).map_err(|error| match error {
        QueryError::Decode(error) => open::refused(&error, &args.profile),
        other => CliError::user(other, args.profile.display(), "see profile-plot --help"),
    })?;
    let bytes = if is_png {
        raster::png(&svg)?
    } else {
        svg.into_bytes()
    };
    write_file(&args.output, &bytes)?;
    warn(io, &report.warnings());
    let wrote = wrote(&args.output, bytes.len() as u64);
    print(io.stdout, &format!("{wrote}\n"))
}

fn is_png(output: &Path) -> Result<bool, CliError> {
    match output.extension().and_then(|it| it.to_str()) {
        Some("png") => Ok(true),
        Some("svg") => Ok(false),
        _ => {
            let hint = "end the name with .svg or .png";
            Err(CliError::user(
                "no known picture format",
                output.display(),
                hint,
            ))
        }
    }
}

/// Points of the lines of a cumulative chart.
const POINTS: u32 = 480;

/// A chart to be drawn.
pub(super) struct Plot {
    pub(super) chart: ChartArg,
    pub(super) figure: SortKey,
    pub(super) filter: Filter,
    pub(super) clock: ClockKind,
    pub(super) size: (u32, u32),
    pub(super) theme: Theme,
}

impl Plot {
    fn new(args: &PlotArgs) -> Result<Self, CliError> {
        let figure = SortKey::from_name(&args.figure).ok_or_else(|| {
            let known = SortKey::ALL.iter().map(|key| key.name());
            unknown("figure", &args.figure, "--figure", known)
        })?;
        let usual = match args.chart {
            ChartArg::Phases => None,
            ChartArg::KernelWork
            | ChartArg::Durations
            | ChartArg::Tiles
            | ChartArg::Roofline
            | ChartArg::Cumulative => Some(SampleKind::Compute),
        };
        let kind = args.kind.as_deref().map(kind).transpose()?.or(usual);
        Ok(Self {
            chart: args.chart,
            figure,
            filter: Filter {
                kind,
                kernel: args.kernel.clone(),
                ..Filter::default()
            },
            clock: clock(args.clock),
            size: size(&args.size)?,
            theme: if args.dark { Theme::DARK } else { Theme::LIGHT },
        })
    }

    /// Draws the chart.
    pub(super) fn svg(&self, report: &ProfileReport) -> Result<String, QueryError> {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, self.size).into_drawing_area();
            self.draw(report, &area)?;
            // Drawing into a string cannot fail.
            let _drawn = area.present();
        }
        Ok(svg)
    }

    fn draw(
        &self,
        report: &ProfileReport,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    ) -> Result<(), QueryError> {
        let ask = |group_by, sort_by| -> Result<QueryResult, QueryError> {
            let question = Query {
                group_by,
                filter: self.filter.clone(),
                clock: self.clock,
                sort_by,
                limit: 0,
                samples: 0,
            };
            query(report, &question)
        };
        let _drawn = match self.chart {
            ChartArg::KernelWork => {
                let result = ask(GroupBy::Kernel, SortKey::WorkCycles)?;
                kernel_work(area, &result, &self.theme)
            }
            ChartArg::Durations => {
                let found = histogram(report, &self.filter, self.clock)?;
                duration_histogram(area, &found, &self.theme)
            }
            ChartArg::Tiles => {
                let result = ask(GroupBy::Tile, SortKey::Name)?;
                tile_map(area, &result, self.figure, &self.theme)
            }
            ChartArg::Phases => {
                let result = ask(GroupBy::Phase, SortKey::FirstOffset)?;
                phase_waterfall(area, &result, &self.theme)
            }
            ChartArg::Roofline => {
                let result = ask(GroupBy::Kernel, SortKey::WorkCycles)?;
                roofline(area, &result, &self.theme)
            }
            ChartArg::Cumulative => {
                let found = cumulative(report, &self.filter, self.clock, POINTS)?;
                cumulative_work(area, &found, &self.theme)
            }
        };
        Ok(())
    }
}

/// Width and height, such as `960x540`.
fn size(text: &str) -> Result<(u32, u32), CliError> {
    let parts = text.split_once('x');
    let numbers = parts.and_then(|(width, height)| {
        Some((
            width.trim().parse::<u32>().ok()?,
            height.trim().parse::<u32>().ok()?,
        ))
    });
    match numbers {
        Some((width, height))
            if (200..=8_000).contains(&width) && (150..=8_000).contains(&height) =>
        {
            Ok((width, height))
        }
        _ => {
            let what = format!("{text:?} is no size of a picture");
            let hint = "give width and height in pixels, 200x150 to 8000x8000";
            Err(CliError::user(what, "--size", hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_within_reason() {
        assert_eq!(size("960x540").ok(), Some((960, 540)));
        for wrong in ["", "960", "960x", "10x10", "100000x100000", "axb"] {
            assert!(size(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_extension_decides_the_format() {
        assert_eq!(is_png(Path::new("a.png")).ok(), Some(true));
        assert_eq!(is_png(Path::new("a.svg")).ok(), Some(false));
        assert!(is_png(Path::new("a.jpg")).is_err());
    }
}
