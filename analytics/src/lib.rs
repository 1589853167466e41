#![doc = include_str!("../README.md")]

pub mod aggregate;
#[cfg(feature = "chart")]
pub mod chart;
pub mod clock;
#[cfg(feature = "fixtures")]
pub mod fixtures;
pub mod format;
pub mod inspect;
pub mod profile;
pub mod query;
pub mod report;
pub mod synth;
pub mod text;
pub mod timeline;
pub mod units;
pub mod work;
