//! What can go wrong with bytes: every error says what, where, and what to do.

use super::{ByteRange, FileKind};

/// Bytes that are no profile, or not a whole one. Always the input's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The first bytes belong to another kind of file.
    #[error("this is {found}, not a profile: {advice}", advice = found.advice())]
    NotAProfile {
        /// What the bytes look like.
        found: FileKind,
    },
    /// The file ends inside something; row files cannot be salvaged.
    #[error("the file is cut: {what} needs {needed} bytes, the file has {found}")]
    Cut {
        /// The part that is incomplete.
        what: &'static str,
        /// Length in bytes that the part asks of the file.
        needed: u64,
        /// Length of the file in bytes.
        found: u64,
    },
    /// A record or message contradicts the format.
    #[error("corrupt {record} at byte {at}: {problem}")]
    Corrupt {
        /// Kind of the record.
        record: &'static str,
        /// First byte of the record in the file.
        at: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes of a record are not those that were written.
    #[error("corrupt {record} at byte {at}: checksum is {found:08x}, index says {expected:08x}")]
    Checksum {
        /// Kind of the record.
        record: &'static str,
        /// First byte of the record in the file.
        at: u64,
        /// CRC-32C in the index or trailer.
        expected: u32,
        /// CRC-32C of the bytes.
        found: u32,
    },
    /// A columnar file of a generation after ours.
    #[error("profile format {major} is newer than {supported}, the newest this version reads")]
    TooNew {
        /// Major version of the file.
        major: u16,
        /// Largest major version that is read.
        supported: u16,
    },
    /// A row file with a schema version outside 1..=5.
    #[error("row profile schema version {version} is not supported; versions 1 to 5 are")]
    RowVersion {
        /// Version in the file.
        version: u32,
    },
    /// More of something than this version holds.
    #[error("{what}: {found} is over the limit of {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// Largest number allowed.
        limit: u64,
        /// Number in the file.
        found: u64,
    },
    /// The page was not fetched yet: supply it and ask again.
    #[error("bytes {range} of the profile were not loaded")]
    PageMissing {
        /// Where the page is in the file.
        range: ByteRange,
    },
    /// The driver supplied other bytes than were asked for.
    #[error("supplied {found} bytes for the range {range}")]
    WrongSupply {
        /// The range that was named.
        range: ByteRange,
        /// Number of bytes supplied.
        found: u64,
    },
}

/// A profile that cannot be written. The caller's fault, but bounded input keeps it rare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A string would not fit a record.
    #[error("a string of {found} bytes is over the limit of {limit}")]
    StringTooLong {
        /// Largest length in bytes.
        limit: u64,
        /// Length in bytes.
        found: u64,
    },
    /// A table outgrew its ids.
    #[error("{what}: more than {limit}")]
    TooMany {
        /// The table.
        what: &'static str,
        /// Largest number of rows.
        limit: u64,
    },
    /// A sample names a step that was never interned.
    #[error("sample of physical tile {tile} names step {step}, of {steps} steps")]
    UnknownStep {
        /// Physical tile of the sample.
        tile: u32,
        /// The step named.
        step: u32,
        /// Number of steps interned.
        steps: u32,
    },
    /// A record came out larger than a record may be: a bug in the writer's page sizes.
    #[error("a {record} record of {found} bytes is over the limit of {limit}")]
    RecordTooLong {
        /// Kind of the record.
        record: &'static str,
        /// Largest length in bytes.
        limit: u64,
        /// Length in bytes.
        found: u64,
    },
    /// A record could not be laid out: a bug in the writer's page sizes.
    #[error("a {record} record cannot be laid out: {problem}")]
    Encode {
        /// Kind of the record.
        record: &'static str,
        /// What the wire format refused.
        problem: String,
    },
}

/// A row file that cannot be converted: the writer's limits are then the reader's.
impl From<WriteError> for DecodeError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::StringTooLong { limit, found } => Self::Limit {
                what: "bytes of a string",
                limit,
                found,
            },
            WriteError::TooMany { what, limit } => Self::Limit {
                what,
                limit,
                found: limit.saturating_add(1),
            },
            other => Self::Corrupt {
                record: "row profile",
                at: 0,
                problem: other.to_string(),
            },
        }
    }
}
