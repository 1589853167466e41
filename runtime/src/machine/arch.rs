//! Constants of the IPU21 (C600): geometry, units, instruction limits and fixed costs.
//!
//! Each constant says where its value is from: a published measurement on a C600, the vendor's
//! public instruction set documents, rows of the vendor's assembler, or an assumption.

use analytics::units::Cycles;

/// Machine name in packages and profile headers.
pub const MACHINE: &str = "ipu21";

/// Tiles of a chip (published device configuration).
pub const TILES: u16 = 1472;
/// Rows of the physical grid: bits 10:6 of a physical id.
pub const ROWS: u16 = 23;
/// Column ids of the physical grid: bits 5:2 of a physical id.
pub const COLUMNS: u16 = 16;
/// Tiles that share a row and a column: bits 1:0 of a physical id.
pub const TILES_PER_CELL: u16 = 4;

/// Worker contexts of a tile, beside the supervisor (public ISA documents).
pub const WORKERS: u32 = 6;
/// A worker issues one bundle every this many cycles (public ISA documents; all measured worker
/// kernel times are multiples of six).
pub const ISSUE_CYCLES: u32 = 6;

/// Tile clock in hertz unless a package says otherwise (command-line default of published runs).
pub const CLOCK_HZ: u64 = 1_500_000_000;

/// A source id that no tile has: the neutral value of INCOMING_MUX and INCOMING_MUXPAIR.
pub const NEUTRAL_SOURCE: u16 = 0x640;

/// Most items of one SEND, SENDPIC or SENDPICP: a six-bit count.
pub const SEND_ITEMS_MAX: u32 = 64;
/// Most items of one SENDOFF: a twelve-bit count.
pub const SENDOFF_ITEMS_MAX: u32 = 4096;
/// Most items of one transfer: the receive window of a stand-alone row, 52 + 4096 events.
pub const TRANSFER_ITEMS_MAX: u32 = 4148;
/// Longest DELAY: a nineteen-bit count.
pub const DELAY_EVENTS_MAX: u32 = 0x8_0000;
/// Longest DELAYPIC: a seven-bit count.
pub const DELAYPIC_EVENTS_MAX: u32 = 128;
/// Longest DELAYXPIC: a twelve-bit count.
pub const DELAYXPIC_EVENTS_MAX: u32 = 4096;

/// Events from the first selected word to its landing, on physical row zero; two more for each row
/// (vendor fabric model; data-checked on hardware).
pub const LANDING_DELAY: u32 = 52;
/// Events from a receiver's last landing to the end of its row (vendor rows).
pub const RECEIVE_TAIL: u32 = 5;
/// A sender's row lasts at least this many events (vendor rows).
pub const SENDER_HORIZON_MIN: u32 = 6;

/// From the latest arrival to the release of a barrier. Assumed split of the measured 229..295
/// cycles between the latest arrival and the latest exit, beyond the row.
pub const BARRIER_RELEASE: Cycles = Cycles::new(138);
/// From the end of a tile's row to its exit from the exchange, worker barrier included. Assumed;
/// with [`BARRIER_RELEASE`] it makes 261, the mean of eleven published measurements.
pub const EXCHANGE_EXIT: Cycles = Cycles::new(123);

/// Cycles in which a supervisor rewrites one row word (measured: 28 to 29).
pub const PATCH_CYCLES: Cycles = Cycles::new(28);

const _: () = assert!(
    TILES == ROWS * COLUMNS * TILES_PER_CELL,
    "the grid holds every tile"
);
const _: () = assert!(NEUTRAL_SOURCE >= TILES, "the neutral source is no tile");
const _: () = assert!(TRANSFER_ITEMS_MAX == LANDING_DELAY + SENDOFF_ITEMS_MAX);
