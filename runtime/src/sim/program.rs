//! A package made ready to run: flattened schedule, calls by phase, costs, and the rules that need
//! no data.

use std::fmt::Write as _;
use std::ops::Range;

use analytics::units::{Bytes, Cycles, TileId};
use rayon::prelude::*;

use super::buffers::Buffers;
use super::{RunError, RunOptions, iteration};
use crate::fault::{Fault, FaultRule, Faults};
use crate::kernels::{self, Access, Basis, Cost, Generation, Violation};
use crate::machine::topology::Topology;
use crate::package::{
    Address, Call, CallTemplate, Delivery, FlatItem, MemoryRange, Package, TileProgram, flatten,
    validate,
};

/// A validated package with everything that does not change while it runs.
pub(crate) struct Program<'a> {
    pub(crate) package: &'a Package,
    pub(crate) topology: Topology,
    pub(crate) flat: Vec<FlatItem>,
    pub(crate) generation: Generation,
    /// Declared buffers.
    pub(crate) buffers: Buffers<'a>,
    /// Cost of one call of each template.
    costs: Vec<Cost>,
    /// Whether no measurement stands behind some of them.
    pub(crate) has_assumed: bool,
    /// Exchange epoch of each flat position.
    epochs: Vec<u32>,
}

impl<'a> Program<'a> {
    /// Validates a package and checks its operands against the rules of the machine.
    pub(crate) fn prepare(package: &'a Package, options: &RunOptions) -> Result<Self, RunError> {
        validate(package)?;
        let generation = generation(package, options)?;
        let topology = Topology::from_mapping(&package.target.tile_mapping)?;
        let flat = flatten(package)?;
        let costs: Vec<Cost> = package
            .call_templates
            .iter()
            .map(|template| kernels::cost(&template.kernel, generation))
            .collect();
        let program = Self {
            package,
            topology,
            buffers: Buffers::new(package),
            epochs: epochs(&flat),
            flat,
            generation,
            has_assumed: costs.iter().any(|cost| cost.basis == Basis::Assumed),
            costs,
        };
        program.check_assumed(options)?;
        program.check_calls()?;
        Ok(program)
    }

    /// Indices of a tile's calls in a compute phase.
    pub(crate) fn call_range(&self, tile: usize, phase: u32) -> Range<usize> {
        let calls = self.package.tiles[tile].calls.as_slice();
        let first = calls.partition_point(|call| call.phase < phase);
        let length = calls[first..].partition_point(|call| call.phase == phase);
        first..first + length
    }

    /// The calls of a tile in a compute phase, in program order.
    pub(crate) fn calls(&self, tile: usize, phase: u32) -> &'a [Call] {
        &self.package.tiles[tile].calls[self.call_range(tile, phase)]
    }

    /// Cycles of one call.
    pub(crate) fn cost(&self, call: &Call) -> Cycles {
        self.costs[call.template as usize].cycles
    }

    /// Cycles of the calls whose cost is assumed.
    pub(crate) fn assumed_cost(&self, calls: &[Call]) -> Cycles {
        let costs = calls.iter().map(|call| self.costs[call.template as usize]);
        let assumed = costs.filter(|cost| cost.basis == Basis::Assumed);
        assumed.map(|cost| cost.cycles).sum()
    }

    /// The exchange epoch of a flat position.
    pub(crate) fn epoch(&self, position: u32) -> u32 {
        self.epochs.get(position as usize).copied().unwrap_or(0)
    }

    /// Symbols of the kernels whose cost has this basis, sorted.
    pub(crate) fn kernels_of(&self, basis: Basis) -> Vec<&'a str> {
        kernels::symbols_of(&self.package.call_templates, self.generation, basis)
    }

    /// Kernels with assumed costs run only where the caller allows them.
    fn check_assumed(&self, options: &RunOptions) -> Result<(), RunError> {
        let assumed = self.kernels_of(Basis::Assumed);
        if options.allow_assumed_kernels || assumed.is_empty() {
            return Ok(());
        }
        Err(RunError::Option {
            option: "allow-assumed-kernels",
            what: format!(
                "no measurement stands behind the cost of {} in generation {}; give the option to \
                 run them, and read the totals as assumed",
                assumed.join(", "),
                self.generation
            ),
        })
    }

    /// Every call in schedule order: what breaks a rule in the first phase that has any.
    fn check_calls(&self) -> Result<(), Faults> {
        let counts = iteration::counts(&self.package.schedule);
        for ((position, item), &iterations) in (0..).zip(&self.flat).zip(&counts) {
            let FlatItem::Compute(phase) = *item else {
                continue;
            };
            let tiles = (0..self.package.tiles.len()).into_par_iter();
            let found = tiles.flat_map_iter(|tile| {
                let calls = self.call_range(tile, phase);
                calls.filter_map(move |call| self.check_call(tile, call, iterations).err())
            });
            Faults::check(found.collect::<Vec<_>>()).map_err(|it| it.in_phase(position))?;
        }
        Ok(())
    }

    /// The call in each of its iterations.
    fn check_call(&self, tile: usize, call: usize, iterations: u32) -> Result<(), Fault> {
        let program = &self.package.tiles[tile];
        let distinct = distinct(iteration::is_moving(program, call), iterations);
        let template = &self.package.call_templates[program.calls[call].template as usize];
        for iteration in 0..distinct {
            let addresses = iteration::operands(program, call, iteration);
            check_addresses(program, template, &addresses).map_err(|v| {
                let mut detail = format!("{}: {}", template.symbol, v.detail);
                if iteration > 0 {
                    let _fits = write!(detail, ", in iteration {iteration} of its Repeat");
                }
                Fault::new(v.rule, tile_id(tile), detail).at_address(v.address)
            })?;
        }
        Ok(())
    }
}

fn check_addresses(
    program: &TileProgram,
    template: &CallTemplate,
    addresses: &[Address],
) -> Result<(), Violation> {
    kernels::check_operands(&template.kernel, addresses)?;
    for (operand, &address) in kernels::operands(&template.kernel).iter().zip(addresses) {
        let writes = operand.access != Access::Read;
        if writes && overlaps_code(program, address, operand.bytes) {
            let detail = format!("operand {} overwrites loaded code", operand.name);
            let rule = FaultRule::CodeOverwrite;
            return Err(Violation {
                rule,
                address,
                detail,
            });
        }
    }
    Ok(())
}

/// The tile with this logical index; packages hold at most 1,472.
pub(crate) fn tile_id(index: usize) -> TileId {
    TileId::new(u16::try_from(index).unwrap_or(u16::MAX))
}

fn generation(package: &Package, options: &RunOptions) -> Result<Generation, RunError> {
    if let Some(generation) = options.generation {
        return Ok(generation);
    }
    let name = package.manifest.kernel_generation.as_str();
    if name.is_empty() {
        return Ok(Generation::default());
    }
    name.parse()
        .map_err(|unknown: kernels::UnknownGeneration| RunError::Option {
            option: "generation",
            what: format!("the package asks for one: {unknown}"),
        })
}

/// Epoch of each position: exchanges up to and including it, the first one being epoch 0 unless
/// something computes before it.
fn epochs(flat: &[FlatItem]) -> Vec<u32> {
    let computes_first = matches!(flat.first(), Some(FlatItem::Compute(_)));
    let mut exchanges = u32::from(computes_first);
    let epoch = |item: &FlatItem| {
        exchanges += u32::from(matches!(item, FlatItem::Exchange(_)));
        exchanges.saturating_sub(1)
    };
    flat.iter().map(epoch).collect()
}

fn overlaps_code(program: &TileProgram, address: Address, bytes: u64) -> bool {
    let end = u64::from(address) + bytes;
    let after = program
        .segments
        .partition_point(|s| u64::from(s.address) < end);
    program.segments[..after].last().is_some_and(|segment| {
        u64::from(segment.address) + segment.bytes.len() as u64 > u64::from(address)
    })
}

/// Bytes of SRAM that a tile's code, data, operands and traffic cover in all iterations, each byte
/// counted once.
pub(crate) fn footprint(program: &Program<'_>) -> Vec<Bytes> {
    let package = program.package;
    let mut ranges: Vec<Ranges> = vec![Vec::new(); package.tiles.len()];
    let counts = iteration::counts(&package.schedule);
    for (item, &iterations) in program.flat.iter().zip(&counts) {
        match *item {
            FlatItem::Exchange(index) => {
                let exchange = &package.exchanges[index as usize];
                for iteration in 0..distinct(!exchange.source_steps.is_empty(), iterations) {
                    add_traffic(&iteration::deliveries(exchange, iteration), &mut ranges);
                }
            }
            FlatItem::Compute(phase) => {
                for (tile, ranges) in ranges.iter_mut().enumerate() {
                    for call in program.call_range(tile, phase) {
                        add_operands(program, tile, call, iterations, ranges);
                    }
                }
            }
        }
    }
    for (tile, ranges) in package.tiles.iter().zip(&mut ranges) {
        let code = tile.segments.iter();
        ranges.extend(code.map(|segment| range(segment.address, segment.bytes.len() as u64)));
        let zeros = tile.zero_ranges.iter();
        ranges.extend(zeros.map(|zero| range(zero.address, u64::from(zero.bytes))));
    }
    for allocation in &package.allocations {
        let MemoryRange { address, bytes } = allocation.range;
        ranges[allocation.tile.index()].push(range(address, u64::from(bytes)));
    }
    ranges.into_par_iter().map(covered).collect()
}

/// Half-open byte ranges.
type Ranges = Vec<(u64, u64)>;

fn range(address: Address, bytes: u64) -> (u64, u64) {
    (u64::from(address), u64::from(address) + bytes)
}

/// Iterations that differ from each other.
const fn distinct(is_moving: bool, iterations: u32) -> u32 {
    if is_moving { iterations } else { 1 }
}

fn add_traffic(deliveries: &[Delivery], ranges: &mut [Ranges]) {
    for delivery in deliveries {
        let bytes = u64::from(delivery.bytes);
        ranges[delivery.source.index()].push(range(delivery.source_address, bytes));
        for &(tile, address) in &delivery.destinations {
            ranges[tile.index()].push(range(address, bytes));
        }
    }
}

fn add_operands(
    program: &Program<'_>,
    tile: usize,
    call: usize,
    iterations: u32,
    ranges: &mut Ranges,
) {
    let own = &program.package.tiles[tile];
    let template = &program.package.call_templates[own.calls[call].template as usize];
    let operands = kernels::operands(&template.kernel);
    for iteration in 0..distinct(iteration::is_moving(own, call), iterations) {
        let addresses = iteration::operands(own, call, iteration);
        for (operand, &address) in operands.iter().zip(addresses.iter()) {
            ranges.push(range(address, operand.bytes));
        }
    }
}

fn covered(mut ranges: Ranges) -> Bytes {
    ranges.sort_unstable();
    let (mut total, mut end) = (0, 0);
    for (first, last) in ranges {
        total += last.saturating_sub(first.max(end));
        end = end.max(last);
    }
    Bytes::new(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_count_exchanges() {
        use FlatItem::{Compute, Exchange};
        assert_eq!(
            epochs(&[Exchange(0), Compute(0), Compute(1), Exchange(1)]),
            [0, 0, 0, 1]
        );
        assert_eq!(epochs(&[Compute(0), Exchange(0), Compute(1)]), [0, 1, 1]);
    }

    #[test]
    fn covered_bytes_count_once() {
        assert_eq!(
            covered(vec![(10, 20), (0, 5), (15, 18), (18, 30)]),
            Bytes::new(25)
        );
    }
}
