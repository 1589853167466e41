#![doc = include_str!("../README.md")]

pub mod exchange;
pub mod fault;
pub mod fidelity;
pub mod host;
pub mod kernels;
pub mod machine;
pub mod package;
mod record;
pub mod sim;

pub use fault::{Fault, FaultRule};
pub use sim::{RunError, RunOptions, RunReport, run};
