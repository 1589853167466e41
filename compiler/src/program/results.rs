//! Result rows of attention: read by the host, or packed for the product that follows.

use crate::graph::{Graph, Operation};
use crate::layout::{Block, LANES, Order, View};
use crate::plan::AttentionProblem;

use super::build::Builder;
use super::{BufferId, HostRange};

/// Row-major result rows of a stream on one tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultRows {
    pub(crate) stream: u32,
    /// First row within the stream.
    pub(crate) first_row: u32,
    pub(crate) rows: u32,
    pub(crate) tile: u16,
    pub(crate) buffer: BufferId,
}

/// Has the host read result rows, and packs them where a product follows.
pub(crate) fn settle(
    builder: &mut Builder,
    graph: &Graph,
    (operation, problem): (&Operation, &AttentionProblem),
    results: &[ResultRows],
) {
    let (value, width) = (operation.output, problem.width);
    if graph.outputs().contains(&value) {
        for each in results {
            let row = each.stream * problem.queries + each.first_row;
            let count = each.rows * width;
            let view = View::run(u64::from(row) * u64::from(width), count);
            let block = Block {
                lines: 0..1,
                panels: 0..count.div_ceil(LANES),
                order: Order::Panels,
            };
            let units = 0..block.units();
            let buffer = each.buffer;
            builder.download(HostRange {
                buffer,
                value,
                view,
                block,
                units,
                copy: 0,
            });
        }
    }
    super::merge_heads::pack(builder, graph, (operation, problem), results);
}
