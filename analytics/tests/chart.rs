//! Charts by the shapes that they draw: lengths and colours follow the figures.

mod support;

use analytics::chart::{Theme, duration_histogram, phase_waterfall, tile_map};
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{Filter, GroupBy, Query, SortKey, histogram, query};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters_svg::SVGBackend;
use support::step;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A rectangle: left, top, width, height, fill.
type Rectangle = (i32, i32, i32, i32, String);

fn drawn(size: (u32, u32), draw: impl FnOnce(&Area<'_>)) -> String {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    draw(&area);
    drop(area);
    svg
}

/// The rectangles of a picture after its background.
fn rectangles(svg: &str) -> Vec<Rectangle> {
    let lines = svg.lines().filter(|line| line.starts_with("<rect"));
    let parsed = lines.map(|line| {
        let text = |name: &str| {
            let (_, rest) = line
                .split_once(&format!(" {name}=\""))
                .expect("an attribute");
            rest.split('"').next().expect("it ends").to_owned()
        };
        let number = |name: &str| text(name).parse().expect("whole pixels");
        (
            number("x"),
            number("y"),
            number("width"),
            number("height"),
            text("fill"),
        )
    });
    parsed.skip(1).collect()
}

/// Three tiles: 10, 20 and 40 cycles of `k` in phase 0, then 8 cycles each in phase 1.
fn report() -> ProfileReport {
    let steps = vec![
        step(SampleKind::Compute, "k", 0, 0),
        step(SampleKind::Compute, "k", 1, 0),
    ];
    let samples = [
        (0, 0, 0, 10),
        (0, 1, 40, 48),
        (1, 0, 0, 20),
        (1, 1, 40, 48),
        (46, 0, 0, 40),
        (46, 1, 40, 48),
    ];
    support::profile(steps, &samples).report()
}

fn grouped(group_by: GroupBy) -> analytics::query::QueryResult {
    let question = Query {
        group_by,
        clock: ClockKind::Shared,
        sort_by: SortKey::FirstOffset,
        limit: 0,
        ..Query::default()
    };
    query(&report(), &question).expect("it has an answer")
}

#[test]
fn bars_of_a_histogram_are_as_tall_as_their_counts() {
    let found = histogram(&report(), &Filter::default(), ClockKind::Shared).expect("decodes");
    // Bins start at 8, 10, 12, 14, 16, 20, 24, 28, 32, 40.
    let counts: Vec<u64> = found.bins.iter().map(|bin| bin.samples).collect();
    assert_eq!(counts, [3, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(found.sample_count(), 6);
    let svg = drawn((600, 380), |area| {
        duration_histogram(area, &found, &Theme::LIGHT).expect("draws");
    });
    let heights: Vec<i32> = rectangles(&svg).iter().map(|it| it.3).collect();
    assert_eq!(heights, [300, 100, 0, 0, 0, 100, 0, 0, 0, 100]);
    assert!(svg.contains("6 samples by duration"), "{svg}");
}

#[test]
fn the_darkest_tile_has_the_highest_figure_and_rows_are_46_tiles_apart() {
    let result = grouped(GroupBy::Tile);
    let svg = drawn((600, 200), |area| {
        tile_map(area, &result, SortKey::WorkCycles, &Theme::LIGHT).expect("draws");
    });
    let found = rectangles(&svg);
    let [first, second, last] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((first.1, second.1), (36, 36));
    assert!(second.0 > first.0 && last.1 > first.1, "{found:?}");
    assert_eq!(last.0, first.0, "tile 46 is below tile 0");
    assert_eq!(last.4, "#246AA8");
    assert!(first.4 != second.4 && second.4 != last.4, "{found:?}");
    assert!(svg.contains("light 18, dark 48"), "{svg}");
}

#[test]
fn phases_lie_below_each_other_in_time_order() {
    let result = grouped(GroupBy::Phase);
    // 480 pixels for 48 cycles beside names and numbers.
    let svg = drawn((760, 200), |area| {
        phase_waterfall(area, &result, &Theme::LIGHT).expect("draws");
    });
    let bars: Vec<(i32, i32, i32)> = rectangles(&svg)
        .iter()
        .map(|it| (it.0, it.1, it.2))
        .collect();
    assert_eq!(
        bars,
        [(170, 36, 400), (170, 36, 400), (570, 52, 80), (570, 52, 80)]
    );
    assert!(svg.contains("2 of 2 phases"), "{svg}");
}

#[test]
fn nothing_to_draw_is_said() {
    let empty = analytics::query::Histogram::default();
    let svg = drawn((300, 200), |area| {
        duration_histogram(area, &empty, &Theme::DARK).expect("draws");
    });
    assert!(svg.contains("0 samples"), "{svg}");
    let none = query(&ProfileReport::default(), &Query::default()).expect("empty");
    let svg = drawn((300, 200), |area| {
        tile_map(area, &none, SortKey::Coverage, &Theme::DARK).expect("draws");
    });
    assert!(svg.contains("coverage is unavailable"), "{svg}");
}
