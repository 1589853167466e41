//! A map of the tiles: one square a tile, in the order of physical ids, coloured by a figure.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::Theme;
use super::paint::{coordinate, mix, style};
use crate::query::{Group, GroupKey, QueryResult, SortKey};
use crate::text;

/// Pixels around the map, and above it for the title.
const SIDE: u32 = 16;
const TOP: u32 = 36;
const BOTTOM: u32 = 28;
/// Tiles of a row: the ids of a row are this many apart from those below.
const ROW: u32 = 46;
/// Shares whose colours the scale shows, and the size of each in pixels.
const SCALE: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const SWATCH: i32 = 12;

/// Draws the tiles of `result`, an answer grouped by tile, from the lowest figure (close to the
/// background) to the highest, and the colours between them as a scale below. Tiles that the answer
/// leaves out, or whose figure is unknown, are outlined.
///
/// # Errors
/// What the backend reports.
pub fn tile_map<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    result: &QueryResult,
    figure: SortKey,
    theme: &Theme,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    area.fill(&theme.background)?;
    let (width, height) = area.dim_in_pixel();
    let tiles: Vec<(u32, Option<f64>)> = result
        .groups
        .iter()
        .filter_map(|group| tile(group).map(|id| (id, figure.figure(group))))
        .collect();
    let known = || tiles.iter().filter_map(|it| it.1);
    let (low, high) = (
        known().fold(f64::INFINITY, f64::min),
        known().fold(0.0, f64::max),
    );
    let last = tiles.iter().map(|it| it.0).max().unwrap_or(0);
    let rows = last / ROW + 1;
    let fits = (width.saturating_sub(2 * SIDE) / ROW)
        .min(height.saturating_sub(TOP + BOTTOM) / rows)
        .max(2);
    let heading = style(&theme.text, HPos::Left, VPos::Top);
    let title = format!(
        "{} of {} tiles by {}, {ROW} a row",
        text::count(tiles.len() as u64),
        text::count(result.tile_count),
        figure.name()
    );
    area.draw_text(&title, &heading, (coordinate(SIDE), 10))?;
    for (id, value) in tiles {
        let share = value.map(|value| {
            if high > low {
                (value - low) / (high - low)
            } else {
                1.0
            }
        });
        draw_tile(area, theme, id, fits, share)?;
    }
    draw_scale(area, theme, figure, (low, high))
}

/// The colours in order, and the figures at both ends: which end is light depends on the theme.
fn draw_scale<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    theme: &Theme,
    figure: SortKey,
    (low, high): (f64, f64),
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let bottom = coordinate(area.dim_in_pixel().1) - 6;
    let mut left = coordinate(SIDE);
    let is_known = low <= high;
    for share in SCALE.into_iter().filter(|_| is_known) {
        let corners = [(left, bottom - SWATCH), (left + SWATCH, bottom)];
        area.draw(&Rectangle::new(corners, colour(theme, share).filled()))?;
        left += SWATCH;
    }
    left += if is_known { SWATCH } else { 0 };
    let said = scale(figure, low, high);
    let footer = style(&theme.text, HPos::Left, VPos::Bottom);
    area.draw_text(&said, &footer, (left, bottom))
}

fn tile(group: &Group) -> Option<u32> {
    match group.key {
        GroupKey::Tile(tile) => Some(tile.get()),
        _ => None,
    }
}

fn draw_tile<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    theme: &Theme,
    id: u32,
    size: u32,
    share: Option<f64>,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let left = coordinate(SIDE + id % ROW * size);
    let top = coordinate(TOP + id / ROW * size);
    let inner = coordinate(size) - 1;
    let corners = [(left, top), (left + inner, top + inner)];
    let style = match share {
        Some(share) => colour(theme, share).filled(),
        None => theme.measured.stroke_width(1),
    };
    area.draw(&Rectangle::new(corners, style))
}

/// From nearly the background to the strongest colour.
fn colour(theme: &Theme, share: f64) -> RGBColor {
    mix(
        mix(theme.background, theme.useful, 0.12),
        theme.useful,
        share,
    )
}

fn scale(figure: SortKey, low: f64, high: f64) -> String {
    if low > high {
        return format!("{} is {}", figure.name(), text::UNAVAILABLE);
    }
    let value = |value: f64| {
        if figure.is_fraction() {
            text::percent(Some(value))
        } else {
            text::decimal(value, 0)
        }
    };
    format!("from {} to {}", value(low), value(high))
}
