//! What a sample points to: operation, kernel, metadata and work, as detailed as the granularity
//! asks.

use std::collections::HashMap;

use analytics::format::ProfileWriter;
use analytics::profile::{Granularity, SampleKind, StepDescriptor, WorkEstimate};
use analytics::units::StepId;

use super::Place;
use super::regions::Region;
use super::transfers::{Traffic, lines, traffic};
use crate::kernels;
use crate::machine::arch::WORKERS;
use crate::package::{Call, CallTemplate, FlatItem, Package};

type Pairs = Vec<(String, String)>;

/// A step that many tiles share, so that its texts are put together once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Synchronization {
        place: u32,
        epoch: u32,
        next: Option<Next>,
        is_active: bool,
    },
    Exchange {
        place: u32,
        epoch: u32,
        next: Option<Next>,
        traffic: Traffic,
    },
    Compute {
        place: u32,
        epoch: u32,
        template: u32,
        calls: usize,
    },
    Idle {
        place: u32,
        epoch: u32,
    },
}

/// The first call of a tile after a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Next {
    phase: u32,
    template: u32,
}

/// Builds steps and remembers the shared ones.
pub(super) struct Steps<'a> {
    package: &'a Package,
    flat: &'a [FlatItem],
    is_fine: bool,
    known: HashMap<Key, StepId>,
    /// Traffic of the tiles, by exchange; `step` granularity adds a line for each transfer.
    traffic: HashMap<u32, Vec<Traffic>>,
    lines: HashMap<u32, Vec<Pairs>>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(
        package: &'a Package,
        flat: &'a [FlatItem],
        granularity: Granularity,
    ) -> Self {
        Self {
            package,
            flat,
            is_fine: granularity == Granularity::Step,
            known: HashMap::new(),
            traffic: HashMap::new(),
            lines: HashMap::new(),
        }
    }

    /// Operation and region label of a schedule position; empty past the last.
    fn names(&self, position: u32) -> (&'a str, &'a str) {
        let package = self.package;
        match self.flat.get(position as usize) {
            Some(&FlatItem::Exchange(index)) => {
                let exchange = &package.exchanges[index as usize];
                (&exchange.operation, &exchange.region)
            }
            Some(&FlatItem::Compute(index)) => {
                let phase = &package.compute_phases[index as usize];
                (&phase.operation, &phase.region)
            }
            None => ("", ""),
        }
    }

    /// The label that decides the region of a schedule position; without one, each operation is a
    /// region.
    pub(super) fn region_label(&self, position: u32) -> &'a str {
        match self.names(position) {
            (operation, "") => operation,
            (_, region) => region,
        }
    }

    /// The wait of one tile at the barrier before an exchange.
    pub(super) fn synchronization(
        &mut self,
        writer: &mut ProfileWriter,
        place: Place,
        exchange: u32,
        tile: usize,
    ) -> StepId {
        let next = self.next_call(place.phase, tile);
        let is_active = self.traffic_of(exchange, tile).is_any();
        let key = Key::Synchronization {
            place: place.phase,
            epoch: place.epoch,
            next,
            is_active,
        };
        if let Some(&step) = self.known.get(&key) {
            return step;
        }
        let mut step = self.base(place, SampleKind::Synchronization, "sync");
        step.metadata.push(pair("active", is_active));
        step.metadata.extend(self.next_pairs(next));
        self.remember(writer, key, &step)
    }

    /// The exchange of one tile.
    pub(super) fn exchange(
        &mut self,
        writer: &mut ProfileWriter,
        place: Place,
        exchange: u32,
        tile: usize,
    ) -> StepId {
        let next = self.next_call(place.phase, tile);
        let own = self.traffic_of(exchange, tile);
        let key = Key::Exchange {
            place: place.phase,
            epoch: place.epoch,
            next,
            traffic: own,
        };
        if let Some(&step) = self.known.get(&key).filter(|_| !self.is_fine) {
            return step;
        }
        let mut step = self.base(place, SampleKind::Exchange, "exchange");
        step.exchange_event_cycles = self.package.exchanges[exchange as usize].event_cycles;
        step.metadata.extend([
            pair("active", own.is_any()),
            pair("send_count", own.sends),
            pair("receive_count", own.receives),
            pair("send_bytes", own.send_bytes),
            pair("receive_bytes", own.receive_bytes),
            pair("bytes", own.send_bytes + own.receive_bytes),
        ]);
        step.metadata.extend(self.next_pairs(next));
        if self.is_fine {
            step.metadata.extend(self.lines_of(exchange, tile));
            return writer.step(&step);
        }
        self.remember(writer, key, &step)
    }

    /// A tile without a kernel in a compute phase.
    pub(super) fn idle(&mut self, writer: &mut ProfileWriter, place: Place) -> StepId {
        let key = Key::Idle {
            place: place.phase,
            epoch: place.epoch,
        };
        if let Some(&step) = self.known.get(&key) {
            return step;
        }
        let step = self.base(place, SampleKind::Idle, "idle");
        self.remember(writer, key, &step)
    }

    /// Splits a tile's calls of one phase into samples: one a call at `step` granularity, otherwise
    /// one for each run of calls of the same template.
    pub(super) fn merge<'c>(
        &self,
        calls: &'c [Call],
    ) -> impl Iterator<Item = &'c [Call]> + use<'c> {
        let is_fine = self.is_fine;
        calls.chunk_by(move |a, b| !is_fine && a.template == b.template)
    }

    /// Calls of one template that follow each other.
    pub(super) fn compute(
        &mut self,
        writer: &mut ProfileWriter,
        place: Place,
        phase: u32,
        calls: &[Call],
    ) -> StepId {
        let Some(first) = calls.first() else {
            return self.idle(writer, place);
        };
        let Place {
            phase: position,
            epoch,
        } = place;
        let (template, count) = (first.template, calls.len());
        let key = Key::Compute {
            place: position,
            epoch,
            template,
            calls: count,
        };
        if let Some(&step) = self.known.get(&key).filter(|_| !self.is_fine) {
            return step;
        }
        let template = &self.package.call_templates[template as usize];
        let mut step = self.base(place, SampleKind::Compute, &template.symbol);
        step.metadata.extend(self.phase_role(phase, template));
        step.metadata.extend(template.metadata.iter().cloned());
        step.metadata.extend([
            pair("worker_count", WORKERS),
            pair("active_commands", count),
        ]);
        if count > 1 {
            step.metadata
                .extend([pair("invocations", count), pair("uniformInvocations", true)]);
        }
        step.estimate = sum(template, count);
        if self.is_fine {
            step.metadata.extend(operand_pairs(template, first));
            step.metadata.extend(argument_pairs(template));
            return writer.step(&step);
        }
        self.remember(writer, key, &step)
    }

    /// The later iterations of a Repeat.
    pub(super) fn remainder(
        &self,
        writer: &mut ProfileWriter,
        place: Place,
        end: u32,
        iterations: u32,
    ) -> StepId {
        let (operation, _) = self.names(place.phase);
        let mut step = bare(place, SampleKind::Compute, operation, "repeat-remainder");
        step.metadata = vec![
            pair("iterations", iterations),
            pair("phase_start", place.phase),
            pair("phase_end", end),
        ];
        writer.step(&step)
    }

    /// A run of one label, or the whole run at `graph` granularity.
    pub(super) fn region(&self, writer: &mut ProfileWriter, region: &Region) -> StepId {
        let mut step = bare(
            region.place,
            SampleKind::Compute,
            &region.label,
            &region.label,
        );
        step.epoch = 0;
        step.metadata = vec![
            pair("phase_start", region.place.phase),
            pair("phase_end", region.end),
        ];
        writer.step(&step)
    }

    /// The whole run.
    pub(super) fn graph(writer: &mut ProfileWriter) -> StepId {
        let place = Place { phase: 0, epoch: 0 };
        writer.step(&bare(place, SampleKind::Compute, "graph", ""))
    }

    fn remember(&mut self, writer: &mut ProfileWriter, key: Key, step: &StepDescriptor) -> StepId {
        let id = writer.step(step);
        self.known.insert(key, id);
        id
    }

    /// A step at a schedule position, with its operation and region.
    fn base(&self, place: Place, kind: SampleKind, kernel: &str) -> StepDescriptor {
        let (operation, region) = self.names(place.phase);
        let mut step = bare(place, kind, operation, kernel);
        if !region.is_empty() {
            step.metadata.push(pair("semantic_region", region));
        }
        step
    }

    /// The role of a compute phase, for templates that have none of their own.
    fn phase_role(&self, phase: u32, template: &CallTemplate) -> Option<(String, String)> {
        let role = &self.package.compute_phases[phase as usize].role;
        let is_own = template.metadata.iter().any(|(name, _)| name == "role");
        (!is_own && !role.is_empty()).then(|| pair("role", role))
    }

    /// The tile's first call between this schedule position and the next exchange.
    fn next_call(&self, position: u32, tile: usize) -> Option<Next> {
        let calls = &self.package.tiles[tile].calls;
        let following = self.flat.get(position as usize + 1..)?;
        following
            .iter()
            .map_while(|item| match item {
                FlatItem::Compute(phase) => Some(*phase),
                FlatItem::Exchange(_) => None,
            })
            .find_map(|phase| {
                let index = calls.partition_point(|call| call.phase < phase);
                let call = calls.get(index).filter(|call| call.phase == phase)?;
                let template = call.template;
                Some(Next { phase, template })
            })
    }

    /// Kernel, role and layer of the call that follows.
    fn next_pairs(&self, next: Option<Next>) -> Pairs {
        let Some(Next { phase, template }) = next else {
            return Vec::new();
        };
        let template = &self.package.call_templates[template as usize];
        let mut pairs = vec![pair("next_kernel", &template.symbol)];
        let role = self.phase_role(phase, template);
        for (name, value) in role.iter().chain(&template.metadata) {
            if ["role", "layer"].contains(&name.as_str()) {
                pairs.push((format!("next_{name}"), value.clone()));
            }
        }
        pairs
    }

    fn traffic_of(&mut self, exchange: u32, tile: usize) -> Traffic {
        let package = self.package;
        self.traffic
            .entry(exchange)
            .or_insert_with(|| traffic(&package.exchanges[exchange as usize], package.tiles.len()))
            [tile]
    }

    fn lines_of(&mut self, exchange: u32, tile: usize) -> Pairs {
        let package = self.package;
        self.lines
            .entry(exchange)
            .or_insert_with(|| lines(&package.exchanges[exchange as usize], package.tiles.len()))
            [tile]
            .clone()
    }
}

/// A step without metadata.
fn bare(place: Place, kind: SampleKind, operation: &str, kernel: &str) -> StepDescriptor {
    StepDescriptor {
        kind,
        phase: place.phase,
        epoch: place.epoch,
        operation: operation.to_owned(),
        kernel: kernel.to_owned(),
        exchange_event_cycles: 0,
        metadata: Vec::new(),
        estimate: None,
    }
}

fn pair(name: &str, value: impl Into<Value>) -> (String, String) {
    (name.to_owned(), value.into().0)
}

/// A metadata value in its text form.
struct Value(String);

macro_rules! values {
    ($($type:ty),*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self(value.to_string())
            }
        })*
    };
}

values!(bool, u32, u64, usize, &str, &String, String);

/// The work of `count` calls; unknown for one is unknown for all.
fn sum(template: &CallTemplate, count: usize) -> Option<WorkEstimate> {
    template.estimate.as_ref().map(|one| WorkEstimate {
        useful: one.useful.times(count as u64),
        physical: one.physical.times(count as u64),
        basis: one.basis.clone(),
    })
}

/// Address of each operand, `output_address` and `input_0_address` on.
fn operand_pairs(template: &CallTemplate, call: &Call) -> Pairs {
    let operands = kernels::operands(&template.kernel);
    let mut pairs = vec![pair("kernelSpec", format!("{:?}", template.kernel))];
    for (index, (operand, address)) in operands.iter().zip(&call.operands).enumerate() {
        let name = match index.checked_sub(1) {
            None => "output".to_owned(),
            Some(input) => format!("input_{input}"),
        };
        pairs.push((format!("{name}_address"), format!("{address:#x}")));
        pairs.push((format!("{name}_bytes"), operand.bytes.to_string()));
        pairs.push((format!("{name}_operand"), operand.name.to_owned()));
    }
    pairs
}

/// The scalar arguments of a call, `argument_0` on, each with its name.
fn argument_pairs(template: &CallTemplate) -> impl Iterator<Item = (String, String)> + use<> {
    let arguments = kernels::arguments(&template.kernel).into_iter().enumerate();
    arguments.flat_map(|(index, (name, value))| {
        [
            (format!("argument_{index}"), value),
            (format!("argument_{index}_name"), name.to_owned()),
        ]
    })
}
