//! The `.ipuexe` package: its model, its bytes and what makes it well formed.
//!
//! [`write()`] and [`read()`] are inverse on valid packages; equal packages give equal bytes. The
//! format is `schemas/package.capnp`; `analytics` holds its generated code, since the page reads it
//! too.

mod column;
mod delivery_runs;
mod error;
mod kernel;
mod kernel_read;
mod kernel_write;
pub mod model;
mod read;
mod read_tile;
#[cfg(test)]
mod tests;
mod text;
mod validate;
mod validate_tile;
mod write;

pub use analytics::memory::{FORMAT_MAJOR, MAGIC};
pub use error::PackageError;
pub use kernel::*;
pub use model::*;
pub use validate::{FlatItem, flatten, validate};

/// Revision of [`FORMAT_MAJOR`] that this build writes.
const FORMAT_MINOR: u16 = 2;

/// Most delivery destinations in one package: 2^25. A few bytes can stand for many of them, so the
/// reader needs a bound of its own.
pub const MAX_DESTINATIONS: u64 = 1 << 25;
/// Most elements of one tensor: 2^31.
pub const MAX_ELEMENTS: u64 = 1 << 31;
/// Most schedule items that one run executes, Repeat iterations included: 2^20.
pub const MAX_EXECUTED_ITEMS: u64 = 1 << 20;
/// Deepest nesting of Repeats.
pub const MAX_REPEAT_DEPTH: u32 = 8;
/// Most loops of an affine pattern.
pub const MAX_PATTERN_LOOPS: usize = 8;

/// Encodes a package. Equal packages give equal bytes.
///
/// # Errors
///
/// What [`validate`] finds, or a list longer than the format can hold.
pub fn write(package: &Package) -> Result<Vec<u8>, PackageError> {
    validate(package)?;
    write::write(package)
}

/// Decodes and validates a package. Never panics, whatever the bytes.
///
/// # Errors
///
/// What is wrong with the bytes, or what [`validate`] finds in the package they hold.
pub fn read(bytes: &[u8]) -> Result<Package, PackageError> {
    let package = read::read(bytes)?;
    validate(&package)?;
    Ok(package)
}
