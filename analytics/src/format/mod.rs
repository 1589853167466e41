//! Profile bytes to [`crate::profile::ProfileReport`] and back.
//!
//! Two generations are read: the row format of existing files, and the columnar format that is
//! written. Both are described by `schemas/profile.capnp`; the row format becomes columnar on the
//! way in, so one engine form exists. Nothing here does I/O.

mod activities;
mod catalog;
mod check;
mod checksum;
mod column;
mod error;
mod open;
#[rustfmt::skip]
#[expect(
    clippy::use_self,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "generated from schemas/profile.capnp, which a test does again and compares"
)]
mod profile_capnp;
mod range;
mod record;
pub mod row;
mod samples;
mod slice;
mod sniff;
mod tables;
mod write;

pub use check::{Checked, StreamCheck};
pub use error::{DecodeError, WriteError};
pub use open::{OpenMode, OpenStep, Opener, open_bytes, open_slice};
pub use range::ByteRange;
pub use slice::{SliceError, SliceOptions, slice};
pub use sniff::{FileKind, sniff};
pub use write::ProfileWriter;

pub(crate) use activities::{
    decode as decode_activities, visit as visit_activities,
    visit_chunk_of as visit_activity_chunk_of,
};
pub(crate) use open::supply_page;
pub(crate) use samples::decode as decode_samples;
