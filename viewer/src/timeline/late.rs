//! The tile that everybody waited for in a phase, marked on the plot. Pure.

use std::ops::Range;

use super::layout::{outline, text_width};
use super::scene::{Anchor, Rect, Scene};
use super::viewport::Viewport;
use crate::state::view::Span;
use crate::theme::Palette;

/// Height of a row that can be seen.
const ROW_MIN: f64 = 5.0;
/// Height of the plate with the name.
const PLATE: f64 = 16.0;

/// A straggler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// Positions of its tile: one of them.
    pub(crate) row: Range<u32>,
    /// The phase.
    pub(crate) span: Span,
    /// What it is called.
    pub(crate) name: String,
}

/// Its row over the phase, outlined, with its name above or below; nothing out of view.
pub(crate) fn mark(
    scene: &mut Scene,
    plot: Rect,
    viewport: &Viewport,
    late: &Late,
    palette: &Palette,
) {
    let Late { row, span, name } = late;
    let is_out = span.to <= viewport.span.from
        || span.from >= viewport.span.to
        || row.end <= viewport.tiles.start
        || row.start >= viewport.tiles.end;
    if is_out {
        return;
    }
    let across = |cycle| viewport.fraction_of_cycle(cycle).clamp(0.0, 1.0) * plot.width;
    let along = |tile| viewport.fraction_of_tile(tile).clamp(0.0, 1.0) * plot.height;
    let (left, top) = (across(span.from), along(row.start));
    let height = (along(row.end) - top).max(ROW_MIN);
    let rect = Rect {
        x: plot.x + left,
        y: plot.y + top.min(plot.height - height),
        width: (across(span.to) - left).max(1.0),
        height,
    };
    scene.fill(rect, palette.accent.with_alpha(50));
    outline(scene, rect, palette);
    let is_above = rect.y - PLATE >= plot.y;
    let plate = Rect {
        x: rect.x,
        y: if is_above {
            rect.y - PLATE
        } else {
            rect.y + rect.height
        },
        width: text_width(name),
        height: PLATE,
    };
    scene.fill(plate, palette.accent);
    let at = (plate.x + 4.0, plate.y + PLATE / 2.0);
    scene.text(at, Anchor::Start, name, palette.panel);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use expect_test::{Expect, expect};

    const PLOT: Rect = Rect {
        x: 44.0,
        y: 46.0,
        width: 400.0,
        height: 100.0,
    };

    fn check(row: u32, (from, to): (u64, u64), expected: &Expect) {
        let viewport = Viewport::whole(1_000, 10);
        let late = Late {
            row: row..row + 1,
            span: Span { from, to },
            name: "tile 17 comes last".to_owned(),
        };
        let mut scene = Scene::default();
        mark(&mut scene, PLOT, &viewport, &late, Theme::Light.palette());
        let mut surface = RecordingSurface::default();
        paint(&scene, &mut surface);
        expected.assert_eq(&surface.log);
    }

    #[test]
    fn the_row_is_outlined_over_its_phase_with_the_name_above_it() {
        check(
            4,
            (250, 500),
            &expect![[r#"
                clear
                fill 144.0,86.0 100.0x10.0 #0b5cad32
                fill 144.0,86.0 100.0x1.0 #0b5cadff
                fill 144.0,95.0 100.0x1.0 #0b5cadff
                fill 144.0,86.0 1.0x10.0 #0b5cadff
                fill 243.0,86.0 1.0x10.0 #0b5cadff
                fill 144.0,70.0 119.6x16.0 #0b5cadff
                text 148.0,78.0 Start #ffffffff "tile 17 comes last"
            "#]],
        );
    }

    #[test]
    fn on_the_first_row_the_name_is_below() {
        check(
            0,
            (0, 100),
            &expect![[r#"
                clear
                fill 44.0,46.0 40.0x10.0 #0b5cad32
                fill 44.0,46.0 40.0x1.0 #0b5cadff
                fill 44.0,55.0 40.0x1.0 #0b5cadff
                fill 44.0,46.0 1.0x10.0 #0b5cadff
                fill 83.0,46.0 1.0x10.0 #0b5cadff
                fill 44.0,56.0 119.6x16.0 #0b5cadff
                text 48.0,64.0 Start #ffffffff "tile 17 comes last"
            "#]],
        );
    }

    #[test]
    fn what_is_out_of_view_is_not_marked() {
        check(10, (0, 100), &expect!["clear\n"]);
        check(4, (1_000, 1_200), &expect!["clear\n"]);
    }
}
