//! Profiles of tiled accelerators: decode, measure, aggregate, query.
//!
//! Bytes go in, values come out. Nothing here touches a file, a socket, a clock or the screen, so the
//! browser and the command line run the same engine.

pub mod format;
pub mod profile;
pub mod synth;
pub mod units;
pub mod work;
