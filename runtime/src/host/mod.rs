//! The host's part: values of tensors, written to tiles before a run and read back after it.

mod bindings;
pub mod f143;
mod values;

use thiserror::Error;

use crate::machine::memory::OutOfRange;

pub(crate) use bindings::{OutputError, load, read_outputs};
pub use values::{TensorValues, values};
pub(crate) use values::{narrow_f32, nearest_f16};

/// Why the host could not make, write or read a tensor.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostError {
    /// A tensor larger than the host makes.
    #[error("tensor {tensor} of shape {shape:?} has more than {limit} elements")]
    TooLarge {
        /// Its name.
        tensor: String,
        /// Its extents.
        shape: Vec<u64>,
        /// Most elements allowed.
        limit: u64,
    },
    /// An element of an output that no binding covers.
    #[error("output {tensor} element {element} lies on no tile")]
    Uncovered {
        /// Name of the output.
        tensor: String,
        /// Row-major index.
        element: u64,
    },
    /// Two places hold different values of one output element.
    #[error(
        "output {tensor} element {element} has bits {first:#x} in one place and {second:#x} on \
         tile {tile}"
    )]
    Contradiction {
        /// Name of the output.
        tensor: String,
        /// Row-major index.
        element: u64,
        /// Bits read first.
        first: u32,
        /// Bits read second.
        second: u32,
        /// Logical tile of the second reading.
        tile: u16,
    },
    /// A binding that leaves SRAM.
    #[error("binding on tile {tile}: {source}")]
    Placement {
        /// Logical tile.
        tile: u16,
        /// The access.
        source: OutOfRange,
    },
}
