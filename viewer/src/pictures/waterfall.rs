//! Phases one below the other over time: what each straggler did, and when the others arrived.
//!
//! Where there are more phases in view than the picture has rows, neighbours share one.

use std::ops::Range;

use analytics::clock::ClockKind;
use analytics::text;

use crate::engine::phases::{PARTS, PhaseBar};
use crate::theme::{KernelHues, Palette, Theme};
use crate::timeline::axis;
use crate::timeline::layout::{Size, plot_rect};
use crate::timeline::scene::{Anchor, Colour, Rect, Scene};
use crate::timeline::viewport::{Viewport, to_float};

/// Height of a row, at most and at least.
const ROW_MAX: f64 = 30.0;
const ROW_MIN: f64 = 3.0;
/// Least distance of two labelled cycles.
const CYCLE_LABEL: f64 = 112.0;

/// Which phases each row of the picture stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    /// Phases in view.
    phases: Range<usize>,
    /// Phases of a row.
    each: usize,
    /// Height of a row.
    height: f64,
}

impl Rows {
    /// Rows for the phases that touch the view.
    pub(crate) fn new(bars: &[PhaseBar], viewport: &Viewport, size: Size) -> Self {
        let first = bars.partition_point(|bar| bar.to <= viewport.span.from);
        let last = bars
            .partition_point(|bar| bar.from < viewport.span.to)
            .max(first);
        let plot = plot_rect(size);
        let mut each = 1;
        let rows = |each: usize| (last - first).div_ceil(each).max(1);
        let height = |each: usize| plot.height / to_float(rows(each) as u64);
        while height(each) < ROW_MIN && each < last - first {
            each += 1;
        }
        Self {
            phases: first..last,
            each,
            height: height(each).min(ROW_MAX),
        }
    }

    /// The first phase of the row at `y`.
    pub(crate) fn phase_at(&self, size: Size, y: f64) -> Option<usize> {
        let plot = plot_rect(size);
        let row = ((y - plot.y) / self.height).floor();
        let row = usize::try_from(crate::timeline::viewport::rounded(row)).ok()?;
        let phase = self.phases.start + row * self.each;
        (y >= plot.y && phase < self.phases.end).then_some(phase)
    }
}

/// What the picture shows.
pub(crate) struct WaterfallView<'a> {
    /// Size of the canvas.
    pub(crate) size: Size,
    /// Cycles in view.
    pub(crate) viewport: &'a Viewport,
    /// All phases in time order.
    pub(crate) bars: &'a [PhaseBar],
    /// The phase under the pointer.
    pub(crate) pointed: Option<usize>,
    /// A hue for each kernel.
    pub(crate) hues: &'a KernelHues,
    /// Colours in force.
    pub(crate) theme: Theme,
}

/// What of an answer on the clock `answered` the picture shows beside a timeline on `clock`: the
/// cycles in `view` where both are one clock, the whole run of `cycles` cycles where tiles of the
/// timeline have no instant in common; nothing while the answer is to another clock.
pub(crate) fn shown(
    answered: ClockKind,
    clock: ClockKind,
    view: &Viewport,
    cycles: u64,
) -> Option<Viewport> {
    if answered == clock {
        return Some(view.clone());
    }
    (answered == clock.common()).then(|| Viewport::whole(cycles, view.tile_count))
}

/// Why the picture does not show the cycles of a timeline on `clock`.
pub(crate) fn on_other_clock(clock: ClockKind) -> Option<String> {
    let common = clock.common();
    (common != clock).then(|| {
        format!(
            "The picture shows the whole run on the {} clock, not the cycles in view: on the {} \
             clock of the timeline tiles have no instant in common. A pressed phase brings the \
             timeline to the {0} clock.",
            common.name(),
            clock.name()
        )
    })
}

/// The picture.
pub(crate) fn scene(view: &WaterfallView<'_>) -> Scene {
    let palette = view.theme.palette();
    let plot = plot_rect(view.size);
    let mut scene = Scene::default();
    scene.fill(plot, palette.nothing);
    cycle_axis(&mut scene, view, plot);
    let rows = Rows::new(view.bars, view.viewport, view.size);
    let starts = rows.phases.clone().step_by(rows.each);
    for (row, start) in starts.enumerate() {
        let of_row = &view.bars[start..(start + rows.each).min(rows.phases.end)];
        let place = Rect {
            x: plot.x,
            y: plot.y + rows.height * to_float(row as u64),
            width: plot.width,
            height: rows.height,
        };
        if view
            .pointed
            .is_some_and(|it| (start..start + rows.each).contains(&it))
        {
            scene.fill(place, palette.accent.with_alpha(36));
        }
        draw_row(&mut scene, view, of_row, place);
    }
    scene
}

fn draw_row(scene: &mut Scene, view: &WaterfallView<'_>, bars: &[PhaseBar], place: Rect) {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        return;
    };
    let clipped = |cycle: u64| {
        let part = view.viewport.fraction_of_cycle(cycle).clamp(0.0, 1.0);
        place.x + part * place.width
    };
    let palette = view.theme.palette();
    let gap = if place.height >= 6.0 { 1.0 } else { 0.0 };
    // Parts are sums without places: they lie in the order of a superstep from the first cycle on,
    // each as long as it took, whether that is in view or not.
    let mut from = first.from;
    for (cycles, colour) in sums(bars).into_iter().zip(colours(palette, view, first)) {
        let to = from.saturating_add(cycles).min(last.to);
        let (left, right) = (clipped(from), clipped(to));
        if right > left {
            let part = Rect {
                x: left,
                y: place.y,
                width: right - left,
                height: (place.height - gap).max(1.0),
            };
            scene.fill(part, colour);
        }
        from = to;
    }
    if place.height >= 9.0 {
        let arrived = clipped(last.first_arrival.max(last.from));
        let line = Rect {
            x: arrived,
            y: place.y + place.height - 4.0,
            width: (clipped(last.to) - arrived).max(1.0),
            height: 3.0,
        };
        scene.fill(line, palette.text.with_alpha(170));
    }
}

fn sums(bars: &[PhaseBar]) -> [u64; PARTS] {
    let mut sums = [0; PARTS];
    for bar in bars {
        for (sum, part) in sums.iter_mut().zip(bar.parts) {
            *sum += part;
        }
    }
    sums
}

fn colours(palette: &Palette, view: &WaterfallView<'_>, bar: &PhaseBar) -> [Colour; PARTS] {
    let kernel = bar.kernel.as_deref().unwrap_or_default();
    [
        palette.synchronization,
        palette.exchange,
        view.hues.colour(kernel, view.theme),
        palette.dimmed,
        palette.grid,
    ]
}

/// What the colours of a row mean.
pub(crate) fn legend(palette: &Palette) -> Vec<(String, String)> {
    let entries = [
        (palette.synchronization, "barrier of the last tile"),
        (palette.exchange, "its exchange"),
        (palette.compute, "its compute, in the colour of the kernel"),
        (palette.dimmed, "idle"),
        (palette.grid, "not recorded"),
    ];
    entries
        .map(|(colour, meaning)| (colour.css(), meaning.to_owned()))
        .to_vec()
}

fn cycle_axis(scene: &mut Scene, view: &WaterfallView<'_>, plot: Rect) {
    let palette = view.theme.palette();
    for cycle in axis::cycle_ticks(view.viewport.span, CYCLE_LABEL / plot.width) {
        let x = (plot.x + view.viewport.fraction_of_cycle(cycle) * plot.width).round();
        let line = Rect {
            x,
            width: 1.0,
            ..plot
        };
        scene.fill(line, palette.grid.with_alpha(110));
        let is_last = x + CYCLE_LABEL / 2.0 > plot.x + plot.width;
        let anchor = if is_last { Anchor::End } else { Anchor::Start };
        let at = if is_last { x - 4.0 } else { x + 4.0 };
        scene.text(
            (at, plot.y - 10.0),
            anchor,
            &text::count(cycle),
            palette.muted,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::view::Span;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use expect_test::expect;

    fn bars(count: u64) -> Vec<PhaseBar> {
        let bar = |at: u64| PhaseBar {
            name: format!("phase {at}/0"),
            boundary: None,
            straggler: None,
            from: at * 100,
            to: (at + 1) * 100,
            first_arrival: at * 100 + 60,
            parts: [10, 20, 60, 10, 0],
            kernel: None,
            said: String::new(),
        };
        (0..count).map(bar).collect()
    }

    fn size(height: f64) -> Size {
        Size {
            width: 444.0,
            height: 46.0 + height,
        }
    }

    #[test]
    fn phases_lie_below_each_other_with_their_parts_and_arrivals() {
        let bars = bars(4);
        let viewport = Viewport::whole(400, 4).with_span(Span { from: 100, to: 300 });
        let view = WaterfallView {
            size: size(200.0),
            viewport: &viewport,
            bars: &bars,
            pointed: Some(2),
            hues: &KernelHues::default(),
            theme: Theme::Light,
        };
        let mut surface = RecordingSurface::default();
        paint(&scene(&view), &mut surface);
        expect![[r#"
            clear
            fill 44.0,46.0 400.0x200.0 #ffffffff
            fill 44.0,46.0 1.0x200.0 #d5dae06e
            text 48.0,36.0 Start #5c6873ff "100"
            fill 244.0,46.0 1.0x200.0 #d5dae06e
            text 248.0,36.0 Start #5c6873ff "200"
            fill 44.0,46.0 20.0x29.0 #efd68eff
            fill 64.0,46.0 40.0x29.0 #82a7dfff
            fill 104.0,46.0 120.0x29.0 #7b7674ff
            fill 224.0,46.0 20.0x29.0 #dbdee3ff
            fill 164.0,72.0 80.0x3.0 #1d2630aa
            fill 44.0,76.0 400.0x30.0 #0b5cad24
            fill 244.0,76.0 20.0x29.0 #efd68eff
            fill 264.0,76.0 40.0x29.0 #82a7dfff
            fill 304.0,76.0 120.0x29.0 #7b7674ff
            fill 424.0,76.0 20.0x29.0 #dbdee3ff
            fill 364.0,102.0 80.0x3.0 #1d2630aa
        "#]]
        .assert_eq(&surface.log);
    }

    #[test]
    fn parts_of_a_phase_that_the_view_cuts_keep_their_cycles() {
        let bars = bars(4);
        let viewport = Viewport::whole(400, 4).with_span(Span { from: 150, to: 250 });
        let view = WaterfallView {
            size: size(200.0),
            viewport: &viewport,
            bars: &bars,
            pointed: None,
            hues: &KernelHues::default(),
            theme: Theme::Light,
        };
        let mut surface = RecordingSurface::default();
        paint(&scene(&view), &mut surface);
        let drawn: Vec<&str> = surface
            .log
            .lines()
            .filter(|it| it.contains("x29.0"))
            .collect();
        assert_eq!(
            drawn,
            [
                // Of 100..200 the barrier and the exchange ended at 130.
                "fill 44.0,46.0 160.0x29.0 #7b7674ff",
                "fill 204.0,46.0 40.0x29.0 #dbdee3ff",
                "fill 244.0,76.0 40.0x29.0 #efd68eff",
                "fill 284.0,76.0 80.0x29.0 #82a7dfff",
                "fill 364.0,76.0 80.0x29.0 #7b7674ff",
            ]
        );
    }

    #[test]
    fn cycles_of_another_clock_are_not_those_in_view() {
        let view = Viewport::whole(400, 4).with_span(Span { from: 100, to: 300 });
        let place = |answered, clock| {
            let shown = shown(answered, clock, &view, 900)?;
            Some((shown.span.from, shown.span.to))
        };
        let [tile, shared, cropped] = [ClockKind::Tile, ClockKind::Shared, ClockKind::Cropped];
        assert_eq!(place(cropped, cropped), Some((100, 300)));
        assert_eq!(place(shared, tile), Some((0, 900)), "all of its own run");
        assert_eq!(place(cropped, shared), None, "its answer is on the way");
        assert_eq!(place(cropped, tile), None);
        assert_eq!(on_other_clock(shared), None);
        let said = on_other_clock(tile).expect("the timeline has another clock");
        assert!(said.contains("whole run on the shared clock"), "{said}");
        assert!(said.contains("on the tile clock of the timeline"), "{said}");
    }

    #[test]
    fn many_phases_share_rows_and_are_found_again() {
        let bars = bars(1_000);
        let viewport = Viewport::whole(100_000, 4);
        let rows = Rows::new(&bars, &viewport, size(300.0));
        assert_eq!((rows.phases.clone(), rows.each), (0..1_000, 10));
        assert_eq!(rows.phase_at(size(300.0), 46.0), Some(0));
        assert_eq!(rows.phase_at(size(300.0), 46.0 + 299.0), Some(990));
        assert_eq!(rows.phase_at(size(300.0), 10.0), None);
        let few = Rows::new(&bars[..2], &viewport, size(300.0));
        assert_eq!(
            few.phase_at(size(300.0), 46.0 + 70.0),
            None,
            "below the last row"
        );
    }
}
