//! What an exchange has to move, and where it happens. Input of every other module here.
//!
//! A transfer is one source range and its copies; list order is program order, which decides what a
//! word read or overwritten twice must hold.

use analytics::units::TileId;
use runtime::machine::sram;
use runtime::machine::topology::Topology;
use runtime::package::model::{Address, MemoryRange};

/// How far the source of a transfer is from one run of a repeated exchange to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceSteps {
    /// Bytes, a multiple of four; 0 where the source stays.
    pub bytes: u32,
    /// Runs of the exchange, at least one; those of a source that stays do not matter.
    pub runs: u32,
}

impl SourceSteps {
    /// The source stays.
    pub const NONE: Self = Self { bytes: 0, runs: 1 };

    /// Bytes from the first run's source to that of every run that differs from it, its own
    /// included.
    pub(super) fn offsets(self) -> impl Iterator<Item = u32> {
        let runs = if self.bytes == 0 { 1 } else { self.runs };
        (0..runs).map(move |run| run.saturating_mul(self.bytes))
    }
}

/// One source range that one or more tiles receive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transfer {
    /// Sending tile.
    pub source: TileId,
    /// First byte at the source, a multiple of four.
    pub source_address: Address,
    /// How the source moves from run to run.
    pub steps: SourceSteps,
    /// Length in 32-bit words, at least one; above 4,148 it is sent as several messages.
    pub words: u32,
    /// Receiving tiles and the first byte at each, a multiple of four. Distinct; the source itself
    /// may be among them if another tile is too and its two ranges are disjoint (in different
    /// memory elements is faster: within one, reads and landings take turns).
    pub destinations: Vec<(TileId, Address)>,
}

impl Transfer {
    /// Length in bytes; `None` where it leaves 32 bits.
    #[must_use]
    pub fn bytes(&self) -> Option<u32> {
        self.words.checked_mul(4)
    }

    /// The transfer as one run of a repeated exchange does it.
    #[must_use]
    pub fn in_run(&self, run: u32) -> Self {
        let offset = run.saturating_mul(self.steps.bytes);
        Self {
            source_address: self.source_address.saturating_add(offset),
            steps: SourceSteps::NONE,
            ..self.clone()
        }
    }
}

/// A transfer of `words` from `at` of a tile, as tests write it.
#[cfg(test)]
pub(super) fn transfer(
    source: u16,
    at: Address,
    words: u32,
    destinations: &[(u16, Address)],
) -> Transfer {
    let destinations = destinations
        .iter()
        .map(|&(tile, at)| (TileId::new(tile), at));
    Transfer {
        source: TileId::new(source),
        source_address: at,
        steps: SourceSteps::NONE,
        words,
        destinations: destinations.collect(),
    }
}

/// Where an exchange happens.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeContext<'a> {
    /// Logical to physical tiles; its tile count is that of the program.
    pub topology: &'a Topology,
    /// Where each logical tile's rows lie; empty where that is not decided. The elements of a range
    /// and of the 64 bytes that may be fetched past it are closed to exchanged data.
    pub row_code: &'a [MemoryRange],
}

impl ExchangeContext<'_> {
    /// Bit mask of the memory elements that hold a tile's rows, fetch guard included.
    pub(super) fn code_elements(&self, tile: TileId) -> u32 {
        let Some(code) = self.row_code.get(tile.index()) else {
            return 0;
        };
        if code.bytes == 0 {
            return 0;
        }
        let guarded = code.bytes.saturating_add(sram::FETCH_GUARD_BYTES);
        let below_end = sram::END.saturating_sub(code.address);
        sram::elements(code.address, guarded.min(below_end)).unwrap_or(0)
    }
}

/// Why a list of transfers is no exchange.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// A tile that the topology does not have.
    #[error("transfer {transfer}: tile {tile} is not one of the {tiles} tiles of the program")]
    Tile {
        /// Position in the list.
        transfer: usize,
        /// The tile.
        tile: TileId,
        /// Tiles of the topology.
        tiles: usize,
    },
    /// Nothing to move, or nobody to move it to.
    #[error("transfer {transfer} from tile {tile} has {what}")]
    Empty {
        /// Position in the list.
        transfer: usize,
        /// The sending tile.
        tile: TileId,
        /// `no words` or `no destination`.
        what: &'static str,
    },
    /// A range that is unaligned or leaves SRAM.
    #[error(
        "transfer {transfer}: {words} words at {address:#x} of tile {tile} are not word-aligned \
         SRAM"
    )]
    Range {
        /// Position in the list.
        transfer: usize,
        /// The tile.
        tile: TileId,
        /// First byte.
        address: Address,
        /// Length in words.
        words: u32,
    },
    /// A tile that would receive the same words twice.
    #[error("transfer {transfer} lists tile {tile} twice; send it as two transfers")]
    Duplicate {
        /// Position in the list.
        transfer: usize,
        /// The tile.
        tile: TileId,
    },
    /// A transfer to its own source alone, which the fabric does not do.
    #[error(
        "transfer {transfer} has its source, tile {tile}, as only destination; copy it locally"
    )]
    SourceOnly {
        /// Position in the list.
        transfer: usize,
        /// The tile.
        tile: TileId,
    },
    /// Source and own copy overlap.
    #[error(
        "transfer {transfer}: tile {tile} reads {words} words at {source_address:#x} and lands \
         them over each other at {address:#x}; place them apart"
    )]
    Loopback {
        /// Position in the list.
        transfer: usize,
        /// The tile.
        tile: TileId,
        /// First byte read.
        source_address: Address,
        /// First byte written.
        address: Address,
        /// Length in words.
        words: u32,
    },
    /// Data in a memory element that the supervisor fetches rows from.
    #[error(
        "transfer {transfer}: {words} words at {address:#x} of tile {tile} share a memory element \
         with the tile's rows; place them apart"
    )]
    RowCode {
        /// Position in the list.
        transfer: usize,
        /// The tile.
        tile: TileId,
        /// First byte.
        address: Address,
        /// Length in words.
        words: u32,
    },
}

/// Checks one range.
fn check_range(
    transfer: usize,
    tile: TileId,
    address: Address,
    words: u32,
    context: &ExchangeContext<'_>,
) -> Result<(), TransferError> {
    let tiles = context.topology.tiles();
    if tile.index() >= tiles {
        return Err(TransferError::Tile {
            transfer,
            tile,
            tiles,
        });
    }
    let elements = match words.checked_mul(4) {
        Some(bytes) if address.is_multiple_of(4) => sram::elements(address, bytes),
        _ => None,
    };
    let Some(elements) = elements else {
        return Err(TransferError::Range {
            transfer,
            tile,
            address,
            words,
        });
    };
    if elements & context.code_elements(tile) != 0 {
        return Err(TransferError::RowCode {
            transfer,
            tile,
            address,
            words,
        });
    }
    Ok(())
}

/// Checks everything about the transfers that does not depend on their times.
///
/// # Errors
/// The first transfer that is no transfer, with the tile and address at fault.
pub(super) fn check(
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
) -> Result<(), TransferError> {
    let mut last_user = vec![usize::MAX; context.topology.tiles()];
    for (transfer, item) in transfers.iter().enumerate() {
        let Transfer {
            source,
            source_address,
            words,
            ..
        } = *item;
        let empty = |what| TransferError::Empty {
            transfer,
            tile: source,
            what,
        };
        if words == 0 {
            return Err(empty("no words"));
        }
        if item.destinations.is_empty() {
            return Err(empty("no destination"));
        }
        for offset in item.steps.offsets() {
            let address = source_address.saturating_add(offset);
            check_range(transfer, source, address, words, context)?;
        }
        let is_near = |address: Address| {
            let mut offsets = item.steps.offsets();
            offsets.any(|offset| address.abs_diff(source_address + offset) < 4 * words)
        };
        for &(tile, address) in &item.destinations {
            check_range(transfer, tile, address, words, context)?;
            if std::mem::replace(&mut last_user[tile.index()], transfer) == transfer {
                return Err(TransferError::Duplicate { transfer, tile });
            }
            if tile == source && item.destinations.len() == 1 {
                return Err(TransferError::SourceOnly { transfer, tile });
            }
            if tile == source && is_near(address) {
                return Err(TransferError::Loopback {
                    transfer,
                    tile,
                    source_address,
                    address,
                    words,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(source_address: Address, words: u32, destinations: &[(u16, Address)]) -> String {
        let topology = Topology::first_tiles(8);
        let code = [MemoryRange {
            address: 0x5_0000,
            bytes: 0x4000 - 64,
        }; 8];
        let context = ExchangeContext {
            topology: &topology,
            row_code: &code,
        };
        let transfer = Transfer {
            source: TileId::new(1),
            source_address,
            steps: SourceSteps::NONE,
            words,
            destinations: destinations
                .iter()
                .map(|&(tile, address)| (TileId::new(tile), address))
                .collect(),
        };
        match check(&[transfer], &context) {
            Ok(()) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn transfers_that_cannot_be_are_refused_with_tile_and_address() {
        assert_eq!(refusal(0x6_0000, 4, &[(2, 0x9_0000)]), "accepted");
        let beside = refusal(0x6_0000, 4, &[(1, 0x6_0010), (2, 0x9_0000)]);
        assert_eq!(beside, "accepted");
        assert_eq!(refusal(0x5_4000, 4, &[(2, 0x4_fff0)]), "accepted");
        let table = [
            (refusal(0x6_0000, 0, &[(2, 0x9_0000)]), "no words"),
            (refusal(0x6_0000, 4, &[]), "no destination"),
            (
                refusal(0x6_0002, 4, &[(2, 0x9_0000)]),
                "4 words at 0x60002 of tile 1",
            ),
            (
                refusal(0x6_0000, 4, &[(2, 0xe_7ff4)]),
                "4 words at 0xe7ff4 of tile 2",
            ),
            (
                refusal(0x6_0000, u32::MAX, &[(2, 0x9_0000)]),
                "4294967295 words",
            ),
            (
                refusal(0x6_0000, 4, &[(8, 0x9_0000)]),
                "tile 8 is not one of the 8",
            ),
            (
                refusal(0x6_0000, 4, &[(2, 0x9_0000), (2, 0xa_0000)]),
                "lists tile 2 twice",
            ),
            (refusal(0x6_0000, 4, &[(1, 0x9_0000)]), "only destination"),
            (
                refusal(0x6_0000, 4, &[(1, 0x6_000c), (2, 0x9_0000)]),
                "reads 4 words at 0x60000 and lands them over each other at 0x6000c",
            ),
            (
                refusal(0x6_0000, 4, &[(2, 0x5_3ff0)]),
                "share a memory element",
            ),
            (
                refusal(0x5_0000, 4, &[(2, 0x9_0000)]),
                "share a memory element",
            ),
        ];
        for (message, part) in table {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}
