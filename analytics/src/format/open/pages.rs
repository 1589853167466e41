//! Sample and activity pages that arrive after the report was opened.

use bytes::Bytes;

use crate::format::record::{self, kind};
use crate::format::{ByteRange, DecodeError, checksum};
use crate::profile::ProfileReport;

/// Checks that the bytes of a record are those that were written.
pub(crate) fn verify(
    bytes: &[u8],
    record_kind: u16,
    at: u64,
    expected: u32,
) -> Result<(), DecodeError> {
    let found = checksum::crc32c(bytes);
    if found == expected {
        return Ok(());
    }
    Err(DecodeError::Checksum {
        record: kind::name(record_kind),
        at,
        expected,
        found,
    })
}

/// Puts a page in its place.
pub(crate) fn supply_page(
    report: &mut ProfileReport,
    range: ByteRange,
    bytes: Bytes,
) -> Result<(), DecodeError> {
    let wrong = DecodeError::WrongSupply {
        range,
        found: bytes.len() as u64,
    };
    let is_it = |entry: &crate::profile::ChunkEntry| entry.bytes == range;
    let samples = report.chunks.iter().position(is_it);
    let activities = report.activity_chunks.iter().position(is_it);
    let (index, record_kind) = match (samples, activities) {
        (Some(index), _) => (index, kind::SAMPLES),
        (None, Some(index)) => (report.chunks.len() + index, kind::ACTIVITIES),
        (None, None) => return Err(wrong),
    };
    if bytes.len() as u64 != range.len() {
        return Err(wrong);
    }
    let page = &mut report.pages[index];
    verify(&bytes, record_kind, range.start, page.checksum)?;
    page.bytes = Some(record::aligned(bytes));
    Ok(())
}
