//! Bytes to a package. Every count is bounded by the bytes that carry it or by a limit by name.

use analytics::memory::package_capnp as schema;
use analytics::profile::WorkEstimate;
use analytics::units::{PhysicalTile, TileId, Work};
use capnp::message::ReaderOptions;

use super::column::{decode_as, narrow};
use super::delivery_runs::{Run, expand};
use super::kernel_read::{self, class};
use super::model::{
    AffineLoop, AffinePattern, Allocation, Binding, CallTemplate, ComputePhase, DType, Delivery,
    Exchange, Fill, Manifest, MemoryRange, Package, ScheduleItem, SourceStep, Target, Tensor,
    TensorRole,
};
use super::read_tile::tile;
use super::text::Texts;
use super::{FORMAT_MAJOR, MAGIC, MAX_DESTINATIONS, PackageError};

/// Pointers that may nest: the root, a schedule of the allowed depth, and room.
const NESTING: i32 = 64;

pub(super) type Read<T> = Result<T, PackageError>;

impl From<capnp::Error> for PackageError {
    fn from(error: capnp::Error) -> Self {
        Self::Malformed {
            what: error.to_string(),
        }
    }
}

impl From<capnp::NotInSchema> for PackageError {
    fn from(error: capnp::NotInSchema) -> Self {
        Self::Malformed {
            what: error.to_string(),
        }
    }
}

impl From<std::str::Utf8Error> for PackageError {
    fn from(error: std::str::Utf8Error) -> Self {
        Self::Malformed {
            what: format!("text is not UTF-8: {error}"),
        }
    }
}

/// Decodes a package without checking its rules.
pub(super) fn read(bytes: &[u8]) -> Read<Package> {
    let mut options = ReaderOptions::new();
    // Each byte may be visited more than once, but not without end.
    options
        .traversal_limit_in_words(Some(bytes.len() + (1 << 16)))
        .nesting_limit(NESTING);
    let mut rest = bytes;
    let message = capnp::serialize::read_message_from_flat_slice(&mut rest, options)?;
    if !rest.is_empty() {
        let what = format!("{} bytes follow the message", rest.len());
        return Err(PackageError::Malformed { what });
    }
    let root: schema::package::Reader<'_> = message.get_root()?;
    if root.get_magic() != MAGIC {
        let what = format!("its first word is {:#018x}", root.get_magic());
        return Err(PackageError::Malformed { what });
    }
    let major = root.get_format_major();
    if major > FORMAT_MAJOR {
        let (major, supported) = (u32::from(major), u32::from(FORMAT_MAJOR));
        return Err(PackageError::TooNew { major, supported });
    }
    package(root)
}

fn package(root: schema::package::Reader<'_>) -> Read<Package> {
    let texts = Texts(root.get_strings()?.iter().map(owned).collect::<Read<_>>()?);
    let mut room = MAX_DESTINATIONS;
    let call_templates: Vec<CallTemplate> = root
        .get_call_templates()?
        .iter()
        .map(|t| template(t, &texts))
        .collect::<Read<_>>()?;
    let exchanges = root.get_exchanges()?.iter();
    Ok(Package {
        target: target(root.get_target()?, root.get_tiles()?.len())?,
        manifest: manifest(root.get_manifest()?)?,
        tensors: root
            .get_tensors()?
            .iter()
            .map(tensor)
            .collect::<Read<_>>()?,
        patterns: root
            .get_patterns()?
            .iter()
            .map(pattern)
            .collect::<Read<_>>()?,
        bindings: bindings(root.get_bindings()?)?,
        schedule: schedule(root.get_schedule()?)?,
        exchanges: exchanges
            .map(|e| exchange(e, &texts, &mut room))
            .collect::<Read<_>>()?,
        compute_phases: compute_phases(root.get_compute_phases()?, &texts)?,
        tiles: root
            .get_tiles()?
            .iter()
            .map(|t| tile(t, &call_templates))
            .collect::<Read<_>>()?,
        call_templates,
        allocations: allocations(root.get_allocations()?, &texts)?,
    })
}

fn owned(text: capnp::Result<capnp::text::Reader<'_>>) -> Read<String> {
    Ok(text?.to_str()?.to_owned())
}

fn target(target: schema::target::Reader<'_>, tiles: u32) -> Read<Target> {
    let mapping: Vec<u32> = decode_as(target.get_tile_mapping()?, tiles, "tileMapping")?;
    Ok(Target {
        machine: owned(target.get_machine())?,
        clock_hz: target.get_clock_hz(),
        tile_mapping: mapping.into_iter().map(PhysicalTile::new).collect(),
    })
}

fn manifest(manifest: schema::manifest::Reader<'_>) -> Read<Manifest> {
    let pair = |pair: schema::pair::Reader<'_>| -> Read<(String, String)> {
        Ok((owned(pair.get_name())?, owned(pair.get_value())?))
    };
    Ok(Manifest {
        compiler_version: owned(manifest.get_compiler_version())?,
        workload: owned(manifest.get_workload())?,
        graph: owned(manifest.get_graph())?,
        flags: manifest
            .get_flags()?
            .iter()
            .map(pair)
            .collect::<Read<_>>()?,
        plan: manifest
            .get_plan()?
            .iter()
            .map(owned)
            .collect::<Read<_>>()?,
        kernel_generation: owned(manifest.get_kernel_generation())?,
        host_bytes: manifest.get_host_bytes(),
        replicated_host_bytes: manifest.get_replicated_host_bytes(),
    })
}

fn tensor(tensor: schema::tensor::Reader<'_>) -> Read<Tensor> {
    use schema::tensor::fill::Which;
    Ok(Tensor {
        name: owned(tensor.get_name())?,
        dtype: match tensor.get_dtype()? {
            schema::DType::F16 => DType::F16,
            schema::DType::F32 => DType::F32,
            schema::DType::F143 => DType::F143,
        },
        shape: tensor.get_shape()?.iter().collect(),
        role: match tensor.get_role()? {
            schema::TensorRole::Input => TensorRole::Input,
            schema::TensorRole::Parameter => TensorRole::Parameter,
            schema::TensorRole::Output => TensorRole::Output,
        },
        fill: match tensor.get_fill().which()? {
            Which::Constant(value) => Fill::Constant(value),
            Which::Gaussian(g) => Fill::Gaussian {
                seed: g.get_seed(),
                sigma: g.get_sigma(),
            },
            Which::OneHotBatchStep(batch_step) => Fill::OneHot { batch_step },
            Which::CycleRowStep(row_step) => Fill::Cycle { row_step },
        },
    })
}

fn pattern(pattern: schema::pattern::Reader<'_>) -> Read<AffinePattern> {
    let n = pattern.get_count();
    let counts: Vec<u32> = decode_as(pattern.get_counts()?, n, "counts")?;
    let tensor: Vec<i64> = decode_as(pattern.get_tensor_strides()?, n, "tensorStrides")?;
    let memory: Vec<i32> = decode_as(pattern.get_memory_strides()?, n, "memoryStrides")?;
    let strides = tensor.into_iter().zip(memory);
    let loops = counts
        .into_iter()
        .zip(strides)
        .map(|(count, (tensor_stride, memory_stride))| AffineLoop {
            count,
            tensor_stride,
            memory_stride,
        });
    Ok(AffinePattern {
        loops: loops.collect(),
    })
}

fn bindings(columns: schema::bindings::Reader<'_>) -> Read<Vec<Binding>> {
    let n = columns.get_count();
    let tensors: Vec<u32> = decode_as(columns.get_tensors()?, n, "bindings.tensors")?;
    let tiles: Vec<u16> = decode_as(columns.get_tiles()?, n, "bindings.tiles")?;
    let addresses: Vec<u32> = decode_as(columns.get_addresses()?, n, "bindings.addresses")?;
    let elements: Vec<u64> = decode_as(columns.get_elements()?, n, "bindings.elements")?;
    let patterns: Vec<u32> = decode_as(columns.get_patterns()?, n, "bindings.patterns")?;
    let binding = |i: usize| Binding {
        tensor: tensors[i],
        tile: TileId::new(tiles[i]),
        address: addresses[i],
        element: elements[i],
        pattern: patterns[i],
    };
    Ok((0..n as usize).map(binding).collect())
}

fn schedule(
    items: capnp::struct_list::Reader<'_, schema::schedule_item::Owned>,
) -> Read<Vec<ScheduleItem>> {
    use schema::schedule_item::Which;
    let item = |item: schema::schedule_item::Reader<'_>| -> Read<ScheduleItem> {
        Ok(match item.which()? {
            Which::Exchange(index) => ScheduleItem::Exchange(index),
            Which::Compute(index) => ScheduleItem::Compute(index),
            Which::Repeat(repeat) => {
                let repeat = repeat?;
                let body = schedule(repeat.get_body()?)?;
                ScheduleItem::Repeat {
                    count: repeat.get_count(),
                    body,
                }
            }
        })
    };
    items.iter().map(item).collect()
}

fn exchange(
    exchange: schema::exchange::Reader<'_>,
    texts: &Texts,
    room: &mut u64,
) -> Read<Exchange> {
    let n = exchange.get_step_count();
    let moved: Vec<u32> = decode_as(exchange.get_step_deliveries()?, n, "stepDeliveries")?;
    let bytes: Vec<i32> = decode_as(exchange.get_step_bytes()?, n, "stepBytes")?;
    let steps = moved.into_iter().zip(bytes);
    Ok(Exchange {
        operation: texts.get(exchange.get_operation())?,
        region: texts.get(exchange.get_region())?,
        event_cycles: exchange.get_event_cycles(),
        deliveries: deliveries(exchange.get_deliveries()?, room)?,
        source_steps: steps
            .map(|(delivery, bytes)| SourceStep { delivery, bytes })
            .collect(),
    })
}

fn runs(columns: schema::deliveries::Reader<'_>) -> Read<Vec<Run>> {
    let n = columns.get_total_runs();
    let lengths: Vec<u32> = decode_as(columns.get_run_lengths()?, n, "runLengths")?;
    let tiles: Vec<i64> = decode_as(columns.get_run_tiles()?, n, "runTiles")?;
    let tile_steps: Vec<i64> = decode_as(columns.get_run_tile_steps()?, n, "runTileSteps")?;
    let addresses: Vec<i64> = decode_as(columns.get_run_addresses()?, n, "runAddresses")?;
    let steps: Vec<i64> = decode_as(columns.get_run_address_steps()?, n, "runAddressSteps")?;
    let run = |i: usize| Run {
        length: lengths[i],
        tile: tiles[i],
        tile_step: tile_steps[i],
        address: addresses[i],
        address_step: steps[i],
    };
    Ok((0..n as usize).map(run).collect())
}

fn deliveries(columns: schema::deliveries::Reader<'_>, room: &mut u64) -> Read<Vec<Delivery>> {
    let n = columns.get_count();
    let sources: Vec<u16> = decode_as(columns.get_sources()?, n, "sources")?;
    let addresses: Vec<u32> = decode_as(columns.get_source_addresses()?, n, "sourceAddresses")?;
    let bytes: Vec<u32> = decode_as(columns.get_bytes()?, n, "deliveries.bytes")?;
    let counts: Vec<u32> = decode_as(columns.get_run_counts()?, n, "runCounts")?;
    let runs = runs(columns)?;
    let mut rest = runs.as_slice();
    let mut list = Vec::with_capacity(n as usize);
    for i in 0..n as usize {
        let (own, tail) =
            rest.split_at_checked(counts[i] as usize)
                .ok_or_else(|| PackageError::Malformed {
                    what: format!("delivery {i} has more runs than there are"),
                })?;
        rest = tail;
        let total: u64 = own.iter().map(|run| u64::from(run.length)).sum();
        *room = room.checked_sub(total).ok_or(PackageError::TooLarge {
            what: "delivery destinations",
            count: MAX_DESTINATIONS.saturating_add(total),
            limit: MAX_DESTINATIONS,
        })?;
        let mut destinations = Vec::with_capacity(narrow(total.cast_signed(), "runLengths")?);
        for run in own {
            expand(run, &mut destinations)?;
        }
        list.push(Delivery {
            source: TileId::new(sources[i]),
            source_address: addresses[i],
            bytes: bytes[i],
            destinations,
        });
    }
    if rest.is_empty() {
        return Ok(list);
    }
    Err(PackageError::Malformed {
        what: format!("{} delivery runs belong to none", rest.len()),
    })
}

fn compute_phases(
    columns: schema::compute_phases::Reader<'_>,
    texts: &Texts,
) -> Read<Vec<ComputePhase>> {
    let n = columns.get_count();
    let operations: Vec<u32> = decode_as(columns.get_operations()?, n, "operations")?;
    let roles: Vec<u32> = decode_as(columns.get_roles()?, n, "roles")?;
    let regions: Vec<u32> = decode_as(columns.get_regions()?, n, "regions")?;
    let phase = |i: usize| -> Read<ComputePhase> {
        Ok(ComputePhase {
            operation: texts.get(operations[i])?,
            role: texts.get(roles[i])?,
            region: texts.get(regions[i])?,
        })
    };
    (0..n as usize).map(phase).collect()
}

fn template(template: schema::call_template::Reader<'_>, texts: &Texts) -> Read<CallTemplate> {
    let n = template.get_metadata_count();
    let names: Vec<u32> = decode_as(template.get_metadata_names()?, n, "metadataNames")?;
    let values: Vec<u32> = decode_as(template.get_metadata_values()?, n, "metadataValues")?;
    let pairs = names.into_iter().zip(values);
    let pair = |(name, value)| -> Read<_> { Ok((texts.get(name)?, texts.get(value)?)) };
    let estimate = if template.has_estimate() {
        let estimate = template.get_estimate()?;
        Some(WorkEstimate {
            useful: Work::from_256ths(estimate.get_useful()),
            physical: Work::from_256ths(estimate.get_physical()),
            basis: texts.get(estimate.get_basis())?,
        })
    } else {
        None
    };
    Ok(CallTemplate {
        kernel: kernel_read::kernel(template.get_kernel())?,
        symbol: texts.get(template.get_symbol())?,
        metadata: pairs.map(pair).collect::<Read<_>>()?,
        estimate,
    })
}

fn allocations(columns: schema::allocations::Reader<'_>, texts: &Texts) -> Read<Vec<Allocation>> {
    let n = columns.get_count();
    let tiles: Vec<u16> = decode_as(columns.get_tiles()?, n, "allocations.tiles")?;
    let addresses: Vec<u32> = decode_as(columns.get_addresses()?, n, "allocations.addresses")?;
    let bytes: Vec<u32> = decode_as(columns.get_bytes()?, n, "allocations.bytes")?;
    let classes: Vec<u16> = decode_as(columns.get_classes()?, n, "classes")?;
    let labels: Vec<u32> = decode_as(columns.get_labels()?, n, "labels")?;
    let firsts: Vec<u32> = decode_as(columns.get_firsts()?, n, "firsts")?;
    let lasts: Vec<u32> = decode_as(columns.get_lasts()?, n, "lasts")?;
    let allocation = |i: usize| -> Read<Allocation> {
        Ok(Allocation {
            tile: TileId::new(tiles[i]),
            range: MemoryRange {
                address: addresses[i],
                bytes: bytes[i],
            },
            class: class(schema::MemoryClass::try_from(classes[i])?),
            label: texts.get(labels[i])?,
            first: firsts[i],
            last: lasts[i],
        })
    };
    (0..n as usize).map(allocation).collect()
}
