//! Everything around the canvas: markup and wiring, no computation.

pub(crate) mod banner;
pub(crate) mod chip_map;
pub(crate) mod header;
pub(crate) mod help;
pub(crate) mod in_view;
pub(crate) mod kernel_table;
pub(crate) mod landing;
pub(crate) mod legend;
pub(crate) mod lower;
mod spent;
pub(crate) mod summary;
pub(crate) mod toolbar;
pub(crate) mod tooltip;
