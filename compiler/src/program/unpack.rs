//! Row-major copies of a value whose units run along its rows: each piece is unpacked where it
//! lies, and any run of a row can then be gathered.

use crate::instrument::unpack_call;
use crate::layout::{Block, LANES, UNIT_BYTES};
use crate::plan::PlanError;

use super::build::{Builder, Title};
use super::home::{Home, HomePiece};
use super::{BufferId, Call, Place};

/// Bytes of an F16.
const F16: u32 = 2;

/// Where the rows of a value lie.
pub(crate) struct RowMajor {
    /// By panel of 16 rows: the first column of each shard and its buffer.
    shards: Vec<Vec<Shard>>,
}

/// Columns of 16 rows in one buffer.
#[derive(Clone, Copy, Debug)]
struct Shard {
    first: u32,
    columns: u32,
    buffer: BufferId,
    /// Byte of the first of the 16 rows.
    offset: u32,
}

/// A run of columns of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowRun {
    pub(crate) source: Place,
    /// First column.
    pub(crate) column: u32,
    /// Bytes, a multiple of four.
    pub(crate) bytes: u32,
}

impl RowMajor {
    /// Unpacks every piece of a home.
    ///
    /// # Errors
    /// [`PlanError::NoPlan`] where a piece is no whole block: results cut into pieces cannot be
    /// unpacked.
    pub(crate) fn unpack(
        builder: &mut Builder,
        title: &Title,
        home: &Home,
        operation: &str,
    ) -> Result<Self, PlanError> {
        let label = builder.label(&format!("{operation} row-major rows"));
        let mut shards = vec![Vec::new(); home.view.panels() as usize];
        let mut calls = Vec::new();
        for HomePiece {
            block,
            units,
            buffer,
        } in &home.pieces
        {
            let odd = !block.line_count().is_multiple_of(2);
            if *units != (0..block.units()) || odd {
                return Err(refusal(operation));
            }
            let tile = builder.program.buffers[*buffer as usize].tile;
            let rows = builder.buffer(tile, block.bytes(), label);
            calls.push(Call {
                tile,
                template: builder.template(call(home, block)),
                operands: vec![Place::start(rows), Place::start(*buffer)],
            });
            for (index, panel) in (0..).zip(block.panels.clone()) {
                let shard = Shard {
                    first: block.lines.start,
                    columns: block.line_count(),
                    buffer: rows,
                    offset: index * block.line_count() * UNIT_BYTES,
                };
                shards[panel as usize].push(shard);
            }
        }
        builder.compute(title, "unpack", calls);
        for shards in &mut shards {
            shards.sort_unstable_by_key(|shard| shard.first);
        }
        Ok(Self { shards })
    }

    /// The tiles that hold some columns of some rows.
    pub(crate) fn tiles(
        &self,
        builder: &Builder,
        rows: std::ops::Range<u32>,
        (first, count): (u32, u32),
    ) -> Vec<u16> {
        let mut tiles = Vec::new();
        for panel in rows.start / LANES..rows.end.div_ceil(LANES) {
            let meets =
                |shard: &&Shard| shard.first < first + count && first < shard.first + shard.columns;
            let shards = self.shards[panel as usize].iter().filter(meets);
            tiles.extend(shards.map(|each| builder.program.buffers[each.buffer as usize].tile));
        }
        tiles
    }

    /// Columns `first..first + count` of a row as runs.
    pub(crate) fn runs(&self, row: u32, first: u32, count: u32) -> Vec<RowRun> {
        let shards = &self.shards[(row / LANES) as usize];
        let mut runs = Vec::new();
        for shard in shards {
            let start = first.max(shard.first);
            let end = (first + count).min(shard.first + shard.columns);
            if start < end {
                let element = (row % LANES) * shard.columns + start - shard.first;
                runs.push(RowRun {
                    source: Place {
                        buffer: shard.buffer,
                        offset: shard.offset + element * F16,
                    },
                    column: start,
                    bytes: (end - start) * F16,
                });
            }
        }
        runs
    }
}

/// The call that unpacks a block: all 16 rows of each panel, padding included.
fn call(home: &Home, block: &Block) -> runtime::package::CallTemplate {
    let rows = block.panel_count() * LANES;
    let logical = home.view.elements(block) * u64::from(F16);
    unpack_call(rows, block.line_count(), logical)
}

fn refusal(operation: &str) -> PlanError {
    PlanError::NoPlan {
        operation: operation.to_owned(),
        problem: "shared rows unpack whole result blocks of the projections; force their result \
                  field to 1x1 and an even number of columns a block"
            .to_owned(),
    }
}
