//! Exchanges as the machine runs them: encoded rows are decoded to timed rows, timed rows meet on
//! the fabric, words move because instructions say so.
//!
//! A phase is row words → [`row::decode_row`] → [`row::TimedRow`] of each tile →
//! [`fabric::resolve`] → [`fabric::ExchangeOutcome`] → [`transport::move_words`] →
//! [`delivery::compare_deliveries`]. Everything up to the outcome needs no memory contents, so a
//! repeated exchange is resolved once.
//!
//! Events are local to a tile. Only differences on one tile and the route formulas relate them.

mod activity;
pub mod delivery;
pub mod fabric;
mod landing;
mod order;
mod receive;
pub mod row;
mod rules;
pub mod transport;

pub use delivery::compare_deliveries;
pub use fabric::{ExchangeOutcome, Landing, PhaseContext, Untested, execute, resolve};
pub use row::{Message, TimedRow, decode_row};
pub use transport::move_words;

#[cfg(test)]
pub(crate) mod tests;
