//! Which phase of one run is which of another: sequences of phases in, pairs out.
//!
//! Phase numbers of two builds need not agree, so phases are aligned by what runs in them, in
//! order: first by kinds, operations and kernels together; what is left between two such pairs by
//! kinds and operations alone, since another plan may choose other kernels.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::order;
use crate::profile::{PhaseKey, ProfileReport};

/// Kind, operation and kernel of the steps of a phase.
type Content = BTreeSet<(u16, String, String)>;

/// Numbers for the contents of phases; equal contents have equal numbers.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    exact: BTreeMap<Content, u32>,
    coarse: BTreeMap<Content, u32>,
}

/// The contents of one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    exact: u32,
    coarse: u32,
}

impl Signatures {
    /// The signatures of `places`, in their order.
    pub(super) fn of(&mut self, report: &ProfileReport, places: &[PhaseKey]) -> Vec<Signature> {
        let mut contents: BTreeMap<PhaseKey, Content> = BTreeMap::new();
        for step in report.steps() {
            contents.entry(step.place).or_default().insert((
                step.kind.to_wire(),
                report.string(step.operation).to_owned(),
                report.string(step.kernel).to_owned(),
            ));
        }
        places
            .iter()
            .map(|place| self.signature(contents.remove(place).unwrap_or_default()))
            .collect()
    }

    fn signature(&mut self, content: Content) -> Signature {
        let without_kernels = content
            .iter()
            .map(|(kind, operation, _)| (*kind, operation.clone(), String::new()));
        let without_kernels = order::set(without_kernels);
        Signature {
            exact: number(&mut self.exact, content),
            coarse: number(&mut self.coarse, without_kernels),
        }
    }
}

fn number(known: &mut BTreeMap<Content, u32>, content: Content) -> u32 {
    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
    *known.entry(content).or_insert(next)
}

/// Positions of phases that are one another, in the order of both runs; `None` where a phase has no
/// partner.
pub(super) type Pair = (Option<usize>, Option<usize>);

/// Aligns two sequences. Every position of both is in one pair.
pub(super) fn align(before: &[Signature], after: &[Signature]) -> Vec<Pair> {
    let exact = |list: &[Signature]| list.iter().map(|it| it.exact).collect::<Vec<u32>>();
    let coarse = |list: &[Signature]| list.iter().map(|it| it.coarse).collect::<Vec<u32>>();
    let mut pairs = Vec::with_capacity(before.len().max(after.len()));
    for piece in pieces(&exact(before), &exact(after)) {
        let Piece {
            before: a,
            after: b,
            equal,
        } = piece;
        if equal {
            pairs.extend(a.zip(b).map(|(a, b)| (Some(a), Some(b))));
            continue;
        }
        for inner in pieces(&coarse(&before[a.clone()]), &coarse(&after[b.clone()])) {
            let old = inner.before.map(|at| at + a.start);
            let new = inner.after.map(|at| at + b.start);
            if inner.equal {
                pairs.extend(old.zip(new).map(|(a, b)| (Some(a), Some(b))));
            } else {
                pairs.extend(old.map(|at| (Some(at), None)));
                pairs.extend(new.map(|at| (None, Some(at))));
            }
        }
    }
    pairs
}

/// Runs of equal or of different entries.
struct Piece {
    before: std::ops::Range<usize>,
    after: std::ops::Range<usize>,
    equal: bool,
}

fn pieces(before: &[u32], after: &[u32]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, before, after) {
        let equal = matches!(op, DiffOp::Equal { .. });
        let (old, new) = (op.old_range(), op.new_range());
        match pieces.last_mut() {
            // A deletion beside an insertion is one different run.
            Some(last) if !last.equal && !equal => {
                last.before.end = last.before.end.max(old.end);
                last.after.end = last.after.end.max(new.end);
            }
            _ => pieces.push(Piece {
                before: old,
                after: new,
                equal,
            }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(names: &[(&str, &str)], known: &mut Signatures) -> Vec<Signature> {
        let content = |&(operation, kernel): &(&str, &str)| {
            Content::from([(1, operation.to_owned(), kernel.to_owned())])
        };
        names
            .iter()
            .map(|it| known.signature(content(it)))
            .collect()
    }

    #[test]
    fn phases_are_paired_by_content_and_what_is_left_by_operation() {
        let mut known = Signatures::default();
        let before = [
            ("up", "gemm_a"),
            ("gelu", "gelu"),
            ("down", "gemm_a"),
            ("old", "x"),
        ];
        let after = [
            ("new", "y"),
            ("up", "gemm_b"),
            ("gelu", "gelu"),
            ("down", "gemm_a"),
        ];
        let (before, after) = (sequence(&before, &mut known), sequence(&after, &mut known));
        let expected = [
            (None, Some(0)),
            (Some(0), Some(1)),
            (Some(1), Some(2)),
            (Some(2), Some(3)),
            (Some(3), None),
        ];
        assert_eq!(align(&before, &after), expected);
    }

    #[test]
    fn every_position_is_in_one_pair() {
        let mut known = Signatures::default();
        let names = ["a", "b", "a", "c", "b", "a", "d"];
        for cut in 0..names.len() {
            let before: Vec<_> = names.iter().map(|name| (*name, "k")).collect();
            let after: Vec<_> = names[cut..].iter().rev().map(|name| (*name, "k")).collect();
            let (a, b) = (sequence(&before, &mut known), sequence(&after, &mut known));
            let pairs = align(&a, &b);
            let old: Vec<usize> = pairs.iter().filter_map(|it| it.0).collect();
            let new: Vec<usize> = pairs.iter().filter_map(|it| it.1).collect();
            assert_eq!(old, (0..before.len()).collect::<Vec<_>>());
            assert_eq!(new, (0..after.len()).collect::<Vec<_>>());
        }
    }
}
