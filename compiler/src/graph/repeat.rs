//! Blocks of a graph that are alike, as one block that is repeated.
//!
//! [`Graph`] → the same graph with the operations of one block in place of them all, and a
//! [`Repeat`] that says what differs from block to block. Blocks are alike where their operations
//! do the same on equal shapes, in the same order, and where names and regions differ in one number
//! at most (`mlp.0.up`, `mlp.1.up`): that is how a graph asks for it. A block reads results of the
//! block before it, parameters of its own, and host values that all of them share; nothing but the
//! last block's results may be read later.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Graph, Operation, ValueId};

/// A result that each block hands to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What the block reads: no operation of the rolled graph defines it.
    pub argument: ValueId,
    /// What the first block reads in its place.
    pub initial: ValueId,
    /// What the block makes of it.
    pub result: ValueId,
}

/// A block that is run several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeat {
    /// Its operations in the rolled graph.
    pub operations: Range<usize>,
    /// How often it runs, at least twice.
    pub count: u32,
    /// What goes from one run to the next, at least one.
    pub carried: Vec<Carried>,
    /// Host values that differ from run to run, under the one of the last run: one a run.
    pub iterated: BTreeMap<ValueId, Vec<ValueId>>,
}

impl Graph {
    /// The block that this graph repeats, if it was rolled up.
    #[must_use]
    pub fn repeat(&self) -> Option<&Repeat> {
        self.repeat.as_ref()
    }

    /// The repeat that an operation belongs to.
    pub(crate) fn repeat_around(&self, operation: usize) -> Option<&Repeat> {
        self.repeat()
            .filter(|repeat| repeat.operations.contains(&operation))
    }

    /// How many values stand behind a value: one for each run where it differs from run to run.
    pub(crate) fn copies(&self, value: ValueId) -> u32 {
        let repeat = self.repeat().filter(|it| it.iterated.contains_key(&value));
        repeat.map_or(1, |repeat| repeat.count)
    }

    /// The carried value that this is the argument, the start or the result of.
    pub(crate) fn carried(&self, value: ValueId) -> Option<&Carried> {
        let mut carried = self.repeat().into_iter().flat_map(|it| &it.carried);
        carried.find(|it| [it.argument, it.initial, it.result].contains(&value))
    }

    /// The graph with its longest run of blocks that are alike rolled up; itself where there is
    /// none. Values keep their ids.
    #[must_use]
    pub fn rolled(&self) -> Self {
        let mut best: Option<Blocks> = None;
        let count = self.operations.len();
        for period in 1..=count / 2 {
            let mut first = 0;
            while first + 2 * period <= count {
                let found = self.blocks(first, period);
                let saved = |blocks: &Blocks| (blocks.count - 1) * blocks.period;
                first += found.as_ref().map_or(1, |it| (it.count - 1) * period);
                if let Some(found) = found
                    && best.as_ref().is_none_or(|best| saved(&found) > saved(best))
                {
                    best = Some(found);
                }
            }
        }
        best.map_or_else(|| self.clone(), |blocks| self.roll(&blocks))
    }

    /// The most blocks of `period` operations from `first` that are alike and may be rolled up.
    fn blocks(&self, first: usize, period: usize) -> Option<Blocks> {
        let alike = |at: usize| alike(self, first + at % period, first + at);
        let most = (self.operations.len() - first) / period;
        let same = (period..most * period).take_while(|&at| alike(at)).count();
        let most = same / period + 1;
        (2..=most).rev().find_map(|count| {
            let blocks = Blocks {
                first,
                period,
                count,
            };
            self.flow(&blocks).map(|_| blocks)
        })
    }

    /// What the blocks hand on and read, if they may be rolled up.
    fn flow(&self, blocks: &Blocks) -> Option<Repeat> {
        let mut repeat = Repeat {
            operations: blocks.first..blocks.first + blocks.period,
            count: u32::try_from(blocks.count).ok()?,
            ..Repeat::default()
        };
        for offset in 0..blocks.period {
            for position in 0..self.operations[blocks.first + offset].inputs.len() {
                let read =
                    |block: usize| self.operations[blocks.at(block, offset)].inputs[position];
                let values: Vec<ValueId> = (0..blocks.count).map(read).collect();
                self.classify(blocks, &values, &mut repeat)?;
            }
        }
        let closed = (0..blocks.count - 1).all(|block| self.is_closed(blocks, block));
        let own = |values: &Vec<ValueId>| {
            (0..blocks.count).all(|block| self.is_read_by(values[block], blocks.of(block)))
        };
        let fits = closed && repeat.iterated.values().all(own) && !repeat.carried.is_empty();
        fits.then_some(repeat)
    }

    /// Enters what an operand is in each block: a result of the block itself or of the one before
    /// it, a host value of its own, or one of all blocks.
    fn classify(&self, blocks: &Blocks, values: &[ValueId], repeat: &mut Repeat) -> Option<()> {
        let last = blocks.count - 1;
        let offset_in = |block: usize| {
            let producer = self.producer(values[block]);
            producer.filter(|it| blocks.of(block).contains(it))
        };
        if let Some(first) = offset_in(0) {
            let offset = first - blocks.first;
            let same =
                (0..blocks.count).all(|block| offset_in(block) == Some(blocks.at(block, offset)));
            return same.then_some(());
        }
        let hosted = |value: &ValueId| self.value(*value).fill().is_some();
        if values.iter().all(hosted) {
            if values.iter().all(|value| *value == values[0]) {
                return Some(());
            }
            let kind = |value: &ValueId| {
                let value = self.value(*value);
                (value.shape.clone(), value.dtype)
            };
            let same = values.iter().all(|value| kind(value) == kind(&values[0]));
            let known = repeat.iterated.insert(values[last], values.to_vec());
            let agrees = known.is_none_or(|known| known == values);
            return (same && agrees).then_some(());
        }
        let before = self.producer(values[1])?;
        let offset = before
            .checked_sub(blocks.first)
            .filter(|&it| it < blocks.period)?;
        let handed = (1..blocks.count)
            .all(|block| self.producer(values[block]) == Some(blocks.at(block - 1, offset)));
        let early = self.producer(values[0]).is_none_or(|it| it < blocks.first);
        let carried = Carried {
            argument: values[last],
            initial: values[0],
            result: self.operations[blocks.at(last, offset)].output,
        };
        let shape = |value: ValueId| &self.value(value).shape;
        let same = shape(carried.initial) == shape(carried.result);
        let clash = |known: &Carried| {
            (known.initial == carried.initial) != (known.result == carried.result)
        };
        if !handed || !early || !same || repeat.carried.iter().any(clash) {
            return None;
        }
        if !repeat.carried.contains(&carried) {
            repeat.carried.push(carried);
        }
        Some(())
    }

    /// Whether nothing but the next block reads what a block makes.
    fn is_closed(&self, blocks: &Blocks, block: usize) -> bool {
        let range = blocks.of(block);
        self.operations[range.clone()].iter().all(|operation| {
            let both = range.start..range.end + blocks.period;
            !self.outputs.contains(&operation.output) && self.is_read_by(operation.output, both)
        })
    }

    /// Whether none but these operations read a value.
    fn is_read_by(&self, value: ValueId, operations: Range<usize>) -> bool {
        let mut readers = (0..).zip(&self.operations);
        readers.all(|(at, each)| operations.contains(&at) || !each.inputs.contains(&value))
    }

    /// The last block in place of all of them, under names without the block's number.
    fn roll(&self, blocks: &Blocks) -> Self {
        let mut rolled = self.clone();
        let last = blocks.of(blocks.count - 1);
        rolled.repeat = self.flow(blocks);
        rolled.operations.drain(blocks.first..last.start);
        for offset in 0..blocks.period {
            let (one, other) = (blocks.at(0, offset), blocks.at(blocks.count - 1, offset));
            let [one, other] = [one, other].map(|at| &self.operations[at]);
            let operation = &mut rolled.operations[blocks.first + offset];
            operation.name = skeleton(&one.name, &other.name);
            operation.region = skeleton(&one.region, &other.region);
            let name = skeleton(&self.value(one.output).name, &self.value(other.output).name);
            rolled.values[other.output.index()].name = name;
        }
        for values in rolled.repeat.iter().flat_map(|it| it.iterated.values()) {
            let [one, other] = [0, values.len() - 1].map(|at| &self.value(values[at]).name);
            let name = skeleton(one, other);
            rolled.values[values[values.len() - 1].index()].name = name;
        }
        rolled
    }
}

/// Where blocks that may be alike lie in the operations.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    first: usize,
    period: usize,
    count: usize,
}

impl Blocks {
    fn of(&self, block: usize) -> Range<usize> {
        self.at(block, 0)..self.at(block + 1, 0)
    }

    const fn at(&self, block: usize, offset: usize) -> usize {
        self.first + block * self.period + offset
    }
}

/// Whether two operations do the same on equal shapes under names that differ in one number.
fn alike(graph: &Graph, one: usize, other: usize) -> bool {
    let [one, other] = [one, other].map(|at| &graph.operations[at]);
    let shapes = |operation: &Operation| -> Vec<_> {
        let values = operation.inputs.iter().chain([&operation.output]);
        let shape = |value: &ValueId| {
            let value = graph.value(*value);
            (value.shape.clone(), value.dtype)
        };
        values.map(shape).collect()
    };
    one.kind == other.kind
        && differing(&one.name, &other.name).is_some_and(|it| it.len() == 1)
        && differing(&one.region, &other.region).is_some_and(|it| it.len() <= 1)
        && shapes(one) == shapes(other)
}

/// A text as its parts in turn without and with digits only.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = parts.len() % 2 == 1;
        let end = rest.find(|c: char| c.is_ascii_digit() != digits);
        let (part, later) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = later;
    }
    parts
}

/// Which numbers differ between two texts that differ in numbers only.
fn differing(one: &str, other: &str) -> Option<Vec<usize>> {
    let (one, other) = (parts(one), parts(other));
    let differ: Vec<usize> = (0..one.len().min(other.len()))
        .filter(|&at| one[at] != other[at])
        .collect();
    let numbers = differ.iter().all(|at| at % 2 == 1);
    (one.len() == other.len() && numbers).then_some(differ)
}

/// The text of two that differ in one number, with `*` in its place.
fn skeleton(one: &str, other: &str) -> String {
    let differ = differing(one, other).unwrap_or_default();
    let mut parts = parts(other);
    for at in differ {
        parts[at] = "*";
    }
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::workload::{WorkloadExtents, workload};
    use super::*;

    const CHAIN: &str = "\
input x: f16[8, 16] = gaussian(1, 1)
parameter w0: f16[16, 16] = gaussian(2, 0.1)
parameter w1: f16[16, 16] = gaussian(3, 0.1)
parameter w2: f16[16, 16] = gaussian(4, 0.1)
n = gelu(x)
h0 = gemm(n, w0)
g0 = gelu(h0)
h1 = gemm(g0, w1)
g1 = gelu(h1)
h2 = gemm(g1, w2)
g2 = gelu(h2)
y = add(g2, x)
output y
";

    fn rolled(text: &str) -> Graph {
        parse(text).unwrap().rolled()
    }

    #[test]
    fn blocks_that_are_alike_are_rolled_up() {
        let graph = rolled(CHAIN);
        let repeat = graph.repeat().unwrap();
        assert_eq!((repeat.operations.clone(), repeat.count), (1..3, 3));
        let name = |value: ValueId| graph.value(value).name.as_str();
        let carried = repeat.carried[0];
        assert_eq!(repeat.carried.len(), 1);
        assert_eq!(name(carried.initial), "n");
        assert_eq!(name(carried.argument), "g1");
        assert_eq!(name(carried.result), "g*");
        let weights: Vec<_> = repeat
            .iterated
            .values()
            .flatten()
            .map(|&it| name(it))
            .collect();
        assert_eq!(weights, ["w0", "w1", "w*"]);
        let names: Vec<_> = graph
            .operations()
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(names, ["n", "h*", "g*", "y"]);
    }

    #[test]
    fn what_is_read_from_outside_or_named_otherwise_is_left_as_it_is() {
        for (from, to) in [
            ("output y", "output y\noutput g0"),
            ("y = add(g2, x)", "y = add(g2, g0)"),
            ("h1 = gemm(g0, w1)", "h1 = gemm(g0, w0)"),
            ("h1", "middle"),
        ] {
            let text = CHAIN.replace(from, to);
            let graph = rolled(&text);
            let count = graph.repeat().map_or(1, |repeat| repeat.count);
            assert!(count < 3, "{from} -> {to}: {count}");
        }
        let named = |name| {
            workload(name, &WorkloadExtents::published(64))
                .unwrap()
                .graph
        };
        for name in ["mlp-smoke", "gemm-projections", "siglip-block"] {
            assert_eq!(named(name).rolled(), named(name), "{name}");
        }
    }

    #[test]
    fn the_blocks_of_the_mlp_are_one() {
        let extents = WorkloadExtents {
            blocks: 3,
            ..WorkloadExtents::published(64)
        };
        let graph = workload("siglip-mlp-benchmark", &extents)
            .unwrap()
            .graph
            .rolled();
        let repeat = graph.repeat().unwrap();
        assert_eq!((repeat.operations.clone(), repeat.count), (0..3, 3));
        assert_eq!(repeat.iterated.len(), 2);
        assert_eq!(graph.operations()[0].name, "mlp.*.up");
    }
}
