//! Why a question has no answer, in words for a banner.

use analytics::format::DecodeError;
use analytics::query::QueryError;
use serde::{Deserialize, Serialize};

/// A failure as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The kind of cause.
    pub(crate) cause: Cause,
    /// What is wrong, where, and what to do.
    pub(crate) message: String,
}

/// Kinds of causes that people and tests tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cause {
    /// The bytes are another kind of file.
    UnknownType,
    /// The bytes contradict the format or a checksum.
    Corrupt,
    /// The file ends early and could not be salvaged.
    Truncated,
    /// A newer or unsupported version.
    Version,
    /// The file is larger than this viewer holds.
    TooLarge,
    /// An address did not answer with the file.
    Network,
    /// The browser refused to read the file.
    Unreadable,
    /// Reading was stopped by the person.
    Stopped,
    /// Our fault.
    Internal,
}

impl Cause {
    /// The name in `data-cause`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::UnknownType => "unknown-type",
            Self::Corrupt => "corrupt",
            Self::Truncated => "truncated",
            Self::Version => "version",
            Self::TooLarge => "too-large",
            Self::Network => "network",
            Self::Unreadable => "unreadable",
            Self::Stopped => "stopped",
            Self::Internal => "internal",
        }
    }

    /// The heading over what went wrong with a file that was to be `what`: a profile, a package.
    pub(crate) fn heading(self, what: &str) -> String {
        match self {
            Self::UnknownType => format!("This is not a {what}"),
            Self::Corrupt => format!("The {what} is corrupt"),
            Self::Truncated => format!("The {what} is cut off"),
            Self::Version => format!("The {what} needs another version"),
            Self::TooLarge => format!("The {what} is too large for this page"),
            Self::Network => format!("The {what} could not be fetched"),
            Self::Unreadable => "The file could not be read".to_owned(),
            Self::Stopped => "Not all samples are here".to_owned(),
            Self::Internal => "The viewer failed".to_owned(),
        }
    }
}

impl Failure {
    /// A failure of this cause.
    pub(crate) fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
        }
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        let cause = match &error {
            DecodeError::NotAProfile { .. } => Cause::UnknownType,
            DecodeError::Cut { .. } => Cause::Truncated,
            DecodeError::TooNew { .. } | DecodeError::RowVersion { .. } => Cause::Version,
            DecodeError::Limit { .. } => Cause::TooLarge,
            DecodeError::PageMissing { .. } | DecodeError::WrongSupply { .. } => Cause::Internal,
            _ => Cause::Corrupt,
        };
        Self::new(cause, error.to_string())
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Decode(error) => error.into(),
            other => Self::new(Cause::Internal, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decode_error_keeps_its_words_and_gets_a_cause() {
        let failure = Failure::from(DecodeError::TooNew {
            major: 9,
            supported: 2,
        });
        assert_eq!(failure.cause, Cause::Version);
        assert!(failure.message.contains('9') && failure.message.contains('2'));
        let cut = DecodeError::Cut {
            what: "message",
            needed: 10,
            found: 4,
        };
        assert_eq!(Failure::from(cut).cause, Cause::Truncated);
    }
}
