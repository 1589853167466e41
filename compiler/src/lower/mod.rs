//! A placed and scheduled program as a package: addresses go into calls, rows into tile images,
//! host ranges into affine bindings. Nothing is decided here.

mod bindings;
mod image;
mod manifest;
mod transfers;

use analytics::units::{Bytes, TileId};
use rayon::prelude::*;
use runtime::machine::topology::Topology;
use runtime::package::{
    Address, Allocation, ComputePhase, Delivery, Exchange, MemoryClass, MemoryRange, Package,
    ScheduleItem, SourceStep,
};

use crate::exchange::{EncodedRow, ScheduleReport, Transfer};
use crate::graph::Graph;
use crate::options::Options;
use crate::place::{Arena, PlaceError, Placement};
use crate::plan::Plan;
use crate::program::{Program, Work};

pub use transfers::transfers;

/// One exchange with its encoded rows by logical tile.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedExchange {
    /// Index of its step in the program.
    pub step: u32,
    /// The transfers, in program order.
    pub transfers: Vec<Transfer>,
    /// The row of each logical tile; `None` without traffic.
    pub rows: Vec<Option<EncodedRow>>,
    /// How its times were found.
    pub schedule: ScheduleReport,
}

impl EncodedExchange {
    /// The longest row in events.
    #[must_use]
    pub fn horizon(&self) -> u32 {
        self.rows
            .iter()
            .flatten()
            .map(|row| row.horizon)
            .max()
            .unwrap_or(0)
    }
}

/// Everything that lowering reads.
#[derive(Clone, Copy, Debug)]
pub struct Lowering<'a> {
    /// The graph as it was given.
    pub graph: &'a Graph,
    /// What was asked for.
    pub options: &'a Options,
    /// What was chosen.
    pub plan: &'a Plan,
    /// The program.
    pub program: &'a Program,
    /// Its addresses.
    pub placement: &'a Placement,
    /// Its exchanges in step order.
    pub exchanges: &'a [EncodedExchange],
    /// Where rows may lie.
    pub arena: &'a Arena,
    /// The tiles that run the planned ones.
    pub topology: &'a Topology,
}

/// Builds the package.
///
/// # Errors
/// [`PlaceError::Rows`] where the rows of a tile need more than the arena left for them.
pub fn lower(input: &Lowering<'_>) -> Result<Package, PlaceError> {
    let program = input.program;
    let host = bindings::bindings(input);
    let (schedule, exchanges, compute_phases) = schedule(input);
    let tiles = image::tiles(input)?;
    let mut package = Package {
        target: manifest::target(input),
        manifest: manifest::manifest(input, &host),
        tensors: host.tensors,
        patterns: host.patterns,
        bindings: host.bindings,
        schedule,
        exchanges,
        compute_phases,
        call_templates: program.templates.clone(),
        tiles,
        allocations: Vec::new(),
    };
    package.allocations = allocations(input, &package);
    Ok(package)
}

/// The schedule and the exchanges and compute phases that it names.
fn schedule(input: &Lowering<'_>) -> (Vec<ScheduleItem>, Vec<Exchange>, Vec<ComputePhase>) {
    let (mut items, mut exchanges, mut phases) = (Vec::new(), Vec::new(), Vec::new());
    let program = input.program;
    for step in &program.steps {
        match &step.work {
            Work::Exchange(_) => {
                let encoded = &input.exchanges[exchanges.len()];
                items.push(ScheduleItem::Exchange(index(exchanges.len())));
                exchanges.push(Exchange {
                    operation: step.operation.clone(),
                    region: step.region.clone(),
                    event_cycles: encoded.horizon(),
                    deliveries: deliveries(&encoded.transfers),
                    source_steps: source_steps(&encoded.transfers),
                });
            }
            Work::Compute { role, .. } => {
                items.push(ScheduleItem::Compute(index(phases.len())));
                phases.push(ComputePhase {
                    operation: step.operation.clone(),
                    role: (*role).to_owned(),
                    region: step.region.clone(),
                });
            }
        }
    }
    if let Some(repeat) = program.repeat.as_ref().filter(|it| it.count > 1) {
        // Every step is one item so far, so items are numbered as steps are.
        let (start, end) = (repeat.steps.start as usize, repeat.steps.end as usize);
        let body = items.drain(start..end).collect();
        let count = repeat.count;
        items.insert(start, ScheduleItem::Repeat { count, body });
    }
    (items, exchanges, phases)
}

fn source_steps(transfers: &[Transfer]) -> Vec<SourceStep> {
    let moving = (0..).zip(transfers).filter(|(_, it)| it.steps.bytes > 0);
    let step = |(delivery, transfer): (u32, &Transfer)| SourceStep {
        delivery,
        bytes: transfer.steps.bytes.cast_signed(),
    };
    moving.map(step).collect()
}

fn deliveries(transfers: &[Transfer]) -> Vec<Delivery> {
    let delivery = |transfer: &Transfer| Delivery {
        source: transfer.source,
        source_address: transfer.source_address,
        bytes: transfer.words * 4,
        destinations: transfer.destinations.clone(),
    };
    transfers.par_iter().map(delivery).collect()
}

/// The memory map: buffers with their lifetimes, and the rows of each tile.
fn allocations(input: &Lowering<'_>, package: &Package) -> Vec<Allocation> {
    let program = input.program;
    let mut allocations: Vec<Allocation> = program
        .buffers
        .iter()
        .zip(&input.placement.addresses)
        .map(|(buffer, &address)| Allocation {
            tile: TileId::new(buffer.tile),
            range: MemoryRange {
                address,
                bytes: buffer.total_bytes(),
            },
            class: buffer.class,
            label: program.labels[buffer.label as usize].clone(),
            first: buffer.first,
            last: buffer.last,
        })
        .collect();
    for (tile, image) in (0..).zip(&package.tiles) {
        for segment in &image.segments {
            allocations.push(Allocation {
                tile: TileId::new(tile),
                range: MemoryRange {
                    address: segment.address,
                    bytes: index(segment.bytes.len()),
                },
                class: MemoryClass::Standard,
                label: "exchange rows".to_owned(),
                first: 0,
                last: u32::MAX,
            });
        }
    }
    allocations.sort_by_key(|each| (each.tile, each.range.address, each.first));
    allocations
}

/// Largest row table of one tile.
#[must_use]
pub fn row_bytes_max(package: &Package) -> Bytes {
    let bytes = package
        .tiles
        .iter()
        .flat_map(|tile| &tile.segments)
        .map(|each| each.bytes.len());
    Bytes::new(bytes.max().unwrap_or(0) as u64)
}

/// Bytes that the fullest tile has allocated at its fullest moment, rows included.
#[must_use]
pub fn tile_bytes_max(package: &Package) -> Bytes {
    let mut by_tile: Vec<Vec<&Allocation>> = vec![Vec::new(); package.tiles.len()];
    for allocation in &package.allocations {
        by_tile[allocation.tile.index()].push(allocation);
    }
    let peak = |allocations: &Vec<&Allocation>| {
        let live_at = |step: u32| {
            let live = allocations
                .iter()
                .filter(|each| each.first <= step && step <= each.last);
            live.map(|each| u64::from(each.range.bytes)).sum::<u64>()
        };
        allocations
            .iter()
            .map(|each| live_at(each.first))
            .max()
            .unwrap_or(0)
    };
    Bytes::new(by_tile.par_iter().map(peak).max().unwrap_or(0))
}

/// The address of a position in a buffer.
fn address(placement: &Placement, place: crate::program::Place) -> Address {
    placement.addresses[place.buffer as usize] + place.offset
}

/// A list position as an id.
#[expect(
    clippy::cast_possible_truncation,
    reason = "lists are bounded by tiles and steps"
)]
fn index(length: usize) -> u32 {
    debug_assert!(length < u32::MAX as usize);
    length as u32
}
