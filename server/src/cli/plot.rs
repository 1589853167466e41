//! `profile-plot`: a chart of a profile as SVG, or as PNG rasterised from it, and its data as JSON.

use std::path::Path;

use analytics::chart::{Chart, ChartQuestion, Theme};
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{Filter, QueryError, SortKey};
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
    let is_png = args.output.as_deref().map(is_png).transpose()?;
    let report = open::profile(&args.profile)?;
    let (svg, data) = plot.drawn(&report).map_err(|error| match error {
        QueryError::Decode(error) => open::refused(&error, &args.profile),
        other => CliError::user(other, args.profile.display(), "see profile-plot --help"),
    })?;
    if let Some((output, is_png)) = args.output.as_deref().zip(is_png) {
        let bytes = if is_png {
            raster::png(&svg)?
        } else {
            svg.into_bytes()
        };
        write_file(output, &bytes)?;
        warn(io, &report.warnings());
        if !args.json {
            let wrote = wrote(output, bytes.len() as u64);
            print(io.stdout, &format!("{wrote}\n"))?;
        }
    }
    if args.json {
        print(io.stdout, &data)?;
    }
    Ok(())
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

/// A chart to be drawn.
pub(super) struct Plot {
    pub(super) question: ChartQuestion,
    pub(super) size: (u32, u32),
    pub(super) theme: Theme,
}

impl Plot {
    fn new(args: &PlotArgs) -> Result<Self, CliError> {
        let figure = SortKey::from_name(&args.figure).ok_or_else(|| {
            let known = SortKey::ALL.iter().map(|key| key.name());
            unknown("figure", &args.figure, "--figure", known)
        })?;
        let chart = Chart::from(args.chart);
        let usual = (chart != Chart::Phases).then_some(SampleKind::Compute);
        let kind = args.kind.as_deref().map(kind).transpose()?.or(usual);
        Ok(Self {
            question: ChartQuestion {
                chart,
                figure,
                filter: Filter {
                    kind,
                    kernel: args.kernel.clone(),
                    ..Filter::default()
                },
                clock: clock(args.clock),
            },
            size: size(&args.size)?,
            theme: if args.dark { Theme::DARK } else { Theme::LIGHT },
        })
    }

    /// Draws the chart.
    pub(super) fn svg(&self, report: &ProfileReport) -> Result<String, QueryError> {
        Ok(self.drawn(report)?.0)
    }

    /// The chart, and its data as JSON.
    fn drawn(&self, report: &ProfileReport) -> Result<(String, String), QueryError> {
        let data = self.question.ask(report)?;
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, self.size).into_drawing_area();
            // Drawing into a string cannot fail.
            let _drawn = self.question.draw(&data, &area, &self.theme);
            let _drawn = area.present();
        }
        Ok((svg, self.question.json(&data)))
    }
}

impl From<ChartArg> for Chart {
    fn from(chart: ChartArg) -> Self {
        match chart {
            ChartArg::KernelWork => Self::KernelWork,
            ChartArg::Durations => Self::Durations,
            ChartArg::Tiles => Self::Tiles,
            ChartArg::Phases => Self::Phases,
            ChartArg::Roofline => Self::Roofline,
            ChartArg::Cumulative => Self::Cumulative,
        }
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
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn sizes_are_read_within_reason() {
        assert_eq!(size("960x540").ok(), Some((960, 540)));
        for wrong in ["", "960", "960x", "10x10", "100000x100000", "axb"] {
            assert!(size(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn charts_are_called_what_links_call_them() {
        for chart in ChartArg::value_variants() {
            let value = chart.to_possible_value().expect("none is hidden");
            assert_eq!(value.get_name(), Chart::from(*chart).name());
        }
        assert_eq!(ChartArg::value_variants().len(), Chart::ALL.len());
    }

    #[test]
    fn the_extension_decides_the_format() {
        assert_eq!(is_png(Path::new("a.png")).ok(), Some(true));
        assert_eq!(is_png(Path::new("a.svg")).ok(), Some(false));
        assert!(is_png(Path::new("a.jpg")).is_err());
    }
}
