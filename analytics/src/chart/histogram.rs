//! Bars of durations: how many samples took how long.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::Rectangle;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::Theme;
use super::paint::{coordinate, pixel, style};
use crate::aggregate::float;
use crate::query::Histogram;
use crate::text;

/// Pixels around the bars: left and right, above, below.
const SIDE: i32 = 16;
const TOP: i32 = 36;
const BOTTOM: i32 = 44;
/// Pixels that the label of a bar needs, and a number above it.
const LABEL: i32 = 72;
const COUNT: f64 = 52.0;

/// Draws one bar for each bin of `histogram`: the height is its number of samples, which stands
/// above it where there is space, the label its shortest duration in cycles. The longest duration
/// stands at the right edge.
///
/// # Errors
/// What the backend reports.
pub fn duration_histogram<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    histogram: &Histogram,
    theme: &Theme,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    area.fill(&theme.background)?;
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (coordinate(width), coordinate(height));
    let title = format!(
        "{} samples by duration in cycles",
        text::count(histogram.sample_count())
    );
    let heading = style(&theme.text, HPos::Left, VPos::Top);
    area.draw_text(&title, &heading, (SIDE, 10))?;
    let bins = &histogram.bins;
    let Some(most) = bins.iter().map(|bin| bin.samples).max() else {
        return Ok(());
    };
    let bottom = height - BOTTOM;
    let each = f64::from((width - 2 * SIDE).max(1)) / float(bins.len() as u64);
    let left = |at: usize| SIDE + pixel(each * float(at as u64));
    let label = style(&theme.text, HPos::Left, VPos::Top);
    let above = style(&theme.text, HPos::Left, VPos::Bottom);
    let mut free_from = 0;
    for (at, bin) in bins.iter().enumerate() {
        let full = f64::from((bottom - TOP).max(0));
        let tall = pixel(full * float(bin.samples) / float(most));
        let right = (left(at + 1) - 1).max(left(at) + 1);
        let corners = [(left(at), bottom - tall), (right, bottom)];
        area.draw(&Rectangle::new(corners, theme.useful.filled()))?;
        if each >= COUNT && bin.samples > 0 {
            let place = (left(at), bottom - tall - 1);
            area.draw_text(&text::count(bin.samples), &above, place)?;
        }
        // The last label is that of the right edge.
        if left(at) >= free_from && (at == 0 || left(at) + 2 * LABEL <= width - SIDE) {
            let place = (left(at), bottom + 6);
            area.draw_text(&text::count(bin.first), &label, place)?;
            free_from = left(at) + LABEL;
        }
    }
    let end = style(&theme.text, HPos::Right, VPos::Top);
    let longest = format!("to {}", text::count(histogram.longest));
    area.draw_text(&longest, &end, (width - SIDE, bottom + 6))?;
    let note = format!("tallest bar: {} samples", text::count(most));
    let footer = style(&theme.text, HPos::Left, VPos::Bottom);
    area.draw_text(&note, &footer, (SIDE, height - 6))
}
