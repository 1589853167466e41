//! The cycle under the pointer: a plate with its number and time, and the line where another
//! timeline has it. Pure.

use analytics::text;
use analytics::units::Cycles;

use super::scene::{Anchor, Rect, Scene};
use super::viewport::Viewport;
use crate::theme::Palette;

/// An instant of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    /// The cycle.
    pub(crate) cycle: u64,
    /// Clock rate of its profile in hertz; 0 is unknown.
    pub(crate) clock_hz: u64,
}

/// The plate above the plot, around `x`: the cycle, and its time where the clock rate is known.
pub(crate) fn plate(scene: &mut Scene, plot: Rect, x: f64, at: At, palette: &Palette) {
    let mut label = text::count(at.cycle);
    if at.clock_hz != 0 {
        label.push_str(" · ");
        label.push_str(&text::time(Cycles::new(at.cycle), at.clock_hz));
    }
    let width = f64::from(u32::try_from(label.chars().count()).unwrap_or(0)) * 7.0 + 10.0;
    let left = (x - width / 2.0).clamp(plot.x, (plot.x + plot.width - width).max(plot.x));
    scene.fill(
        Rect {
            x: left,
            y: 0.0,
            width,
            height: 16.0,
        },
        palette.accent,
    );
    let middle = (left + width / 2.0, 8.0);
    scene.text(middle, Anchor::Middle, &label, palette.panel);
}

/// A line at the cycle with its plate, where it is in view.
pub(crate) fn line(scene: &mut Scene, plot: Rect, viewport: &Viewport, at: At, palette: &Palette) {
    if !(viewport.span.from..viewport.span.to).contains(&at.cycle) {
        return;
    }
    let across = viewport.fraction_of_cycle(at.cycle);
    line_across(scene, plot, across, at, palette);
}

/// A line at a part of the width, with the plate of an instant.
pub(crate) fn line_across(scene: &mut Scene, plot: Rect, across: f64, at: At, palette: &Palette) {
    let x = plot.x + across * plot.width;
    let line = Rect {
        x: x.floor(),
        width: 1.0,
        ..plot
    };
    scene.fill(line, palette.accent.with_alpha(150));
    plate(scene, plot, x, at, palette);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::view::Span;
    use crate::theme::Theme;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use expect_test::expect;

    const PLOT: Rect = Rect {
        x: 44.0,
        y: 46.0,
        width: 400.0,
        height: 100.0,
    };

    fn drawn(cycle: u64, clock_hz: u64) -> String {
        let viewport = Viewport::whole(2_000, 4).with_span(Span {
            from: 1_000,
            to: 2_000,
        });
        let mut scene = Scene::default();
        let at = At { cycle, clock_hz };
        line(&mut scene, PLOT, &viewport, at, Theme::Dark.palette());
        let mut surface = RecordingSurface::default();
        paint(&scene, &mut surface);
        surface.log
    }

    #[test]
    fn a_line_has_its_cycle_and_its_time() {
        expect![[r#"
            clear
            fill 244.0,46.0 1.0x100.0 #6cb6ff96
            fill 183.0,0.0 122.0x16.0 #6cb6ffff
            text 244.0,8.0 Middle #1b2128ff "1\u{202f}500 · 1.500 µs"
        "#]]
        .assert_eq(&drawn(1_500, 1_000_000_000));
    }

    #[test]
    fn without_a_clock_rate_there_is_no_time_and_out_of_view_nothing() {
        assert!(drawn(1_500, 0).trim_end().ends_with(r#""1\u{202f}500""#));
        assert_eq!(drawn(999, 1_000_000_000), "clear\n");
        assert_eq!(drawn(2_000, 1_000_000_000), "clear\n");
    }
}
