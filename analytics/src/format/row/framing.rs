//! The segment table of a multi-segment message, and just enough pointer reading to tell row
//! profiles from other messages.

/// Segments that a message may have; more is no message.
const SEGMENTS_MAX: u32 = 512;

/// Where the segments of a message are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Framing {
    /// First byte and words of each segment.
    segments: Vec<(u64, u64)>,
}

/// A pointer that was followed: where its target starts, and its second word.
#[derive(Clone, Copy, Debug)]
struct Target {
    segment: usize,
    word: u64,
    pointer: u64,
}

impl Framing {
    /// Reads the segment table at the front of `bytes`, which may be a prefix of the message.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = bytes.get(4 * at..4 * at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        let count = word(0)?
            .checked_add(1)
            .filter(|&count| count <= SEGMENTS_MAX)?;
        let mut at = (u64::from(count) * 4 + 4).next_multiple_of(8);
        let mut segments = Vec::new();
        for segment in 0..count as usize {
            let words = u64::from(word(1 + segment)?);
            segments.push((at, words));
            at += 8 * words;
        }
        Some(Self { segments })
    }

    /// Length of the whole message in bytes.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.segments
            .last()
            .map_or(0, |&(at, words)| at + 8 * words)
    }

    /// Data and pointer words of the root struct, where it is one.
    pub(crate) fn root(&self, bytes: &[u8]) -> Option<(u16, u16)> {
        let root = self.follow(bytes, 0, 0)?;
        (root.pointer & 3 == 0 && root.pointer != 0).then(|| sections(root.pointer))
    }

    /// Data and pointer words of an element of the first non-empty list `p0` in the elements of the
    /// root's list `p0`: the samples of a row profile, the regions of a memory profile.
    pub(crate) fn inner_elements(&self, bytes: &[u8]) -> Option<(u16, u16)> {
        let root = self.follow(bytes, 0, 0)?;
        let (data, _) = sections(root.pointer);
        let outer = self.follow(bytes, root.segment, root.word + u64::from(data))?;
        let (tag, first) = self.composite(bytes, outer)?;
        let (data, pointers) = sections(tag);
        let count = (tag & 0xFFFF_FFFF) >> 2;
        for element in 0..count.min(u64::from(SEGMENTS_MAX) * 8) {
            let size = u64::from(data) + u64::from(pointers);
            let at = first + element * size + u64::from(data);
            if self.word(bytes, outer.segment, at)? == 0 {
                continue;
            }
            let inner = self.follow(bytes, outer.segment, at)?;
            let (tag, _) = self.composite(bytes, inner)?;
            if (tag & 0xFFFF_FFFF) >> 2 > 0 {
                return Some(sections(tag));
            }
        }
        None
    }

    fn word(&self, bytes: &[u8], segment: usize, word: u64) -> Option<u64> {
        let &(start, words) = self.segments.get(segment)?;
        let at = usize::try_from(start + 8 * word)
            .ok()
            .filter(|_| word < words)?;
        Some(u64::from_le_bytes(
            bytes.get(at..at.checked_add(8)?)?.try_into().ok()?,
        ))
    }

    /// Follows the pointer at a word, through one far pointer where there is one.
    fn follow(&self, bytes: &[u8], segment: usize, word: u64) -> Option<Target> {
        let pointer = self.word(bytes, segment, word)?;
        if pointer & 3 != 2 {
            return target(segment, word, pointer);
        }
        let far = usize::try_from(pointer >> 32).ok()?;
        let pad = (pointer & 0xFFFF_FFFF) >> 3;
        if pointer & 4 == 0 {
            return target(far, pad, self.word(bytes, far, pad)?);
        }
        // A double-far landing pad: a far pointer to the object, then a pointer that describes it.
        let to_object = self.word(bytes, far, pad)?;
        let described = self.word(bytes, far, pad + 1)?;
        let segment = usize::try_from(to_object >> 32).ok()?;
        Some(Target {
            segment,
            word: (to_object & 0xFFFF_FFFF) >> 3,
            pointer: described,
        })
    }

    /// The tag of a composite list and the word of its first element.
    fn composite(&self, bytes: &[u8], list: Target) -> Option<(u64, u64)> {
        let is_composite = list.pointer & 3 == 1 && (list.pointer >> 32) & 7 == 7;
        is_composite.then_some(())?;
        Some((self.word(bytes, list.segment, list.word)?, list.word + 1))
    }
}

fn target(segment: usize, word: u64, pointer: u64) -> Option<Target> {
    let offset = i64::from((low_half(pointer)).cast_signed() >> 2);
    let word = (word + 1).checked_add_signed(offset)?;
    Some(Target {
        segment,
        word,
        pointer,
    })
}

const fn sections(pointer: u64) -> (u16, u16) {
    let [.., a, b, c, d] = pointer.to_le_bytes();
    (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the other half is read elsewhere"
)]
const fn low_half(pointer: u64) -> u32 {
    pointer as u32
}
