#![doc = include_str!("../README.md")]

pub mod exchange;
pub mod fault;
pub mod host;
pub mod kernels;
pub mod machine;
pub mod package;
pub mod sim;
