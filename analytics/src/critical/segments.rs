//! What one tile did in one stretch, and what all tiles did in it: samples in, longest times out.

use super::Parts;
use crate::profile::SampleKind;

/// A sample of the stretch being gathered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) kind: SampleKind,
    pub(super) kernel_row: u32,
    pub(super) step: u32,
}

/// Cuts `pieces`, ascending by start, to `from..to` and gives `take` every cut with its cycles, in
/// time order; `None` is covered by no sample. Where two overlap the first counts.
pub(super) fn cut(pieces: &[Piece], from: u64, to: u64, mut take: impl FnMut(Option<&Piece>, u64)) {
    let mut at = from;
    for piece in pieces {
        let start = piece.start.max(at);
        let end = piece.end.min(to);
        if end <= start {
            continue;
        }
        take(None, start - at);
        take(Some(piece), end - start);
        at = end;
    }
    take(None, to.saturating_sub(at));
}

/// What a tile did between two instants.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    pub(super) parts: Parts,
    /// Compute cycles by kernel row, in order of first use.
    pub(super) kernels: Vec<(u32, u64)>,
}

impl Segment {
    /// Of `pieces` between `from` and `to`, see [`cut`].
    pub(super) fn of(pieces: &[Piece], from: u64, to: u64) -> Self {
        let mut segment = Self::default();
        cut(pieces, from, to, |piece, cycles| match piece {
            Some(piece) => segment.add(piece, cycles),
            None => segment.parts.unattributed += cycles,
        });
        segment
    }

    fn add(&mut self, piece: &Piece, cycles: u64) {
        self.parts.add(piece.kind, cycles);
        if piece.kind != SampleKind::Compute {
            return;
        }
        match self.kernels.iter_mut().find(|it| it.0 == piece.kernel_row) {
            Some(it) => it.1 += cycles,
            None => self.kernels.push((piece.kernel_row, cycles)),
        }
    }
}

/// The arrivals at the end of one stretch.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd {
    pub(super) tiles: u64,
    /// Sum of the tiles' times.
    pub(super) sum: u64,
    /// Longest and shortest time of a tile.
    pub(super) longest: u64,
    pub(super) shortest: u64,
    /// For each kernel that some tile ran.
    kernels: Vec<Faster>,
}

/// The longest times if one kernel were faster.
#[derive(Clone, Copy, Debug)]
struct Faster {
    kernel_row: u32,
    /// Of tiles that run it, with the saving.
    with: u64,
    /// Of tiles that do not.
    without: u64,
}

impl Crowd {
    /// A tile took `time` and ran `kernels`, of which each would save what `saved` says.
    pub(super) fn arrive(&mut self, time: u64, kernels: &[(u32, u64)], saved: impl Fn(u64) -> u64) {
        for known in &mut self.kernels {
            if !kernels.iter().any(|it| it.0 == known.kernel_row) {
                known.without = known.without.max(time);
            }
        }
        for &(kernel_row, cycles) in kernels {
            let with = time.saturating_sub(saved(cycles));
            match self
                .kernels
                .iter_mut()
                .find(|it| it.kernel_row == kernel_row)
            {
                Some(known) => known.with = known.with.max(with),
                None => self.kernels.push(Faster {
                    kernel_row,
                    with,
                    // No tile before ran it.
                    without: self.longest,
                }),
            }
        }
        self.shortest = match self.tiles {
            0 => time,
            _ => self.shortest.min(time),
        };
        self.tiles += 1;
        self.sum += time;
        self.longest = self.longest.max(time);
    }

    /// What each kernel would save of this stretch, by kernel row.
    pub(super) fn savings(&self) -> impl Iterator<Item = (u32, u64)> {
        self.kernels.iter().map(|it| {
            let longest = it.with.max(it.without);
            (it.kernel_row, self.longest.saturating_sub(longest))
        })
    }
}
