//! Groups × time as cells: as [`super::raster`], with a row for each group.

use super::cells::{Cell, Grid, RowCells};
use super::gather::for_each_tile;
use super::groups::{Member, RowGroups};
use super::raster::{Raster, Viewport};
use super::slots::{CellChoice, Slots};
use crate::clock::Frame;
use crate::format::DecodeError;
use crate::profile::ProfileReport;

/// The cells of all groups over the cycles of `viewport`, exactly; its tiles and rows do not count.
/// A cell's shares are of all tiles of its group.
///
/// # Errors
/// Where a chunk that the cycles touch cannot be decoded.
pub fn grouped_raster(
    report: &ProfileReport,
    viewport: &Viewport,
    choice: CellChoice,
    groups: &RowGroups,
) -> Result<Raster, DecodeError> {
    let count = u32::try_from(groups.names.len()).unwrap_or(u32::MAX);
    if viewport.cycles.is_empty() || viewport.columns == 0 {
        return Ok(Raster::blank(viewport.columns, count, choice));
    }
    let slots = Slots::new(report, choice);
    let grid = Grid::new(&viewport.cycles, viewport.columns);
    let tiles = groups.tiles.iter();
    let rows = tiles.map(|&tiles| RowCells::of_group(&slots, grid, tiles));
    let mut rows: Vec<RowCells<'_>> = rows.collect();
    add_samples(report, viewport, &groups.member, &mut rows)?;
    let mut raster = Raster::with_room(viewport.columns, count, choice);
    let mut cells = vec![Cell::NOTHING; viewport.columns as usize];
    for row in &mut rows {
        row.finish(&mut cells);
        raster.push_row(&cells, choice);
    }
    Ok(raster)
}

/// Adds the samples that touch the cycles of `viewport` to the rows of their groups.
fn add_samples(
    report: &ProfileReport,
    viewport: &Viewport,
    member: &Member,
    rows: &mut [RowCells<'_>],
) -> Result<(), DecodeError> {
    let frame = Frame::new(report, viewport.clock);
    let all = 0..u32::try_from(report.tiles().len()).unwrap_or(u32::MAX);
    let cycles = viewport.cycles.clone();
    for_each_tile(report, frame, all, cycles, |tile, samples| {
        let entry = &report.tiles()[tile as usize];
        let placed = samples.iter().filter_map(|(start, duration, step)| {
            Some((frame.place(entry, start, duration)?, step))
        });
        match member {
            Member::OfTile(groups) => {
                rows[groups[tile as usize] as usize].add_samples(placed);
            }
            Member::OfOperation(groups) => {
                rows.iter_mut().for_each(RowCells::begin_tile);
                for (placed, step) in placed {
                    let operation = report.steps()[step as usize].operation_row;
                    rows[groups[operation as usize] as usize].add_sample(&placed, step);
                }
                rows.iter_mut().for_each(RowCells::end_tile);
            }
        }
    })
}
