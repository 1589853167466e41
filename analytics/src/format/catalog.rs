//! Catalogs: the tables of a file once more, in one place and packed.
//!
//! While a run is recorded, table rows are written before the chunks that need them, all over the
//! file, so that a file cut anywhere is readable. A catalog repeats them at its end: who has the
//! index reads some hundred kilobytes there and not hundreds of small records.

use std::io::Read as _;

use bytes::Bytes;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::error::{DecodeError, WriteError};
use super::profile_capnp::{catalog, record as body};
use super::record::{self, Place, Record, kind};
use super::tables::Tables;

/// Bytes of table records in one catalog, apart from its last record.
const RECORDS_MAX: usize = 3 << 20;
/// Bytes of table records that a catalog may claim.
const CLAIM_MAX: u32 = 16 << 20;

/// What packs a catalog.
pub(crate) type Pack = fn(&[u8]) -> Vec<u8>;

/// The Zstandard frame of `records`.
pub(crate) fn pack(records: &[u8]) -> Vec<u8> {
    compress_to_vec(records, CompressionLevel::Fastest)
}

/// Catalogs of these table records, with the number of rows in each.
pub(crate) fn build(
    mut next: impl FnMut() -> Result<Option<(u16, u64, Vec<u8>)>, WriteError>,
    pack: Pack,
) -> Result<Vec<(Vec<u8>, u64)>, WriteError> {
    let mut catalogs = Vec::new();
    let (mut records, mut rows) = (Vec::new(), 0);
    loop {
        let record = next()?;
        let is_last = record.is_none();
        if let Some((_, count, bytes)) = record {
            records.extend(bytes);
            rows += count;
        }
        if !records.is_empty() && (is_last || records.len() >= RECORDS_MAX) {
            catalogs.push((one(&records, pack)?, rows));
            (records, rows) = (Vec::new(), 0);
        }
        if is_last {
            return Ok(catalogs);
        }
    }
}

fn one(records: &[u8], pack: Pack) -> Result<Vec<u8>, WriteError> {
    let packed = pack(records);
    record::build(kind::CATALOG, packed.len() + 256, |root| {
        let mut it = root.init_catalog();
        it.set_length(u32::try_from(records.len()).unwrap_or(u32::MAX));
        it.set_records(&packed);
        Ok(())
    })
}

/// Appends the rows of a catalog to `tables`; returns the bytes that they take as records.
pub(crate) fn apply(record: &Record<'_>, tables: &mut Tables) -> Result<u64, DecodeError> {
    let place = record.place;
    let Some(body::Catalog(it)) = record.which()? else {
        return Err(place.corrupt("it is no catalog"));
    };
    let records = Bytes::from(unpacked(it.map_err(place.wire())?, place)?);
    let mut at = 0usize;
    while at < records.len() {
        let peek = record::peek(&records[at..]);
        let peek = peek.ok_or_else(|| place.corrupt("a record in it has no magic"))?;
        let end = usize::try_from(peek.length).ok();
        let end = end.and_then(|length| at.checked_add(length));
        let end = end.filter(|&end| end <= records.len());
        let end = end.ok_or_else(|| place.corrupt("a record in it passes its end"))?;
        if !kind::is_table(peek.kind) {
            let name = kind::name(peek.kind);
            return Err(place.corrupt(format!("it holds a record of another kind: {name}")));
        }
        let bytes = record::aligned(records.slice(at..end));
        tables.apply(&Record::read(&bytes, place.at)?)?;
        at = end;
    }
    Ok(records.len() as u64)
}

fn unpacked(it: catalog::Reader<'_>, place: Place) -> Result<Vec<u8>, DecodeError> {
    let length = it.get_length();
    if length > CLAIM_MAX {
        return Err(DecodeError::Limit {
            what: "bytes of a catalog",
            limit: CLAIM_MAX.into(),
            found: length.into(),
        });
    }
    let damaged = |what: String| place.corrupt(format!("it cannot be unpacked: {what}"));
    let packed = it.get_records().map_err(place.wire())?;
    let decoder = StreamingDecoder::new(packed).map_err(|error| damaged(error.to_string()))?;
    let mut records = Vec::new();
    let read = decoder
        .take(u64::from(length) + 1)
        .read_to_end(&mut records);
    let _bytes = read.map_err(|error| damaged(error.to_string()))?;
    if records.len() == length as usize {
        return Ok(records);
    }
    let found = records.len();
    Err(place.corrupt(format!("it unpacks to {found} bytes or more, not {length}")))
}
