//! Pictures of the panels below the timeline: answers → a scene or a bitmap, and places ⇄ what is
//! there. Pure; lengths are CSS pixels.

pub(crate) mod change;
pub(crate) mod lifetimes;
pub(crate) mod matrix;
pub(crate) mod memory;
pub(crate) mod ports;
pub(crate) mod waterfall;
