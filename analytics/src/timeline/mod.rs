//! View-sized answers for a timeline: a report and a viewport in, plain columns of cells out.
//!
//! The answer is bounded by the viewport's columns × rows, whatever the number of samples.

mod hit;
mod minimap;
mod raster;

pub use hit::hit;
pub use minimap::{KindShares, kind_shares};
pub use raster::{CellKind, Raster, Viewport, raster};
