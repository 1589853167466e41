//! A package made ready to run: flattened schedule, calls by phase, costs, and the rules that need
//! no data.

use analytics::units::{Bytes, Cycles, TileId};
use rayon::prelude::*;

use super::{RunError, RunOptions};
use crate::fault::{Fault, FaultRule};
use crate::kernels::{self, Access, Basis, Generation};
use crate::machine::topology::Topology;
use crate::package::{Address, Call, FlatItem, Package, TileProgram, flatten, validate};

/// A validated package with everything that does not change while it runs.
pub(crate) struct Program<'a> {
    pub(crate) package: &'a Package,
    pub(crate) topology: Topology,
    pub(crate) flat: Vec<FlatItem>,
    pub(crate) generation: Generation,
    /// Cost of one call of each template.
    costs: Vec<Cycles>,
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
        let costs = package
            .call_templates
            .iter()
            .map(|template| kernels::cycles(&template.kernel, generation))
            .collect();
        let program = Self {
            package,
            topology,
            epochs: epochs(&flat),
            flat,
            generation,
            costs,
        };
        program.check_assumed(options)?;
        program.check_calls()?;
        Ok(program)
    }

    /// The calls of a tile in a compute phase, in program order.
    pub(crate) fn calls(&self, tile: usize, phase: u32) -> &'a [Call] {
        let calls = self.package.tiles[tile].calls.as_slice();
        let first = calls.partition_point(|call| call.phase < phase);
        let length = calls[first..].partition_point(|call| call.phase == phase);
        &calls[first..first + length]
    }

    /// Cycles of one call.
    pub(crate) fn cost(&self, call: &Call) -> Cycles {
        self.costs[call.template as usize]
    }

    /// The exchange epoch of a flat position.
    pub(crate) fn epoch(&self, position: u32) -> u32 {
        self.epochs.get(position as usize).copied().unwrap_or(0)
    }

    /// Symbols of the kernels whose cost has this basis, sorted.
    pub(crate) fn kernels_of(&self, basis: Basis) -> Vec<&'a str> {
        let templates = self.package.call_templates.iter();
        let such = templates
            .filter(|t| kernels::basis(&t.kernel, self.generation) == basis)
            .map(|t| t.symbol.as_str());
        let mut symbols: Vec<&str> = such.collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols
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

    /// Every call in schedule order, then tile order: the first that breaks a rule.
    fn check_calls(&self) -> Result<(), Fault> {
        for (position, item) in (0..).zip(&self.flat) {
            let FlatItem::Compute(phase) = *item else {
                continue;
            };
            let first = (0..self.package.tiles.len())
                .into_par_iter()
                .filter_map(|tile| {
                    self.check_tile(tile, phase)
                        .err()
                        .map(|fault| (tile, fault))
                })
                .min_by_key(|&(tile, _)| tile);
            if let Some((_, fault)) = first {
                return Err(fault.in_phase(position));
            }
        }
        Ok(())
    }

    fn check_tile(&self, tile: usize, phase: u32) -> Result<(), Fault> {
        let program = &self.package.tiles[tile];
        for call in self.calls(tile, phase) {
            let template = &self.package.call_templates[call.template as usize];
            let fault = |rule, address: Address, detail: String| {
                let detail = format!("{}: {detail}", template.symbol);
                Fault::new(rule, tile_id(tile), detail).at_address(address)
            };
            kernels::check_operands(&template.kernel, &call.operands)
                .map_err(|v| fault(v.rule, v.address, v.detail))?;
            for (operand, &address) in kernels::operands(&template.kernel)
                .iter()
                .zip(&call.operands)
            {
                let writes = operand.access != Access::Read;
                if writes && overlaps_code(program, address, operand.bytes) {
                    let detail = format!("operand {} overwrites loaded code", operand.name);
                    return Err(fault(FaultRule::CodeOverwrite, address, detail));
                }
            }
        }
        Ok(())
    }
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

/// Bytes of SRAM that a tile's code, data, operands and traffic cover, each byte counted once.
pub(crate) fn footprint(package: &Package) -> Vec<Bytes> {
    let mut ranges: Vec<Vec<(u64, u64)>> = vec![Vec::new(); package.tiles.len()];
    let mut add = |tile: usize, address: Address, bytes: u64| {
        ranges[tile].push((u64::from(address), u64::from(address) + bytes));
    };
    for (tile, program) in package.tiles.iter().enumerate() {
        for segment in &program.segments {
            add(tile, segment.address, segment.bytes.len() as u64);
        }
        for range in &program.zero_ranges {
            add(tile, range.address, u64::from(range.bytes));
        }
        for call in &program.calls {
            let spec = &package.call_templates[call.template as usize].kernel;
            for (operand, &address) in kernels::operands(spec).iter().zip(&call.operands) {
                add(tile, address, operand.bytes);
            }
        }
    }
    for delivery in package
        .exchanges
        .iter()
        .flat_map(|exchange| &exchange.deliveries)
    {
        add(
            delivery.source.index(),
            delivery.source_address,
            u64::from(delivery.bytes),
        );
        for &(tile, address) in &delivery.destinations {
            add(tile.index(), address, u64::from(delivery.bytes));
        }
    }
    for allocation in &package.allocations {
        let range = allocation.range;
        add(
            allocation.tile.index(),
            range.address,
            u64::from(range.bytes),
        );
    }
    ranges.into_par_iter().map(covered).collect()
}

fn covered(mut ranges: Vec<(u64, u64)>) -> Bytes {
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
