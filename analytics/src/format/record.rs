//! Records of the columnar format: framing, magic, version, and where an error is.
//!
//! A record is one Cap'n Proto message of one segment, at most [`RECORD_MAX`] bytes, whose root
//! starts right after its pointer; bytes 16..24 are therefore the first word of the root, the
//! magic.

use bytes::Bytes;
use capnp::message::{self, HeapAllocator, ReaderOptions};
use capnp::serialize::{self, NoAllocSliceSegments};

use super::error::{DecodeError, WriteError};
use super::profile_capnp::record;

/// Bytes 16..24 of every record.
pub(crate) const MAGIC: [u8; 8] = *b"IPUPROF2";
/// The format generation written, and the newest read.
pub(crate) const MAJOR: u16 = 1;
/// The revision written; larger ones are read too.
pub(crate) const MINOR: u16 = 1;
/// Longest record in bytes, framing included.
pub(crate) const RECORD_MAX: u64 = 4 << 20;
/// Bytes that [`peek`] looks at: framing, root pointer, magic, version and kind.
pub(crate) const PEEK: u64 = 32;
const FRAMING: u64 = 8;

/// Discriminants of the record union.
pub(crate) mod kind {
    pub(crate) const HEADER: u16 = 0;
    pub(crate) const DICTIONARY: u16 = 1;
    pub(crate) const METADATA: u16 = 2;
    pub(crate) const STEPS: u16 = 3;
    pub(crate) const SAMPLES: u16 = 4;
    pub(crate) const ACTIVITIES: u16 = 5;
    pub(crate) const OVERVIEW: u16 = 6;
    pub(crate) const SUMMARY: u16 = 7;
    pub(crate) const INDEX: u16 = 8;
    pub(crate) const TRAILER: u16 = 9;
    pub(crate) const CATALOG: u16 = 10;
    pub(crate) const ENDING: u16 = 11;

    /// Whether records of a kind hold rows that a catalog repeats.
    pub(crate) const fn is_table(kind: u16) -> bool {
        matches!(kind, DICTIONARY | METADATA | STEPS)
    }

    /// The name of a kind in messages.
    pub(crate) const fn name(kind: u16) -> &'static str {
        match kind {
            HEADER => "header",
            DICTIONARY => "dictionary",
            METADATA => "metadata page",
            STEPS => "step page",
            SAMPLES => "sample chunk",
            ACTIVITIES => "activity chunk",
            OVERVIEW => "overview",
            SUMMARY => "summary",
            INDEX => "index",
            TRAILER => "trailer",
            CATALOG => "catalog",
            ENDING => "ending",
            _ => "record",
        }
    }
}

/// Where a record is, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) record: &'static str,
    pub(crate) at: u64,
}

impl Place {
    pub(crate) fn corrupt(self, problem: impl Into<String>) -> DecodeError {
        DecodeError::Corrupt {
            record: self.record,
            at: self.at,
            problem: problem.into(),
        }
    }

    /// An error of the wire format inside this record.
    pub(crate) fn wire(self) -> impl Fn(capnp::Error) -> DecodeError + Copy {
        move |error| self.corrupt(error.to_string())
    }

    /// A text that is no UTF-8.
    pub(crate) fn text(self) -> impl Fn(std::str::Utf8Error) -> DecodeError + Copy {
        move |error| self.corrupt(error.to_string())
    }
}

/// Writes one record. `fill` sets the union member and may run again with more room.
pub(crate) fn build(
    kind: u16,
    room_bytes: usize,
    mut fill: impl FnMut(record::Builder<'_>) -> capnp::Result<()>,
) -> Result<Vec<u8>, WriteError> {
    let mut words = u32::try_from(room_bytes / 8)
        .unwrap_or(u32::MAX)
        .saturating_add(64);
    loop {
        let mut message = message::Builder::new(HeapAllocator::new().first_segment_words(words));
        let mut root: record::Builder<'_> = message.init_root();
        root.set_magic(u64::from_le_bytes(MAGIC));
        root.set_major(MAJOR);
        root.set_minor(MINOR);
        fill(root).map_err(|error| WriteError::Encode {
            record: kind::name(kind),
            problem: error.to_string(),
        })?;
        if let [segment] = &message.get_segments_for_output()[..] {
            return frame(kind, segment);
        }
        words = words.saturating_mul(2);
    }
}

fn frame(kind: u16, segment: &[u8]) -> Result<Vec<u8>, WriteError> {
    let length = segment.len() as u64 + FRAMING;
    let words = u32::try_from(segment.len() / 8).unwrap_or(u32::MAX);
    if length > RECORD_MAX {
        let record = kind::name(kind);
        return Err(WriteError::RecordTooLong {
            record,
            limit: RECORD_MAX,
            found: length,
        });
    }
    let mut bytes = Vec::with_capacity(segment.len() + 8);
    bytes.extend_from_slice(&0u32.to_le_bytes());
    bytes.extend_from_slice(&words.to_le_bytes());
    bytes.extend_from_slice(segment);
    Ok(bytes)
}

/// What the first [`PEEK`] bytes of a record say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peek {
    /// Length in bytes, framing included.
    pub(crate) length: u64,
    pub(crate) major: u16,
    pub(crate) kind: u16,
}

/// Reads the start of a record, where the bytes are one.
pub(crate) fn peek(bytes: &[u8]) -> Option<Peek> {
    let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let (segments, words) = (bytes.get(..4)?, bytes.get(4..8)?);
    if segments != [0; 4] || bytes.get(16..24)? != MAGIC {
        return None;
    }
    let length = u64::from(u32::from_le_bytes(words.try_into().ok()?)) * 8 + FRAMING;
    Some(Peek {
        length,
        major: half(24)?,
        kind: half(28)?,
    })
}

/// The message of one whole record.
pub(crate) struct Record<'a> {
    message: message::Reader<NoAllocSliceSegments<'a>>,
    pub(crate) place: Place,
}

impl<'a> Record<'a> {
    /// Frames `bytes`, which start on an eight-byte boundary in memory (see [`aligned`]) and are
    /// one whole record that starts at byte `at` of the file.
    pub(crate) fn read(bytes: &'a [u8], at: u64) -> Result<Self, DecodeError> {
        let place = Place {
            record: "record",
            at,
        };
        let peek = peek(bytes).ok_or_else(|| place.corrupt("the record has no magic"))?;
        let place = Place {
            record: kind::name(peek.kind),
            at,
        };
        if peek.major > MAJOR {
            return Err(DecodeError::TooNew {
                major: peek.major,
                supported: MAJOR,
            });
        }
        if peek.length != bytes.len() as u64 || peek.length > RECORD_MAX {
            return Err(place.corrupt(format!("its length is given as {}", peek.length)));
        }
        let mut options = ReaderOptions::new();
        // Every list is visited once or twice; more is a message that points to itself.
        options.traversal_limit_in_words(Some(bytes.len() + 4_096));
        let mut rest = bytes;
        let message = serialize::read_message_from_flat_slice_no_alloc(&mut rest, options)
            .map_err(place.wire())?;
        Ok(Self { message, place })
    }

    /// The union member; `None` for a kind of a later revision.
    pub(crate) fn which(&self) -> Result<Option<record::WhichReader<'_>>, DecodeError> {
        let root: record::Reader<'_> = self.message.get_root().map_err(self.place.wire())?;
        Ok(root.which().ok())
    }
}

/// The same bytes, on an eight-byte boundary in memory: copied only where they were on none.
pub(crate) fn aligned(bytes: Bytes) -> Bytes {
    struct Words(Vec<capnp::Word>);
    impl AsRef<[u8]> for Words {
        fn as_ref(&self) -> &[u8] {
            capnp::Word::words_to_bytes(&self.0)
        }
    }
    if bytes.as_ptr().align_offset(8) == 0 {
        return bytes;
    }
    let mut words = capnp::Word::allocate_zeroed_vec(bytes.len().div_ceil(8));
    capnp::Word::words_to_bytes_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
    Bytes::from_owner(Words(words)).slice(..bytes.len())
}
