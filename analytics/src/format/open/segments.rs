//! The bytes of a file that were supplied so far.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use crate::format::ByteRange;

/// Supplied pieces by their first byte. Pieces may overlap; equal bytes are assumed where they do.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    pieces: BTreeMap<u64, Bytes>,
}

impl Segments {
    /// Keeps a piece that starts at byte `start` of the file.
    pub(crate) fn insert(&mut self, start: u64, bytes: Bytes) {
        let longer = self
            .pieces
            .get(&start)
            .is_none_or(|held| held.len() < bytes.len());
        if longer && !bytes.is_empty() {
            self.pieces.insert(start, bytes);
        }
    }

    /// The bytes of a range where all are here: shared with the piece that has them, or joined.
    pub(crate) fn get(&self, range: ByteRange) -> Option<Bytes> {
        if range.is_empty() {
            return Some(Bytes::new());
        }
        let mut joined = BytesMut::new();
        let mut at = range.start;
        while at < range.end {
            let part = self.piece_from(at, range.end)?;
            if at == range.start && part.len() as u64 == range.len() {
                return Some(part);
            }
            at += part.len() as u64;
            joined.extend_from_slice(&part);
        }
        Some(joined.freeze())
    }

    /// The part of a range from its first byte that is not here; `None` where all bytes are.
    pub(crate) fn missing(&self, range: ByteRange) -> Option<ByteRange> {
        let mut at = range.start;
        while at < range.end {
            match self.piece_from(at, range.end) {
                Some(part) => at += part.len() as u64,
                None => return Some(ByteRange::new(at, range.end)),
            }
        }
        None
    }

    /// The longest run of bytes from `at`, cut at `end`, that one piece has.
    fn piece_from(&self, at: u64, end: u64) -> Option<Bytes> {
        let before = self.pieces.range(..=at).rev();
        let found = before.filter_map(|(&start, bytes)| {
            let skip = usize::try_from(at - start)
                .ok()
                .filter(|&skip| skip < bytes.len())?;
            let most = usize::try_from(end - at).unwrap_or(usize::MAX);
            let length = most.min(bytes.len() - skip);
            Some((skip, length, bytes))
        });
        // The nearest pieces come first; an earlier one can only matter where those do not reach.
        let (skip, length, bytes) = found.take(2).max_by_key(|&(_, length, _)| length)?;
        Some(bytes.slice(skip..skip + length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> ByteRange {
        ByteRange::new(start, end)
    }

    #[test]
    fn ranges_come_from_one_piece_or_are_joined() {
        let mut segments = Segments::default();
        segments.insert(0, Bytes::from_static(b"abcd"));
        segments.insert(2, Bytes::from_static(b"cdef"));
        segments.insert(8, Bytes::from_static(b"i"));
        assert_eq!(segments.get(range(1, 3)).unwrap(), &b"bc"[..]);
        assert_eq!(segments.get(range(0, 6)).unwrap(), &b"abcdef"[..]);
        assert_eq!(segments.get(range(4, 4)).unwrap(), &b""[..]);
        assert_eq!(segments.get(range(5, 7)), None);
        assert_eq!(segments.missing(range(0, 6)), None);
        assert_eq!(segments.missing(range(0, 9)), Some(range(6, 9)));
    }

    #[test]
    fn a_small_piece_does_not_hide_a_large_one_before_it() {
        let mut segments = Segments::default();
        segments.insert(0, Bytes::from_static(b"abcdefgh"));
        segments.insert(2, Bytes::from_static(b"cd"));
        segments.insert(3, Bytes::from_static(b"d"));
        assert_eq!(segments.get(range(3, 8)).unwrap(), &b"defgh"[..]);
    }
}
