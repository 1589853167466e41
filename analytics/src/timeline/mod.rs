//! View-sized answers for a timeline: a report and a viewport in, plain columns of cells out.
//!
//! The answer is bounded by the viewport's columns × rows, whatever the number of samples. Only
//! chunks that the viewport touches are decoded. Cells carry the kernel, so that a painter can dim
//! what is not in focus without asking again.

mod cells;
mod gather;
mod grouped;
mod groups;
mod hit;
mod minimap;
mod needed;
mod overview;
mod part;
mod phases;
mod raster;
mod slots;
mod spent;

pub(crate) use gather::View;
pub use grouped::grouped_raster;
pub use groups::{RowGroups, RowsBy};
pub use hit::hit;
pub use minimap::{KindShares, kind_shares};
pub use needed::pages_needed;
pub use overview::{overview_raster, overview_shares};
pub use part::{DevicePart, PartQuestion};
pub use phases::{ItemSpan, PhaseSpan, item_spans, phase_spans};
pub use raster::{CellKind, Raster, Viewport, chosen_raster, raster};
pub use slots::{CellChoice, CellNames, FULL_EFFICIENCY, NO_EFFICIENCY};
pub use spent::{Spent, Sums, TileSpent, spent, spent_in, spent_of_group};
