//! Everything around the canvas: markup and wiring, no computation.

mod asked;
pub(crate) mod banner;
mod beside;
pub(crate) mod chip_map;
mod compare;
mod copy;
pub(crate) mod data_table;
mod exchange;
mod facts;
pub(crate) mod header;
pub(crate) mod help;
pub(crate) mod in_view;
pub(crate) mod kernel_table;
pub(crate) mod landing;
pub(crate) mod legend;
pub(crate) mod lower;
mod matrix;
pub(crate) mod memory;
mod menu;
mod phases;
mod plots;
pub(crate) mod spent;
pub(crate) mod summary;
mod tile_axis;
mod tile_memory;
pub(crate) mod toolbar;
pub(crate) mod tooltip;
