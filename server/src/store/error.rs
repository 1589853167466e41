//! What the store can report, and what kind of trouble it is.

use std::error::Error as _;
use std::io::ErrorKind;

/// The object store failed, or holds something that is not ours.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The local folder cannot be made or opened.
    #[error("cannot use the artifact folder {folder}: {cause}")]
    Folder {
        /// The folder.
        folder: String,
        /// What the system said.
        cause: String,
    },
    /// The address of a bucket means nothing, or its credentials are missing.
    #[error("cannot use the artifact store {url}: {cause}")]
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A call to the object store failed.
    #[error("the artifact store failed: {0}")]
    Object(#[from] object_store::Error),
    /// A call to the object store took too long.
    #[error("the artifact store does not answer in time")]
    Slow,
    /// The bytes of a publication are gone.
    #[error("the bytes of the artifact were collected while it was published")]
    Collected,
    /// A stored text is not what belongs there.
    #[error("the description at {key} is damaged: {cause}")]
    Description {
        /// Its key.
        key: String,
        /// What the parser said.
        cause: String,
    },
    /// The system gives no random bytes.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// Kinds of trouble that a client is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No room is left.
    Full,
    /// The store cannot be written by this server.
    ReadOnly,
    /// Anything that may pass.
    Passing,
}

impl StoreError {
    /// Whether it says that there is no such object.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Object(object_store::Error::NotFound { .. }))
    }

    /// What kind of trouble it is, from the system's error below it.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        if let Self::Object(object_store::Error::PermissionDenied { .. }) = self {
            return Trouble::ReadOnly;
        }
        let mut cause = self.source();
        while let Some(error) = cause {
            match error
                .downcast_ref::<std::io::Error>()
                .map(std::io::Error::kind)
            {
                Some(
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge,
                ) => return Trouble::Full,
                Some(ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied) => {
                    return Trouble::ReadOnly;
                }
                _ => {}
            }
            cause = error.source();
        }
        Trouble::Passing
    }
}
