//! Bars of work cycles, one a group, with the useful part of each.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::Theme;
use super::paint::{pixel, style};
use crate::aggregate::float;
use crate::query::{Group, QueryResult};
use crate::text;

/// Largest height of a bar with the gap below it, in pixels.
const ROW_MAX: u32 = 28;
/// Width kept for names, and for the numbers behind the bars, in pixels.
const NAMES: u32 = 180;
const NUMBERS: u32 = 200;

/// Draws one horizontal bar for each group of `result`, in its order: the length is its work
/// cycles, the dark part its useful work. Groups that do not fit below each other are left out, and
/// said so.
///
/// # Errors
/// What the backend reports.
pub fn kernel_work<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    result: &QueryResult,
    theme: &Theme,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    area.fill(&theme.background)?;
    let (width, height) = area.dim_in_pixel();
    let wanted = u32::try_from(result.groups.len()).unwrap_or(u32::MAX);
    let fitting = (height / ROW_MAX).saturating_sub(1).min(wanted);
    let shown = &result.groups[..fitting as usize];
    let longest = shown
        .iter()
        .map(|it| it.measures.work_cycles.get())
        .max()
        .unwrap_or(0);
    let bars = width.saturating_sub(NAMES + NUMBERS);
    let pixels = |cycles: f64| pixel(cycles * f64::from(bars) / float(longest.max(1)));
    for (row, group) in (0..).zip(shown) {
        let top = row * i32::try_from(ROW_MAX).unwrap_or(i32::MAX) + 4;
        draw_bar(area, group, theme, top, &pixels)?;
    }
    let note = format!(
        "{} of {} groups by {}",
        fitting,
        result.group_count,
        result.group_by.name()
    );
    let bottom = i32::try_from(height).unwrap_or(i32::MAX) - 8;
    area.draw_text(
        &note,
        &style(&theme.text, HPos::Left, VPos::Bottom),
        (8, bottom),
    )
}

fn draw_bar<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    group: &Group,
    theme: &Theme,
    top: i32,
    pixels: &impl Fn(f64) -> i32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let names = i32::try_from(NAMES).unwrap_or(i32::MAX);
    let bottom = top + i32::try_from(ROW_MAX).unwrap_or(i32::MAX) - 8;
    let middle = i32::midpoint(top, bottom);
    let it = &group.measures;
    let measured = pixels(float(it.work_cycles.get()));
    let bar = |length: i32, colour: RGBColor| {
        Rectangle::new([(names, top), (names + length, bottom)], colour.filled())
    };
    area.draw(&bar(measured, theme.measured))?;
    if let Some(useful) = it.useful() {
        area.draw(&bar(pixels(useful.as_cycles()), theme.useful))?;
    }
    let name = style(&theme.text, HPos::Right, VPos::Center);
    area.draw_text(&group.name, &name, (names - 8, middle))?;
    let efficiency = text::percent(it.useful_efficiency());
    let numbers = format!("{} cycles, {efficiency}", text::cycles(it.work_cycles));
    let at = (names + measured + 8, middle);
    area.draw_text(&numbers, &style(&theme.text, HPos::Left, VPos::Center), at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Measures;
    use crate::query::{GroupKey, Query};
    use crate::units::{Cycles, Work};
    use plotters::drawing::IntoDrawingArea;
    use plotters_svg::SVGBackend;

    fn group(name: &str, cycles: u64, useful: u64) -> Group {
        let measures = Measures {
            sample_count: 1,
            work_cycles: Cycles::new(cycles),
            estimated_cycles: Cycles::new(if useful > 0 { cycles } else { 0 }),
            useful_sum: Work::from_cycles(useful),
            ..Measures::default()
        };
        Group {
            name: name.to_owned(),
            key: GroupKey::Kernel(name.to_owned()),
            measures,
        }
    }

    #[test]
    fn bars_are_as_long_as_the_work_and_dark_as_far_as_it_is_useful() {
        let report = crate::profile::ProfileReport::default();
        let mut result = crate::query::query(&report, &Query::default()).expect("empty");
        result.groups = vec![group("gemm", 400, 100), group("copy", 200, 0)];
        result.group_count = 3;
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, (780, 112)).into_drawing_area();
        kernel_work(&area, &result, &Theme::LIGHT).expect("draws");
        drop(area);
        expect_test::expect![[r##"
            <svg width="780" height="112" viewBox="0 0 780 112" xmlns="http://www.w3.org/2000/svg">
            <rect x="0" y="0" width="780" height="112" opacity="1" fill="#FFFFFF" stroke="none"/>
            <rect x="180" y="4" width="400" height="20" opacity="1" fill="#C7D0D9" stroke="none"/>
            <rect x="180" y="4" width="100" height="20" opacity="1" fill="#246AA8" stroke="none"/>
            <text x="172" y="14" dy="0.5ex" text-anchor="end" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            gemm
            </text>
            <text x="588" y="14" dy="0.5ex" text-anchor="start" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            400 cycles, 25.0 %
            </text>
            <rect x="180" y="32" width="200" height="20" opacity="1" fill="#C7D0D9" stroke="none"/>
            <text x="172" y="42" dy="0.5ex" text-anchor="end" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            copy
            </text>
            <text x="388" y="42" dy="0.5ex" text-anchor="start" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            200 cycles, unavailable
            </text>
            <text x="8" y="104" dy="-0.5ex" text-anchor="start" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            2 of 3 groups by kernel
            </text>
            </svg>
        "##]]
        .assert_eq(&svg);
    }
}
