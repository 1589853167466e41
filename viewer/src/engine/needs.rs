//! Which pages of the file a question needs, and how they are read. Pure.

use std::ops::Range;

use analytics::clock::ClockKind;
use analytics::format::ByteRange;
use analytics::profile::ProfileReport;
use analytics::timeline::pages_needed;

use super::protocol::Request;
use crate::state::view::Rows;

/// Bytes read at a time: progress is shown and questions are answered between two reads.
pub(crate) const PIECE: u64 = 8 * 1024 * 1024;
/// The same where only what is looked at is read: who looks elsewhere meanwhile waits for no more.
pub(crate) const PIECE_OF_PART: u64 = 2 * 1024 * 1024;
/// Unneeded bytes between two pages that cost less than a second read.
const BRIDGE: u64 = 64 * 1024;
/// A question about a part reads up to this many bytes by itself; a larger part shows the overview
/// until somebody asks for all samples.
const PART_MAX: u64 = 24 * 1024 * 1024;
/// The same for what only adorns a picture, and that many reads: the samples of one tile lie all
/// over a file.
const RULER_MAX: (u64, usize) = (1024 * 1024, 2);

/// What must be here before a question has its exact answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The samples of a part of tiles × time.
    Part {
        /// The clock in force.
        clock: ClockKind,
        /// Cycles on it.
        cycles: Range<u64>,
        /// Positions of tiles.
        tiles: Range<u32>,
    },
    /// Every page.
    Everything,
}

impl Needs {
    /// No page.
    const NOTHING: Self = Self::Part {
        clock: ClockKind::Shared,
        cycles: 0..0,
        tiles: 0..0,
    };

    /// What `request` needs.
    pub(crate) fn of(request: &Request) -> Self {
        match request {
            Request::Raster(asked) if asked.by == Rows::Cohort => Self::Everything,
            Request::Raster(asked) => Self::Part {
                clock: asked.clock,
                cycles: asked.from..asked.to,
                tiles: match asked.by {
                    Rows::Tile => asked.tile_from..asked.tile_to,
                    _ => 0..u32::MAX,
                },
            },
            // The second profile is read whole before anything is asked about it.
            Request::OtherRaster(_)
            | Request::OtherRows(_)
            | Request::OtherHit(_)
            | Request::OtherCellHit(_) => Self::NOTHING,
            // A click on a group must not have a whole file read.
            Request::Clicked(on) if matches!(**on, Request::CellHit(_)) => Self::NOTHING,
            Request::Clicked(on) => Self::of(on),
            Request::Rows(by) if *by != Rows::Cohort => Self::NOTHING,
            Request::CellHit(asked) if asked.by == Rows::Cohort => Self::Everything,
            Request::CellHit(asked) => Self::Part {
                clock: asked.clock,
                cycles: asked.from..asked.to,
                tiles: 0..u32::MAX,
            },
            Request::Spent(asked) | Request::Selected(asked) | Request::SpentJson(asked, _) => {
                Self::Part {
                    clock: asked.clock,
                    cycles: asked.from..asked.to,
                    tiles: asked.tile_from..asked.tile_to,
                }
            }
            Request::Ruler(asked) | Request::Items(asked) => Self::Part {
                clock: asked.clock,
                cycles: asked.from..asked.to,
                tiles: asked.tile..asked.tile.saturating_add(1),
            },
            Request::Hit(asked) => Self::Part {
                clock: asked.clock,
                cycles: asked.at..asked.at.saturating_add(1),
                tiles: asked.tile..asked.tile.saturating_add(1),
            },
            _ => Self::Everything,
        }
    }

    /// The pages that are not here.
    pub(crate) fn missing(&self, report: &ProfileReport) -> Vec<ByteRange> {
        match self {
            Self::Part {
                clock,
                cycles,
                tiles,
            } => pages_needed(report, *clock, cycles.clone(), tiles.clone()),
            Self::Everything => report.pages_missing(),
        }
    }
}

/// Whether a question that has an early answer may read these pages by itself.
pub(crate) fn is_small(request: &Request, missing: &[ByteRange]) -> bool {
    let bytes: u64 = missing.iter().map(|range| range.len()).sum();
    match request {
        Request::Ruler(_) | Request::Items(_) | Request::CellHit(_) => {
            bytes <= RULER_MAX.0 && reads(missing, RULER_MAX.1) <= RULER_MAX.1
        }
        _ => bytes <= PART_MAX,
    }
}

/// How many reads bring `missing`, counted to one beyond `most`.
fn reads(mut missing: &[ByteRange], most: usize) -> usize {
    let mut reads = 0;
    while let Some(piece) = first_piece(missing, PIECE) {
        reads += 1;
        if reads > most {
            break;
        }
        missing = &missing[piece.pages.len()..];
    }
    reads
}

/// One read and the pages in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What is read.
    pub(crate) bytes: ByteRange,
    /// The pages, ascending.
    pub(crate) pages: Vec<ByteRange>,
}

/// The first pages of `missing`, which ascend, that one read of at most `most` bytes, or of one
/// page, brings; `None` without any.
pub(crate) fn first_piece(missing: &[ByteRange], most: u64) -> Option<Piece> {
    let first = *missing.first()?;
    let mut piece = Piece {
        bytes: first,
        pages: vec![first],
    };
    for &page in &missing[1..] {
        let is_near = page.start <= piece.bytes.end.saturating_add(BRIDGE);
        if !is_near || page.end.saturating_sub(piece.bytes.start) > most {
            break;
        }
        piece.bytes.end = piece.bytes.end.max(page.end);
        piece.pages.push(page);
    }
    Some(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(pairs: &[(u64, u64)]) -> Vec<ByteRange> {
        let range = |&(start, end): &(u64, u64)| ByteRange::new(start, end);
        pairs.iter().map(range).collect()
    }

    #[test]
    fn near_pages_are_read_together_and_far_ones_apart() {
        let near = ranges(&[(0, 10), (10, 20), (30, 40), (BRIDGE * 4, BRIDGE * 5)]);
        let piece = first_piece(&near, PIECE).expect("there is a page");
        assert_eq!(piece.bytes, ByteRange::new(0, 40));
        assert_eq!(piece.pages, near[..3]);
        assert_eq!(first_piece(&[], PIECE), None);
        assert_eq!(reads(&near, 9), 2);
        let far = (0..100).map(|at| ByteRange::new(at * BRIDGE * 3, at * BRIDGE * 3 + 1));
        assert_eq!(reads(&far.collect::<Vec<_>>(), 4), 5, "counted no further");
    }

    /// Pages of 256 KiB, one after another.
    fn near_pages() -> Vec<ByteRange> {
        let page = 256 * 1024;
        (0..64)
            .map(|at| ByteRange::new(at * page, (at + 1) * page))
            .collect()
    }

    #[test]
    fn a_read_has_a_bound_but_a_page_is_never_cut() {
        let pages = ranges(&[(0, PIECE - 8), (PIECE - 8, PIECE), (PIECE, PIECE + 8)]);
        let piece = first_piece(&pages, PIECE).expect("there is a page");
        assert_eq!(piece.bytes.end, PIECE);
        let piece = first_piece(&near_pages(), PIECE_OF_PART).expect("there is a page");
        assert_eq!(piece.bytes.len(), PIECE_OF_PART);
        let long = ranges(&[(0, 3 * PIECE)]);
        let piece = first_piece(&long, PIECE).expect("there is a page");
        assert_eq!(piece.bytes.len(), 3 * PIECE);
    }
}
