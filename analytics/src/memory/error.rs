//! What can be wrong with a package.

/// Why a package was refused. The producer of the bytes is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The bytes contradict the format.
    #[error("this is no whole package: {what}; make it again with `ipu-stack compile`")]
    Malformed {
        /// What was found instead.
        what: String,
    },
    /// Written by a format that this version does not know.
    #[error("package format {major} is newer than the {supported} that this version reads")]
    TooNew {
        /// Major format number found.
        major: u16,
        /// Largest one understood.
        supported: u16,
    },
}

impl PackageError {
    pub(super) fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed { what: what.into() }
    }
}

impl From<capnp::Error> for PackageError {
    fn from(error: capnp::Error) -> Self {
        Self::malformed(error.to_string())
    }
}

impl From<capnp::NotInSchema> for PackageError {
    fn from(error: capnp::NotInSchema) -> Self {
        Self::malformed(error.to_string())
    }
}

impl From<std::str::Utf8Error> for PackageError {
    fn from(error: std::str::Utf8Error) -> Self {
        Self::malformed(format!("a text is not UTF-8: {error}"))
    }
}
