//! The compiler as a whole, with the simulated device behind it.

mod determinism;
mod placement;
mod simulate;
mod support;
mod texts;
