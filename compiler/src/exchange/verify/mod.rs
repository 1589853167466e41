//! Checks encoded rows against the transfers that they are to do.
//!
//! Rows + transfers → nothing, or the first rule that is broken. The words are decoded by the
//! machine's decoder, and who receives what and when is derived from them and the topology alone:
//! nothing here is shared with the scheduler or the encoder.

mod decode;
mod deliver;
mod derive;
mod memory;
mod order;

use analytics::units::TileId;
use rayon::prelude::*;
use runtime::package::model::Address;

use super::encode::EncodedRow;
use super::transfer::{ExchangeContext, Transfer, TransferError, check};
use decode::Decoded;
use derive::Run;

/// What the rows do wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A transfer that no rows could do.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// One entry a logical tile is needed.
    #[error("{rows} rows for {tiles} tiles")]
    Rows {
        /// Rows given.
        rows: usize,
        /// Tiles of the topology.
        tiles: usize,
    },
    /// A word that does not belong into a row.
    #[error("tile {tile}, word {word}: {problem}")]
    Word {
        /// Logical tile.
        tile: TileId,
        /// Position in the row.
        word: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A rule of time is broken.
    #[error("tile {tile}, event {event}: {problem}")]
    Event {
        /// Logical tile.
        tile: TileId,
        /// Event on the tile's clock.
        event: i64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A rule of memory is broken.
    #[error("tile {tile}, event {event}, address {address:#x}: {problem}")]
    Memory {
        /// Logical tile.
        tile: TileId,
        /// Event on the tile's clock.
        event: u32,
        /// Byte address.
        address: Address,
        /// What is wrong.
        problem: &'static str,
    },
    /// Words that should have arrived did not, or others did.
    #[error(
        "tile {tile}, address {address:#x}: the word at {source_address:#x} of tile {source_tile} \
         arrives {excess:+} times too often"
    )]
    Delivery {
        /// Receiving tile.
        tile: TileId,
        /// Where the first such word lands.
        address: Address,
        /// Sending tile.
        source_tile: TileId,
        /// Where the word is from.
        source_address: Address,
        /// Arrivals beyond those asked for; negative where some are missing.
        excess: i64,
    },
    /// A word is read or overwritten in another order than the program's.
    #[error("tile {tile}, address {address:#x}: its reads and writes are out of program order")]
    Order {
        /// Logical tile.
        tile: TileId,
        /// The word.
        address: Address,
    },
}

/// Checks that the rows do exactly the transfers within the machine's rules, in every run where the
/// exchange is repeated.
///
/// # Errors
/// The first broken rule, with tile, event and address.
pub fn verify(
    rows: &[Option<EncodedRow>],
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
) -> Result<(), VerifyError> {
    let moving = transfers.iter().filter(|transfer| transfer.steps.bytes > 0);
    let Some(runs) = moving.map(|transfer| transfer.steps.runs).max() else {
        return verify_run(rows, transfers, context);
    };
    for run in 0..runs {
        let rows: Vec<_> = rows
            .iter()
            .map(|row| Some(row.as_ref()?.in_run(run)))
            .collect();
        let transfers: Vec<_> = transfers.iter().map(|it| it.in_run(run)).collect();
        verify_run(&rows, &transfers, context)?;
    }
    Ok(())
}

fn verify_run(
    rows: &[Option<EncodedRow>],
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
) -> Result<(), VerifyError> {
    let tiles = context.topology.tiles();
    if rows.len() != tiles {
        let rows = rows.len();
        return Err(VerifyError::Rows { rows, tiles });
    }
    check(transfers, context)?;
    let decoded = first_error(rows.par_iter().enumerate().map(|(index, row)| match row {
        Some(row) => decode::decode(logical(index), row),
        None => Ok(Decoded::default()),
    }))?;
    check_lanes(&decoded, context)?;
    let runs = first_error(decoded.par_iter().enumerate().map(|(index, row)| {
        let runs = derive::runs(logical(index), row, &decoded, context)?;
        memory::check(logical(index), row, &runs, context)?;
        Ok(runs)
    }))?;
    let arrived: Vec<Run> = runs.into_iter().flatten().collect();
    deliver::check(&arrived, transfers, tiles)?;
    order::check(&arrived, transfers, tiles)
}

/// While a tile sends 64-bit items, the partner whose lane it borrows sends nothing.
fn check_lanes(decoded: &[Decoded], context: &ExchangeContext<'_>) -> Result<(), VerifyError> {
    for (index, row) in decoded.iter().enumerate() {
        let Some(partner) = context.topology.partner(logical(index)) else {
            continue;
        };
        let lent = &decoded[partner.index()].sent;
        for sent in row.sent.iter().filter(|sent| sent.item_words() == 2) {
            let first = lent.partition_point(|own| own.end() <= sent.event);
            if lent.get(first).is_some_and(|own| own.event < sent.end()) {
                return Err(VerifyError::Event {
                    tile: partner,
                    event: i64::from(sent.event),
                    problem: "the tile sends while its lane is borrowed",
                });
            }
        }
    }
    Ok(())
}

/// The results in order, or the error of the first tile that has one, whichever thread is first.
fn first_error<T: Send>(
    results: impl IndexedParallelIterator<Item = Result<T, VerifyError>>,
) -> Result<Vec<T>, VerifyError> {
    let results: Vec<_> = results.collect();
    results.into_iter().collect()
}

/// The logical tile of a position.
fn logical(index: usize) -> TileId {
    TileId::new(u16::try_from(index).expect("a topology has at most 1,472 tiles"))
}

#[cfg(test)]
mod tests;
