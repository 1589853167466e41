//! The part of the device that is in view: cycles × tile indices, always inside the run.
//!
//! Two spaces meet here: *fractions* 0..1 of the plot's width or height, and cycles or tile
//! indices. Differences are taken in integers first, then turned into floating point.

use std::ops::Range;

use crate::state::view::Span;

/// A view narrower than this shows nothing more.
const CYCLES_MIN: u64 = 16;

/// What is in view, and what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Viewport {
    /// Cycles in view; at least one, inside `0..run`.
    pub(crate) span: Span,
    /// Length of the run on the clock in force, at least one.
    pub(crate) run: u64,
    /// Tile indices in view; at least one, inside `0..tile_count`.
    pub(crate) tiles: Range<u32>,
    /// Number of profiled tiles, at least one.
    pub(crate) tile_count: u32,
}

impl Viewport {
    /// The whole run of all tiles.
    pub(crate) fn whole(run: u64, tile_count: u32) -> Self {
        let (run, tile_count) = (run.max(1), tile_count.max(1));
        Self {
            span: Span { from: 0, to: run },
            run,
            tiles: 0..tile_count,
            tile_count,
        }
    }

    /// Whether everything is in view.
    pub(crate) fn is_whole(&self) -> bool {
        self.span
            == Span {
                from: 0,
                to: self.run,
            }
            && self.tiles == (0..self.tile_count)
    }

    /// These cycles and tiles, as far as they are there: what is marked may be smaller than what
    /// can be in view.
    pub(crate) fn part(&self, span: Span, tiles: Range<u32>) -> Self {
        let from = span.from.min(self.run.saturating_sub(1));
        let to = span.to.min(self.run).max(from.saturating_add(1));
        let first = tiles.start.min(self.tile_count.saturating_sub(1));
        let end = tiles.end.min(self.tile_count).max(first + 1);
        Self {
            span: Span { from, to },
            tiles: first..end,
            ..self.clone()
        }
    }

    /// The same tiles with `span` in view, moved inside the run.
    pub(crate) fn with_span(&self, span: Span) -> Self {
        let len = span.len().clamp(CYCLES_MIN.min(self.run), self.run);
        let from = span.from.min(self.run - len);
        Self {
            span: Span {
                from,
                to: from + len,
            },
            ..self.clone()
        }
    }

    /// The same cycles with `tiles` in view, moved inside the device.
    pub(crate) fn with_tiles(&self, tiles: &Range<u32>) -> Self {
        let wanted = tiles.end.saturating_sub(tiles.start);
        let len = wanted.clamp(1, self.tile_count);
        let start = tiles.start.min(self.tile_count - len);
        Self {
            tiles: start..start + len,
            ..self.clone()
        }
    }

    /// Makes the span `factor` times as long; the cycle at `fraction` of the width stays there.
    pub(crate) fn zoom_time(&self, fraction: f64, factor: f64) -> Self {
        let len = self.span.len();
        let wanted = rounded(to_float(len) * factor).clamp(CYCLES_MIN.min(self.run), self.run);
        let anchor = self.span.from + rounded(to_float(len) * fraction);
        let left = rounded(to_float(wanted) * fraction);
        let from = anchor.saturating_sub(left);
        self.with_span(Span {
            from,
            to: from.saturating_add(wanted),
        })
    }

    /// Moves the view by `fraction` of its length; positive is later.
    pub(crate) fn pan_time(&self, fraction: f64) -> Self {
        let by = rounded(to_float(self.span.len()) * fraction.abs());
        let from = if fraction < 0.0 {
            self.span.from.saturating_sub(by)
        } else {
            self.span.from.saturating_add(by)
        };
        self.with_span(Span {
            from,
            to: from.saturating_add(self.span.len()),
        })
    }

    /// Shows `factor` times as many tiles; the tile at `fraction` of the height stays there.
    pub(crate) fn zoom_tiles(&self, fraction: f64, factor: f64) -> Self {
        let len = u64::from(self.tiles.end - self.tiles.start);
        let mut wanted = rounded(to_float(len) * factor);
        if wanted == len {
            wanted = if factor < 1.0 {
                len.saturating_sub(1)
            } else {
                len + 1
            };
        }
        let wanted = to_index(wanted).clamp(1, self.tile_count);
        let start = self
            .tile_at(fraction)
            .saturating_sub(position(wanted, fraction));
        self.with_tiles(&(start..start.saturating_add(wanted)))
    }

    /// Moves the view by `fraction` of the tiles in it; positive is down, to larger indices.
    pub(crate) fn pan_tiles(&self, fraction: f64) -> Self {
        let len = self.tiles.end - self.tiles.start;
        let by = to_index(rounded(f64::from(len) * fraction.abs()));
        let start = if fraction < 0.0 {
            self.tiles.start.saturating_sub(by)
        } else {
            self.tiles.start.saturating_add(by)
        };
        self.with_tiles(&(start..start.saturating_add(len)))
    }

    /// The same by one tile at least: a part of few tiles is none.
    pub(crate) fn step_tiles(&self, fraction: f64) -> Self {
        let one = 1.0 / f64::from(self.tiles.end - self.tiles.start).max(1.0);
        self.pan_tiles(fraction.signum() * fraction.abs().max(one))
    }

    /// The cycle at `fraction` of the width.
    pub(crate) fn cycle_at(&self, fraction: f64) -> u64 {
        let within = (to_float(self.span.len()) * fraction.clamp(0.0, 1.0)).floor();
        (self.span.from + rounded(within)).min(self.span.to - 1)
    }

    /// The cycles of the column at `fraction` of the width, of so many columns; at least one.
    pub(crate) fn column_at(&self, fraction: f64, columns: u32) -> Range<u64> {
        let columns = f64::from(columns.max(1));
        let column = (fraction.clamp(0.0, 1.0) * columns)
            .floor()
            .min(columns - 1.0);
        let first = self.cycle_at(column / columns);
        let end = match column + 1.0 < columns {
            true => self.cycle_at((column + 1.0) / columns),
            false => self.span.to,
        };
        first..end.max(first + 1)
    }

    /// The tile index at `fraction` of the height.
    pub(crate) fn tile_at(&self, fraction: f64) -> u32 {
        self.tiles.start + position(self.tiles.end - self.tiles.start, fraction)
    }

    /// The place of a cycle as a fraction of the width; outside 0..1 where it is out of view.
    pub(crate) fn fraction_of_cycle(&self, cycle: u64) -> f64 {
        let len = to_float(self.span.len());
        if cycle >= self.span.from {
            to_float(cycle - self.span.from) / len
        } else {
            -to_float(self.span.from - cycle) / len
        }
    }

    /// The place of a tile's upper edge as a fraction of the height.
    pub(crate) fn fraction_of_tile(&self, tile: u32) -> f64 {
        let len = f64::from(self.tiles.end - self.tiles.start);
        (f64::from(tile) - f64::from(self.tiles.start)) / len
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "view lengths: exact up to 2^53 cycles"
)]
pub(crate) fn to_float(cycles: u64) -> f64 {
    cycles as f64
}

/// The nearest whole number; negative and undefined values are zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, which is what a view wants"
)]
pub(crate) fn rounded(value: f64) -> u64 {
    value.round() as u64
}

/// The place at `fraction` of `count` rows, from zero.
fn position(count: u32, fraction: f64) -> u32 {
    let within = (f64::from(count) * fraction.clamp(0.0, 1.0)).floor();
    to_index(rounded(within)).min(count.saturating_sub(1))
}

fn to_index(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole() -> Viewport {
        Viewport::whole(1_000_000, 1_472)
    }

    #[test]
    fn columns_share_the_cycles_in_view() {
        let view = Viewport::whole(1_000, 4).with_span(Span { from: 100, to: 130 });
        let columns: Vec<_> = (0..7)
            .map(|at| view.column_at((f64::from(at) + 0.5) / 7.0, 7))
            .collect();
        assert_eq!((columns[0].start, columns[6].end), (100, 130));
        assert!(columns.windows(2).all(|it| it[0].end == it[1].start));
        assert_eq!(view.column_at(1.0, 7), columns[6]);
        assert_eq!(view.column_at(0.5, 3_000).count(), 1, "no column is empty");
        assert_eq!(view.column_at(2.0, 0), 100..130);
    }

    #[test]
    fn the_view_never_leaves_the_run() {
        let view = whole().zoom_time(0.9, 0.01).pan_time(1e9);
        assert_eq!(
            view.span,
            Span {
                from: 990_000,
                to: 1_000_000
            }
        );
        assert_eq!(view.pan_time(-1e9).span.from, 0);
        assert_eq!(
            view.zoom_time(0.3, 1e12).span,
            Span {
                from: 0,
                to: 1_000_000
            }
        );
        assert_eq!(whole().with_tiles(&(1_470..9_000)).tiles, 0..1_472);
        assert_eq!(whole().with_tiles(&(1_470..1_471)).tiles, 1_470..1_471);
        assert_eq!(whole().with_tiles(&(1_500..1_510)).tiles, 1_462..1_472);
    }

    #[test]
    fn a_short_run_is_shown_whole() {
        let tiny = Viewport::whole(0, 0);
        assert_eq!(tiny.zoom_time(0.5, 0.1), tiny);
        assert_eq!(tiny.zoom_tiles(0.5, 0.1), tiny);
        assert_eq!((tiny.cycle_at(1.0), tiny.tile_at(1.0)), (0, 0));
    }

    #[test]
    fn few_tiles_still_zoom_step_by_step() {
        let view = whole().with_tiles(&(100..105));
        assert_eq!(view.zoom_tiles(0.0, 0.9).tiles, 100..104);
        assert_eq!(view.zoom_tiles(0.0, 1.05).tiles, 100..106);
        let one = whole().with_tiles(&(7..8));
        assert_eq!(one.step_tiles(0.12).tiles, 8..9);
        assert_eq!(one.step_tiles(-0.12).tiles, 6..7);
        assert_eq!(
            whole().with_tiles(&(0..100)).step_tiles(0.12).tiles,
            12..112
        );
        for fraction in [0.0, 0.4, 0.99] {
            let mut closer = whole().with_tiles(&(664..668));
            let tile = closer.tile_at(fraction);
            for _ in 0..4 {
                closer = closer.zoom_tiles(fraction, 0.8);
                let under = closer.tile_at(fraction);
                assert_eq!(under, tile, "the pointer at {fraction} keeps its tile");
            }
            assert_eq!(closer.tiles, tile..tile + 1, "one is the closest");
            assert_eq!(closer.zoom_tiles(fraction, 0.8), closer);
        }
    }

    #[test]
    fn fractions_and_cycles_agree() {
        let view = whole().with_span(Span {
            from: 500,
            to: 1_500,
        });
        assert_eq!(view.cycle_at(0.0), 500);
        assert_eq!(view.cycle_at(0.25), 750);
        assert_eq!(view.cycle_at(1.0), 1_499);
        assert_eq!(view.fraction_of_cycle(750), 0.25);
        assert_eq!(view.fraction_of_cycle(0), -0.5);
        assert_eq!(view.with_tiles(&(10..20)).tile_at(0.99), 19);
        assert_eq!(view.with_tiles(&(10..20)).fraction_of_tile(15), 0.5);
    }

    proptest! {
        /// The cycle under the pointer stays within a pixel of a 4,000 pixel plot, there and back.
        #[test]
        fn the_anchor_keeps_its_cycle(fraction in 0.0f64..1.0, factor in 0.2f64..5.0) {
            let view = Viewport::whole(1 << 40, 1_472)
                .with_span(Span { from: 1 << 38, to: 1 << 39 });
            let zoomed = view.zoom_time(fraction, factor);
            let pixel = to_float(zoomed.span.len()) / 4_000.0;
            let (before, after) = (view.cycle_at(fraction), zoomed.cycle_at(fraction));
            prop_assume!(zoomed.span.from > 0 && zoomed.span.to < zoomed.run);
            prop_assert!(to_float(before.abs_diff(after)) <= pixel);
            let back = zoomed.zoom_time(fraction, 1.0 / factor);
            prop_assert!(to_float(back.span.from.abs_diff(view.span.from)) <= 4.0);
        }

        #[test]
        fn every_view_is_inside(from in any::<u64>(), to in any::<u64>(), by in -2.0f64..2.0) {
            let view = whole().with_span(Span { from, to }).pan_time(by);
            prop_assert!(view.span.from < view.span.to && view.span.to <= view.run);
        }
    }
}
