//! A package to its bytes.

use analytics::memory::package_capnp as schema;
use capnp::message::{Builder, HeapAllocator};

use super::column::encode;
use super::delivery_runs::{Run, split};
use super::kernel_write::{self, class};
use super::model::{
    Allocation, CallTemplate, Delivery, Exchange, Fill, Manifest, Package, ScheduleItem, Target,
    Tensor, TileProgram,
};
use super::text::Interner;
use super::{DType, FORMAT_MAJOR, FORMAT_MINOR, MAGIC, PackageError, TensorRole};

/// Words of the first segment: enough for most packages to be one segment.
const FIRST_SEGMENT_WORDS: u32 = 1 << 16;

type Done = Result<(), PackageError>;

/// Encodes a valid package.
pub(super) fn write(package: &Package) -> Result<Vec<u8>, PackageError> {
    let allocator = HeapAllocator::new().first_segment_words(FIRST_SEGMENT_WORDS);
    let mut message = Builder::new(allocator);
    let mut texts = Interner::new();
    let mut root: schema::package::Builder<'_> = message.init_root();
    root.set_magic(MAGIC);
    root.set_format_major(FORMAT_MAJOR);
    root.set_format_minor(FORMAT_MINOR);
    target(root.reborrow().init_target(), &package.target);
    manifest(root.reborrow().init_manifest(), &package.manifest)?;
    tensors(&mut root, &package.tensors)?;
    patterns(&mut root, package)?;
    bindings(root.reborrow().init_bindings(), package)?;
    let items = root
        .reborrow()
        .init_schedule(count(package.schedule.len(), "schedule items")?);
    schedule(items, &package.schedule)?;
    let mut exchanges = root
        .reborrow()
        .init_exchanges(count(package.exchanges.len(), "exchanges")?);
    for (index, value) in (0..).zip(&package.exchanges) {
        exchange(exchanges.reborrow().get(index), value, &mut texts)?;
    }
    compute_phases(root.reborrow().init_compute_phases(), package, &mut texts)?;
    let mut templates = root
        .reborrow()
        .init_call_templates(count(package.call_templates.len(), "templates")?);
    for (index, value) in (0..).zip(&package.call_templates) {
        template(templates.reborrow().get(index), value, &mut texts)?;
    }
    let mut tiles = root
        .reborrow()
        .init_tiles(count(package.tiles.len(), "tiles")?);
    for (index, value) in (0..).zip(&package.tiles) {
        tile(tiles.reborrow().get(index), value)?;
    }
    allocations(
        root.reborrow().init_allocations(),
        &package.allocations,
        &mut texts,
    )?;
    let mut strings = root.init_strings(count(texts.texts().len(), "texts")?);
    for (index, text) in (0..).zip(texts.texts()) {
        strings.set(index, *text);
    }
    Ok(capnp::serialize::write_message_to_words(&message))
}

/// A list length that the format can hold: 2^29 − 1 items.
fn count(length: usize, what: &'static str) -> Result<u32, PackageError> {
    const LIMIT: u64 = (1 << 29) - 1;
    let count = length as u64;
    u32::try_from(count)
        .ok()
        .filter(|&small| u64::from(small) <= LIMIT)
        .ok_or(PackageError::TooLarge {
            what,
            count,
            limit: LIMIT,
        })
}

/// The column of one field of many items.
fn column<T>(items: &[T], field: impl Fn(&T) -> i64) -> Vec<u8> {
    encode(items.iter().map(field))
}

fn target(mut out: schema::target::Builder<'_>, target: &Target) {
    out.set_machine(target.machine.as_str());
    out.set_clock_hz(target.clock_hz);
    out.set_tile_mapping(&column(&target.tile_mapping, |tile| i64::from(tile.get())));
}

fn manifest(mut out: schema::manifest::Builder<'_>, manifest: &Manifest) -> Done {
    out.set_compiler_version(manifest.compiler_version.as_str());
    out.set_workload(manifest.workload.as_str());
    out.set_graph(manifest.graph.as_str());
    out.set_kernel_generation(manifest.kernel_generation.as_str());
    out.set_host_bytes(manifest.host_bytes);
    out.set_replicated_host_bytes(manifest.replicated_host_bytes);
    let mut flags = out
        .reborrow()
        .init_flags(count(manifest.flags.len(), "flags")?);
    for (index, (name, value)) in (0..).zip(&manifest.flags) {
        let mut pair = flags.reborrow().get(index);
        pair.set_name(name.as_str());
        pair.set_value(value.as_str());
    }
    let mut plan = out.init_plan(count(manifest.plan.len(), "plan lines")?);
    for (index, line) in (0..).zip(&manifest.plan) {
        plan.set(index, line.as_str());
    }
    Ok(())
}

fn tensors(root: &mut schema::package::Builder<'_>, tensors: &[Tensor]) -> Done {
    let mut list = root
        .reborrow()
        .init_tensors(count(tensors.len(), "tensors")?);
    for (index, tensor) in (0..).zip(tensors) {
        let mut out = list.reborrow().get(index);
        out.set_name(tensor.name.as_str());
        out.set_dtype(match tensor.dtype {
            DType::F16 => schema::DType::F16,
            DType::F32 => schema::DType::F32,
            DType::F143 => schema::DType::F143,
        });
        out.set_role(match tensor.role {
            TensorRole::Input => schema::TensorRole::Input,
            TensorRole::Parameter => schema::TensorRole::Parameter,
            TensorRole::Output => schema::TensorRole::Output,
        });
        let mut shape = out
            .reborrow()
            .init_shape(count(tensor.shape.len(), "axes")?);
        for (axis, &extent) in (0..).zip(&tensor.shape) {
            shape.set(axis, extent);
        }
        let mut fill = out.init_fill();
        match tensor.fill {
            Fill::Constant(value) => fill.set_constant(value),
            Fill::Gaussian { seed, sigma } => {
                let mut gaussian = fill.init_gaussian();
                gaussian.set_seed(seed);
                gaussian.set_sigma(sigma);
            }
            Fill::OneHot { batch_step } => fill.set_one_hot_batch_step(batch_step),
            Fill::Cycle { row_step } => fill.set_cycle_row_step(row_step),
        }
    }
    Ok(())
}

fn patterns(root: &mut schema::package::Builder<'_>, package: &Package) -> Done {
    let mut list = root
        .reborrow()
        .init_patterns(count(package.patterns.len(), "patterns")?);
    for (index, pattern) in (0..).zip(&package.patterns) {
        let mut out = list.reborrow().get(index);
        out.set_count(count(pattern.loops.len(), "pattern loops")?);
        out.set_counts(&column(&pattern.loops, |l| i64::from(l.count)));
        out.set_tensor_strides(&column(&pattern.loops, |l| l.tensor_stride));
        out.set_memory_strides(&column(&pattern.loops, |l| i64::from(l.memory_stride)));
    }
    Ok(())
}

fn bindings(mut out: schema::bindings::Builder<'_>, package: &Package) -> Done {
    let items = &package.bindings;
    out.set_count(count(items.len(), "bindings")?);
    out.set_tensors(&column(items, |b| i64::from(b.tensor)));
    out.set_tiles(&column(items, |b| i64::from(b.tile.get())));
    out.set_addresses(&column(items, |b| i64::from(b.address)));
    out.set_elements(&column(items, |b| b.element.cast_signed()));
    out.set_patterns(&column(items, |b| i64::from(b.pattern)));
    Ok(())
}

fn schedule(
    mut out: capnp::struct_list::Builder<'_, schema::schedule_item::Owned>,
    items: &[ScheduleItem],
) -> Done {
    for (index, item) in (0..).zip(items) {
        let mut slot = out.reborrow().get(index);
        match item {
            ScheduleItem::Exchange(exchange) => slot.set_exchange(*exchange),
            ScheduleItem::Compute(phase) => slot.set_compute(*phase),
            ScheduleItem::Repeat {
                count: iterations,
                body,
            } => {
                let mut repeat = slot.init_repeat();
                repeat.set_count(*iterations);
                schedule(repeat.init_body(count(body.len(), "schedule items")?), body)?;
            }
        }
    }
    Ok(())
}

fn exchange<'a>(
    mut out: schema::exchange::Builder<'_>,
    exchange: &'a Exchange,
    texts: &mut Interner<'a>,
) -> Done {
    out.set_operation(texts.id(&exchange.operation));
    out.set_region(texts.id(&exchange.region));
    out.set_event_cycles(exchange.event_cycles);
    let steps = &exchange.source_steps;
    out.set_step_count(count(steps.len(), "source steps")?);
    out.set_step_deliveries(&column(steps, |s| i64::from(s.delivery)));
    out.set_step_bytes(&column(steps, |s| i64::from(s.bytes)));
    deliveries(out.init_deliveries(), &exchange.deliveries)
}

fn deliveries(mut out: schema::deliveries::Builder<'_>, items: &[Delivery]) -> Done {
    let mut runs: Vec<Run> = Vec::new();
    let mut run_counts = Vec::with_capacity(items.len());
    for delivery in items {
        let before = runs.len();
        split(&delivery.destinations, &mut runs);
        run_counts.push((runs.len() - before) as i64);
    }
    out.set_count(count(items.len(), "deliveries")?);
    out.set_sources(&column(items, |d| i64::from(d.source.get())));
    out.set_source_addresses(&column(items, |d| i64::from(d.source_address)));
    out.set_bytes(&column(items, |d| i64::from(d.bytes)));
    out.set_run_counts(&encode(run_counts));
    out.set_total_runs(count(runs.len(), "delivery runs")?);
    out.set_run_lengths(&column(&runs, |r| i64::from(r.length)));
    out.set_run_tiles(&column(&runs, |r| r.tile));
    out.set_run_tile_steps(&column(&runs, |r| r.tile_step));
    out.set_run_addresses(&column(&runs, |r| r.address));
    out.set_run_address_steps(&column(&runs, |r| r.address_step));
    Ok(())
}

fn compute_phases<'a>(
    mut out: schema::compute_phases::Builder<'_>,
    package: &'a Package,
    texts: &mut Interner<'a>,
) -> Done {
    let items = &package.compute_phases;
    out.set_count(count(items.len(), "compute phases")?);
    out.set_operations(&encode(
        texts.ids(items.iter().map(|p| p.operation.as_str())),
    ));
    out.set_roles(&encode(texts.ids(items.iter().map(|p| p.role.as_str()))));
    out.set_regions(&encode(texts.ids(items.iter().map(|p| p.region.as_str()))));
    Ok(())
}

fn template<'a>(
    mut out: schema::call_template::Builder<'_>,
    template: &'a CallTemplate,
    texts: &mut Interner<'a>,
) -> Done {
    out.set_symbol(texts.id(&template.symbol));
    out.set_metadata_count(count(template.metadata.len(), "metadata pairs")?);
    let names = texts.ids(template.metadata.iter().map(|(name, _)| name.as_str()));
    let values = texts.ids(template.metadata.iter().map(|(_, value)| value.as_str()));
    out.set_metadata_names(&encode(names));
    out.set_metadata_values(&encode(values));
    if let Some(estimate) = &template.estimate {
        let mut slot = out.reborrow().init_estimate();
        slot.set_useful(estimate.useful.get_256ths());
        slot.set_physical(estimate.physical.get_256ths());
        slot.set_basis(texts.id(&estimate.basis));
    }
    kernel_write::kernel(out.init_kernel(), &template.kernel);
    Ok(())
}

fn tile(mut out: schema::tile_program::Builder<'_>, tile: &TileProgram) -> Done {
    let mut segments = out
        .reborrow()
        .init_segments(count(tile.segments.len(), "segments")?);
    for (index, segment) in (0..).zip(&tile.segments) {
        let mut slot = segments.reborrow().get(index);
        slot.set_address(segment.address);
        slot.set_bytes(&segment.bytes);
    }
    out.set_row_count(count(tile.rows.len(), "rows")?);
    out.set_row_exchanges(&column(&tile.rows, |r| i64::from(r.exchange)));
    out.set_row_addresses(&column(&tile.rows, |r| i64::from(r.address)));
    out.set_row_incoming_bases(&column(&tile.rows, |r| i64::from(r.incoming_base)));
    out.set_row_outgoing_bases(&column(&tile.rows, |r| i64::from(r.outgoing_base)));
    out.set_call_count(count(tile.calls.len(), "calls")?);
    out.set_call_phases(&column(&tile.calls, |c| i64::from(c.phase)));
    out.set_call_templates(&column(&tile.calls, |c| i64::from(c.template)));
    let operands: usize = tile.calls.iter().map(|call| call.operands.len()).sum();
    out.set_operand_count(count(operands, "operands")?);
    let addresses = tile.calls.iter().flat_map(|call| &call.operands);
    out.set_call_operands(&encode(addresses.map(|&address| i64::from(address))));
    out.set_zero_count(count(tile.zero_ranges.len(), "zero ranges")?);
    out.set_zero_addresses(&column(&tile.zero_ranges, |r| i64::from(r.address)));
    out.set_zero_bytes(&column(&tile.zero_ranges, |r| i64::from(r.bytes)));
    steps(out, tile)
}

fn steps(mut out: schema::tile_program::Builder<'_>, tile: &TileProgram) -> Done {
    let steps = &tile.operand_steps;
    out.set_operand_step_count(count(steps.len(), "operand steps")?);
    out.set_operand_step_calls(&column(steps, |s| i64::from(s.call)));
    out.set_operand_step_operands(&column(steps, |s| i64::from(s.operand)));
    out.set_operand_step_bytes(&column(steps, |s| i64::from(s.bytes)));
    let patches = &tile.row_patches;
    out.set_patch_count(count(patches.len(), "row patches")?);
    out.set_patch_exchanges(&column(patches, |p| i64::from(p.exchange)));
    out.set_patch_addresses(&column(patches, |p| i64::from(p.address)));
    out.set_patch_steps(&column(patches, |p| i64::from(p.step)));
    Ok(())
}

fn allocations<'a>(
    mut out: schema::allocations::Builder<'_>,
    items: &'a [Allocation],
    texts: &mut Interner<'a>,
) -> Done {
    out.set_count(count(items.len(), "allocations")?);
    out.set_tiles(&column(items, |a| i64::from(a.tile.get())));
    out.set_addresses(&column(items, |a| i64::from(a.range.address)));
    out.set_bytes(&column(items, |a| i64::from(a.range.bytes)));
    out.set_classes(&column(items, |a| i64::from(class(a.class) as u16)));
    out.set_labels(&encode(texts.ids(items.iter().map(|a| a.label.as_str()))));
    out.set_firsts(&column(items, |a| i64::from(a.first)));
    out.set_lasts(&column(items, |a| i64::from(a.last)));
    Ok(())
}
