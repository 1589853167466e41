//! Which phase of one run is which of another: sequences of phases in, pairs out.
//!
//! Phase numbers of two builds need not agree, so phases are aligned by what runs in them, in
//! order: phases of one pair have the same kinds and operations, and of all such alignments the one
//! is taken whose pairs have most cycles in common. Cycles of pairs that run the same kernels, too,
//! count twice.

use std::cmp::Reverse;

use super::content::Content;
use crate::order;

/// Steps of the alignment that are weighed, at most: beyond it only phases at about the same part
/// of both runs are paired.
const WEIGHED_MAX: usize = 1 << 23;

/// A phase as it is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Phase {
    /// Number of its kinds, operations and kernels; equal ones are equal.
    exact: u32,
    /// Number of its kinds and operations.
    coarse: u32,
    /// How long it took.
    cycles: u64,
}

/// Positions of phases that are one another, in the order of both runs; `None` where a phase has no
/// partner.
pub(super) type Pair = (Option<usize>, Option<usize>);

/// Two sequences aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alignment {
    /// Every position of both is in one pair.
    pub(super) pairs: Vec<Pair>,
    /// Whether only phases at about the same part of both runs could become pairs.
    pub(super) is_near: bool,
}

/// Aligns two sequences of phases and their cycles. The pairs of the sequences the other way round
/// are the same ones.
pub(super) fn align(before: &[(Content, u64)], after: &[(Content, u64)]) -> Alignment {
    let [before, after] = numbered([before, after]);
    // What is the same at both ends is paired: nothing is worth more, and builds differ little.
    let most = before.len().min(after.len());
    let same = |at: usize| before[at] == after[at];
    let head = (0..most).take_while(|&at| same(at)).count();
    let back = |list: &[Phase], at: usize| list[list.len() - 1 - at];
    let same = |at: usize| back(&before, at) == back(&after, at);
    let tail = (0..most - head).take_while(|&at| same(at)).count();
    let ends = [before.len() - tail, after.len() - tail];
    let Alignment {
        pairs: middle,
        is_near,
    } = aligned(&before[head..ends[0]], &after[head..ends[1]]);
    let head = (0..head).map(|at| (Some(at), Some(at)));
    let tail = (0..tail).map(|at| (Some(ends[0] + at), Some(ends[1] + at)));
    let start = head.len();
    let moved = |it: Option<usize>| it.map(|at| at + start);
    let middle = middle
        .into_iter()
        .map(|(old, new)| (moved(old), moved(new)));
    let pairs = head.chain(middle).chain(tail).collect();
    Alignment { pairs, is_near }
}

/// Aligns what is between the ends.
fn aligned(before: &[Phase], after: &[Phase]) -> Alignment {
    // Of several best alignments the one that is found depends on which sequence is the first.
    if (before.len(), before) <= (after.len(), after) {
        return Best::new(before, after).alignment();
    }
    let mut found = Best::new(after, before).alignment();
    for pair in &mut found.pairs {
        *pair = (pair.1, pair.0);
    }
    found
}

/// The same contents get the same numbers, whichever sequence has them.
fn numbered(sequences: [&[(Content, u64)]; 2]) -> [Vec<Phase>; 2] {
    let all = || sequences.iter().copied().flatten().map(|it| &it.0);
    // Contents are few, phases may be many.
    let contents = order::set(all());
    let coarse = order::set(contents.iter().map(|it| it.without_kernels()));
    let coarse = order::map(coarse.into_iter().zip(0..));
    let both =
        |(content, exact): (_, u32)| (content, (exact, coarse[&Content::without_kernels(content)]));
    let numbers = order::map(contents.into_iter().zip(0..).map(both));
    let phase = |(content, cycles): &(Content, u64)| {
        let (exact, coarse) = numbers[content];
        Phase {
            exact,
            coarse,
            cycles: *cycles,
        }
    };
    sequences.map(|sequence| sequence.iter().map(phase).collect())
}

/// What a pair is worth; `None` where the two cannot be one.
fn common(a: Phase, b: Phase) -> Option<u64> {
    let cycles = a.cycles.min(b.cycles).max(1);
    match (a.exact == b.exact, a.coarse == b.coarse) {
        (true, _) => Some(cycles.saturating_mul(2)),
        (false, true) => Some(cycles),
        (false, false) => None,
    }
}

/// Last step of the best alignment of two beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Their last phases are a pair.
    Pair,
    /// The last one of the first sequence has no partner.
    First,
    /// That of the second has none.
    Second,
}

/// The best alignments of all beginnings that are weighed: row `i` has `i` phases of the first
/// sequence and from `starts[i]` on of the second.
struct Best {
    steps: Vec<Vec<Step>>,
    starts: Vec<usize>,
    /// Whether some columns are left out.
    is_near: bool,
}

impl Best {
    fn new(first: &[Phase], second: &[Phase]) -> Self {
        let (rows, columns) = (first.len(), second.len());
        let near = (WEIGHED_MAX / (2 * (rows + 1))).max(columns / rows.max(1) + 1);
        let mut best = Self {
            steps: Vec::with_capacity(rows + 1),
            starts: Vec::with_capacity(rows + 1),
            is_near: near < columns,
        };
        let mut above = Row::default();
        for row in 0..=rows {
            let middle = part(row, rows, columns);
            let start = if row == 0 {
                0
            } else {
                middle.saturating_sub(near)
            };
            let end = if row == rows {
                columns
            } else {
                columns.min(middle + near)
            };
            let mut now = Row {
                start,
                scores: Vec::with_capacity(end + 1 - start),
            };
            let mut steps = Vec::with_capacity(end + 1 - start);
            for column in start..=end {
                let pair = || {
                    let (a, b) = (first[row.checked_sub(1)?], second[column.checked_sub(1)?]);
                    above.at(column - 1)?.checked_add(common(a, b)?)
                };
                let left = column.checked_sub(1).and_then(|column| now.at(column));
                let ways = [
                    (pair(), Step::Pair),
                    (above.at(column), Step::First),
                    (left, Step::Second),
                ];
                // The first of the best ways; the empty beginnings have none.
                let ways = ways
                    .into_iter()
                    .filter_map(|(score, step)| Some((score?, step)));
                let way = ways.min_by_key(|(score, _)| Reverse(*score));
                let (score, step) = way.unwrap_or((0, Step::Pair));
                now.scores.push(score);
                steps.push(step);
            }
            best.steps.push(steps);
            best.starts.push(start);
            above = now;
        }
        best
    }

    fn alignment(&self) -> Alignment {
        let (mut row, mut pairs) = (self.steps.len() - 1, Vec::new());
        let mut column = self.starts[row] + self.steps[row].len() - 1;
        while (row, column) != (0, 0) {
            let step = self.steps[row][column - self.starts[row]];
            if step != Step::Second {
                row -= 1;
            }
            if step != Step::First {
                column -= 1;
            }
            pairs.push(match step {
                Step::Pair => (Some(row), Some(column)),
                Step::First => (Some(row), None),
                Step::Second => (None, Some(column)),
            });
        }
        pairs.reverse();
        Alignment {
            pairs,
            is_near: self.is_near,
        }
    }
}

/// The column at the same part of `columns` as `row` is of `rows`; in 64 bits, which a browser's
/// lengths do not have.
fn part(row: usize, rows: usize, columns: usize) -> usize {
    let product = row as u64 * columns as u64;
    let column = product.checked_div(rows as u64).unwrap_or(0);
    usize::try_from(column).unwrap_or(columns)
}

/// Scores of one row.
#[derive(Default)]
struct Row {
    start: usize,
    scores: Vec<u64>,
}

impl Row {
    fn at(&self, column: usize) -> Option<u64> {
        self.scores.get(column.checked_sub(self.start)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Named = (&'static str, &'static str, u64);

    fn sequence(phases: &[Named]) -> Vec<(Content, u64)> {
        let phase = |&(operation, kernel, cycles): &Named| {
            (
                Content::of([(1, operation.to_owned(), kernel.to_owned())]),
                cycles,
            )
        };
        phases.iter().map(phase).collect()
    }

    #[test]
    fn phases_are_paired_by_operation_and_other_kernels_may_run_in_them() {
        let before = [
            ("up", "gemm_a", 90),
            ("gelu", "gelu", 9),
            ("down", "gemm_a", 80),
            ("old", "x", 5),
        ];
        let after = [
            ("new", "y", 5),
            ("up", "gemm_b", 70),
            ("gelu", "gelu", 9),
            ("down", "gemm_a", 80),
        ];
        let expected = [
            (None, Some(0)),
            (Some(0), Some(1)),
            (Some(1), Some(2)),
            (Some(2), Some(3)),
            (Some(3), None),
        ];
        let found = align(&sequence(&before), &sequence(&after));
        assert_eq!((&found.pairs[..], found.is_near), (&expected[..], false));
    }

    #[test]
    fn pairs_have_most_cycles_in_common() {
        // Another plan exchanges first: short phases of one sort must not draw the long one away.
        let before = [
            ("up", "exchange", 20),
            ("up.c", "gemm_a", 450),
            ("up", "exchange", 60),
        ];
        let after = [("up.c", "gemm_b", 480), ("up", "exchange", 50)];
        let pairs = align(&sequence(&before), &sequence(&after)).pairs;
        assert_eq!(
            pairs,
            [(Some(0), None), (Some(1), Some(0)), (Some(2), Some(1))]
        );
    }

    #[test]
    fn every_position_is_in_one_pair_and_either_way_round_they_are_the_same() {
        let names = ["a", "b", "a", "c", "b", "a", "d"];
        for cut in 0..names.len() {
            let before: Vec<Named> = names.iter().map(|name| (*name, "k", 7)).collect();
            let after: Vec<Named> = names[cut..]
                .iter()
                .rev()
                .map(|name| (*name, "k", 9))
                .collect();
            let (before, after) = (sequence(&before), sequence(&after));
            let pairs = align(&before, &after).pairs;
            let old: Vec<usize> = pairs.iter().filter_map(|it| it.0).collect();
            let new: Vec<usize> = pairs.iter().filter_map(|it| it.1).collect();
            assert_eq!(old, (0..before.len()).collect::<Vec<_>>());
            assert_eq!(new, (0..after.len()).collect::<Vec<_>>());
            let back = align(&after, &before).pairs;
            let back = back.into_iter().map(|(new, old)| (old, new));
            assert_eq!(back.collect::<Vec<_>>(), pairs);
        }
    }

    /// Phases that are all of another sort, each as long as `cycles`.
    fn various(operation: &str, count: usize, cycles: u64) -> Vec<(Content, u64)> {
        let phase = |at: usize| {
            let name = format!("{operation} {at}");
            (Content::of([(1, name, String::new())]), cycles)
        };
        (0..count).map(phase).collect()
    }

    fn matched(pairs: &[Pair]) -> usize {
        let both = pairs.iter().filter(|it| it.0.is_some() && it.1.is_some());
        both.count()
    }

    #[test]
    fn equal_ends_are_paired_however_long_they_are() {
        let named = |count: usize| -> Vec<(Content, u64)> {
            let names = ["a", "b", "c"].map(|it| Content::of([(1, it.to_owned(), String::new())]));
            (0..count).map(|at| (names[at % 3].clone(), 5)).collect()
        };
        let shifted = [various("new", 2_000, 4), named(30_000)].concat();
        let found = align(&named(30_000), &shifted);
        assert_eq!(found.pairs[2_000], (Some(0), Some(2_000)));
        assert_eq!((found.pairs.len(), found.is_near), (32_000, false));
        let pairs = align(&named(30_000), &named(30_003)).pairs;
        assert_eq!((matched(&pairs), pairs.len()), (30_000, 30_003));
        let new = align(&[], &named(2)).pairs;
        assert_eq!(new, [(None, Some(0)), (None, Some(1))]);
        assert_eq!(align(&[], &[]).pairs, []);
    }

    #[test]
    fn of_very_many_phases_those_near_each_other_are_weighed() {
        // All of these are in both, later in the second run, and no end is the same.
        let shifted = |by: usize| {
            let (common, end) = (various("up", 6_000, 5), various("end", 1, 1));
            let before = [common.clone(), end].concat();
            align(&before, &[various("new", by, 1), common].concat())
        };
        let (close, far) = (shifted(300), shifted(3_000));
        assert_eq!((matched(&close.pairs), close.is_near), (6_000, true));
        assert!(far.is_near, "it says that not all were weighed");
        assert_eq!(far.pairs.len() + matched(&far.pairs), 6_001 + 9_000);
        let few = various("up", 600, 5);
        let far = align(&[&few[..], &various("end", 1, 1)].concat(), &{
            [various("new", 3_000, 1), few.clone()].concat()
        });
        assert_eq!((matched(&far.pairs), far.is_near), (600, false));
    }
}
