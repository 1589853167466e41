//! What makes a package well formed: indices, extents, ranges, orders and bounds.
//!
//! Package in, first violation out. Rules of the machine that depend on what runs when (element
//! conflicts, windows, initialisation) are the simulator's, and are faults there.

use super::model::{AffinePattern, Binding, Exchange, Fill, Package, ScheduleItem, Tensor};
use super::{MAX_ELEMENTS, MAX_EXECUTED_ITEMS, MAX_PATTERN_LOOPS, MAX_REPEAT_DEPTH};
use super::{PackageError, validate_tile};

/// Tiles of the device. Published C600 measurement.
const DEVICE_TILES: u32 = 1472;
/// First byte of a tile's SRAM. Vendor memory map.
pub(super) const SRAM_BASE: u32 = 0x4_C000;
/// One past the last byte of a tile's SRAM. Vendor memory map.
pub(super) const SRAM_END: u32 = 0xE_8000;

pub(super) type Done = Result<(), PackageError>;

/// Checks every index, extent, address and order in the package.
///
/// # Errors
///
/// The first violation in package order.
pub fn validate(package: &Package) -> Result<(), PackageError> {
    target(package)?;
    for (index, value) in package.tensors.iter().enumerate() {
        let place = || format!("tensor {index} ({})", value.name);
        tensor(value).or_else(|what| invalid(place(), what))?;
        fits(package, value).or_else(|what| invalid(place(), what))?;
    }
    for (index, value) in package.patterns.iter().enumerate() {
        pattern(value).or_else(|what| invalid(format!("pattern {index}"), what))?;
    }
    for (index, value) in package.bindings.iter().enumerate() {
        binding(package, value).or_else(|what| invalid(format!("binding {index}"), what))?;
    }
    flatten(package)?;
    for (index, value) in package.exchanges.iter().enumerate() {
        exchange(package, value).or_else(|what| invalid(format!("exchange {index}"), what))?;
    }
    for (index, template) in package.call_templates.iter().enumerate() {
        if let Some(what) = crate::kernels::extent_error(&template.kernel) {
            return invalid(format!("call template {index} ({})", template.symbol), what);
        }
    }
    for (index, tile) in package.tiles.iter().enumerate() {
        validate_tile::tile(package, index, tile)?;
    }
    for (index, allocation) in package.allocations.iter().enumerate() {
        let ok = allocation.tile.index() < package.tiles.len()
            && in_sram(allocation.range.address, u64::from(allocation.range.bytes))
            && allocation.first <= allocation.last;
        if !ok {
            let what = format!("{allocation:?} has no such tile, range or lifetime");
            return invalid(format!("allocation {index}"), what);
        }
    }
    Ok(())
}

/// One item of the flattened schedule: where it stands and what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatItem {
    /// Exchange with this index.
    Exchange(u32),
    /// Compute phase with this index.
    Compute(u32),
}

/// The schedule as a list, every Repeat body once, in order.
///
/// Positions in this list are the phase numbers of profiles and the lifetimes of allocations.
///
/// # Errors
///
/// An index without a target, an empty or endless Repeat, or more executed items than a run may
/// have.
pub fn flatten(package: &Package) -> Result<Vec<FlatItem>, PackageError> {
    let mut flat = Vec::new();
    let executed = items(package, &package.schedule, 0, &mut flat)?;
    if executed > MAX_EXECUTED_ITEMS {
        return Err(PackageError::TooLarge {
            what: "executed schedule items",
            count: executed,
            limit: MAX_EXECUTED_ITEMS,
        });
    }
    Ok(flat)
}

/// Flattens a list of items; the executed count saturates.
fn items(
    package: &Package,
    list: &[ScheduleItem],
    depth: u32,
    flat: &mut Vec<FlatItem>,
) -> Result<u64, PackageError> {
    let mut executed = 0_u64;
    for item in list {
        let place = || format!("schedule item {}", flat.len());
        let more = match item {
            ScheduleItem::Exchange(index) if (*index as usize) < package.exchanges.len() => {
                flat.push(FlatItem::Exchange(*index));
                1
            }
            ScheduleItem::Compute(index) if (*index as usize) < package.compute_phases.len() => {
                flat.push(FlatItem::Compute(*index));
                1
            }
            ScheduleItem::Exchange(index) => {
                return invalid(place(), format!("there is no exchange {index}"));
            }
            ScheduleItem::Compute(index) => {
                return invalid(place(), format!("there is no compute phase {index}"));
            }
            ScheduleItem::Repeat { count, body } => {
                if *count == 0 || body.is_empty() {
                    return invalid(place(), "a repeat without iterations or body".to_owned());
                }
                if depth >= MAX_REPEAT_DEPTH {
                    let what = format!("repeats nest deeper than {MAX_REPEAT_DEPTH}");
                    return invalid(place(), what);
                }
                items(package, body, depth + 1, flat)?.saturating_mul(u64::from(*count))
            }
        };
        executed = executed.saturating_add(more);
    }
    Ok(executed)
}

fn target(package: &Package) -> Done {
    let target = &package.target;
    let tiles = package.tiles.len();
    if target.machine != "ipu21" {
        return invalid(
            "target".to_owned(),
            format!("machine \"{}\" is not ipu21", target.machine),
        );
    }
    if target.clock_hz == 0 {
        return invalid("target".to_owned(), "the clock is 0 Hz".to_owned());
    }
    if tiles == 0 || tiles > DEVICE_TILES as usize || target.tile_mapping.len() != tiles {
        let what = format!(
            "{tiles} tile programs and {} mapped tiles; both must be the same, 1 to {DEVICE_TILES}",
            target.tile_mapping.len()
        );
        return invalid("target".to_owned(), what);
    }
    let mut used = vec![false; DEVICE_TILES as usize];
    for (logical, physical) in target.tile_mapping.iter().enumerate() {
        match used.get_mut(physical.index()) {
            Some(seen) if !*seen => *seen = true,
            Some(_) | None => {
                let what = format!("physical tile {physical} is taken or does not exist");
                return invalid(format!("tile mapping of tile {logical}"), what);
            }
        }
    }
    Ok(())
}

fn tensor(tensor: &Tensor) -> Result<(), String> {
    let elements = tensor
        .shape
        .iter()
        .try_fold(1_u64, |product, &axis| product.checked_mul(axis));
    if !elements.is_some_and(|count| (1..=MAX_ELEMENTS).contains(&count)) {
        return Err(format!(
            "shape {:?} has no 1 to {MAX_ELEMENTS} elements",
            tensor.shape
        ));
    }
    let axes = tensor.shape.len();
    match tensor.fill {
        Fill::Constant(value) | Fill::Gaussian { sigma: value, .. } if !value.is_finite() => {
            Err(format!("fill {:?} is not finite", tensor.fill))
        }
        Fill::OneHot { .. } | Fill::Cycle { .. } if axes < 2 => Err(format!(
            "fill {:?} needs two axes, shape is {:?}",
            tensor.fill, tensor.shape
        )),
        Fill::Constant(_) | Fill::Gaussian { .. } | Fill::OneHot { .. } | Fill::Cycle { .. } => {
            Ok(())
        }
    }
}

/// Every element of a tensor has a place on some tile, so the host never makes more than fits.
fn fits(package: &Package, tensor: &Tensor) -> Result<(), String> {
    let bytes = tensor
        .elements()
        .saturating_mul(u64::from(tensor.dtype.bytes()));
    let tiles = package.tiles.len() as u64;
    let room = tiles * u64::from(SRAM_END - SRAM_BASE);
    if bytes <= room {
        return Ok(());
    }
    Err(format!(
        "{bytes} bytes are more than the {room} that {tiles} tiles have"
    ))
}

fn pattern(pattern: &AffinePattern) -> Result<(), String> {
    if pattern.loops.len() > MAX_PATTERN_LOOPS {
        return Err(format!(
            "{} loops, more than {MAX_PATTERN_LOOPS}",
            pattern.loops.len()
        ));
    }
    let elements = pattern.loops.iter().fold(1_u64, |product, level| {
        product.saturating_mul(u64::from(level.count))
    });
    let limit = u64::from(SRAM_END - SRAM_BASE);
    if (1..=limit).contains(&elements) {
        return Ok(());
    }
    Err(format!("{elements} elements, not 1 to {limit}"))
}

/// Smallest and largest offset that a pattern reaches, in tensor elements and in SRAM bytes.
fn reach(pattern: &AffinePattern) -> ((i128, i128), (i128, i128)) {
    let (mut element, mut byte) = ((0_i128, 0_i128), (0_i128, 0_i128));
    let widen = |range: &mut (i128, i128), distance: i128| {
        range.0 += distance.min(0);
        range.1 += distance.max(0);
    };
    for level in &pattern.loops {
        let last = i128::from(level.count) - 1;
        widen(&mut element, last * i128::from(level.tensor_stride));
        widen(&mut byte, last * i128::from(level.memory_stride));
    }
    (element, byte)
}

fn binding(package: &Package, binding: &Binding) -> Result<(), String> {
    let tensor = package
        .tensors
        .get(binding.tensor as usize)
        .ok_or_else(|| format!("there is no tensor {}", binding.tensor))?;
    let pattern = package
        .patterns
        .get(binding.pattern as usize)
        .ok_or_else(|| format!("there is no pattern {}", binding.pattern))?;
    if binding.tile.index() >= package.tiles.len() {
        return Err(format!("there is no tile {}", binding.tile));
    }
    let (element, byte) = reach(pattern);
    let first = i128::from(binding.element);
    if first + element.0 < 0 || first + element.1 >= i128::from(tensor.elements()) {
        return Err(format!(
            "elements {}..={} of {} leave its {} elements",
            first + element.0,
            first + element.1,
            tensor.name,
            tensor.elements()
        ));
    }
    let size = tensor.dtype.bytes();
    let address = i128::from(binding.address);
    let end = address + byte.1 + i128::from(size);
    if address + byte.0 < i128::from(SRAM_BASE) || end > i128::from(SRAM_END) {
        return Err(format!(
            "bytes {:#x}..{end:#x} leave SRAM",
            address + byte.0
        ));
    }
    let aligned = |value: i64| value.rem_euclid(i64::from(size)) == 0;
    let strides = pattern
        .loops
        .iter()
        .all(|level| aligned(i64::from(level.memory_stride)));
    if !aligned(i64::from(binding.address)) || !strides {
        return Err(format!(
            "addresses from {:#x} are not {size}-byte aligned",
            binding.address
        ));
    }
    Ok(())
}

fn exchange(package: &Package, exchange: &Exchange) -> Result<(), String> {
    let word_range = |address: u32, bytes: u32| {
        in_sram(address, u64::from(bytes))
            && address.is_multiple_of(4)
            && bytes.is_multiple_of(4)
            && bytes > 0
    };
    for (index, delivery) in exchange.deliveries.iter().enumerate() {
        let bytes = delivery.bytes;
        let tile_exists = |tile: usize| tile < package.tiles.len();
        let source = word_range(delivery.source_address, bytes);
        if !tile_exists(delivery.source.index()) || !source || delivery.destinations.is_empty() {
            return Err(format!(
                "delivery {index} of {bytes} bytes from tile {} address {:#x} to {} tiles",
                delivery.source,
                delivery.source_address,
                delivery.destinations.len()
            ));
        }
        for &(tile, address) in &delivery.destinations {
            if !tile_exists(tile.index()) || !word_range(address, bytes) {
                return Err(format!(
                    "delivery {index} of {bytes} bytes to tile {tile} address {address:#x}"
                ));
            }
        }
    }
    source_steps(exchange)
}

fn source_steps(exchange: &Exchange) -> Result<(), String> {
    let steps = &exchange.source_steps;
    let sorted = steps
        .windows(2)
        .all(|pair| pair[0].delivery < pair[1].delivery);
    let deliveries = exchange.deliveries.len();
    let wrong = steps
        .iter()
        .find(|step| step.delivery as usize >= deliveries || step.bytes % 4 != 0);
    match wrong {
        Some(step) => Err(format!(
            "{step:?} names none of {deliveries} deliveries or is no multiple of 4 bytes"
        )),
        None if sorted => Ok(()),
        None => Err("source steps are not sorted by delivery".to_owned()),
    }
}

/// Whether all bytes of a range are SRAM.
pub(super) fn in_sram(address: u32, bytes: u64) -> bool {
    address >= SRAM_BASE && u64::from(address).saturating_add(bytes) <= u64::from(SRAM_END)
}

pub(super) fn invalid<T>(place: String, what: String) -> Result<T, PackageError> {
    Err(PackageError::Invalid { place, what })
}
