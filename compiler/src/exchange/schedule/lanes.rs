//! What a tile does at each event, as bit maps: one bit an event, 64 candidate times judged at
//! once.
//!
//! A bit map answers "at which of the 64 events from `at` could a window of `words` events start"
//! with a [`Fit`]. Events past the end of a map are free.

/// Candidate starts among 64 consecutive events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// Bit k: the window may start at the k-th event.
    pub(super) mask: u64,
    /// Where the mask is empty: no start is possible in the first `skip` events, at least 64.
    pub(super) skip: u32,
}

/// Events from which a window search goes on where nothing is known to be longer busy.
pub(super) const BLOCK: u32 = 64;

impl Fit {
    /// Every candidate.
    pub(super) const ALL: Self = Self::of(u64::MAX);

    const fn of(mask: u64) -> Self {
        Self { mask, skip: BLOCK }
    }
}

/// One tile's state over 64 events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// The tile sends.
    pub(super) send: u64,
    /// First or second event of a send: no control may be here.
    pub(super) start: u64,
    /// A source is selected.
    pub(super) receive: u64,
    /// The selection changes.
    pub(super) select: u64,
    /// The landing pointer is written.
    pub(super) pointer: u64,
}

/// One tile's state over all events.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    slots: Vec<Slot>,
}

impl Lanes {
    fn word(&self, index: usize, field: impl Fn(&Slot) -> u64) -> u64 {
        self.slots.get(index).map_or(0, field)
    }

    /// The 64 bits of a field from event `at`.
    #[inline]
    pub(super) fn bits(&self, at: u32, field: impl Fn(&Slot) -> u64) -> u64 {
        let (index, shift) = (at as usize / 64, at % 64);
        if index >= self.slots.len() {
            return 0;
        }
        let low = field(&self.slots[index]) >> shift;
        if shift == 0 {
            return low;
        }
        low | self.word(index + 1, field) << (64 - shift)
    }

    /// Where a window of `words` events finds the field free.
    #[inline]
    pub(super) fn free(&self, at: u32, words: u32, field: impl Fn(&Slot) -> u64 + Copy) -> Fit {
        free_runs(|index| self.word(index, field), at, words)
    }

    /// Sets `words` events of a field from event `at`.
    pub(super) fn fill(&mut self, at: u32, words: u32, field: impl Fn(&mut Slot) -> &mut u64) {
        let last = (at + words - 1) as usize / 64;
        if self.slots.len() <= last {
            self.slots.resize(last + 1, Slot::default());
        }
        for_words(at, words, |index, bits| {
            *field(&mut self.slots[index]) |= bits
        });
    }
}

/// A single bit map over events.
#[derive(Clone, Debug, Default)]
pub(super) struct EventMap {
    words: Vec<u64>,
}

impl EventMap {
    /// Where a window of `words` events is free.
    pub(super) fn free(&self, at: u32, words: u32) -> Fit {
        free_runs(
            |index| self.words.get(index).copied().unwrap_or(0),
            at,
            words,
        )
    }

    /// Marks `words` events from event `at`.
    pub(super) fn fill(&mut self, at: u32, words: u32) {
        let last = (at + words - 1) as usize / 64;
        if self.words.len() <= last {
            self.words.resize(last + 1, 0);
        }
        for_words(at, words, |index, bits| self.words[index] |= bits);
    }
}

/// Calls `act` with each 64-bit word that `words` events from `at` touch and the bits in it.
fn for_words(at: u32, words: u32, mut act: impl FnMut(usize, u64)) {
    let end = at + words;
    let mut from = at;
    while from < end {
        let to = end.min((from / 64 + 1) * 64);
        let bits = (u64::MAX >> (64 - (to - from))) << (from % 64);
        act(from as usize / 64, bits);
        from = to;
    }
}

/// Windows of `words` free events that start in the 64 events from `at`.
#[inline]
fn free_runs(word: impl Fn(usize) -> u64, at: u32, words: u32) -> Fit {
    let (index, shift) = (at as usize / 64, at % 64);
    if words > BLOCK {
        return free_long_runs(word, at, words);
    }
    let (a, b) = (word(index), word(index + 1));
    let c = if shift == 0 { 0 } else { word(index + 2) };
    let mut busy = (u128::from(b) << 64 | u128::from(a)) >> shift;
    if shift != 0 {
        busy |= u128::from(c) << (128 - shift);
    }
    let mut length = 1;
    while 2 * length <= words {
        busy |= busy >> length;
        length *= 2;
    }
    busy |= busy >> (words - length);
    #[expect(clippy::cast_possible_truncation, reason = "the 64 candidate starts")]
    Fit::of(!(busy as u64))
}

/// [`free_runs`] for windows longer than the block: events 63 to `words` are in every window.
fn free_long_runs(word: impl Fn(usize) -> u64, at: u32, words: u32) -> Fit {
    let bits = |from: u32| {
        let (index, shift) = (from as usize / 64, from % 64);
        let low = word(index) >> shift;
        if shift == 0 {
            low
        } else {
            low | word(index + 1) << (64 - shift)
        }
    };
    let mut end = words;
    while end > 63 {
        let from = end.saturating_sub(64).max(63);
        let busy = bits(at + from) & (u64::MAX >> (64 - (end - from)));
        if busy != 0 {
            let last = from + 63 - busy.leading_zeros();
            return Fit {
                mask: 0,
                skip: (last + 1).max(BLOCK),
            };
        }
        end = from;
    }
    let head = bits(at) & (u64::MAX >> 1);
    let tail = bits(at + words) & (u64::MAX >> 1);
    let after_head = u64::MAX.checked_shl(64 - head.leading_zeros()).unwrap_or(0);
    let before_tail = match tail.trailing_zeros() {
        free @ 0..=62 => (2_u64 << free) - 1,
        _ => u64::MAX,
    };
    Fit::of(after_head & before_tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn free_windows_are_those_that_a_bit_by_bit_search_finds(
            busy in proptest::collection::vec((0_u32..900, 1_u32..40), 0..6),
            at in 0_u32..900,
            words in prop_oneof![1_u32..=64, 65_u32..300],
        ) {
            let mut map = EventMap::default();
            let mut lanes = Lanes::default();
            let mut plain = vec![false; 2000];
            for &(from, count) in &busy {
                map.fill(from, count);
                lanes.fill(from, count, |slot| &mut slot.send);
                plain[from as usize..(from + count) as usize].fill(true);
            }
            let busy = |start: u32| plain[start as usize..(start + words) as usize].contains(&true);
            let fits = |start: u32| !busy(start);
            let fit = map.free(at, words);
            prop_assert_eq!(fit, lanes.free(at, words, |slot| slot.send));
            if fit.mask == 0 {
                prop_assert!(fit.skip >= BLOCK);
                prop_assert!((at..at + fit.skip).all(|start| !fits(start)));
            } else {
                for k in 0..64 {
                    prop_assert_eq!(fit.mask >> k & 1 == 1, fits(at + k), "event {}", at + k);
                }
            }
            for k in 0..64 {
                let bit = lanes.bits(at, |slot| slot.send) >> k & 1 == 1;
                prop_assert_eq!(bit, plain[(at + k) as usize]);
            }
        }
    }
}
