//! Blocks: chunks in, sets of chunks with no tile in common out. A block is a unit of parallel
//! work.

use std::ops::Range;

use crate::order;
use crate::profile::ProfileReport;

/// Chunks that hold all samples of some tiles and none of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Tile indices.
    pub(crate) tiles: Range<u32>,
    /// Chunk indices in file order, which is the order of each tile's samples.
    pub(crate) chunks: Vec<usize>,
}

/// The blocks of the chunks that `touches` picks by index, ascending by tile.
pub(crate) fn blocks(report: &ProfileReport, touches: impl Fn(usize) -> bool) -> Vec<Block> {
    let entries = report.chunks();
    let mut touched: Vec<usize> = (0..entries.len()).filter(|&at| touches(at)).collect();
    order::by_key(&mut touched, |&at| entries[at].tiles.start);
    let mut blocks: Vec<Block> = Vec::new();
    for at in touched {
        let tiles = entries[at].tiles.clone();
        match blocks.last_mut() {
            Some(block) if tiles.start < block.tiles.end => {
                block.tiles.end = block.tiles.end.max(tiles.end);
                block.chunks.push(at);
            }
            _ => blocks.push(Block {
                tiles,
                chunks: vec![at],
            }),
        }
    }
    for block in &mut blocks {
        order::ascending(&mut block.chunks);
    }
    blocks
}
