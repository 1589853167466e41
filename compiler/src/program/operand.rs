//! Brings the blocks of one operand to the tiles of a grid: from the host directly, from homes that
//! the host filled or an operation left, or not at all where they still lie from the operation
//! before.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::ValueId;
use crate::instrument::{clear_call, copy_call};
use crate::layout::{Block, LineAxis, UNIT_BYTES, split};
use crate::options::OperandPolicy;
use crate::plan::{Cell, Grid, Operand};

use super::build::Builder;
use super::gemm::Context;
use super::home::{Home, Segment};
use super::{BufferId, Call, HostRange, Move, Place};

/// Smallest piece of a spread operand, in units: below 64 words a message costs more than it
/// carries.
pub(crate) const PIECE_UNITS: u32 = 8;

/// Bytes past the end of the panel operand that the GEMM kernel may read.
pub(crate) const PANEL_TAIL: u32 = 16;

/// Which operand of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// Streamed as panels.
    Panels,
    /// Loaded as coefficients.
    Coefficients,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Panels, Self::Coefficients];

    fn operand(self, context: &Context<'_>) -> Operand {
        match self {
            Self::Panels => context.problem.panels,
            Self::Coefficients => context.problem.coefficients,
        }
    }

    fn block(self, context: &Context<'_>, cell: Cell, chunk: u32) -> Block {
        let (grid, part) = (context.plan.grid, (chunk, context.plan.chunks));
        match self {
            Self::Panels => context.problem.panel_block(grid, cell, part),
            Self::Coefficients => context.problem.coefficient_block(grid, cell, part),
        }
    }

    /// Tiles that need the same block as the cell, in tile order.
    fn group(self, grid: Grid, cell: Cell) -> Vec<u16> {
        match self {
            Self::Panels => (0..grid.columns)
                .map(|column| grid.tile(Cell { column, ..cell }))
                .collect(),
            Self::Coefficients => (0..grid.rows)
                .map(|row| grid.tile(Cell { row, ..cell }))
                .collect(),
        }
    }

    /// One cell of each group.
    fn groups(self, grid: Grid) -> impl Iterator<Item = Cell> {
        grid.cells().filter(move |cell| match self {
            Self::Panels => cell.column == 0,
            Self::Coefficients => cell.row == 0,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Panels => "panel",
            Self::Coefficients => "coefficient",
        }
    }
}

/// Operand buffers by chunk and tile that the host fills in place.
pub(crate) type Direct = BTreeMap<(u32, u16), BufferId>;

/// Operand blocks that stay on the tiles after the operation that needed them.
#[derive(Default)]
pub(crate) struct Residents {
    kept: BTreeMap<(ValueId, LineAxis, Side, Grid), Vec<BufferId>>,
}

impl Residents {
    pub(crate) fn keep(&mut self, context: &Context<'_>, side: Side, buffers: Vec<BufferId>) {
        let operand = side.operand(context);
        let key = (operand.value, operand.view.axis, side, context.plan.grid);
        self.kept.insert(key, buffers);
    }
}

/// How the blocks of an operand get to their tiles.
#[derive(Default)]
pub(crate) struct Arrival {
    /// The operand buffer of each tile of the grid.
    pub(crate) buffers: Vec<BufferId>,
    /// Transfers.
    pub(crate) moves: Vec<Move>,
    /// Calls that clear padding before the transfers.
    pub(crate) clears: Vec<Call>,
    /// Calls that copy what lies on the tile already.
    pub(crate) copies: Vec<Call>,
}

/// Has the host write an operand that lies nowhere yet: into place where one tile needs each block
/// or replication is free, else spread over the tiles that need it.
pub(crate) fn host(builder: &mut Builder, context: &Context<'_>, side: Side) -> Direct {
    let operand = side.operand(context);
    let (key, plan) = ((operand.value, operand.view.axis), context.plan);
    let mut direct = Direct::new();
    if builder.homes.contains_key(&key) {
        return direct;
    }
    let mut home = Home::new(&operand.view);
    for chunk in 0..plan.chunks {
        for cell in side.groups(plan.grid) {
            let (block, group) = (
                side.block(context, cell, chunk),
                side.group(plan.grid, cell),
            );
            let range = |buffer, units| HostRange {
                buffer,
                value: operand.value,
                view: operand.view,
                block: block.clone(),
                units,
            };
            if group.len() == 1 || plan.policy == OperandPolicy::Replicated {
                for &tile in &group {
                    let buffer = operand_buffer(builder, context, side, tile, &block);
                    builder.upload(range(buffer, 0..block.units()));
                    direct.insert((chunk, tile), buffer);
                }
                home.put(&block, 0..block.units(), direct[&(chunk, group[0])]);
                continue;
            }
            let label = builder.label(&format!(
                "home of {}",
                context.graph.value(operand.value).name
            ));
            let fan = crate::program::build::index(group.len());
            let pieces = fan.min(block.units().div_ceil(PIECE_UNITS));
            for piece in 0..pieces {
                let units = split(block.units(), pieces, piece);
                let tile = group[(piece * fan / pieces) as usize];
                let bytes = (units.end - units.start) * UNIT_BYTES;
                let buffer = builder.buffer(tile, bytes, label);
                builder.upload(range(buffer, units.clone()));
                home.put(&block, units, buffer);
            }
        }
    }
    builder.homes.insert(key, home);
    direct
}

fn operand_buffer(
    builder: &mut Builder,
    context: &Context<'_>,
    side: Side,
    tile: u16,
    block: &Block,
) -> BufferId {
    let value = &context.graph.value(side.operand(context).value).name;
    let label = builder.label(&format!("{} operand {value}", side.name()));
    let buffer = builder.buffer(tile, block.bytes(), label);
    match side {
        Side::Panels => builder.buffer_mut(buffer).tail = PANEL_TAIL,
        Side::Coefficients => builder.buffer_mut(buffer).class = context.plan.coefficients,
    }
    buffer
}

/// The operand blocks of one chunk on every tile of the grid, and what brings them there.
pub(crate) fn arrive(
    builder: &mut Builder,
    context: &Context<'_>,
    side: Side,
    chunk: u32,
    (direct, residents): (&Direct, &Residents),
) -> Arrival {
    let (plan, operand) = (context.plan, side.operand(context));
    let mut arrival = Arrival::default();
    let key = (operand.value, operand.view.axis, side, plan.grid);
    if let Some(kept) = residents.kept.get(&key)
        && plan.chunks == 1
    {
        arrival.buffers.clone_from(kept);
        return arrival;
    }
    let mut buffers = BTreeMap::new();
    for cell in side.groups(plan.grid) {
        let (block, group) = (
            side.block(context, cell, chunk),
            side.group(plan.grid, cell),
        );
        if let Some(&first) = direct.get(&(chunk, group[0])) {
            let rest = group[1..].iter().map(|tile| direct[&(chunk, *tile)]);
            buffers.extend(
                group
                    .iter()
                    .copied()
                    .zip(std::iter::once(first).chain(rest)),
            );
            continue;
        }
        let targets: Arc<[BufferId]> = group
            .iter()
            .map(|&tile| operand_buffer(builder, context, side, tile, &block))
            .collect();
        buffers.extend(group.iter().copied().zip(targets.iter().copied()));
        let segments = builder.homes[&(operand.value, operand.view.axis)].segments(&block);
        for segment in segments {
            bring(builder, &mut arrival, segment, &targets);
        }
    }
    arrival.buffers = buffers.into_values().collect();
    arrival
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
