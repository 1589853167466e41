//! Questions that have no answer.

use crate::format::DecodeError;

/// A question that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Samples could not be decoded: the profile's fault.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Grouping by metadata without saying by which name: the caller's fault.
    #[error("grouping by metadata needs a metadata name: give --metadata-key NAME")]
    MetadataKeyMissing,
    /// A value that should be a number: the caller's fault.
    #[error("`{found}` is no number for {word}: give digits")]
    NotANumber {
        /// The word that it is the value of.
        word: String,
        /// The value.
        found: String,
    },
    /// A word that is none of the known names: the caller's fault.
    #[error("unknown {what} `{found}`: use one of {known}")]
    UnknownName {
        /// What the word should have named.
        what: &'static str,
        /// The word.
        found: String,
        /// The known names, separated by commas.
        known: String,
    },
}
