//! Every word that a transfer asks for arrives once for each time it is asked for, and no other.
//!
//! On a diagonal (receiver, sender, source address minus destination address) a range of words is
//! an interval of destination addresses. Arrivals count up, wishes count down; the sum must be zero
//! everywhere. How ranges were cut into messages does not matter.

use rayon::prelude::*;

use super::super::transfer::Transfer;
use super::derive::Run;
use super::{VerifyError, logical};

/// An end of an interval on a diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    source: u16,
    diagonal: i64,
    address: u32,
    change: i8,
}

/// Compares arrivals and wishes.
pub(super) fn check(
    arrived: &[Run],
    transfers: &[Transfer],
    tiles: usize,
) -> Result<(), VerifyError> {
    let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); tiles];
    let mut add = |tile: usize, source: u16, from: u32, to: u32, words: u32, change: i8| {
        let diagonal = i64::from(from) - i64::from(to);
        let edge = |address, change| Edge {
            source,
            diagonal,
            address,
            change,
        };
        edges[tile].extend([edge(to, change), edge(to + 4 * words, -change)]);
    };
    for run in arrived {
        let (tile, source) = (run.tile.index(), run.source.get());
        add(
            tile,
            source,
            run.source_address,
            run.address,
            run.words(),
            1,
        );
    }
    for transfer in transfers {
        for &(tile, address) in &transfer.destinations {
            let source = transfer.source.get();
            add(
                tile.index(),
                source,
                transfer.source_address,
                address,
                transfer.words,
                -1,
            );
        }
    }
    let checked: Vec<_> = edges.par_iter_mut().enumerate().map(balanced).collect();
    checked.into_iter().collect()
}

fn balanced((tile, edges): (usize, &mut Vec<Edge>)) -> Result<(), VerifyError> {
    edges.sort_unstable();
    let same =
        |a: &Edge, b: &Edge| (a.source, a.diagonal, a.address) == (b.source, b.diagonal, b.address);
    for group in edges.chunk_by(same) {
        let excess: i64 = group.iter().map(|edge| i64::from(edge.change)).sum();
        if excess != 0 {
            let edge = group[0];
            let source_address = i64::from(edge.address) + edge.diagonal;
            return Err(VerifyError::Delivery {
                tile: logical(tile),
                address: edge.address,
                source_tile: logical(usize::from(edge.source)),
                source_address: u32::try_from(source_address).unwrap_or(u32::MAX),
                excess,
            });
        }
    }
    Ok(())
}
