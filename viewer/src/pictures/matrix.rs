//! Tiles × tiles: bytes from the tiles of a row to the tiles of a column, on a logarithmic scale.

use std::sync::Arc;

use crate::engine::memory::MatrixAnswer;
use crate::theme::{Palette, scale};
use crate::timeline::layout::Size;
use crate::timeline::scene::{Anchor, Bitmap, Colour, Rect, Scene, Shape};
use crate::timeline::viewport::{rounded, to_float};

/// Room for labels left of and above the cells.
const GUTTER: f64 = 44.0;
const RULER: f64 = 18.0;
/// Labels on each side.
const LABELS: u32 = 8;

/// Bytes of a cell.
pub(crate) fn bytes_of(matrix: &MatrixAnswer, row: u32, column: u32) -> u32 {
    let at = (row as usize * matrix.cells as usize + column as usize) * 4;
    let bytes = matrix.plane.get(at..at + 4);
    bytes.map_or(0, |it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]))
}

/// One pixel a cell; cells without a byte show the background.
pub(crate) fn bitmap(matrix: &MatrixAnswer, palette: &Palette, id: u64) -> Bitmap {
    let full = full(matrix);
    let mut rgba = Vec::with_capacity(matrix.plane.len());
    for row in 0..matrix.cells {
        for column in 0..matrix.cells {
            let bytes = bytes_of(matrix, row, column);
            let Colour {
                red, green, blue, ..
            } = match bytes {
                0 => palette.idle,
                bytes => scale((f64::from(bytes) + 1.0).ln() / full),
            };
            rgba.extend_from_slice(&[red, green, blue, 255]);
        }
    }
    Bitmap {
        id,
        columns: matrix.cells,
        rows: matrix.cells,
        rgba,
    }
}

/// Where the logarithmic scale ends.
fn full(matrix: &MatrixAnswer) -> f64 {
    to_float(matrix.most.min(u64::from(u32::MAX)) + 1).ln()
}

/// Colours of the scale with the bytes that they stand for, ascending; the first is no byte at all.
pub(crate) fn levels(matrix: &MatrixAnswer, palette: &Palette) -> Vec<(Colour, u64)> {
    let full = full(matrix);
    let level = |quarter: u32| {
        let share = f64::from(quarter) / 4.0;
        let bytes = rounded((share * full).exp() - 1.0);
        (scale(share), bytes.max(1))
    };
    let mut levels: Vec<(Colour, u64)> = std::iter::once((palette.idle, 0))
        .chain((0..=4).map(level))
        .collect();
    levels.dedup_by_key(|it| it.1);
    levels
}

/// Row and column of the fullest cell, and how many cells have a byte.
pub(crate) fn fullest(matrix: &MatrixAnswer) -> Option<((u32, u32), u32)> {
    let mut most = (0, (0, 0));
    let mut count = 0;
    for row in 0..matrix.cells {
        for column in 0..matrix.cells {
            let bytes = bytes_of(matrix, row, column);
            count += u32::from(bytes > 0);
            if bytes > most.0 {
                most = (bytes, (row, column));
            }
        }
    }
    (count > 0).then_some((most.1, count))
}

/// The square of cells.
fn square(size: Size) -> Rect {
    let side = (size.width - GUTTER).min(size.height - RULER).max(1.0);
    Rect {
        x: GUTTER,
        y: RULER,
        width: side,
        height: side,
    }
}

/// The picture with labels of physical tiles.
pub(crate) fn scene(
    size: Size,
    matrix: &MatrixAnswer,
    bitmap: &Arc<Bitmap>,
    palette: &Palette,
) -> Scene {
    let mut scene = Scene::default();
    let square = square(size);
    scene.shapes.push(Shape::Image {
        bitmap: Arc::clone(bitmap),
        target: square,
        clip: square,
    });
    let count = matrix.cells.max(1);
    for label in 0..LABELS.min(count) {
        let cell = label * count / LABELS.min(count);
        let part = f64::from(cell) / f64::from(count) * square.width;
        let name = matrix.tiles.get(cell as usize).map(|it| it.0.to_string());
        let name = name.unwrap_or_default();
        let row = (square.x - 6.0, square.y + part + 6.0);
        scene.text(row, Anchor::End, &name, palette.muted);
        let column = (square.x + part, square.y - 8.0);
        scene.text(column, Anchor::Start, &name, palette.muted);
    }
    scene
}

/// Row and column of the cell at a place.
pub(crate) fn cell_at(size: Size, cells: u32, at: (f64, f64)) -> Option<(u32, u32)> {
    let square = square(size);
    let cell = |at: f64, from: f64| {
        let part = ((at - from) / square.width * f64::from(cells)).floor();
        u32::try_from(rounded(part)).map_or(0, |it| it.min(cells.saturating_sub(1)))
    };
    square
        .contains(at.0, at.1)
        .then(|| (cell(at.1, square.y), cell(at.0, square.x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use expect_test::expect;

    fn matrix() -> MatrixAnswer {
        let plane = [0_u32, 1, 1_000, u32::MAX];
        MatrixAnswer {
            asked: None,
            cells: 2,
            most: u64::from(u32::MAX),
            tiles: vec![(0, 3), (4, 7)],
            plane: plane.iter().flat_map(|it| it.to_le_bytes()).collect(),
        }
    }

    #[test]
    fn more_bytes_are_further_on_the_scale() {
        let light = Theme::Light.palette();
        let bitmap = bitmap(&matrix(), light, 1);
        let pixel = |at: usize| &bitmap.rgba[at * 4..at * 4 + 3];
        assert_eq!(
            pixel(0),
            [light.idle.red, light.idle.green, light.idle.blue]
        );
        let full = scale(1.0);
        assert_eq!(pixel(3), [full.red, full.green, full.blue]);
        assert!(
            pixel(1)[1] < pixel(2)[1] && pixel(2)[1] < pixel(3)[1],
            "greener"
        );
    }

    #[test]
    fn the_scale_names_the_bytes_of_its_colours() {
        let light = Theme::Light.palette();
        let levels = levels(&matrix(), light);
        let bytes: Vec<u64> = levels.iter().map(|it| it.1).collect();
        assert_eq!(bytes, [0, 1, 255, 65_535, 16_777_215, 4_294_967_295]);
        let full = to_float(u64::from(u32::MAX) + 1).ln();
        assert_eq!(levels[2].0, scale(256_f64.ln() / full));
        let few = MatrixAnswer {
            most: 1,
            ..matrix()
        };
        let bytes: Vec<u64> = super::levels(&few, light).iter().map(|it| it.1).collect();
        assert_eq!(bytes, [0, 1], "no level twice");
    }

    #[test]
    fn the_matrix_is_drawn_once_with_the_tiles_of_its_sides() {
        let light = Theme::Light.palette();
        let size = Size {
            width: GUTTER + 200.0,
            height: RULER + 100.0,
        };
        let bitmap = Arc::new(bitmap(&matrix(), light, 3));
        let mut surface = RecordingSurface::default();
        paint(&scene(size, &matrix(), &bitmap, light), &mut surface);
        expect![[r#"
            clear
            image 3 2x2 over 44.0,18.0 100.0x100.0 clip 44.0,18.0 100.0x100.0
            text 38.0,24.0 End #5c6873ff "0"
            text 44.0,10.0 Start #5c6873ff "0"
            text 38.0,74.0 End #5c6873ff "4"
            text 94.0,10.0 Start #5c6873ff "4"
        "#]]
        .assert_eq(&surface.log);
    }

    #[test]
    fn the_fullest_cell_is_found_and_cells_with_bytes_are_counted() {
        assert_eq!(fullest(&matrix()), Some(((1, 1), 3)));
        assert_eq!(fullest(&MatrixAnswer::default()), None);
    }

    #[test]
    fn cells_are_found_under_the_pointer() {
        let size = Size {
            width: GUTTER + 200.0,
            height: RULER + 100.0,
        };
        assert_eq!(
            cell_at(size, 2, (GUTTER + 10.0, RULER + 60.0)),
            Some((1, 0))
        );
        assert_eq!(cell_at(size, 2, (GUTTER + 99.0, RULER + 1.0)), Some((0, 1)));
        assert_eq!(cell_at(size, 2, (GUTTER + 150.0, RULER + 1.0)), None);
        assert_eq!(bytes_of(&matrix(), 1, 0), 1_000);
    }
}
