//! Zero fill.

use super::generation::{Cost, Generation};
use super::kernel::Kernel;
use super::operands::{ATOM, Operand, multiple, write};
use super::rules::Violation;
use super::tile::TileCall;
use super::workers::{bundles, busiest_blocks};

/// Launch and rendezvous, taken from the measured 64-bit copy, whose dispatch it shares.
const LAUNCH: u64 = 246;
/// Bytes that a worker stores per bundle: one 64-bit store.
const STORE: u32 = 8;

/// Writes zero bytes.
pub(crate) struct ZeroFill {
    pub(crate) bytes: u32,
}

impl Kernel for ZeroFill {
    fn operands(&self) -> Vec<Operand> {
        vec![write("out", u64::from(self.bytes))]
    }

    fn extent_error(&self) -> Option<String> {
        multiple("bytes", self.bytes, ATOM)
    }

    /// The same in both generations.
    fn cost(&self, _generation: Generation) -> Cost {
        Cost::derived(LAUNCH + bundles(busiest_blocks(self.bytes, STORE)))
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let address = call.address(0);
        let fill = |to: &mut [u8]| to.fill(0);
        Ok(call.memory().write_with(address, self.bytes, fill)?)
    }
}
