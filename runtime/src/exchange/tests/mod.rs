//! Tests of rows and phases; `assembler` and `scene` build them for other modules' tests too.

pub(crate) mod assembler;
mod faults;
pub(crate) mod mutation;
mod phases;
pub(crate) mod plain;
mod properties;
pub(crate) mod scene;
mod vectors;
