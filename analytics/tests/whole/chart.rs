//! Charts by the shapes that they draw: lengths and colours follow the figures.

use crate::support::{self, step};
use analytics::chart::{
    Chart, ChartData, ChartQuestion, Theme, cumulative_work, duration_histogram, phase_waterfall,
    roofline, tile_map,
};
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{Filter, GroupBy, Query, SortKey, cumulative, histogram, query};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters_svg::SVGBackend;

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
fn durations_close_to_each_other_have_bars_of_their_own() {
    let steps = vec![step(SampleKind::Compute, "k", 0, 0)];
    let samples = [(0, 0, 0, 48_246), (1, 0, 0, 48_462), (2, 0, 0, 48_462)];
    let report = support::profile(steps, &samples).report();
    let found = histogram(&report, &Filter::default(), ClockKind::Shared).expect("decodes");
    let bins: Vec<(u64, u64)> = found.bins.iter().map(|it| (it.first, it.samples)).collect();
    assert_eq!((bins.len(), found.longest), (22, 48_462));
    assert_eq!((bins[0], bins[1]), ((48_246, 1), (48_256, 0)));
    assert_eq!(bins[21], (48_456, 2), "ten cycles wide");
    let svg = drawn((1_400, 380), |area| {
        duration_histogram(area, &found, &Theme::LIGHT).expect("draws");
    });
    for edge in [">\n48\u{202f}246\n<", ">\nto 48\u{202f}462\n<"] {
        assert!(svg.contains(edge), "{edge} in {svg}");
    }
    assert!(svg.contains(">\n2\n<"), "the height of a bar in {svg}");
}

#[test]
fn the_strongest_tile_has_the_highest_figure_and_rows_are_46_tiles_apart() {
    let result = grouped(GroupBy::Tile);
    let svg = drawn((600, 200), |area| {
        tile_map(area, &result, SortKey::WorkCycles, &Theme::LIGHT).expect("draws");
    });
    let found = rectangles(&svg);
    let Some(([first, second, last], _scale)) = found.split_first_chunk() else {
        panic!("{found:?}");
    };
    assert_eq!((first.1, second.1), (36, 36));
    assert!(second.0 > first.0 && last.1 > first.1, "{found:?}");
    assert_eq!(last.0, first.0, "tile 46 is below tile 0");
    assert_eq!(last.4, "#246AA8");
    assert!(first.4 != second.4 && second.4 != last.4, "{found:?}");
}

#[test]
fn the_scale_of_a_tile_map_goes_from_the_lowest_to_the_highest_in_both_themes() {
    let result = grouped(GroupBy::Tile);
    for theme in [Theme::LIGHT, Theme::DARK] {
        let svg = drawn((600, 200), |area| {
            tile_map(area, &result, SortKey::WorkCycles, &theme).expect("draws");
        });
        assert!(svg.contains("from 18 to 48"), "{svg}");
        let found = rectangles(&svg);
        let (tiles, scale) = found.split_at(3);
        let ends = |list: &[Rectangle]| {
            let end = |it: Option<&Rectangle>| it.expect("one is drawn").4.clone();
            (end(list.first()), end(list.last()))
        };
        assert_eq!(ends(scale), ends(tiles), "{scale:?}");
        assert!(scale.is_sorted_by_key(|it| it.0), "{scale:?}");
    }
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

/// Numbers of an attribute of every element with this tag.
fn attributes(svg: &str, tag: &str, name: &str) -> Vec<i32> {
    let lines = svg.lines().filter(|line| line.starts_with(tag));
    let value = |line: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=\"")).expect("it has one");
        let text = rest.split('"').next().expect("it ends");
        text.parse().expect("whole pixels")
    };
    lines.map(value).collect()
}

/// Two kernels of one tile: `wide` useful for 30 of 40 issue-cycles in 80 cycles, `thin` for 5 of
/// 20 in 20; and 20 cycles without an estimate.
fn estimated() -> ProfileReport {
    let mut steps = ["wide", "thin", "dark"].map(|it| step(SampleKind::Compute, it, 0, 0));
    steps[0].estimate = support::estimate(30, 40);
    steps[1].estimate = support::estimate(5, 20);
    let samples = [(0, 0, 0, 80), (0, 1, 80, 100), (0, 2, 100, 120)];
    support::profile(steps.to_vec(), &samples).report()
}

#[test]
fn points_of_the_roofline_lie_at_occupancy_and_efficiency() {
    let question = Query {
        clock: ClockKind::Shared,
        limit: 0,
        ..Query::default()
    };
    let result = query(&estimated(), &question).expect("it has an answer");
    // 400 by 400 pixels for shares from 0 to 1, right of 56 and above 436.
    let svg = drawn((480, 488), |area| {
        roofline(area, &result, &Theme::LIGHT).expect("draws");
    });
    let points = |name| attributes(&svg, "<circle", name);
    assert_eq!(points("cx"), [56 + 300, 56 + 100], "U/P of 75 % and 25 %");
    assert_eq!(
        points("cy"),
        [436 - 150, 436 - 100],
        "U/D of 37.5 % and 25 %"
    );
    assert_eq!(points("r"), [18, 9], "areas as 80 to 20 cycles");
    assert!(
        svg.contains("2 of 3 groups by kernel have an estimate"),
        "{svg}"
    );
}

#[test]
fn lines_of_work_end_at_their_shares_of_all_cycles() {
    let found =
        cumulative(&estimated(), &Filter::default(), ClockKind::Shared, 6).expect("decodes");
    // 400 by 200 pixels for 120 cycles of one tile, right of 16 and above 236.
    let svg = drawn((626, 280), |area| {
        cumulative_work(area, &found, &Theme::LIGHT).expect("draws");
    });
    let lines = svg.lines().filter(|line| line.starts_with("<polyline"));
    let last = |line: &str| {
        let (_, rest) = line.split_once(" points=\"").expect("a line has points");
        let points = rest.split('"').next().expect("it ends").trim();
        points.rsplit(' ').next().expect("a point").to_owned()
    };
    let ends: Vec<String> = lines.map(last).collect();
    // Measured 120 of 120, physical 60, useful 35.
    assert_eq!(ends, ["416,36", "416,136", "416,178"]);
    for said in ["measured D: 100", "physical P: 50", "useful U: 29.2"] {
        assert!(svg.contains(said), "{said} in {svg}");
    }
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

#[test]
fn every_chart_asks_for_its_own_groups_and_is_a_picture_of_its_own() {
    let report = report();
    let mut pictures = Vec::new();
    for chart in Chart::ALL {
        assert_eq!(Chart::from_name(chart.name()), Some(chart));
        let question = ChartQuestion {
            chart,
            figure: SortKey::WorkCycles,
            filter: Filter::default(),
            clock: ClockKind::Shared,
        };
        let data = question.ask(&report).expect("decodes");
        let names = match &data {
            ChartData::Groups(found) => found.groups.iter().map(|it| it.name.clone()).collect(),
            ChartData::Durations(_) | ChartData::Cumulative(_) => Vec::new(),
        };
        let expected: &[&str] = match chart {
            Chart::Durations | Chart::Cumulative => &[],
            Chart::KernelWork | Chart::Roofline => &["k"],
            Chart::Phases => &["phase 0/0", "phase 1/0"],
            Chart::Tiles => &["tile 0", "tile 1", "tile 46"],
        };
        assert_eq!(names, expected, "{}", chart.name());
        let svg = drawn((400, 300), |area| {
            question.draw(&data, area, &Theme::LIGHT).expect("a string");
        });
        assert!(
            !pictures.contains(&svg),
            "{} is another chart",
            chart.name()
        );
        pictures.push(svg);
    }
}
