//! What can be wrong with a package.

use thiserror::Error;

/// Why a package was refused. The producer of the bytes is at fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackageError {
    /// The bytes are no package at all.
    #[error("not an ipuexe package: {what}")]
    Malformed {
        /// What was found instead.
        what: String,
    },
    /// Written by a format this version does not know.
    #[error("package format {major} is newer than the {supported} this build reads; update it")]
    TooNew {
        /// Major format number found.
        major: u32,
        /// Largest one understood.
        supported: u32,
    },
    /// A value breaks a rule of the package model.
    #[error("package is invalid at {place}: {what}")]
    Invalid {
        /// Where, such as `tile 3 call 7`.
        place: String,
        /// Which rule, with the numbers.
        what: String,
    },
    /// A count or size above what a package may hold.
    #[error("package holds {count} {what}, more than the limit of {limit}")]
    TooLarge {
        /// Things counted.
        what: &'static str,
        /// How many.
        count: u64,
        /// How many are allowed.
        limit: u64,
    },
}
