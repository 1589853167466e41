//! The issue-cycle roofline: what a kernel's shapes allow against what it reaches.
//!
//! Useful efficiency U/D is lane occupancy U/P times work-cycle fraction P/D, so the roof over a
//! kernel is its lane occupancy: no call is faster than one issue-cycle a cycle. What lies between
//! a point and the roof is time without issue; what lies right of it is padding.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::Theme;
use super::labels::Labels;
use super::paint::{coordinate, pixel, style};
use crate::aggregate::float;
use crate::order;
use crate::query::{Group, QueryResult};
use crate::text;

/// Pixels around the plot: left, right, above, below.
const LEFT: i32 = 56;
const RIGHT: i32 = 24;
const TOP: i32 = 36;
const BOTTOM: i32 = 52;
/// Radius of the kernel with most cycles, in pixels.
const RADIUS_MAX: f64 = 18.0;
/// Names that are written; more would cover each other.
const NAMED: usize = 12;
/// Characters of a name.
const NAME_CHARACTERS: usize = 28;
/// Pixels between a point and its name.
const GAP: i32 = 4;

/// Draws a point for each group of `result` that has an estimate: right of zero by its lane
/// occupancy, above it by its useful efficiency, as large as its work cycles. Shares above 100 %
/// are drawn where they are.
///
/// # Errors
/// What the backend reports.
pub fn roofline<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    result: &QueryResult,
    theme: &Theme,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    area.fill(&theme.background)?;
    let (width, height) = area.dim_in_pixel();
    let (right, bottom) = (coordinate(width) - RIGHT, coordinate(height) - BOTTOM);
    let mut groups: Vec<(&Group, f64, f64)> = result.groups.iter().filter_map(placed).collect();
    order::by_key(&mut groups, |it| {
        std::cmp::Reverse(it.0.measures.work_cycles)
    });
    let largest = groups
        .iter()
        .fold(1.0_f64, |most, it| most.max(it.1).max(it.2));
    let x = |share: f64| LEFT + pixel(f64::from(right - LEFT) * share / largest);
    let y = |share: f64| bottom - pixel(f64::from(bottom - TOP) * share / largest);
    let heading = style(&theme.text, HPos::Left, VPos::Top);
    let title = format!(
        "{} of {} groups by {} have an estimate",
        groups.len(),
        result.group_count,
        result.group_by.name()
    );
    area.draw_text(&title, &heading, (16, 10))?;
    axes(area, theme, [LEFT, TOP, right, bottom], largest)?;
    let roof = [(x(0.0), y(0.0)), (x(largest), y(largest))];
    area.draw(&PathElement::new(roof.to_vec(), theme.text.stroke_width(2)))?;
    let most = groups
        .first()
        .map_or(0, |it| it.0.measures.work_cycles.get());
    let mut points = Vec::with_capacity(groups.len());
    for &(group, occupancy, efficiency) in &groups {
        let cycles = float(group.measures.work_cycles.get());
        let radius = RADIUS_MAX * (cycles / float(most.max(1))).sqrt();
        let point = Point {
            column: x(occupancy),
            row: y(efficiency),
            radius: pixel(radius).max(3),
        };
        let disc = theme.useful.mix(0.75).filled();
        area.draw(&Circle::new((point.column, point.row), point.radius, disc))?;
        points.push(point);
    }
    let names: Vec<&str> = groups.iter().map(|it| it.0.name.as_str()).collect();
    let names = text::shortened(&names[..names.len().min(NAMED)], NAME_CHARACTERS);
    let mut labels = Labels::between(TOP, bottom);
    for (name, point) in names.iter().zip(points) {
        draw_name(area, theme, name, point, right, &mut labels)?;
    }
    Ok(())
}

/// A point that is drawn, in pixels.
#[derive(Clone, Copy)]
struct Point {
    column: i32,
    row: i32,
    radius: i32,
}

/// Writes a name beside its point, with a line to it where others took the space; names of points
/// near the edge at `right` stand left of them.
fn draw_name<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    theme: &Theme,
    name: &str,
    point: Point,
    right: i32,
    labels: &mut Labels,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let is_right = point.column > right - 150;
    let (anchor, edge) = if is_right {
        (HPos::Right, point.column - point.radius - GAP)
    } else {
        (HPos::Left, point.column + point.radius + GAP)
    };
    let Some(row) = labels.place(name, anchor, edge, point.row) else {
        return Ok(());
    };
    if row != point.row {
        let line = vec![(point.column, point.row), (edge, row)];
        area.draw(&PathElement::new(line, theme.text.mix(0.5).stroke_width(1)))?;
    }
    let label = style(&theme.text, anchor, VPos::Center);
    area.draw_text(name, &label, (edge, row))
}

/// A group with its lane occupancy and useful efficiency.
fn placed(group: &Group) -> Option<(&Group, f64, f64)> {
    let it = &group.measures;
    Some((group, it.lane_occupancy()?, it.useful_efficiency()?))
}

/// A frame with a line and a label at every quarter of 100 %.
fn axes<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    theme: &Theme,
    [left, top, right, bottom]: [i32; 4],
    largest: f64,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let frame = Rectangle::new(
        [(left, top), (right, bottom)],
        theme.measured.stroke_width(1),
    );
    area.draw(&frame)?;
    for quarter in 0..=4 {
        let share = f64::from(quarter) * 0.25;
        let column = left + pixel(f64::from(right - left) * share / largest);
        let row = bottom - pixel(f64::from(bottom - top) * share / largest);
        let thin = theme.measured.mix(0.6).stroke_width(1);
        area.draw(&PathElement::new(
            vec![(column, top), (column, bottom)],
            thin,
        ))?;
        area.draw(&PathElement::new(vec![(left, row), (right, row)], thin))?;
        let label = text::percent(Some(share));
        let below = style(&theme.text, HPos::Center, VPos::Top);
        area.draw_text(&label, &below, (column, bottom + 6))?;
        let beside = style(&theme.text, HPos::Right, VPos::Center);
        area.draw_text(&label, &beside, (left - 6, row))?;
    }
    let footer = style(&theme.text, HPos::Left, VPos::Bottom);
    let note = "right: lane occupancy U/P · up: useful efficiency U/D · the line is P/D = 100 %";
    area.draw_text(note, &footer, (left, bottom + BOTTOM - 6))
}
