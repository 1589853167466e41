//! The exchange back end: transfers → times → encoded rows, and an independent check of the rows.
//!
//! [`schedule`] chooses when each message is sent, [`encode`] writes each tile's row of exchange
//! instructions, [`verify`] decodes the rows again and re-derives who receives what and when.
//! [`estimate`] and [`endpoint_bound`] say what an exchange would take before it is scheduled; the
//! compiler has plan prices of its own, these are what tests and `benches/exchange.rs` hold its
//! schedules against. Equal input gives equal rows, whatever the number of threads.

pub mod encode;
mod estimate;
mod hazard;
pub mod mapping;
mod message;
pub mod problem;
pub mod schedule;
mod synthetic;
mod timeline;
mod transfer;
pub mod verify;

pub use encode::{EncodeError, EncodedRow, GrowingRow, encode};
pub use estimate::{Loads, endpoint_bound, estimate};
pub use schedule::{
    DelayCount, DelayRule, Delays, Schedule, ScheduleError, ScheduleReport, delays, replay,
    schedule, schedule_with, structure,
};
pub use synthetic::Synthetic;
pub use transfer::{ExchangeContext, SourceSteps, Transfer, TransferError};
pub use verify::{VerifyError, verify};

#[cfg(test)]
mod tests;
