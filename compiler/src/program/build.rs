//! The program under construction: interned labels and templates, buffers with growing lifetimes.

use std::collections::BTreeMap;

use runtime::package::{CallTemplate, MemoryClass};

use crate::graph::{Graph, Operation, ValueId};
use crate::instrument::layer_pair;
use crate::layout::LineAxis;

use super::home::Home;
use super::operand::Arrival;
use super::{Buffer, BufferId, Call, HostRange, Move, Program, Step, TO_THE_END, Work};

/// Builds a [`Program`] step by step.
#[derive(Clone, Default)]
pub(crate) struct Builder {
    pub(crate) program: Program,
    /// Where the units of the values lie so far.
    pub(crate) homes: BTreeMap<(ValueId, LineAxis), Home>,
    /// While a repeated block is built: the values behind each one that differs from run to run.
    pub(crate) iterated: Option<BTreeMap<ValueId, Vec<ValueId>>>,
    /// Layer of the model that calls are built for.
    pub(crate) layer: u32,
    labels: BTreeMap<String, u32>,
    templates: BTreeMap<String, u32>,
}

impl Builder {
    /// Index of the step that is pushed next.
    pub(crate) fn now(&self) -> u32 {
        index(self.program.steps.len())
    }

    pub(crate) fn label(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.labels.get(text) {
            return known;
        }
        let id = index(self.program.labels.len());
        self.program.labels.push(text.to_owned());
        self.labels.insert(text.to_owned(), id);
        id
    }

    /// The id of a template of the current layer; equal templates are kept once.
    pub(crate) fn template(&mut self, mut template: CallTemplate) -> u32 {
        template.metadata.push(layer_pair(self.layer));
        let key = format!("{template:?}");
        if let Some(&known) = self.templates.get(&key) {
            return known;
        }
        let id = index(self.program.templates.len());
        self.program.templates.push(template);
        self.templates.insert(key, id);
        id
    }

    /// A buffer in standard memory without a tail that is live at the next step only.
    pub(crate) fn buffer(&mut self, tile: u16, bytes: u32, label: u32) -> BufferId {
        let now = self.now();
        let id = index(self.program.buffers.len());
        self.program.buffers.push(Buffer {
            tile,
            bytes,
            tail: 0,
            class: MemoryClass::Standard,
            first: now,
            last: now,
            label,
            zero: false,
            copies: 1,
        });
        id
    }

    pub(crate) fn buffer_mut(&mut self, id: BufferId) -> &mut Buffer {
        &mut self.program.buffers[id as usize]
    }

    /// The buffer is used by `step`.
    pub(crate) fn touch(&mut self, id: BufferId, step: u32) {
        let buffer = self.buffer_mut(id);
        buffer.last = buffer.last.max(step);
    }

    /// The host writes units of a block into the buffer before the run; of a value that differs
    /// from run to run, into one copy a run.
    pub(crate) fn upload(&mut self, range: HostRange) {
        let elements = u64::from(range.units.end - range.units.start) * 16;
        let logical =
            crate::layout::boxes::logical_elements(&range.view, &range.block, range.units.clone());
        let buffer = self.buffer_mut(range.buffer);
        buffer.first = 0;
        buffer.zero = logical < elements;
        let values = self.iterated.as_ref().and_then(|it| it.get(&range.value));
        let Some(values) = values else {
            self.program.host.push(range);
            return;
        };
        self.program.buffers[range.buffer as usize].copies = index(values.len());
        let copies = (0..).zip(values).map(|(copy, &value)| HostRange {
            value,
            copy,
            ..range.clone()
        });
        self.program.host.extend(copies);
    }

    /// The host reads units of a block from the buffer after the run.
    pub(crate) fn download(&mut self, range: HostRange) {
        self.buffer_mut(range.buffer).last = TO_THE_END;
        self.program.host.push(range);
    }

    /// A value lies where `home` says; the host reads it from there if it is an output.
    pub(crate) fn settle(&mut self, graph: &Graph, value: ValueId, home: Home) {
        if graph.outputs().contains(&value) {
            for piece in &home.pieces {
                self.download(HostRange {
                    buffer: piece.buffer,
                    value,
                    view: home.view,
                    block: piece.block.clone(),
                    units: piece.units.clone(),
                    copy: 0,
                });
            }
        }
        self.homes.insert((value, home.view.axis), home);
    }

    /// Clears, transfers and local copies, as far as there are any.
    pub(crate) fn push_arrival(&mut self, title: &Title, arrival: Arrival) {
        let Arrival {
            moves,
            clears,
            copies,
        } = arrival;
        self.compute(title, "clear", clears);
        self.exchange(title, moves);
        self.compute(title, "copy", copies);
    }

    /// Appends an exchange unless it moves nothing, and has what it uses live.
    pub(crate) fn exchange(&mut self, title: &Title, moves: Vec<Move>) {
        let now = self.now();
        for each in &moves {
            self.touch(each.source.buffer, now);
            for &destination in each.destinations.iter() {
                self.touch(destination, now);
            }
        }
        if !moves.is_empty() {
            self.push(title, Work::Exchange(moves));
        }
    }

    /// Appends a compute step unless it does nothing, and has what it uses live. Calls of one tile
    /// run in the order given.
    pub(crate) fn compute(&mut self, title: &Title, role: &'static str, mut calls: Vec<Call>) {
        let now = self.now();
        for operand in calls.iter().flat_map(|call| &call.operands) {
            self.touch(operand.buffer, now);
        }
        if !calls.is_empty() {
            calls.sort_by_key(|call| call.tile);
            self.push(title, Work::Compute { role, calls });
        }
    }

    fn push(&mut self, title: &Title, work: Work) {
        let Title { operation, region } = title.clone();
        self.program.steps.push(Step {
            operation,
            region,
            work,
        });
    }
}

/// The operation and the region that steps are shown under.
#[derive(Clone, Debug)]
pub(crate) struct Title {
    operation: String,
    region: String,
}

impl Title {
    /// The title of what operations do together.
    pub(crate) fn of(operations: &[&Operation]) -> Self {
        let names: Vec<&str> = operations.iter().map(|each| each.name.as_str()).collect();
        let regions = operations.iter().map(|each| each.region.clone());
        Self {
            operation: names.join("+"),
            region: regions.take(1).collect(),
        }
    }
}

/// A list position as an id.
#[expect(
    clippy::cast_possible_truncation,
    reason = "lists are bounded by tiles and operations"
)]
pub(crate) fn index(length: usize) -> u32 {
    debug_assert!(length < u32::MAX as usize);
    length as u32
}
