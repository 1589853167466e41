//! The seam behind which the profile lives: questions go in, view-sized answers come out.
//!
//! [`answer`] answers from a report in memory, with a module for each panel; nothing outside of
//! here knows the questions of `analytics`.
//! [`worker`] runs it in a Web Worker, [`worker_client`] speaks to that worker from the page.

pub(crate) mod answer;
pub(crate) mod cause;
pub(crate) mod cell;
mod changes;
pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod envelope;
pub(crate) mod held;
mod hit;
pub(crate) mod lanes;
pub(crate) mod list;
pub(crate) mod memory;
pub(crate) mod needs;
pub(crate) mod opening;
pub(crate) mod panel;
pub(crate) mod phases;
pub(crate) mod places;
pub(crate) mod plot;
pub(crate) mod ports;
pub(crate) mod protocol;
pub(crate) mod raster;
pub(crate) mod read;
pub(crate) mod rehearsal;
pub(crate) mod slack;
pub(crate) mod spent;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod traffic;
pub(crate) mod waits;
pub(crate) mod worker;
pub(crate) mod worker_client;
