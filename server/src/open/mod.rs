//! Files on disk: mapped into memory, told apart by their content, opened by `analytics` or
//! `runtime`.
//!
//! Input: a path; output: a profile, a package, or what a file is in a few figures. A file that
//! changes while it is mapped gives wrong content, which every reader refuses or survives; it never
//! gives a panic.

use std::fs::File;
use std::path::Path;

use analytics::format::{DecodeError, FileKind, open_bytes, sniff};
use analytics::profile::{ChunkScratch, Condition, ProfileReport};
use bytes::Bytes;
use memmap2::Mmap;
use runtime::package::{Package, PackageError};

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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The system cannot read it.
    #[error("cannot read the file: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is no whole profile.
    #[error(transparent)]
    Profile(#[from] DecodeError),
    /// It is a profile that was cut while it was recorded or copied.
    #[error("the profile is cut after byte {at}")]
    Cut {
        /// One past the last whole record.
        at: u64,
    },
    /// It is no whole package.
    #[error(transparent)]
    Package(#[from] PackageError),
}

/// A file as memory, without reading it yet.
///
/// # Errors
/// The file cannot be opened or mapped.
pub fn map(path: &Path) -> Result<Bytes, CliError> {
    map_file(path).map_err(|error| {
        let hint = "check the name and the permissions";
        CliError::user(
            format!("cannot read the file: {error}"),
            path.display(),
            hint,
        )
    })
}

/// Opens a profile of either generation; its packed pages stay in the mapped file.
///
/// # Errors
/// The file cannot be read, or is no profile.
pub fn profile(path: &Path) -> Result<ProfileReport, CliError> {
    open_bytes(map(path)?).map_err(|error| refused(&error, path))
}

/// Opens a package.
///
/// # Errors
/// The file cannot be read, or is no valid package.
pub fn package(path: &Path) -> Result<Package, CliError> {
    let bytes = map(path)?;
    let found = sniff(&bytes);
    if matches!(found, FileKind::Columnar | FileKind::RowProfile) {
        let hint =
            "packages are written by `ipu-stack compile`; a profile is read by profile-query";
        return Err(CliError::user(
            format!("this is {found}, not a package"),
            path.display(),
            hint,
        ));
    }
    runtime::package::read(&bytes)
        .map_err(|error| CliError::user(error, path.display(), "compile it again"))
}

/// Parses a whole file with bounds and says what it is.
///
/// # Errors
/// The file cannot be read, is of no kind that we open, or is damaged.
pub fn inspect(path: &Path) -> Result<Inspected, Refused> {
    let content = map_file(path)?;
    let bytes = content.len() as u64;
    if sniff(&content) == FileKind::Package {
        let Package {
            manifest, tiles, ..
        } = runtime::package::read(&content)?;
        let (workload, tiles) = (manifest.workload, tiles.len() as u64);
        return Ok(Inspected {
            kind: ArtifactKind::Package,
            bytes,
            workload,
            tiles,
            samples: 0,
        });
    }
    let report = open_bytes(content)?;
    if let Condition::Truncated { at } = report.condition() {
        return Err(Refused::Cut { at });
    }
    let mut scratch = ChunkScratch::default();
    for chunk in 0..report.chunks().len() {
        report.decode_chunk(chunk, &mut scratch)?;
    }
    let (tiles, samples) = (report.tiles().len() as u64, report.sample_count());
    let workload = workload_of(&report);
    Ok(Inspected {
        kind: ArtifactKind::Profile,
        bytes,
        workload,
        tiles,
        samples,
    })
}

/// The workload that a profile's provenance names, or nothing.
fn workload_of(report: &ProfileReport) -> String {
    let provenance = &report.header().provenance;
    let named = provenance.iter().find(|(name, _)| name == "workload");
    named.map(|(_, value)| value.clone()).unwrap_or_default()
}

/// A decode error as a person reads it.
pub(crate) fn refused(error: &DecodeError, path: &Path) -> CliError {
    let hint = match error {
        DecodeError::NotAProfile { .. } => "",
        DecodeError::TooNew { .. } => "open it with a newer ipu-stack",
        DecodeError::Cut { .. } => "copy or record it again",
        _ => "the file is damaged; copy or record it again",
    };
    CliError::user(error, path.display(), hint)
}

fn map_file(path: &Path) -> std::io::Result<Bytes> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(std::io::Error::other("it is a folder"));
    }
    #[expect(
        unsafe_code,
        reason = "a mapping is sound only while nobody changes the file"
    )]
    // SAFETY: readers treat the bytes as untrusted, so content that changes is refused like damage.
    let map = unsafe { Mmap::map(&file) }?;
    Ok(Bytes::from_owner(map))
}
