//! Phases as a waterfall: one bar a phase, from its first sample to its last, in time order.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::Theme;
use super::paint::{coordinate, pixel, style};
use crate::aggregate::{Measures, float};
use crate::order;
use crate::query::{Group, QueryResult};
use crate::text;

/// Height of a bar with the gap below it, in pixels.
const ROW: u32 = 16;
/// Pixels kept for names, behind the bars, above and below.
const NAMES: u32 = 170;
const NUMBERS: u32 = 110;
const TOP: u32 = 36;
const BOTTOM: u32 = 28;
/// Characters of a name.
const NAME_CHARACTERS: usize = 24;

/// Draws the phases of `result`, an answer grouped by phase. The light bar is the time from the
/// first sample to the last one's end, the dark part of it as long as samples of the phase run on
/// some tile. Where not all fit, the longest by phase cycles are drawn, and said so.
///
/// # Errors
/// What the backend reports.
pub fn phase_waterfall<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    result: &QueryResult,
    theme: &Theme,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    area.fill(&theme.background)?;
    let (width, height) = area.dim_in_pixel();
    let room = (height.saturating_sub(TOP + BOTTOM) / ROW) as usize;
    let shown = longest(result, room);
    let title = format!(
        "{} of {} phases, span {} cycles ({} clock)",
        shown.len(),
        result.group_count,
        text::cycles(result.span),
        result.clock.name()
    );
    let heading = style(&theme.text, HPos::Left, VPos::Top);
    area.draw_text(&title, &heading, (16, 10))?;
    let bars = f64::from(width.saturating_sub(NAMES + NUMBERS));
    let span = float(result.span.get().max(1));
    let x = |cycle: u64| coordinate(NAMES) + pixel(float(cycle) * bars / span);
    let names: Vec<&str> = shown.iter().map(|it| it.name.as_str()).collect();
    let names = text::shortened(&names, NAME_CHARACTERS);
    for (row, (group, name)) in (0..).zip(shown.iter().zip(&names)) {
        let top = coordinate(TOP + row * ROW);
        draw_phase(area, (name, &group.measures), theme, top, &x)?;
    }
    let footer = style(&theme.text, HPos::Left, VPos::Bottom);
    let note = "number: cycles of the longest tile";
    area.draw_text(note, &footer, (16, coordinate(height) - 6))
}

/// The `room` longest phases, in time order.
fn longest(result: &QueryResult, room: usize) -> Vec<&Group> {
    let mut groups: Vec<&Group> = result.groups.iter().collect();
    order::by_key(&mut groups, |it| {
        std::cmp::Reverse(it.measures.phase_cycles)
    });
    groups.truncate(room);
    order::by(&mut groups, |a, b| {
        (a.measures.first_offset.cmp(&b.measures.first_offset)).then_with(|| a.name.cmp(&b.name))
    });
    groups
}

fn draw_phase<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    (name, it): (&str, &Measures),
    theme: &Theme,
    top: i32,
    x: &impl Fn(u64) -> i32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let bottom = top + coordinate(ROW) - 4;
    let middle = i32::midpoint(top, bottom);
    let (first, last) = (x(it.first_offset), x(it.last_offset));
    let busy = x(it.first_offset.saturating_add(it.timeline_cycles.get()));
    let bar = |to: i32, colour: RGBColor| {
        Rectangle::new([(first, top), (to.max(first + 1), bottom)], colour.filled())
    };
    area.draw(&bar(last, theme.measured))?;
    area.draw(&bar(busy, theme.useful))?;
    let right = style(&theme.text, HPos::Right, VPos::Center);
    area.draw_text(name, &right, (coordinate(NAMES) - 8, middle))?;
    let number = style(&theme.text, HPos::Left, VPos::Center);
    let place = (last.max(first + 1) + 6, middle);
    area.draw_text(&text::cycles(it.phase_cycles), &number, place)
}
