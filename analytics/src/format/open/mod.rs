//! Opening a profile without doing any I/O: a state machine that asks for byte ranges.

use bytes::Bytes;

use super::{ByteRange, DecodeError};
use crate::profile::ProfileReport;

/// How much of the file to read before the report is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Every record.
    Everything,
    /// Header, tables, overview and summary; sample pages are supplied later where needed. A row
    /// file, and a file without trailer, is read whole all the same.
    Overview,
}

/// What the opener wants next.
#[derive(Debug)]
pub enum OpenStep {
    /// Supply these ranges, in any order, then step again. Never empty, never overlapping.
    Need(Vec<ByteRange>),
    /// The profile.
    Ready(Box<ProfileReport>),
}

/// The state machine: step, supply what it needs, step again until it is ready.
#[derive(Debug)]
pub struct Opener {
    total_len: u64,
    mode: OpenMode,
}

impl Opener {
    /// An opener of a file of `total_len` bytes.
    #[must_use]
    pub fn new(total_len: u64, mode: OpenMode) -> Self {
        Self { total_len, mode }
    }

    /// What to do next.
    ///
    /// # Errors
    /// Where the bytes supplied so far cannot be a profile.
    pub fn step(&mut self) -> Result<OpenStep, DecodeError> {
        let _ = (self.total_len, self.mode);
        Err(DecodeError::NotAProfile {
            found: super::FileKind::Unknown,
        })
    }

    /// Hands over the bytes of a range that [`OpenStep::Need`] named, or of a part of it.
    ///
    /// # Errors
    /// Where the number of bytes is not the length of the range, or it passes the end of the file.
    pub fn supply(&mut self, range: ByteRange, bytes: impl Into<Bytes>) -> Result<(), DecodeError> {
        let bytes: Bytes = bytes.into();
        if bytes.len() as u64 != range.len() || range.end > self.total_len {
            return Err(DecodeError::WrongSupply {
                range,
                found: bytes.len() as u64,
            });
        }
        Ok(())
    }
}

/// Opens a whole file that is in memory, keeping `bytes` as the packed pages: no copy is made.
///
/// # Errors
/// Where the bytes are no profile.
pub fn open_bytes(bytes: impl Into<Bytes>) -> Result<ProfileReport, DecodeError> {
    let bytes = bytes.into();
    let mut opener = Opener::new(bytes.len() as u64, OpenMode::Everything);
    loop {
        match opener.step()? {
            OpenStep::Ready(report) => return Ok(*report),
            OpenStep::Need(_) => {
                opener.supply(ByteRange::new(0, bytes.len() as u64), bytes.clone())?;
            }
        }
    }
}

/// Opens a whole file that is in memory, copying it once.
///
/// # Errors
/// Where the bytes are no profile.
pub fn open_slice(bytes: &[u8]) -> Result<ProfileReport, DecodeError> {
    open_bytes(Bytes::copy_from_slice(bytes))
}
