//! A picture before any sample is decoded: the file's overview stretched to a viewport.

use super::minimap::KindShares;
use super::raster::{Area, CellKind, Raster, Viewport};
use super::slots::CellChoice;
use crate::clock::ClockKind;
use crate::profile::{Overview, ProfileReport};

/// The cells of `viewport` from the file's overview, or `None` where the file has none.
///
/// A cell takes the kind that most of its tiles show at its middle, and the kernel and busy share
/// of the busiest of them. It has no share of a focus and no efficiency.
#[must_use]
pub fn overview_raster(report: &ProfileReport, viewport: &Viewport) -> Option<Raster> {
    let overview = usable(report)?;
    let area = Area::new(report, viewport);
    let mut raster = Raster::blank(viewport.columns, area.rows, CellChoice::default());
    raster.from_overview = true;
    if area.columns == 0 || area.cycles.is_empty() {
        return Some(raster);
    }
    let names = names(report);
    let mut votes = vec![Votes::default(); area.columns as usize];
    let mut columns = Columns::new(overview, &area);
    for row in 0..area.rows {
        votes.fill(Votes::default());
        for tile in area.tiles_of(row) {
            let origin = area.frame.origin(&report.tiles()[tile as usize]);
            let cells = tile as usize * overview.columns as usize;
            for (votes, &column) in votes.iter_mut().zip(columns.at(origin)) {
                if let Some(column) = column {
                    votes.add(overview, cells + column as usize);
                }
            }
        }
        let first = row as usize * votes.len();
        for (at, votes) in (first..).zip(&votes) {
            let Some((kind, cell)) = votes.winner() else {
                continue;
            };
            raster.kinds[at] = kind;
            raster.kernels[at] = names.get(overview.kernels[cell] as usize).copied()?;
            raster.busy[at] = overview.busy[cell];
        }
    }
    Some(raster)
}

/// The shares of the kinds in `columns` equal parts of the run from the file's overview, or `None`
/// where the file has none: compute is exact to a cell, the rest of a cell counts for its leading
/// kind where that is another one. `span` is the length of the run on the clock.
#[must_use]
pub fn overview_shares(
    report: &ProfileReport,
    clock: ClockKind,
    span: u64,
    columns: u32,
) -> Option<KindShares> {
    const COMPUTE: usize = CellKind::Compute as usize;
    let overview = usable(report)?;
    let tiles = u32::try_from(report.tiles().len()).unwrap_or(u32::MAX);
    // Where columns are wider than the overview's, several of those are summed.
    let parts = overview.columns.div_ceil(columns.max(1)).max(1);
    let whole = Viewport {
        clock,
        cycles: 0..span,
        columns: columns.saturating_mul(parts),
        tiles: 0..tiles,
        rows: tiles,
    };
    let area = Area::new(report, &whole);
    let mut sums = vec![[0u64; CellKind::COUNT]; columns as usize];
    let mut place = Columns::new(overview, &area);
    for (tile, entry) in report.tiles().iter().enumerate() {
        let cells = tile * overview.columns as usize;
        for (part, &column) in place.at(area.frame.origin(entry)).iter().enumerate() {
            let Some(at) = column.map(|column| cells + column as usize) else {
                continue;
            };
            let sums = &mut sums[part / parts as usize];
            let (kind, busy) = (usize::from(overview.kinds[at]), overview.busy[at]);
            sums[COMPUTE] += u64::from(busy);
            if kind < CellKind::COUNT && kind != COMPUTE {
                sums[kind] += u64::from(255 - busy);
            }
        }
    }
    let all = u64::from(tiles).max(1) * 255 * u64::from(parts);
    let share = |sum: u64| u16::try_from(sum * u64::from(u16::MAX) / all).unwrap_or(u16::MAX);
    Some(KindShares {
        columns,
        span,
        shares: sums.iter().flat_map(|sums| sums.map(share)).collect(),
    })
}

/// The overview, where it has a row for every tile.
fn usable(report: &ProfileReport) -> Option<&Overview> {
    let overview = report.overview()?;
    (overview.rows as usize == report.tiles().len() && overview.cell_cycles > 0).then_some(overview)
}

/// By a cell's kernel: string id plus one of its symbol; 0 is none.
fn names(report: &ProfileReport) -> Vec<u32> {
    let named = report.kernels().iter().map(|&kernel| {
        if report.string(kernel).is_empty() {
            0
        } else {
            kernel.get() + 1
        }
    });
    std::iter::once(0).chain(named).collect()
}

/// Which column of the overview lies at the middle of each column of an area. Tiles of one origin
/// share the answer.
struct Columns<'a> {
    overview: &'a Overview,
    /// Middles of the area's columns, from its origin.
    middles: Vec<u64>,
    origin: Option<u64>,
    columns: Vec<Option<u32>>,
}

impl<'a> Columns<'a> {
    fn new(overview: &'a Overview, area: &Area) -> Self {
        let width = u128::from(area.cycles.end.saturating_sub(area.cycles.start));
        let middle = |column: u32| {
            let within = width * (2 * u128::from(column) + 1) / (2 * u128::from(area.columns));
            let within = u64::try_from(within).unwrap_or(u64::MAX);
            area.cycles.start.saturating_add(within)
        };
        Self {
            overview,
            middles: (0..area.columns).map(middle).collect(),
            origin: None,
            columns: Vec::new(),
        }
    }

    fn at(&mut self, origin: u64) -> &[Option<u32>] {
        if self.origin != Some(origin) {
            self.origin = Some(origin);
            let overview = self.overview;
            let column = |middle: &u64| {
                let cycle = i128::from(origin.saturating_add(*middle));
                let from_left = u64::try_from(cycle - i128::from(overview.first_cycle)).ok()?;
                let column = u32::try_from(from_left / overview.cell_cycles).ok()?;
                (column < overview.columns).then_some(column)
            };
            self.columns.clear();
            self.columns.extend(self.middles.iter().map(column));
        }
        &self.columns
    }
}

/// What the tiles of one cell show.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    /// Tiles of each kind.
    counts: [u16; CellKind::COUNT],
    /// Cell of the busiest tile of each kind, the first of equals.
    busiest: [Option<(u32, u8)>; CellKind::COUNT],
}

impl Votes {
    fn add(&mut self, overview: &Overview, cell: usize) {
        let kind = usize::from(overview.kinds[cell]);
        if kind >= CellKind::COUNT {
            return;
        }
        let busy = overview.busy[cell];
        self.counts[kind] += 1;
        if self.busiest[kind].is_none_or(|(_, most)| busy > most) {
            self.busiest[kind] = u32::try_from(cell).ok().map(|cell| (cell, busy));
        }
    }

    /// The kind with most tiles, the first of equals, and the cell of its busiest tile.
    fn winner(&self) -> Option<(u8, usize)> {
        let mut best = 0;
        for (kind, &count) in self.counts.iter().enumerate() {
            if count > self.counts[best] {
                best = kind;
            }
        }
        let (cell, _) = self.busiest[best]?;
        Some((u8::try_from(best).ok()?, cell as usize))
    }
}
