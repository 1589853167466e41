//! Files on disk: mapped into memory, told apart by their content, opened by `analytics` or
//! `runtime`.
//!
//! Input: a path; output: a profile, a package, or what a file is in a few figures. A file that
//! changes while it is mapped gives wrong content, which every reader refuses or survives; it never
//! gives a panic.

mod rendered;

use std::fs::File;
use std::path::Path;

use analytics::clock::{ClockKind, Frame};
use analytics::format::{DecodeError, FileKind, open_bytes, sniff};
use analytics::memory::{PackageError as MapError, PackageMap};
use analytics::profile::{ChunkScratch, Condition, ProfileHeader, ProfileReport};
use bytes::Bytes;
use memmap2::Mmap;
use runtime::package::{Package, PackageError};

use crate::error::CliError;
use crate::store::{ArtifactKind, Facts};

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
    /// It is a page, but not one that we rendered.
    #[error("this page is no rendered profile: {problem}")]
    Page {
        /// What is wrong with it.
        problem: String,
    },
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
    let bytes = package_bytes(path)?;
    runtime::package::read(&bytes)
        .map_err(|error| CliError::user(error, path.display(), "compile it again"))
}

/// What a package says of memory and traffic; its programs are not looked at.
///
/// # Errors
/// The file cannot be read, or is no whole package.
pub fn package_map(path: &Path) -> Result<PackageMap, CliError> {
    let bytes = package_bytes(path)?;
    PackageMap::read(&bytes).map_err(|error| {
        let hint = match error {
            MapError::TooNew { .. } => "open it with a newer ipu-stack",
            _ => "compile it again",
        };
        CliError::user(error, path.display(), hint)
    })
}

/// The bytes of a file that is no profile.
fn package_bytes(path: &Path) -> Result<Bytes, CliError> {
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
    Ok(bytes)
}

/// Parses a whole file with bounds and says what it is.
///
/// # Errors
/// The content is of no kind that we open, or is damaged.
pub fn inspect(content: Bytes) -> Result<Facts, Refused> {
    let bytes = content.len() as u64;
    if looks_rendered(&content) {
        let inside = rendered::profile_inside(&content);
        let inside = inside.map_err(|problem| Refused::Page { problem })?;
        let facts = inspect_profile(inside.into())?;
        let kind = ArtifactKind::Report;
        return Ok(Facts {
            kind,
            bytes,
            ..facts
        });
    }
    if sniff(&content) != FileKind::Package {
        return inspect_profile(content);
    }
    let Package {
        manifest, tiles, ..
    } = runtime::package::read(&content)?;
    Ok(Facts {
        kind: ArtifactKind::Package,
        bytes,
        workload: manifest.workload,
        tiles: tiles.len() as u64,
        samples: 0,
        cycles: 0,
    })
}

fn inspect_profile(content: Bytes) -> Result<Facts, Refused> {
    let bytes = content.len() as u64;
    let report = open_bytes(content)?;
    if let Condition::Truncated { at } = report.condition() {
        return Err(Refused::Cut { at });
    }
    let mut scratch = ChunkScratch::default();
    for chunk in 0..report.chunks().len() {
        report.decode_chunk(chunk, &mut scratch)?;
    }
    report.visit_activities(&mut |_, _, _| {})?;
    let cycles = Frame::new(&report, ClockKind::Cropped).span(&report)?;
    Ok(Facts {
        kind: ArtifactKind::Profile,
        bytes,
        workload: workload_of(report.header()),
        tiles: report.tiles().len() as u64,
        samples: report.sample_count(),
        cycles: cycles.get(),
    })
}

/// The workload that a profile's provenance names, or nothing.
pub(crate) fn workload_of(header: &ProfileHeader) -> String {
    let provenance = &header.provenance;
    let named = provenance.iter().find(|(name, _)| name == "workload");
    named.map(|(_, value)| value.clone()).unwrap_or_default()
}

pub(crate) use rendered::looks_rendered;

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
    map_open(&file)
}

/// An open file as memory.
pub(crate) fn map_open(file: &File) -> std::io::Result<Bytes> {
    #[expect(
        unsafe_code,
        reason = "a mapping is sound only while nobody changes the file"
    )]
    // SAFETY: readers treat the bytes as untrusted, so content that changes is refused like damage.
    let map = unsafe { Mmap::map(file) }?;
    Ok(Bytes::from_owner(map))
}
