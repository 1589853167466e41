//! View → [`Scene`]: the plot with its axes, the overlay, the strip. Pure; all lengths are CSS
//! pixels.

use std::sync::Arc;

use analytics::text;
use analytics::units::Cycles;

use super::axis;
use super::cursor;
use super::labels::{Named, labels};
use super::scene::{Anchor, Bitmap, Rect, Scene, Shape};
use super::viewport::{Viewport, to_float};
use crate::engine::places::PhaseMark;
use crate::engine::raster::{RasterAsked, RowsAnswer};
use crate::engine::summary::TileNames;
use crate::state::view::Span;
use crate::theme::Palette;

/// Height of the ruler above the plot.
const RULER: f64 = 46.0;
/// Top of the phases on the ruler.
const PHASES: f64 = 30.0;
/// Height of the phases on the ruler.
const PHASE_HEIGHT: f64 = 14.0;
/// Width of the tile labels left of the plot.
const GUTTER: f64 = 44.0;
/// Least distance of two labelled cycles.
const CYCLE_LABEL: f64 = 112.0;
/// Least distance of two labelled tiles.
const TILE_LABEL: f64 = 22.0;
/// Least distance of two labelled groups.
const GROUP_LABEL: f64 = 16.0;

/// Size of a canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Size {
    /// Width.
    pub(crate) width: f64,
    /// Height.
    pub(crate) height: f64,
}

/// Pixels of an earlier answer with the place that they show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    /// What was asked.
    pub(crate) asked: RasterAsked,
    /// The pixels.
    pub(crate) bitmap: Arc<Bitmap>,
}

/// What the base canvas shows.
pub(crate) struct PlotView<'a> {
    /// Size of the canvas.
    pub(crate) size: Size,
    /// What is in view.
    pub(crate) viewport: &'a Viewport,
    /// Pixels of this view or of earlier ones, later ones on top.
    pub(crate) pictures: &'a [Option<Picture>],
    /// Labels of tiles.
    pub(crate) tiles: &'a TileNames,
    /// Labels of rows that are groups.
    pub(crate) groups: Option<&'a RowsAnswer>,
    /// Cells whose names are written into high rows.
    pub(crate) named: Option<Named<'a>>,
    /// Phases, in order.
    pub(crate) phases: &'a [PhaseMark],
    /// Cycles of the viewport before the first of the profile.
    pub(crate) lead: u64,
    /// Tile clock in hertz; 0 is unknown.
    pub(crate) clock_hz: u64,
    /// Colours.
    pub(crate) palette: &'a Palette,
}

/// The part of the canvas that shows tiles × time.
pub(crate) fn plot_rect(size: Size) -> Rect {
    Rect {
        x: GUTTER,
        y: RULER,
        width: (size.width - GUTTER).max(1.0),
        height: (size.height - RULER).max(1.0),
    }
}

/// The plot with its axes.
pub(crate) fn plot(view: &PlotView<'_>) -> Scene {
    let mut scene = Scene::default();
    let rect = plot_rect(view.size);
    scene.fill(rect, view.palette.nothing);
    // What covers the whole plot hides what is below it.
    let covers = |picture: &Picture| {
        let target = target_rect(view.viewport, &picture.asked, rect);
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
        target.x <= rect.x
            && target.y <= rect.y
            && target.x + target.width >= right
            && target.y + target.height >= bottom
    };
    let shown: Vec<&Picture> = view.pictures.iter().flatten().collect();
    let first = shown.iter().rposition(|it| covers(it)).unwrap_or(0);
    for picture in shown.into_iter().skip(first) {
        let target = target_rect(view.viewport, &picture.asked, rect);
        let bitmap = Arc::clone(&picture.bitmap);
        scene.shapes.push(Shape::Image {
            bitmap,
            target,
            clip: rect,
        });
    }
    if let Some(named) = &view.named {
        labels(&mut scene, view, named, rect);
    }
    cycle_axis(&mut scene, view, rect);
    phase_axis(&mut scene, view, rect);
    tile_axis(&mut scene, view, rect);
    scene
}

/// Where pixels of another view belong in this one.
pub(crate) fn target_rect(viewport: &Viewport, asked: &RasterAsked, plot: Rect) -> Rect {
    let left = viewport.fraction_of_cycle(asked.from);
    let right = viewport.fraction_of_cycle(asked.to);
    let top = viewport.fraction_of_tile(asked.tile_from);
    let bottom = viewport.fraction_of_tile(asked.tile_to);
    Rect {
        x: plot.x + left * plot.width,
        y: plot.y + top * plot.height,
        width: (right - left) * plot.width,
        height: (bottom - top) * plot.height,
    }
}

fn cycle_axis(scene: &mut Scene, view: &PlotView<'_>, plot: Rect) {
    let palette = view.palette;
    let mut taken = plot.x;
    let own = |cycle: u64| cycle.saturating_sub(view.lead);
    let span = view.viewport.span;
    let span = Span {
        from: own(span.from),
        to: own(span.to),
    };
    // As far apart as if the profile filled the plot.
    let part = to_float(view.viewport.span.len()) / to_float(span.len().max(1));
    for cycle in axis::cycle_ticks(span, CYCLE_LABEL / plot.width * part) {
        let across = view.viewport.fraction_of_cycle(cycle + view.lead);
        let x = (plot.x + across * plot.width).round();
        let line = Rect {
            x,
            y: RULER - 6.0,
            width: 1.0,
            height: plot.height + 6.0,
        };
        scene.fill(line, palette.grid.with_alpha(110));
        let lines = tick_lines(view, cycle);
        let width = lines.iter().map(|it| text_width(it)).fold(0.0, f64::max);
        let is_last = x + CYCLE_LABEL / 2.0 > plot.x + plot.width;
        let (anchor, at, from) = match is_last {
            true => (Anchor::End, x - 4.0, x - 4.0 - width),
            false => (Anchor::Start, x + 4.0, x + 4.0),
        };
        if from < taken {
            continue;
        }
        taken = from + width;
        let styles = [(8.0, palette.text), (22.0, palette.muted)];
        for (line, (y, colour)) in lines.iter().zip(styles) {
            scene.text((at, y), anchor, line, colour);
        }
    }
    scene.text((2.0, 8.0), Anchor::Start, "cycles", palette.muted);
    let under = Rect {
        x: plot.x,
        y: RULER - 1.0,
        width: plot.width,
        height: 1.0,
    };
    scene.fill(under, palette.grid);
}

/// What stands beside a tick: its cycle, and its time where the clock rate is known.
fn tick_lines(view: &PlotView<'_>, cycle: u64) -> Vec<String> {
    let time = || text::time(Cycles::new(cycle), view.clock_hz);
    let time = (view.clock_hz != 0).then(time);
    std::iter::once(text::count(cycle)).chain(time).collect()
}

/// Phases as bands below the cycles, with names where they fit.
fn phase_axis(scene: &mut Scene, view: &PlotView<'_>, plot: Rect) {
    let palette = view.palette;
    let place = |cycle| view.viewport.fraction_of_cycle(cycle).clamp(0.0, 1.0) * plot.width;
    for (at, phase) in view.phases.iter().enumerate() {
        let (left, right) = (place(phase.from), place(phase.to));
        let band = Rect {
            x: plot.x + left,
            y: PHASES,
            width: (right - left).max(0.5),
            height: PHASE_HEIGHT,
        };
        let alpha = if at % 2 == 0 { 150 } else { 70 };
        scene.fill(band, palette.grid.with_alpha(alpha));
        if band.width >= text_width(&phase.name) {
            let middle = (band.x + band.width / 2.0, PHASES + PHASE_HEIGHT / 2.0);
            scene.text(middle, Anchor::Middle, &phase.name, palette.text);
        }
    }
    if !view.phases.is_empty() {
        let at = (2.0, PHASES + PHASE_HEIGHT / 2.0);
        scene.text(at, Anchor::Start, "phase", palette.muted);
    }
}

fn tile_axis(scene: &mut Scene, view: &PlotView<'_>, plot: Rect) {
    if let Some(groups) = view.groups {
        return group_axis(scene, view, groups, plot);
    }
    let palette = view.palette;
    let tiles = &view.viewport.tiles;
    let row = plot.height / f64::from(tiles.end - tiles.start);
    for tile in axis::tile_ticks(tiles.start, tiles.end, TILE_LABEL / row) {
        let top = plot.y + view.viewport.fraction_of_tile(tile) * plot.height;
        let middle = top + row.min(TILE_LABEL) / 2.0;
        let line = Rect {
            x: plot.x - 4.0,
            y: top.round(),
            width: 4.0,
            height: 1.0,
        };
        scene.fill(line, palette.grid);
        let label = view.tiles.name(tile);
        let y = middle.clamp(plot.y + 6.0, plot.y + plot.height - 6.0);
        scene.text((plot.x - 7.0, y), Anchor::End, &label, palette.muted);
    }
    scene.text((2.0, 22.0), Anchor::Start, "tile", palette.muted);
}

/// Names of groups on their rows, and how many tiles each has beside them.
fn group_axis(scene: &mut Scene, view: &PlotView<'_>, groups: &RowsAnswer, plot: Rect) {
    let palette = view.palette;
    let count = u32::try_from(groups.names.len()).unwrap_or(u32::MAX);
    let row = plot.height / f64::from(count.max(1));
    let least = (GROUP_LABEL / row).ceil();
    for (at, (name, tiles)) in (0u32..).zip(groups.names.iter().zip(&groups.tiles)) {
        let top = plot.y + view.viewport.fraction_of_tile(at) * plot.height;
        let line = Rect {
            x: plot.x - 4.0,
            y: top.round(),
            width: plot.width + 4.0,
            height: 1.0,
        };
        if row >= 4.0 {
            scene.fill(line, palette.grid.with_alpha(110));
        }
        if f64::from(at) % least > 0.0 {
            continue;
        }
        let middle = top + row.min(GROUP_LABEL) / 2.0;
        let shown = shortened(name, 40);
        let plate = Rect {
            x: plot.x + 3.0,
            y: middle - 7.0,
            width: text_width(&shown),
            height: 14.0,
        };
        scene.fill(plate, palette.panel.with_alpha(210));
        scene.text((plot.x + 7.0, middle), Anchor::Start, &shown, palette.text);
        let count = format!("×{tiles}");
        scene.text((plot.x - 7.0, middle), Anchor::End, &count, palette.muted);
    }
    scene.text((2.0, 22.0), Anchor::Start, "tiles", palette.muted);
}

/// Width that a text takes with its margins, about.
pub(crate) fn text_width(text: &str) -> f64 {
    f64::from(u32::try_from(text.chars().count()).unwrap_or(0)) * 6.2 + 8.0
}

/// At most `most` characters of a text.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}

/// What is marked on top of the plot; painting it never touches the plot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    /// The pointer, when it is over the plot.
    pub(crate) pointer: Option<(f64, f64)>,
    /// The rectangle being drawn to zoom into.
    pub(crate) selection: Option<Rect>,
}

/// The overlay: what is selected, cross-hair, the cycle and time under the pointer, and the
/// rectangle being drawn. `clock_hz` is 0 where the clock rate is unknown.
pub(crate) fn overlay(
    size: Size,
    viewport: &Viewport,
    selected: Option<&Viewport>,
    marks: Marks,
    clock_hz: u64,
    palette: &Palette,
) -> Scene {
    let mut scene = Scene::default();
    let plot = plot_rect(size);
    if let Some(rect) = selected.and_then(|part| selected_rect(viewport, part, plot)) {
        scene.fill(rect, palette.accent.with_alpha(28));
        let ruler = Rect {
            y: 0.0,
            height: RULER,
            ..rect
        };
        scene.fill(ruler, palette.accent.with_alpha(60));
        outline(&mut scene, rect, palette);
    }
    if let Some(rect) = marks.selection {
        dragged(&mut scene, rect, palette);
    }
    let Some((x, y)) = marks.pointer.filter(|&(x, y)| plot.contains(x, y)) else {
        return scene;
    };
    let line = palette.accent.with_alpha(150);
    let (column, row) = (x.floor(), y.floor());
    scene.fill(
        Rect {
            x: column,
            y: plot.y,
            width: 1.0,
            height: plot.height,
        },
        line,
    );
    scene.fill(
        Rect {
            x: plot.x,
            y: row,
            width: plot.width,
            height: 1.0,
        },
        line,
    );
    let cycle = viewport.cycle_at((x - plot.x) / plot.width);
    let at = cursor::At { cycle, clock_hz };
    cursor::plate(&mut scene, plot, x, at, palette);
    scene
}

/// The rectangle that a drag draws.
pub(crate) fn dragged(scene: &mut Scene, rect: Rect, palette: &Palette) {
    scene.fill(rect, palette.accent.with_alpha(50));
    outline(scene, rect, palette);
}

/// The visible part of a selection; `None` where it is out of view.
fn selected_rect(viewport: &Viewport, part: &Viewport, plot: Rect) -> Option<Rect> {
    let across = |cycle| viewport.fraction_of_cycle(cycle).clamp(0.0, 1.0) * plot.width;
    let along = |tile| viewport.fraction_of_tile(tile).clamp(0.0, 1.0) * plot.height;
    let is_out = part.span.to <= viewport.span.from
        || part.span.from >= viewport.span.to
        || part.tiles.end <= viewport.tiles.start
        || part.tiles.start >= viewport.tiles.end;
    let (left, right) = (across(part.span.from), across(part.span.to));
    let (top, bottom) = (along(part.tiles.start), along(part.tiles.end));
    (!is_out).then(|| Rect {
        x: plot.x + left,
        y: plot.y + top,
        width: (right - left).max(1.0),
        height: (bottom - top).max(1.0),
    })
}

/// The strip over the whole run with the view marked; `overview` are the pixels of the open
/// profile, and the cycles that they are of.
pub(crate) fn strip(
    size: Size,
    viewport: &Viewport,
    overview: Option<(&Arc<Bitmap>, u64)>,
    palette: &Palette,
) -> Scene {
    let mut scene = Scene::default();
    let rect = strip_rect(size);
    scene.fill(rect, palette.idle);
    let run = Viewport::whole(viewport.run, viewport.tile_count);
    if let Some((bitmap, cycles)) = overview {
        let target = Rect {
            width: run.fraction_of_cycle(cycles) * rect.width,
            ..rect
        };
        let bitmap = Arc::clone(bitmap);
        scene.shapes.push(Shape::Image {
            bitmap,
            target,
            clip: rect,
        });
    }
    let from = rect.x + run.fraction_of_cycle(viewport.span.from) * rect.width;
    let to = rect.x + run.fraction_of_cycle(viewport.span.to) * rect.width;
    let veil = palette.panel.with_alpha(150);
    let before = Rect {
        width: from - rect.x,
        ..rect
    };
    let after = Rect {
        x: to,
        width: rect.x + rect.width - to,
        ..rect
    };
    for outside in [before, after].into_iter().filter(|it| it.width > 0.0) {
        scene.fill(outside, veil);
    }
    outline(
        &mut scene,
        Rect {
            x: from,
            width: (to - from).max(2.0),
            ..rect
        },
        palette,
    );
    scene
}

/// The part of the strip's canvas that shows time; it lines up with the plot.
pub(crate) fn strip_rect(size: Size) -> Rect {
    Rect {
        x: GUTTER,
        y: 0.0,
        width: (size.width - GUTTER).max(1.0),
        height: size.height,
    }
}

pub(super) fn outline(scene: &mut Scene, rect: Rect, palette: &Palette) {
    let Rect {
        x,
        y,
        width,
        height,
    } = rect;
    let right = x + width - 1.0;
    let bottom = y + height - 1.0;
    for edge in [
        Rect {
            x,
            y,
            width,
            height: 1.0,
        },
        Rect {
            x,
            y: bottom,
            width,
            height: 1.0,
        },
        Rect {
            x,
            y,
            width: 1.0,
            height,
        },
        Rect {
            x: right,
            y,
            width: 1.0,
            height,
        },
    ] {
        scene.fill(edge, palette.accent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::view::{Colouring, Rows};
    use crate::theme::Theme;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use analytics::clock::ClockKind;
    use expect_test::{Expect, expect};

    const SIZE: Size = Size {
        width: 444.0,
        height: 146.0,
    };

    fn drawn(scene: &Scene, expected: &Expect) {
        let mut surface = RecordingSurface::default();
        paint(scene, &mut surface);
        expected.assert_eq(&surface.log);
    }

    fn picture() -> Picture {
        let asked = RasterAsked {
            clock: ClockKind::Cropped,
            from: 0,
            to: 1_000,
            columns: 400,
            tile_from: 0,
            tile_to: 4,
            rows: 4,
            by: Rows::Tile,
            colour: Colouring::Kernel,
            focus: None,
        };
        let bitmap = Bitmap {
            id: 7,
            columns: 400,
            rows: 4,
            rgba: Vec::new(),
        };
        Picture {
            asked,
            bitmap: Arc::new(bitmap),
        }
    }

    fn plot_of(viewport: &Viewport, pictures: &[Option<Picture>]) -> Scene {
        plot(&PlotView {
            size: SIZE,
            viewport,
            pictures,
            groups: None,
            named: None,
            phases: &[],
            lead: 0,
            tiles: &TileNames {
                physical: vec![10, 11, 12, 13],
            },
            clock_hz: 1_000_000_000,
            palette: Theme::Light.palette(),
        })
    }

    #[test]
    fn the_whole_run_fills_the_plot() {
        let viewport = Viewport::whole(1_000, 4);
        drawn(
            &plot_of(&viewport, &[Some(picture())]),
            &expect![[r#"
                clear
                fill 44.0,46.0 400.0x100.0 #ffffffff
                image 7 400x4 over 44.0,46.0 400.0x100.0 clip 44.0,46.0 400.0x100.0
                fill 44.0,40.0 1.0x106.0 #d5dae06e
                text 48.0,8.0 Start #1d2630ff "0"
                text 48.0,22.0 Start #5c6873ff "0.000 µs"
                fill 244.0,40.0 1.0x106.0 #d5dae06e
                text 248.0,8.0 Start #1d2630ff "500"
                text 248.0,22.0 Start #5c6873ff "0.500 µs"
                text 2.0,8.0 Start #5c6873ff "cycles"
                fill 44.0,45.0 400.0x1.0 #d5dae0ff
                fill 40.0,46.0 4.0x1.0 #d5dae0ff
                text 37.0,57.0 End #5c6873ff "10"
                fill 40.0,71.0 4.0x1.0 #d5dae0ff
                text 37.0,82.0 End #5c6873ff "11"
                fill 40.0,96.0 4.0x1.0 #d5dae0ff
                text 37.0,107.0 End #5c6873ff "12"
                fill 40.0,121.0 4.0x1.0 #d5dae0ff
                text 37.0,132.0 End #5c6873ff "13"
                text 2.0,22.0 Start #5c6873ff "tile"
            "#]],
        );
    }

    #[test]
    fn cycles_of_the_ruler_never_overlap() {
        for to in (60_000..90_000).step_by(700) {
            let viewport = Viewport::whole(100_000, 4).with_span(Span { from: 14_172, to });
            let scene = plot_of(&viewport, &[]);
            let places = scene.shapes.iter().filter_map(|shape| match shape {
                Shape::Text {
                    x,
                    y: 22.0,
                    anchor,
                    text,
                    ..
                } if *x > GUTTER => {
                    let width = text_width(text);
                    let is_end = *anchor == Anchor::End;
                    let from = if is_end { x - width } else { *x };
                    Some((from, from + width))
                }
                _ => None,
            });
            let places: Vec<(f64, f64)> = places.collect();
            assert!(!places.is_empty(), "{to}");
            assert!(
                places.windows(2).all(|it| it[0].1 <= it[1].0),
                "{to}: {places:?}"
            );
        }
    }

    #[test]
    fn pixels_of_the_view_before_are_stretched_until_new_ones_come() {
        let viewport = Viewport::whole(1_000, 4).with_span(Span { from: 500, to: 600 });
        let scene = plot_of(&viewport, &[Some(picture())]);
        let image = scene.shapes.iter().find_map(|shape| match shape {
            Shape::Image { target, clip, .. } => Some((*target, *clip)),
            _ => None,
        });
        let (target, clip) = image.expect("the picture is part of the scene");
        assert_eq!(clip, plot_rect(SIZE));
        assert_eq!((target.x, target.width), (GUTTER - 2_000.0, 4_000.0));
    }

    #[test]
    fn only_pictures_that_show_are_painted() {
        let images = |pictures: &[Option<Picture>]| {
            let scene = plot_of(&Viewport::whole(1_000, 4), pictures);
            let is_image = |it: &&Shape| matches!(it, Shape::Image { .. });
            scene.shapes.iter().filter(is_image).count()
        };
        let mut part = picture();
        part.asked.to = 500;
        assert_eq!(images(&[Some(picture()), Some(part.clone())]), 2);
        assert_eq!(images(&[Some(part), Some(picture())]), 1);
        assert_eq!(images(&[None, None]), 0);
    }

    #[test]
    fn the_overlay_has_a_cross_hair_with_its_cycle() {
        let viewport = Viewport::whole(1_000, 4);
        let marks = Marks {
            pointer: Some((244.0, 84.0)),
            selection: None,
        };
        let palette = Theme::Dark.palette();
        let scene = overlay(SIZE, &viewport, None, marks, 1_000_000_000, palette);
        drawn(
            &scene,
            &expect![[r#"
                clear
                fill 244.0,46.0 1.0x100.0 #6cb6ff96
                fill 44.0,84.0 400.0x1.0 #6cb6ff96
                fill 190.0,0.0 108.0x16.0 #6cb6ffff
                text 244.0,8.0 Middle #1b2128ff "500 · 0.500 µs"
            "#]],
        );
    }

    #[test]
    fn the_overlay_is_empty_off_the_plot() {
        let viewport = Viewport::whole(1_000, 4);
        let marks = Marks {
            pointer: Some((3.0, 84.0)),
            selection: None,
        };
        let scene = overlay(SIZE, &viewport, None, marks, 0, Theme::Dark.palette());
        assert!(scene.shapes.is_empty());
    }

    #[test]
    fn the_strip_veils_what_is_out_of_view() {
        let viewport = Viewport::whole(1_000, 4).with_span(Span { from: 250, to: 500 });
        let size = Size {
            width: 444.0,
            height: 40.0,
        };
        let scene = strip(size, &viewport, None, Theme::Light.palette());
        drawn(
            &scene,
            &expect![[r#"
            clear
            fill 44.0,0.0 400.0x40.0 #f1f3f5ff
            fill 44.0,0.0 100.0x40.0 #ffffff96
            fill 244.0,0.0 200.0x40.0 #ffffff96
            fill 144.0,0.0 100.0x1.0 #0b5cadff
            fill 144.0,39.0 100.0x1.0 #0b5cadff
            fill 144.0,0.0 1.0x40.0 #0b5cadff
            fill 243.0,0.0 1.0x40.0 #0b5cadff
        "#]],
        );
    }
}
