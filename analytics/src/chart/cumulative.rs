//! How work adds up over the run: measured tile-cycles, physical work and useful work as lines.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::Theme;
use super::paint::{coordinate, mix, pixel, style};
use crate::aggregate::float;
use crate::query::{Cumulative, CumulativePoint};
use crate::text;
use crate::units::Cycles;

/// Pixels around the lines: left, right, above, below.
const LEFT: i32 = 16;
const RIGHT: i32 = 210;
const TOP: i32 = 36;
const BOTTOM: i32 = 44;
/// Least distance of two texts in pixels.
const LINE: i32 = 16;

/// Draws the running sums of `cumulative`. The height of the frame is all profiled tiles over the
/// whole run, so the measured line ends at the share of it that was measured.
///
/// # Errors
/// What the backend reports.
pub fn cumulative_work<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    cumulative: &Cumulative,
    theme: &Theme,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    area.fill(&theme.background)?;
    let (width, height) = area.dim_in_pixel();
    let (right, bottom) = (coordinate(width) - RIGHT, coordinate(height) - BOTTOM);
    let heading = style(&theme.text, HPos::Left, VPos::Top);
    let title = "issue-cycles done so far, of all tiles × all cycles";
    area.draw_text(title, &heading, (LEFT, 10))?;
    let frame = Rectangle::new(
        [(LEFT, TOP), (right, bottom)],
        theme.measured.stroke_width(1),
    );
    area.draw(&frame)?;
    let full = float(cumulative.run) * float(cumulative.tile_count);
    let x =
        |at: u64| LEFT + pixel(f64::from(right - LEFT) * part(float(at), float(cumulative.run)));
    let y = |done: f64| bottom - pixel(f64::from(bottom - TOP) * part(done, full));
    let physical = mix(theme.measured, theme.useful, 0.5);
    type Figure = fn(&CumulativePoint) -> f64;
    let lines: [(&str, RGBColor, Figure); 3] = [
        ("measured D", theme.text, |it| float(it.measured.get())),
        ("physical P", physical, |it| it.physical.as_cycles()),
        ("useful U", theme.useful, |it| it.useful.as_cycles()),
    ];
    let mut lowest = TOP - LINE;
    for (name, colour, figure) in lines {
        let points = cumulative.points.iter();
        let path: Vec<(i32, i32)> = points.map(|it| (x(it.at), y(figure(it)))).collect();
        area.draw(&PathElement::new(path, colour.stroke_width(2)))?;
        let last = cumulative.points.last().map_or(0.0, figure);
        let share = (full > 0.0).then(|| last / full);
        let label = format!("{name}: {}", text::percent(share));
        // Texts of lines that end close to each other stand below each other.
        lowest = y(last).max(lowest + LINE);
        let beside = style(&colour, HPos::Left, VPos::Center);
        area.draw_text(&label, &beside, (right + 8, lowest))?;
    }
    let footer = style(&theme.text, HPos::Left, VPos::Bottom);
    let below = coordinate(height) - 24;
    area.draw_text("0", &footer, (LEFT, below))?;
    let end = format!("{} cycles", text::cycles(Cycles::new(cumulative.run)));
    let ends = style(&theme.text, HPos::Right, VPos::Bottom);
    area.draw_text(&end, &ends, (right, below))?;
    let note = "work counts when its sample ends; samples without an estimate add to D alone";
    area.draw_text(note, &footer, (LEFT, coordinate(height) - 6))
}

fn part(of: f64, whole: f64) -> f64 {
    if whole > 0.0 { of / whole } else { 0.0 }
}
