//! The physical grid of tiles: shares of tiles → [`Scene`], and places ⇄ tiles. Pure.
//!
//! A physical id has its row in bits 10:6, its column id in bits 5:2 and a sub id in bits 1:0, so a
//! row of the chip is 64 consecutive ids.

use std::sync::Arc;

use super::layout::Size;
use super::scene::{Anchor, Bitmap, Colour, Rect, Scene, Shape};
use crate::engine::spent::TileShare;
use crate::state::view::TileIds;
use crate::theme::{Palette, scale};

/// Tiles in a row of the chip.
pub(crate) const ACROSS: u32 = 64;
/// First physical id that is not in the grid.
const TILES_MAX: u32 = 1 << 16;
/// Width of the row labels.
const GUTTER: f64 = 44.0;
/// Height of the column labels.
const RULER: f64 = 16.0;

/// The part of the canvas that shows the tiles.
pub(crate) fn grid_rect(size: Size) -> Rect {
    Rect {
        x: GUTTER,
        y: RULER,
        width: (size.width - GUTTER).max(1.0),
        height: (size.height - RULER).max(1.0),
    }
}

/// One pixel a tile: its share on the scale; grey without a figure, transparent without a tile.
pub(crate) fn bitmap(tiles: &[TileShare], palette: &Palette, id: u64) -> Bitmap {
    let colour = |it: &TileShare| (it.tile, it.share.map_or(palette.compute, scale));
    pixels(tiles.iter().map(colour), id)
}

/// One pixel for each of ascending `tiles`; transparent without a tile. Ids from [`TILES_MAX`] on
/// have none.
pub(crate) fn pixels(
    tiles: impl DoubleEndedIterator<Item = (u32, Colour)> + Clone,
    id: u64,
) -> Bitmap {
    // The largest chips have a fortieth of these; a file may say anything, and memory is less.
    let tiles = tiles.filter(|it| it.0 < TILES_MAX);
    let last = tiles.clone().next_back();
    let rows = last.map_or(1, |(tile, _)| tile / ACROSS + 1);
    let mut rgba = vec![0; ACROSS as usize * rows as usize * 4];
    for (tile, colour) in tiles {
        let at = tile as usize * 4;
        rgba[at..at + 4].copy_from_slice(&colour.rgba());
    }
    Bitmap {
        id,
        columns: ACROSS,
        rows,
        rgba,
    }
}

/// The grid with its labels; rows out of `shown` are veiled.
pub(crate) fn scene(
    size: Size,
    bitmap: &Arc<Bitmap>,
    shown: Option<TileIds>,
    palette: &Palette,
) -> Scene {
    let mut scene = Scene::default();
    let grid = grid_rect(size);
    scene.fill(grid, palette.nothing);
    scene.shapes.push(Shape::Image {
        bitmap: Arc::clone(bitmap),
        target: grid,
        clip: grid,
    });
    let row = grid.height / f64::from(bitmap.rows);
    for at in (0..bitmap.rows).step_by(4) {
        let middle = grid.y + row * (f64::from(at) + 0.5);
        let label = (at * ACROSS).to_string();
        let place = (grid.x - 7.0, middle);
        scene.text(place, Anchor::End, &label, palette.muted);
    }
    let column = grid.width / 16.0;
    for at in 0_u32..16 {
        let middle = grid.x + column * (f64::from(at) + 0.5);
        let label = at.to_string();
        scene.text((middle, 7.0), Anchor::Middle, &label, palette.muted);
    }
    if let Some(shown) = shown {
        veil(&mut scene, grid, bitmap.rows, shown, palette);
    }
    scene
}

/// Veils the tiles that are not shown: whole rows, and what is left of the first and right of the
/// last one in theirs.
fn veil(scene: &mut Scene, grid: Rect, rows: u32, shown: TileIds, palette: &Palette) {
    let veil = palette.panel.with_alpha(170);
    let (row, column) = (
        grid.height / f64::from(rows),
        grid.width / f64::from(ACROSS),
    );
    let mut cells = |down: std::ops::Range<u32>, across: std::ops::Range<u32>| {
        let place = Rect {
            x: grid.x + column * f64::from(across.start),
            y: grid.y + row * f64::from(down.start),
            width: column * f64::from(across.end - across.start.min(across.end)),
            height: row * f64::from(down.end - down.start.min(down.end)),
        };
        if !down.is_empty() && !across.is_empty() {
            scene.fill(place, veil);
        }
    };
    let (top, bottom) = (shown.first / ACROSS, shown.last / ACROSS);
    cells(0..top.min(rows), 0..ACROSS);
    cells(bottom.saturating_add(1).min(rows)..rows, 0..ACROSS);
    if top < rows {
        cells(top..top + 1, 0..shown.first % ACROSS);
    }
    if bottom < rows {
        cells(bottom..bottom + 1, shown.last % ACROSS + 1..ACROSS);
    }
}

/// The physical id at a place; `None` beside the grid.
pub(crate) fn tile_at(size: Size, rows: u32, at: (f64, f64)) -> Option<u32> {
    let grid = grid_rect(size);
    let inside = grid.contains(at.0, at.1);
    let part = |at: f64, from: f64, length: f64, count: u32| {
        let cell = ((at - from) / length * f64::from(count)).floor();
        u32::try_from(super::viewport::rounded(cell)).map_or(0, |it| it.min(count - 1))
    };
    inside.then(|| {
        part(at.1, grid.y, grid.height, rows.max(1)) * ACROSS
            + part(at.0, grid.x, grid.width, ACROSS)
    })
}

/// The tiles that a brush from one tile to another brings into view: those between them in one row
/// of the chip, else all of their rows.
pub(crate) fn brushed(a: u32, b: u32) -> TileIds {
    let (first, last) = (a.min(b), a.max(b));
    if first / ACROSS == last / ACROSS {
        return TileIds { first, last };
    }
    TileIds {
        first: first / ACROSS * ACROSS,
        last: last / ACROSS * ACROSS + ACROSS - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use expect_test::expect;

    fn tiles() -> Vec<TileShare> {
        let share = |tile| TileShare {
            tile,
            share: (tile != 1).then_some(0.5),
        };
        (0..130).map(share).collect()
    }

    #[test]
    fn a_tile_is_a_pixel_at_its_row_and_column() {
        let light = Theme::Light.palette();
        let bitmap = bitmap(&tiles(), light, 1);
        assert_eq!((bitmap.columns, bitmap.rows), (64, 3));
        let red = |tile: usize| bitmap.rgba[tile * 4];
        assert_eq!((red(0), red(1)), (scale(0.5).red, light.compute.red));
        assert_eq!(bitmap.rgba[130 * 4 + 3], 0, "there is no tile 130");
    }

    #[test]
    fn places_and_tiles_agree() {
        let size = Size {
            width: GUTTER + 640.0,
            height: RULER + 30.0,
        };
        assert_eq!(tile_at(size, 3, (GUTTER + 5.0, RULER + 5.0)), Some(0));
        assert_eq!(tile_at(size, 3, (GUTTER + 639.0, RULER + 29.0)), Some(191));
        assert_eq!(tile_at(size, 3, (GUTTER + 15.0, RULER + 15.0)), Some(65));
        assert_eq!(tile_at(size, 3, (2.0, RULER + 15.0)), None);
        let ids = brushed(130, 70);
        assert_eq!((ids.first, ids.last), (64, 191));
        let ids = brushed(90, 70);
        assert_eq!((ids.first, ids.last), (70, 90), "within a row of the chip");
    }

    #[test]
    fn the_grid_is_drawn_once_with_labels_and_veils() {
        let light = Theme::Light.palette();
        let size = Size {
            width: GUTTER + 64.0,
            height: RULER + 30.0,
        };
        let bitmap = Arc::new(bitmap(&tiles(), light, 9));
        let shown = Some(brushed(70, 64 + 39));
        let mut surface = RecordingSurface::default();
        paint(&scene(size, &bitmap, shown, light), &mut surface);
        let lines: Vec<&str> = surface.log.lines().collect();
        let log = [lines[..4].join("\n"), lines[lines.len() - 4..].join("\n")].join("\n");
        expect![[r#"
            clear
            fill 44.0,16.0 64.0x30.0 #ffffffff
            image 9 64x3 over 44.0,16.0 64.0x30.0 clip 44.0,16.0 64.0x30.0
            text 37.0,21.0 End #5c6873ff "0"
            fill 44.0,16.0 64.0x10.0 #ffffffaa
            fill 44.0,36.0 64.0x10.0 #ffffffaa
            fill 44.0,26.0 6.0x10.0 #ffffffaa
            fill 84.0,26.0 24.0x10.0 #ffffffaa"#]]
        .assert_eq(&log);
    }
}
