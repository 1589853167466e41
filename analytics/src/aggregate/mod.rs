//! Sums over samples.

mod measures;

pub use measures::Measures;
pub(crate) use measures::{float, ratio};
