//! The exchange back end: transfers → times → encoded rows, and an independent check of the rows.
//!
//! [`schedule`] chooses when each message is sent, [`encode`] writes each tile's row of exchange
//! instructions, [`verify`] decodes the rows again and re-derives who receives what and when.
//! [`estimate`] and [`endpoint_bound`] price an exchange before it is scheduled. Equal input gives
//! equal rows, whatever the number of threads.

pub mod encode;
mod estimate;
mod hazard;
mod message;
pub mod problem;
pub mod schedule;
mod timeline;
mod transfer;
pub mod verify;

pub use encode::{EncodeError, EncodedRow, encode};
pub use estimate::{Loads, endpoint_bound, estimate};
pub use schedule::{Schedule, ScheduleError, ScheduleReport, schedule};
pub use transfer::{ExchangeContext, Transfer, TransferError};
pub use verify::{VerifyError, verify};

#[cfg(test)]
mod tests;
