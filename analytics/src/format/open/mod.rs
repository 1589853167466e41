//! Opening a profile without doing any I/O: a state machine that asks for byte ranges.
//!
//! A columnar file is opened from both ends: the head names its generation, the tail its index, the
//! index every record. A row file, or a file without trailer, is read whole.

mod assemble;
mod index;
mod pages;
mod salvage;
mod segments;

use bytes::Bytes;

pub(crate) use assemble::first_starts;
pub(crate) use index::{Directory, Row, TILES_MAX, TRAILER, Tile, read_index, read_trailer};
pub(crate) use pages::supply_page;

use segments::Segments;

use super::record::{self, Record, kind};
use super::tables::Tables;
use super::{ByteRange, DecodeError, FileKind, catalog, row, sniff};
use crate::profile::{Condition, ProfileReport};

/// Files up to this size are asked for whole at once: one request costs more than the bytes.
const SMALL: u64 = 1 << 20;
/// First request at the front of a larger file.
const HEAD: u64 = 4 << 10;
/// First request at the back of a larger file: index, summary and most of an overview.
const TAIL: u64 = 256 << 10;
/// Unneeded bytes between two needed ranges that are cheaper to read than a second request.
const BRIDGE: u64 = 64 << 10;
/// Longest range asked for at once, so that drivers can show progress.
const STRIDE: u64 = 16 << 20;

/// How much of the file to read before the report is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Every record.
    Everything,
    /// Header, tables, overview and summary; sample pages are supplied later where needed. A row
    /// file, and a file without trailer, is read whole all the same.
    Overview,
}

/// What the opener wants next.
#[derive(Debug)]
pub enum OpenStep {
    /// Supply these ranges, in any order, then step again. Never empty, never overlapping.
    Need(Vec<ByteRange>),
    /// The profile.
    Ready(Box<ProfileReport>),
}

#[derive(Debug)]
enum Stage {
    /// Nothing is known.
    Ends,
    /// A columnar file whose index is at this range, with this checksum.
    Index(ByteRange, u32),
    /// A columnar file whose records are known.
    Records(Directory),
    /// A file that has to be read from end to end.
    Whole(FileKind),
}

/// The state machine: step, supply what it needs, step again until it is ready.
#[derive(Debug)]
pub struct Opener {
    total_len: u64,
    mode: OpenMode,
    stage: Stage,
    segments: Segments,
    supplied: u64,
    needed: u64,
}

impl Opener {
    /// An opener of a file of `total_len` bytes.
    #[must_use]
    pub fn new(total_len: u64, mode: OpenMode) -> Self {
        let segments = Segments::default();
        Self {
            total_len,
            mode,
            stage: Stage::Ends,
            segments,
            supplied: 0,
            needed: 0,
        }
    }

    /// Bytes supplied, and bytes supplied and asked for so far; the second grows as more is known.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.supplied, self.needed.max(self.supplied))
    }

    /// Hands over the bytes of a range that [`OpenStep::Need`] named, of a part of it, or of more.
    ///
    /// # Errors
    /// Where the number of bytes is not the length of the range, or it passes the end of the file.
    pub fn supply(&mut self, range: ByteRange, bytes: impl Into<Bytes>) -> Result<(), DecodeError> {
        let bytes = bytes.into();
        let found = bytes.len() as u64;
        if found != range.len() || range.end > self.total_len {
            return Err(DecodeError::WrongSupply { range, found });
        }
        self.supplied += found;
        self.segments.insert(range.start, record::aligned(bytes));
        Ok(())
    }

    /// What to do next.
    ///
    /// # Errors
    /// Where the bytes supplied so far cannot be a profile.
    pub fn step(&mut self) -> Result<OpenStep, DecodeError> {
        loop {
            let missing = self.missing();
            if !missing.is_empty() {
                let asked: u64 = missing.iter().map(|range| range.len()).sum();
                self.needed = self.needed.max(self.supplied + asked);
                return Ok(OpenStep::Need(missing));
            }
            match &self.stage {
                Stage::Ends => self.stage = self.read_ends()?,
                Stage::Index(range, checksum) => {
                    let index = self.bytes(*range);
                    let trailer = self.bytes(ByteRange::new(range.end, self.total_len));
                    let directory = read_index(&index, &trailer, *range, *checksum)?;
                    self.stage = Stage::Records(directory);
                }
                Stage::Records(directory) => {
                    return self
                        .report(directory)
                        .map(|it| OpenStep::Ready(Box::new(it)));
                }
                Stage::Whole(kind) => {
                    let file = self.bytes(ByteRange::new(0, self.total_len));
                    let report = if *kind == FileKind::RowProfile {
                        open_bytes(row::to_columnar(&file)?)?
                    } else {
                        salvage::salvage(&file)?
                    };
                    return Ok(OpenStep::Ready(Box::new(report)));
                }
            }
        }
    }

    /// Ranges that the present stage needs and that are not here.
    fn missing(&self) -> Vec<ByteRange> {
        let total = self.total_len;
        let whole = ByteRange::new(0, total);
        match &self.stage {
            Stage::Ends if total <= SMALL => self.absent([whole]),
            Stage::Ends => {
                self.absent([ByteRange::new(0, HEAD), ByteRange::new(total - TAIL, total)])
            }
            Stage::Index(range, _) => self.absent([ByteRange::new(range.start, total)]),
            Stage::Records(directory) => {
                let rows = directory.rows.iter();
                let rows = rows.filter(|row| self.wants(directory, row.kind));
                self.absent(rows.map(|row| row.bytes))
            }
            Stage::Whole(_) => {
                let strides = (0..total).step_by(usize::try_from(STRIDE).unwrap_or(usize::MAX));
                self.absent(strides.map(|at| ByteRange::new(at, total.min(at + STRIDE))))
            }
        }
    }

    fn wants(&self, directory: &Directory, kind: u16) -> bool {
        let is_page = matches!(kind, kind::SAMPLES | kind::ACTIVITIES);
        let is_repeated = directory.has_catalog() && kind::is_table(kind);
        self.mode == OpenMode::Everything || !(is_page || is_repeated)
    }

    /// Those of ascending `ranges` that are not here, near ones joined up to [`STRIDE`].
    fn absent(&self, ranges: impl IntoIterator<Item = ByteRange>) -> Vec<ByteRange> {
        let mut absent: Vec<ByteRange> = Vec::new();
        for range in ranges {
            let Some(range) = self.segments.missing(range) else {
                continue;
            };
            match absent.last_mut() {
                Some(last)
                    if range.start <= last.end.saturating_add(BRIDGE)
                        && range.end - last.start <= STRIDE =>
                {
                    last.end = range.end;
                }
                _ => absent.push(range),
            }
        }
        absent
    }

    fn bytes(&self, range: ByteRange) -> Bytes {
        record::aligned(self.segments.get(range).unwrap_or_default())
    }

    fn read_ends(&self) -> Result<Stage, DecodeError> {
        let head = self.bytes(ByteRange::new(
            0,
            if self.total_len <= SMALL {
                self.total_len
            } else {
                HEAD
            },
        ));
        let found = sniff(&head);
        match found {
            FileKind::RowProfile => return Ok(Stage::Whole(found)),
            FileKind::Columnar => {}
            _ => return Err(DecodeError::NotAProfile { found }),
        }
        if let Some(peek) = record::peek(&head)
            && peek.major > record::MAJOR
        {
            return Err(DecodeError::TooNew {
                major: peek.major,
                supported: record::MAJOR,
            });
        }
        let end = ByteRange::new(self.total_len.saturating_sub(TRAILER), self.total_len);
        Ok(match read_trailer(&self.bytes(end), self.total_len) {
            Some((range, checksum)) => Stage::Index(range, checksum),
            None => Stage::Whole(found),
        })
    }

    fn report(&self, directory: &Directory) -> Result<ProfileReport, DecodeError> {
        let has_catalog = directory.has_catalog();
        let mut tables = Tables::default();
        let mut samples = Vec::new();
        let mut activities = Vec::new();
        for row in &directory.rows {
            let wants = self.wants(directory, row.kind);
            let bytes = wants.then(|| self.bytes(row.bytes));
            if let Some(bytes) = &bytes {
                pages::verify(bytes, row.kind, row.bytes.start, row.checksum)?;
            }
            match (row.kind, bytes) {
                (kind::SAMPLES, bytes) => samples.push(bytes),
                (kind::ACTIVITIES, bytes) => activities.push(bytes),
                (kind::CATALOG, Some(bytes)) => {
                    catalog::apply(&Record::read(&bytes, row.bytes.start)?, &mut tables)?;
                }
                (of, Some(_)) if kind::is_table(of) && has_catalog => {}
                (_, Some(bytes)) => tables.apply(&Record::read(&bytes, row.bytes.start)?)?,
                (_, None) => {}
            }
        }
        let mut report = assemble::report(directory, tables, Condition::Complete)?;
        for (page, bytes) in report
            .pages
            .iter_mut()
            .zip(samples.into_iter().chain(activities))
        {
            page.bytes = bytes;
        }
        Ok(report)
    }
}

/// Opens a whole file that is in memory, keeping `bytes` as the packed pages: no copy is made.
///
/// # Errors
/// Where the bytes are no profile.
pub fn open_bytes(bytes: impl Into<Bytes>) -> Result<ProfileReport, DecodeError> {
    let bytes = bytes.into();
    let whole = ByteRange::new(0, bytes.len() as u64);
    let mut opener = Opener::new(whole.end, OpenMode::Everything);
    opener.supply(whole, bytes)?;
    match opener.step()? {
        OpenStep::Ready(report) => Ok(*report),
        OpenStep::Need(ranges) => {
            let range = ranges.first().copied().unwrap_or_default();
            Err(DecodeError::PageMissing { range })
        }
    }
}

/// Opens a whole file that is in memory, copying it once.
///
/// # Errors
/// Where the bytes are no profile.
pub fn open_slice(bytes: &[u8]) -> Result<ProfileReport, DecodeError> {
    open_bytes(Bytes::copy_from_slice(bytes))
}
