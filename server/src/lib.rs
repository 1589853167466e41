#![doc = include_str!("../README.md")]

pub mod cli;
pub mod error;
pub mod http;
pub mod logging;
pub mod open;
pub mod store;
mod tls;

pub use error::CliError;
pub use http::{Config, HostPolicy, LocalServer, app, spawn, spawn_local};
