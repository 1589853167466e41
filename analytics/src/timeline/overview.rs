//! A picture before any sample is decoded: the file's overview stretched to a viewport.

use super::raster::{Area, CellKind, Raster, Viewport};
use crate::profile::{Overview, ProfileReport};

/// The cells of `viewport` from the file's overview, or `None` where the file has none.
///
/// A cell takes the kind that most of its tiles show at its middle, and the kernel and busy share
/// of the busiest of them.
#[must_use]
pub fn overview_raster(report: &ProfileReport, viewport: &Viewport) -> Option<Raster> {
    let overview = report.overview()?;
    if overview.rows as usize != report.tiles().len() {
        return None;
    }
    let area = Area::new(report, viewport);
    let mut raster = Raster::blank(viewport.columns, area.rows);
    raster.from_overview = true;
    let columns = area.columns as usize;
    for row in 0..area.rows {
        for column in 0..area.columns {
            let at = row as usize * columns + column as usize;
            let Some(cell) = cell(report, overview, &area, row, column) else {
                continue;
            };
            raster.kinds[at] = cell.kind;
            raster.kernels[at] = cell.kernel;
            raster.busy[at] = cell.busy;
        }
    }
    Some(raster)
}

struct Cell {
    kind: u8,
    kernel: u32,
    busy: u8,
}

/// What the overview shows in one cell, or `None` where nothing was recorded.
fn cell(
    report: &ProfileReport,
    overview: &Overview,
    area: &Area,
    row: u32,
    column: u32,
) -> Option<Cell> {
    let width = u128::from(area.cycles.end.saturating_sub(area.cycles.start));
    let middle = width * (2 * u128::from(column) + 1) / (2 * u128::from(area.columns.max(1)));
    let middle = area
        .cycles
        .start
        .saturating_add(u64::try_from(middle).ok()?);
    let mut votes = [0u32; CellKind::COUNT];
    let shown = |tile: u32| {
        let origin = area.frame.origin(&report.tiles()[tile as usize]);
        let at = position(overview, tile, origin.saturating_add(middle))?;
        let kind = overview.kinds[at];
        (usize::from(kind) < CellKind::COUNT).then_some((at, kind))
    };
    for (_, kind) in area.tiles_of(row).filter_map(shown) {
        votes[usize::from(kind)] += 1;
    }
    let best = (0..CellKind::COUNT).max_by_key(|&kind| (votes[kind], std::cmp::Reverse(kind)))?;
    let of_kind = area
        .tiles_of(row)
        .filter_map(shown)
        .filter(|&(_, it)| usize::from(it) == best);
    let (at, kind) = of_kind.max_by_key(|&(at, _)| (overview.busy[at], std::cmp::Reverse(at)))?;
    let kernel_row = overview.kernels[at].checked_sub(1);
    let kernel = kernel_row.and_then(|row| report.kernels().get(row as usize));
    let named = kernel.filter(|&&kernel| !report.string(kernel).is_empty());
    Some(Cell {
        kind,
        kernel: named.map_or(0, |it| it.get() + 1),
        busy: overview.busy[at],
    })
}

/// Index of the overview's cell of `tile` at `cycle` of the shared clock.
fn position(overview: &Overview, tile: u32, cycle: u64) -> Option<usize> {
    let from_left = i128::from(cycle) - i128::from(overview.first_cycle);
    let column = from_left.checked_div(i128::from(overview.cell_cycles))?;
    let column = u32::try_from(column)
        .ok()
        .filter(|&it| it < overview.columns)?;
    let at = u64::from(tile) * u64::from(overview.columns) + u64::from(column);
    usize::try_from(at)
        .ok()
        .filter(|&at| at < overview.kinds.len())
}
