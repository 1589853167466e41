//! Gives every buffer an address in its tile's SRAM.

use analytics::units::{Bytes, TileId};

/// Why buffers do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A buffer finds no place in its memory class.
    #[error(
        "tile {tile}: no room for {bytes} of {label} in {class} memory; {live} are live with it"
    )]
    Full {
        /// The tile.
        tile: TileId,
        /// Size of the buffer.
        bytes: Bytes,
        /// What it holds.
        label: String,
        /// `standard` or `interleaved`.
        class: &'static str,
        /// Bytes of the buffers whose lifetime overlaps.
        live: Bytes,
    },
    /// The exchange rows of a tile need more than is left below 0x80000.
    #[error("tile {tile}: {bytes} of exchange rows exceed the {limit} left for them")]
    Rows {
        /// The tile.
        tile: TileId,
        /// Size of the rows.
        bytes: Bytes,
        /// What is left.
        limit: Bytes,
    },
}
