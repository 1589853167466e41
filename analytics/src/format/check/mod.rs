//! Checking a columnar profile while its bytes pass: whole records are decoded and dropped.
//!
//! Bytes in file order → what the file holds, or the first thing wrong with it. Only the tables
//! and one record stay in memory, so a file of any size is checked in bounded room. It accepts
//! what [`super::Opener`] opens as complete and decodes without error, and demands besides that
//! the index tells the truth about every record.

mod chunks;

use bytes::{Buf as _, Bytes, BytesMut};

use chunks::Chunks;

use super::checksum;
use super::error::DecodeError;
use super::open::{Row, TRAILER, read_index, read_trailer};
use super::profile_capnp::record as body;
use super::record::{self, Place, Record, kind};
use super::tables::Tables;
use super::{ByteRange, activities, catalog};
use crate::profile::ProfileHeader;
use crate::units::Cycles;

/// Bytes of table records in a file, at most: tables stay in memory, samples do not.
const TABLE_BYTES_MAX: u64 = 256 << 20;
/// Bytes of index pages in a file, at most.
const INDEX_BYTES_MAX: usize = 64 << 20;

/// What a checked profile holds.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its header.
    pub header: ProfileHeader,
    /// Profiled tiles.
    pub tiles: u64,
    /// Samples of all tiles.
    pub samples: u64,
    /// End of the timeline on the cropped clock.
    pub span: Cycles,
}

/// Takes a columnar file front to back.
#[derive(Debug, Default)]
pub struct StreamCheck {
    /// Bytes of the record that is not whole yet.
    pending: BytesMut,
    /// Where `pending` starts in the file.
    at: u64,
    tables: Tables,
    table_bytes: u64,
    /// What catalogs repeat, and their bytes as records.
    catalog: Option<Tables>,
    catalog_bytes: u64,
    rows: Vec<Row>,
    chunks: Chunks,
    /// Index pages, and where they start.
    index: Vec<u8>,
    index_start: Option<u64>,
    trailer: Option<Bytes>,
}

impl StreamCheck {
    /// A check that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// Where the bytes so far cannot be the front of a columnar profile.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.pending.extend_from_slice(bytes);
        while self.pending.len() as u64 >= record::PEEK {
            let place = Place {
                record: "record",
                at: self.at,
            };
            let peek = record::peek(&self.pending)
                .ok_or_else(|| place.corrupt("the record has no magic"))?;
            if peek.length > record::RECORD_MAX || peek.length < record::PEEK {
                return Err(place.corrupt(format!("its length is given as {}", peek.length)));
            }
            let length = usize::try_from(peek.length).unwrap_or(usize::MAX);
            if self.pending.len() < length {
                break;
            }
            let bytes = record::aligned(self.pending.copy_to_bytes(length));
            self.record(peek, &bytes)?;
            self.at += peek.length;
        }
        Ok(())
    }

    /// The file has ended.
    ///
    /// # Errors
    /// Where it is cut, or its index does not describe the records that passed.
    pub fn finish(self) -> Result<Checked, DecodeError> {
        let total = self.at + self.pending.len() as u64;
        let cut = |what| DecodeError::Cut {
            what,
            needed: total + record::PEEK,
            found: total,
        };
        if !self.pending.is_empty() {
            return Err(cut("the last record"));
        }
        let trailer = self.trailer.ok_or_else(|| cut("the trailer"))?;
        let (range, checksum) = read_trailer(&trailer, total).ok_or_else(|| cut("the trailer"))?;
        let start = self.index_start.unwrap_or(total);
        if range != ByteRange::new(start, start + self.index.len() as u64) {
            let place = Place {
                record: "trailer",
                at: range.end,
            };
            return Err(place.corrupt("it points to no index"));
        }
        let directory = read_index(&self.index, &trailer, range, checksum)?;
        agree(&directory.rows, &self.rows)?;
        let place = Place {
            record: "index",
            at: start,
        };
        let span = self.chunks.agree(&directory.tiles, place)?;
        if self.catalog.is_some_and(|it| !it.has_rows_of(&self.tables)) {
            return Err(place.corrupt("its catalogs are not what the tables are"));
        }
        let header = self.tables.header;
        Ok(Checked {
            header: header.ok_or_else(|| place.corrupt("the file has no header"))?,
            tiles: directory.tiles.len() as u64,
            samples: directory.tiles.iter().map(|tile| tile.samples).sum(),
            span,
        })
    }

    fn record(&mut self, peek: record::Peek, bytes: &Bytes) -> Result<(), DecodeError> {
        let record = Record::read(bytes, self.at)?;
        let place = record.place;
        if self.trailer.is_some() {
            return Err(place.corrupt("it follows the trailer"));
        }
        let ended = match peek.kind {
            kind::INDEX => {
                self.index_start.get_or_insert(self.at);
                self.index.extend_from_slice(bytes);
                return limit(
                    "bytes of the index",
                    INDEX_BYTES_MAX as u64,
                    self.index.len(),
                );
            }
            kind::TRAILER if peek.length == TRAILER => {
                self.trailer = Some(bytes.clone());
                return Ok(());
            }
            _ => self.index_start.is_some(),
        };
        if ended {
            return Err(place.corrupt("it follows the index"));
        }
        let count = match record.which()? {
            Some(body::Samples(chunk)) => {
                let steps = self.tables.steps.len();
                let chunk = chunk.map_err(place.wire())?;
                Some(self.chunks.add(chunk, bytes, place, steps)?)
            }
            Some(body::Activities(chunk)) => {
                activities::check(chunk.map_err(place.wire())?, place)?;
                None
            }
            Some(body::Catalog(_)) => {
                let tables = self.catalog.get_or_insert_default();
                self.catalog_bytes += catalog::apply(&record, tables)?;
                limit_u64("bytes of catalogs", TABLE_BYTES_MAX, self.catalog_bytes)?;
                None
            }
            _ => {
                self.table_bytes += peek.length;
                limit_u64("bytes of tables", TABLE_BYTES_MAX, self.table_bytes)?;
                self.tables.apply(&record)?;
                None
            }
        };
        self.rows.push(Row {
            kind: peek.kind,
            bytes: ByteRange::new(self.at, self.at + peek.length),
            checksum: checksum::crc32c(bytes),
            tiles: 0..0,
            cycles: 0..0,
            count: count.unwrap_or(0),
        });
        Ok(())
    }
}

/// The index lists the records that passed, with their bytes and their sample counts.
fn agree(listed: &[Row], passed: &[Row]) -> Result<(), DecodeError> {
    for (listed, passed) in listed.iter().zip(passed) {
        let place = Place {
            record: kind::name(passed.kind),
            at: passed.bytes.start,
        };
        if listed.checksum != passed.checksum {
            return Err(DecodeError::Checksum {
                record: place.record,
                at: place.at,
                expected: listed.checksum,
                found: passed.checksum,
            });
        }
        let same = listed.kind == passed.kind && listed.bytes == passed.bytes;
        if !same || (passed.kind == kind::SAMPLES && listed.count != passed.count) {
            return Err(place.corrupt("the index describes it wrongly"));
        }
    }
    if listed.len() == passed.len() {
        return Ok(());
    }
    let place = Place {
        record: "index",
        at: passed.last().map_or(0, |row| row.bytes.end),
    };
    Err(place.corrupt("it does not list every record"))
}

fn limit(what: &'static str, limit: u64, found: usize) -> Result<(), DecodeError> {
    limit_u64(what, limit, found as u64)
}

fn limit_u64(what: &'static str, limit: u64, found: u64) -> Result<(), DecodeError> {
    if found <= limit {
        return Ok(());
    }
    Err(DecodeError::Limit { what, limit, found })
}
