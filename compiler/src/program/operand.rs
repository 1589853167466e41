//! Brings blocks of a value to the tiles that need them: from the host directly, from homes that
//! the host filled or an operation left, or not at all where they still lie from the operation
//! before.

use std::collections::BTreeMap;
use std::sync::Arc;

use runtime::package::MemoryClass;

use crate::graph::{Graph, ValueId};
use crate::instrument::{clear_call, copy_call};
use crate::layout::{Block, LineAxis, UNIT_BYTES, View, split};
use crate::options::OperandPolicy;
use crate::plan::{Cell, Grid};

use super::build::{Builder, index};
use super::gemm::Side;
use super::home::{Home, Segment};
use super::{BufferId, Call, HostRange, Move, Place};

/// Smallest piece of a spread operand, in units: below 64 words a message costs more than it
/// carries.
pub(crate) const PIECE_UNITS: u32 = 8;

/// Bytes past the end of the panel operand that the GEMM kernel may read.
pub(crate) const PANEL_TAIL: u32 = 16;

/// A block of a value that some tiles need, each in a buffer of its own.
pub(crate) struct Want {
    pub(crate) value: ValueId,
    pub(crate) view: View,
    pub(crate) block: Block,
    /// Ascending.
    pub(crate) tiles: Vec<u16>,
    pub(crate) class: MemoryClass,
    /// Bytes past the end that may be read.
    pub(crate) tail: u32,
    /// What the buffers hold.
    pub(crate) label: u32,
}

impl Want {
    fn key(&self) -> (ValueId, LineAxis) {
        (self.value, self.view.axis)
    }

    /// A buffer for the block on a tile.
    fn buffer(&self, builder: &mut Builder, tile: u16) -> BufferId {
        let buffer = builder.buffer(tile, self.block.bytes(), self.label);
        builder.buffer_mut(buffer).tail = self.tail;
        builder.buffer_mut(buffer).class = self.class;
        buffer
    }

    fn range(&self, buffer: BufferId, units: std::ops::Range<u32>) -> HostRange {
        HostRange {
            buffer,
            value: self.value,
            view: self.view,
            block: self.block.clone(),
            units,
            copy: 0,
        }
    }
}

/// Operand blocks that stay on the tiles after the operation that needed them.
#[derive(Default)]
pub(crate) struct Residents {
    kept: BTreeMap<(ValueId, View, Side, Grid, u16), Vec<BufferId>>,
}

impl Residents {
    pub(crate) fn keep(
        &mut self,
        (value, view, side): (ValueId, View, Side),
        (grid, first_tile): (Grid, u16),
        buffers: Vec<BufferId>,
    ) {
        self.kept
            .insert((value, view, side, grid, first_tile), buffers);
    }

    pub(crate) fn find(
        &self,
        (value, view, side): (ValueId, View, Side),
        (grid, first_tile): (Grid, u16),
    ) -> Option<&Vec<BufferId>> {
        self.kept.get(&(value, view, side, grid, first_tile))
    }
}

/// What brings operand blocks to their tiles.
#[derive(Default)]
pub(crate) struct Arrival {
    /// Transfers.
    pub(crate) moves: Vec<Move>,
    /// Calls that clear padding before the transfers.
    pub(crate) clears: Vec<Call>,
    /// Calls that copy what lies on the tile already.
    pub(crate) copies: Vec<Call>,
}

/// Has the host write the blocks of one operand: into place where one tile needs each block or
/// replication is free, else spread over the tiles that need it unless the value lies on the device
/// already. Gives the buffers of the blocks that are in place.
pub(crate) fn host(
    builder: &mut Builder,
    graph: &Graph,
    wants: &[Want],
    policy: OperandPolicy,
) -> Vec<Option<Vec<BufferId>>> {
    let Some(first) = wants.first() else {
        return Vec::new();
    };
    let is_host = graph.value(first.value).fill().is_some();
    let is_known = builder.homes.contains_key(&first.key());
    if !is_host || (is_known && policy == OperandPolicy::Sharded) {
        return wants.iter().map(|_| None).collect();
    }
    let mut home = Home::new(&first.view);
    let mut placed = Vec::new();
    for want in wants {
        if want.tiles.len() == 1 || policy == OperandPolicy::Replicated {
            let mut buffers = Vec::new();
            for &tile in &want.tiles {
                let buffer = want.buffer(builder, tile);
                builder.upload(want.range(buffer, 0..want.block.units()));
                buffers.push(buffer);
            }
            home.put(&want.block, 0..want.block.units(), buffers[0]);
            placed.push(Some(buffers));
        } else {
            let name = &graph.value(want.value).name;
            let label = builder.label(&format!("home of {name}"));
            spread(builder, &mut home, want, label);
            placed.push(None);
        }
    }
    builder.homes.entry(first.key()).or_insert(home);
    placed
}

/// Uploads one block in pieces, one on each of the tiles that need it.
fn spread(builder: &mut Builder, home: &mut Home, want: &Want, label: u32) {
    let (fan, units) = (index(want.tiles.len()), want.block.units());
    let pieces = fan.min(units.div_ceil(PIECE_UNITS));
    for piece in 0..pieces {
        let units = split(units, pieces, piece);
        let tile = want.tiles[(piece * fan / pieces) as usize];
        let bytes = (units.end - units.start) * UNIT_BYTES;
        let buffer = builder.buffer(tile, bytes, label);
        builder.upload(want.range(buffer, units.clone()));
        home.put(&want.block, units, buffer);
    }
}

/// The buffers of a block, in the order of its tiles, and what brings it there.
pub(crate) fn arrive(
    builder: &mut Builder,
    want: &Want,
    placed: Option<&Vec<BufferId>>,
    arrival: &mut Arrival,
) -> Vec<BufferId> {
    if let Some(buffers) = placed {
        return buffers.clone();
    }
    let tiles = want.tiles.iter();
    let targets: Vec<BufferId> = tiles.map(|&tile| want.buffer(builder, tile)).collect();
    let segments = builder.homes[&want.key()].segments(&want.view, &want.block);
    bring_all(builder, arrival, segments, targets.as_slice());
    targets
}

/// Brings segments to all targets.
pub(super) fn bring_all(
    builder: &mut Builder,
    arrival: &mut Arrival,
    segments: impl IntoIterator<Item = Segment>,
    targets: impl Into<Arc<[BufferId]>>,
) {
    let targets = targets.into();
    for segment in segments {
        bring(builder, arrival, segment, &targets);
    }
}

/// Brings one segment to all targets.
fn bring(
    builder: &mut Builder,
    arrival: &mut Arrival,
    segment: Segment,
    targets: &Arc<[BufferId]>,
) {
    let Segment {
        source,
        offset,
        bytes,
    } = segment;
    let tile_of = |builder: &Builder, id: BufferId| builder.program.buffers[id as usize].tile;
    let Some(source) = source else {
        let template = builder.template(clear_call(bytes));
        for &buffer in targets.iter() {
            let (tile, operands) = (tile_of(builder, buffer), vec![Place { buffer, offset }]);
            arrival.clears.push(Call {
                tile,
                template,
                operands,
            });
        }
        return;
    };
    let source_tile = tile_of(builder, source.buffer);
    let own = targets
        .iter()
        .copied()
        .find(|&target| tile_of(builder, target) == source_tile);
    if let Some(own) = own {
        builder.program.apart.push((source.buffer, own));
        if targets.len() == 1 {
            let template = builder.template(copy_call(bytes));
            let operands = vec![
                Place {
                    buffer: own,
                    offset,
                },
                source,
            ];
            arrival.copies.push(Call {
                tile: source_tile,
                template,
                operands,
            });
            return;
        }
    }
    let destinations = Arc::clone(targets);
    arrival.moves.push(Move {
        source,
        bytes,
        destinations,
        destination_offset: offset,
    });
}

/// The cells of a grid that share a block with the first of each group.
pub(crate) fn group(side: Side, grid: Grid, cell: Cell) -> Vec<Cell> {
    match side {
        Side::Panels => (0..grid.columns)
            .map(|column| Cell { column, ..cell })
            .collect(),
        Side::Coefficients => (0..grid.rows).map(|row| Cell { row, ..cell }).collect(),
    }
}
