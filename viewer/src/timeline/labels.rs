//! Names inside the rows of a timeline, where rows are high and stretches long enough. Pure.

use analytics::timeline::CellKind;

use super::layout::{PlotView, shortened, target_rect, text_width};
use super::scene::{Anchor, Rect, Scene};
use crate::engine::raster::RasterAnswer;
use crate::theme::PLATE;

/// Rows lower than this have no names.
const ROW: f64 = 15.0;
/// Stretches narrower than this have no names.
const STRETCH: f64 = 34.0;
/// Names in one picture at most.
const MOST: usize = 600;

/// Cells and what the names in them say, by string id.
pub(crate) struct Named<'a> {
    /// The cells; those of an overview get no names.
    pub(crate) cells: &'a RasterAnswer,
    /// String id and name.
    pub(crate) names: &'a [(u32, String)],
}

/// A stretch of equal cells in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    row: u32,
    /// First column, and one past the last.
    from: u32,
    to: u32,
    kind: CellKind,
    /// String id plus one.
    name: u32,
}

/// Writes the names that fit.
pub(crate) fn labels(scene: &mut Scene, view: &PlotView<'_>, named: &Named<'_>, plot: Rect) {
    let cells = named.cells;
    let tiles = cells.asked.tile_to.saturating_sub(cells.asked.tile_from);
    let target = target_rect(view.viewport, &cells.asked, plot);
    let height = target.height / f64::from(cells.rows.max(1));
    if cells.rows != tiles || height < ROW || cells.from_overview {
        return;
    }
    let width = target.width / f64::from(cells.columns.max(1));
    let least = (STRETCH / width).ceil();
    let long = stretches(cells).filter(|it| f64::from(it.to - it.from) >= least);
    for stretch in long.take(MOST) {
        let left = (target.x + f64::from(stretch.from) * width).max(plot.x);
        let right = (target.x + f64::from(stretch.to) * width).min(plot.x + plot.width);
        let middle = target.y + (f64::from(stretch.row) + 0.5) * height;
        let is_inside = (plot.y..plot.y + plot.height).contains(&middle);
        let room = right - left - 6.0;
        if !is_inside || room < STRETCH - 6.0 {
            continue;
        }
        let Some(name) = name_of(&stretch, named.names) else {
            continue;
        };
        let text = fitting(name, room);
        let plate = Rect {
            x: left + 3.0,
            y: middle - 6.5,
            width: text_width(&text).min(room),
            height: 13.0,
        };
        scene.fill(plate, view.palette.panel.with_alpha(PLATE));
        let at = (left + 6.0, middle);
        scene.text(at, Anchor::Start, &text, view.palette.text);
    }
}

/// Runs of cells of one kind and name, row by row; nothing and idle are left out.
fn stretches(cells: &RasterAnswer) -> impl Iterator<Item = Stretch> {
    let columns = cells.columns.max(1) as usize;
    let rows = cells
        .kinds
        .chunks(columns)
        .zip(cells.kernels.chunks(columns));
    (0u32..).zip(rows).flat_map(|(row, (kinds, names))| {
        let mut found = Vec::new();
        let mut from = 0;
        for at in 1..=kinds.len() {
            let ends = kinds.get(at) != Some(&kinds[from]) || names.get(at) != Some(&names[from]);
            if ends {
                let bound = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                found.push(Stretch {
                    row,
                    from: bound(from),
                    to: bound(at),
                    kind: CellKind::from_byte(kinds[from]),
                    name: names[from],
                });
                from = at;
            }
        }
        let says = |it: &Stretch| !matches!(it.kind, CellKind::Nothing | CellKind::Idle);
        found.into_iter().filter(says)
    })
}

fn name_of<'a>(stretch: &Stretch, names: &'a [(u32, String)]) -> Option<&'a str> {
    match stretch.kind {
        CellKind::Compute => {
            let id = stretch.name.checked_sub(1)?;
            let found = names.iter().find(|(it, _)| *it == id);
            found.map(|(_, name)| name.as_str())
        }
        CellKind::Exchange => Some("exchange"),
        CellKind::Synchronization => Some("sync"),
        CellKind::Idle | CellKind::Unknown | CellKind::Nothing => None,
    }
}

/// As many characters of a name as fit into `room` pixels.
fn fitting(name: &str, room: f64) -> String {
    let mut most = name.chars().count();
    while most > 3 && text_width(&shortened(name, most)) > room {
        most -= 1;
    }
    shortened(name, most.max(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::raster::RasterAsked;
    use crate::state::view::{Colouring, Rows};
    use analytics::clock::ClockKind;

    fn cells(kinds: &[u8], kernels: &[u32], columns: u32) -> RasterAnswer {
        let asked = RasterAsked {
            clock: ClockKind::Cropped,
            from: 0,
            to: 1_000,
            columns,
            by: Rows::Tile,
            tile_from: 0,
            tile_to: 4,
            rows: 4,
            colour: Colouring::Kernel,
            focus: None,
        };
        RasterAnswer {
            asked,
            columns,
            rows: u32::try_from(kinds.len()).unwrap_or(0) / columns,
            from_overview: false,
            cost: 0,
            kinds: kinds.to_vec(),
            kernels: kernels.to_vec(),
            busy: Vec::new(),
            focused: Vec::new(),
            efficiency: Vec::new(),
        }
    }

    #[test]
    fn runs_of_equal_cells_are_stretches_and_end_with_their_row() {
        let cells = cells(&[1, 1, 0, 1, 3, 3, 1, 1], &[5, 5, 0, 5, 0, 0, 5, 6], 4);
        let found: Vec<_> = stretches(&cells)
            .map(|it| (it.row, it.from, it.to, it.name))
            .collect();
        assert_eq!(
            found,
            [
                (0, 0, 2, 5),
                (0, 2, 3, 0),
                (0, 3, 4, 5),
                (1, 2, 3, 5),
                (1, 3, 4, 6)
            ]
        );
    }

    #[test]
    fn names_are_cut_to_their_room() {
        assert_eq!(fitting("gemm", 100.0), "gemm");
        assert_eq!(fitting("layer_normalisation", 60.0), "layer_n…");
        assert_eq!(fitting("layer", 1.0), "la…");
    }
}
