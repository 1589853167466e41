//! The program under construction: interned labels and templates, buffers with growing lifetimes.

use std::collections::BTreeMap;

use runtime::package::{CallTemplate, MemoryClass};

use crate::graph::ValueId;
use crate::layout::LineAxis;

use super::home::Home;
use super::{Buffer, BufferId, HostRange, Program, Step, TO_THE_END, Work};

/// Builds a [`Program`] step by step.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) program: Program,
    /// Where the units of the values lie so far.
    pub(crate) homes: BTreeMap<(ValueId, LineAxis), Home>,
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

    /// The id of a template; equal templates are kept once.
    pub(crate) fn template(&mut self, template: CallTemplate) -> u32 {
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

    /// The host writes units of a block into the buffer before the run.
    pub(crate) fn upload(&mut self, range: HostRange) {
        let elements = u64::from(range.units.end - range.units.start) * 16;
        let logical =
            crate::layout::boxes::logical_elements(&range.view, &range.block, range.units.clone());
        let buffer = self.buffer_mut(range.buffer);
        buffer.first = 0;
        buffer.zero = logical < elements;
        self.program.host.push(range);
    }

    /// The host reads units of a block from the buffer after the run.
    pub(crate) fn download(&mut self, range: HostRange) {
        self.buffer_mut(range.buffer).last = TO_THE_END;
        self.program.host.push(range);
    }

    /// Appends a step unless it does nothing.
    pub(crate) fn push(&mut self, operation: &crate::graph::Operation, work: Work) {
        let is_empty = match &work {
            Work::Exchange(moves) => moves.is_empty(),
            Work::Compute { calls, .. } => calls.is_empty(),
        };
        if !is_empty {
            let (operation, region) = (operation.name.clone(), operation.region.clone());
            self.program.steps.push(Step {
                operation,
                region,
                work,
            });
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
