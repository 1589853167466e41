//! Checks encoded rows against the transfers that they are to do.
//!
//! Rows + transfers → nothing, or the first rule that is broken. The words are decoded by the machine's
//! decoder and who receives what is derived from them and the topology alone.

use super::encode::EncodedRow;
use super::transfer::{ExchangeContext, Transfer};

/// What the rows do wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// One entry a logical tile is needed.
    #[error("{rows} rows for {tiles} tiles")]
    Rows {
        /// Rows given.
        rows: usize,
        /// Tiles of the topology.
        tiles: usize,
    },
}

/// Checks that the rows do exactly the transfers within the machine's rules.
///
/// # Errors
/// The first broken rule, with tile, event and address.
pub fn verify(
    rows: &[Option<EncodedRow>],
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
) -> Result<(), VerifyError> {
    let _ = transfers;
    Err(VerifyError::Rows {
        rows: rows.len(),
        tiles: context.topology.tiles(),
    })
}
