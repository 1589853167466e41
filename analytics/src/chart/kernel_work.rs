//! Bars of work cycles, one a group, with the useful part of each.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::Theme;
use super::paint::{pixel, style};
use crate::aggregate::{Measures, float};
use crate::query::QueryResult;
use crate::text;
use crate::units::Work;

/// Largest height of a bar with the gap below it, in pixels.
const ROW_MAX: u32 = 28;
/// Width kept for names, and for the numbers behind the bars, in pixels.
const NAMES: u32 = 220;
const NUMBERS: u32 = 200;
/// Characters of a name that fit, in the widest of usual fonts.
const NAME_CHARACTERS: usize = 28;

/// Draws one horizontal bar for each group of `result`, in its order: the length is its work
/// cycles, the dark part its useful work, which is longer where an estimate is above what was
/// measured. Groups that do not fit below each other are left out, and said so.
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
        .map(|it| drawn_cycles(&it.measures))
        .fold(1.0_f64, f64::max);
    let bars = width.saturating_sub(NAMES + NUMBERS);
    let pixels = |cycles: f64| pixel(cycles * f64::from(bars) / longest);
    let names: Vec<&str> = shown.iter().map(|it| it.name.as_str()).collect();
    let names = text::shortened(&names, NAME_CHARACTERS);
    for (row, (group, name)) in (0..).zip(shown.iter().zip(&names)) {
        let top = row * i32::try_from(ROW_MAX).unwrap_or(i32::MAX) + 4;
        draw_bar(area, (name, &group.measures), theme, top, &pixels)?;
    }
    let note = format!(
        "{} of {} groups by {}",
        text::count(fitting.into()),
        text::count(result.group_count as u64),
        result.group_by.name()
    );
    let bottom = i32::try_from(height).unwrap_or(i32::MAX) - 8;
    area.draw_text(
        &note,
        &style(&theme.text, HPos::Left, VPos::Bottom),
        (8, bottom),
    )
}

/// Cycles that the bar of a group reaches to.
fn drawn_cycles(it: &Measures) -> f64 {
    let useful = it.useful().map_or(0.0, Work::as_cycles);
    float(it.work_cycles.get()).max(useful)
}

fn draw_bar<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    (name, it): (&str, &Measures),
    theme: &Theme,
    top: i32,
    pixels: &impl Fn(f64) -> i32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let names = i32::try_from(NAMES).unwrap_or(i32::MAX);
    let bottom = top + i32::try_from(ROW_MAX).unwrap_or(i32::MAX) - 8;
    let middle = i32::midpoint(top, bottom);
    let measured = pixels(float(it.work_cycles.get()));
    let bar = |length: i32, colour: RGBColor| {
        Rectangle::new([(names, top), (names + length, bottom)], colour.filled())
    };
    area.draw(&bar(measured, theme.measured))?;
    if let Some(useful) = it.useful() {
        area.draw(&bar(pixels(useful.as_cycles()), theme.useful))?;
    }
    let right = style(&theme.text, HPos::Right, VPos::Center);
    area.draw_text(name, &right, (names - 8, middle))?;
    let efficiency = text::percent(it.useful_efficiency());
    let numbers = format!("{} cycles, {efficiency}", text::cycles(it.work_cycles));
    let at = (names + pixels(drawn_cycles(it)) + 8, middle);
    area.draw_text(&numbers, &style(&theme.text, HPos::Left, VPos::Center), at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Group, GroupKey, Query};
    use crate::units::Cycles;
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

    fn svg_of(groups: Vec<Group>, size: (u32, u32)) -> String {
        let report = crate::profile::ProfileReport::default();
        let mut result = crate::query::query(&report, &Query::default()).expect("empty");
        result.groups = groups;
        result.group_count = 3;
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        kernel_work(&area, &result, &Theme::LIGHT).expect("draws");
        drop(area);
        svg
    }

    #[test]
    fn bars_are_as_long_as_the_work_and_dark_as_far_as_it_is_useful() {
        let groups = vec![group("gemm", 400, 100), group("copy", 200, 0)];
        expect_test::expect![[r##"
            <svg width="820" height="112" viewBox="0 0 820 112" xmlns="http://www.w3.org/2000/svg">
            <rect x="0" y="0" width="820" height="112" opacity="1" fill="#FFFFFF" stroke="none"/>
            <rect x="220" y="4" width="400" height="20" opacity="1" fill="#C7D0D9" stroke="none"/>
            <rect x="220" y="4" width="100" height="20" opacity="1" fill="#246AA8" stroke="none"/>
            <text x="212" y="14" dy="0.5ex" text-anchor="end" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            gemm
            </text>
            <text x="628" y="14" dy="0.5ex" text-anchor="start" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            400 cycles, 25.0 %
            </text>
            <rect x="220" y="32" width="200" height="20" opacity="1" fill="#C7D0D9" stroke="none"/>
            <text x="212" y="42" dy="0.5ex" text-anchor="end" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            copy
            </text>
            <text x="428" y="42" dy="0.5ex" text-anchor="start" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            200 cycles, unavailable
            </text>
            <text x="8" y="104" dy="-0.5ex" text-anchor="start" font-family="sans-serif" font-size="10.483870967741936" opacity="1" fill="#1F2328">
            2 of 3 groups by kernel
            </text>
            </svg>
        "##]]
        .assert_eq(&svg_of(groups, (820, 112)));
    }

    #[test]
    fn more_useful_than_measured_work_does_not_cover_the_numbers() {
        let svg = svg_of(vec![group("gelu", 100, 400)], (820, 112));
        let at = |line: &&str| line.contains("text-anchor=\"start\"") && line.contains("y=\"14\"");
        let numbers = svg.lines().find(at).expect("numbers");
        // The useful bar is the longest: 400 pixels from the names on.
        assert!(numbers.starts_with("<text x=\"628\""), "{svg}");
        assert!(svg.contains("width=\"400\" height=\"20\""), "{svg}");
        assert!(svg.contains("100 cycles, 400.0 %"), "{svg}");
    }

    #[test]
    fn long_names_lose_their_middle_and_stay_apart() {
        let name = |end| format!("siglip_gemm_f16_k1152_c16_interleaved_{end}");
        let groups = vec![group(&name("left"), 9, 0), group(&name("right"), 9, 0)];
        let svg = svg_of(groups, (820, 112));
        let names: Vec<&str> = svg.lines().filter(|it| it.starts_with("siglip")).collect();
        assert_eq!(names.len(), 2);
        assert_ne!(names[0], names[1]);
        let widest = names.iter().map(|it| it.chars().count()).max();
        assert_eq!(widest, Some(NAME_CHARACTERS), "{svg}");
    }
}
