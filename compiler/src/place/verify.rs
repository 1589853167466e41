//! Re-derives what makes a placement legal, sharing nothing with the allocator: every pair of
//! buffers of a tile is looked at.

use rayon::prelude::*;
use runtime::kernels::{self, Access};
use runtime::package::{Address, KernelSpec, MemoryClass, Merge, Order};

use crate::program::{Buffer, BufferId, Program, Work};

use super::Placement;

/// A rule that a placement breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tile {tile}: {problem}")]
pub struct PlacementFault {
    /// Logical tile.
    pub tile: u16,
    /// The rule, with buffers and addresses.
    pub problem: String,
}

/// Checks ranges, alignment, classes, overlap within lifetimes, and the elements that each kernel
/// call touches.
///
/// # Errors
/// The first fault in tile order.
pub fn verify(program: &Program, placement: &Placement) -> Result<(), PlacementFault> {
    let mut tiles: Vec<Vec<(usize, &Buffer)>> = vec![Vec::new(); usize::from(program.tiles)];
    for (id, buffer) in program.buffers.iter().enumerate() {
        tiles[usize::from(buffer.tile)].push((id, buffer));
    }
    tiles
        .par_iter()
        .map(|buffers| verify_tile(program, placement, buffers))
        .collect::<Vec<_>>()
        .into_iter()
        .collect::<Result<(), _>>()?;
    verify_repeat(program)?;
    verify_calls(program, placement)
}

fn verify_tile(
    program: &Program,
    placement: &Placement,
    buffers: &[(usize, &Buffer)],
) -> Result<(), PlacementFault> {
    for &(id, buffer) in buffers {
        verify_range(program, placement.addresses[id], buffer)?;
    }
    let span = |id: usize, buffer: &Buffer| {
        let start = placement.addresses[id];
        (start, start + buffer.total_bytes())
    };
    for (position, &(id, buffer)) in buffers.iter().enumerate() {
        let (start, end) = span(id, buffer);
        for &(other_id, other) in &buffers[position + 1..] {
            let (other_start, other_end) = span(other_id, other);
            let live_together = buffer.first <= other.last && other.first <= buffer.last;
            if live_together && start < other_end && other_start < end {
                let name = |buffer: &Buffer| &program.labels[buffer.label as usize];
                let (one, two) = (name(buffer), name(other));
                let problem = format!("{one} at {start:#x} overlaps {two} at {other_start:#x}");
                return Err(PlacementFault {
                    tile: buffer.tile,
                    problem,
                });
            }
        }
    }
    Ok(())
}

fn verify_range(program: &Program, start: Address, buffer: &Buffer) -> Result<(), PlacementFault> {
    let end = u64::from(start) + u64::from(buffer.bytes) * u64::from(buffer.copies);
    let in_code = start < 0x68000 || (start < 0x80000 && end > 0x80000);
    let problem = if in_code || end + u64::from(buffer.tail) > 0xe7bb0 {
        "leaves the data memory"
    } else if !start.is_multiple_of(32) {
        "is not 32-byte aligned"
    } else if buffer.class == MemoryClass::Interleaved && start < 0x80000 {
        "is not in interleaved memory"
    } else {
        return Ok(());
    };
    let label = &program.labels[buffer.label as usize];
    let problem = format!("{label} at {start:#x}..{end:#x} {problem}");
    Err(PlacementFault {
        tile: buffer.tile,
        problem,
    })
}

/// A buffer that a repeated step reads before any step of the run has written it holds what came
/// before the run, so it must be live in all of the steps.
fn verify_repeat(program: &Program) -> Result<(), PlacementFault> {
    let Some(repeat) = &program.repeat else {
        return Ok(());
    };
    let mut is_written = vec![false; program.buffers.len()];
    let (first, last) = (repeat.steps.start, repeat.steps.end - 1);
    let check = |id: BufferId, is_written: &[bool]| {
        let buffer = &program.buffers[id as usize];
        let lives = buffer.first <= first && buffer.last >= last;
        if is_written[id as usize] || lives {
            return Ok(());
        }
        let label = &program.labels[buffer.label as usize];
        let problem = format!("{label} is read from run to run but not kept");
        let tile = buffer.tile;
        Err(PlacementFault { tile, problem })
    };
    for step in &program.steps[first as usize..=last as usize] {
        match &step.work {
            Work::Exchange(moves) => {
                for each in moves {
                    check(each.source.buffer, &is_written)?;
                }
                let written = moves.iter().flat_map(|each| each.destinations.iter());
                written.for_each(|&id| is_written[id as usize] = true);
            }
            Work::Compute { calls, .. } => {
                for call in calls {
                    let spec = &program.templates[call.template as usize].kernel;
                    let operands = || call.operands.iter().zip(kernels::operands(spec));
                    for (place, operand) in operands() {
                        if operand.access != Access::Write {
                            check(place.buffer, &is_written)?;
                        }
                    }
                    for (place, operand) in operands() {
                        if operand.access != Access::Read {
                            is_written[place.buffer as usize] = true;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Memory elements [first, last] of a byte range, numbered as addresses in 16 KiB or 32 KiB.
fn elements(start: Address, bytes: u32) -> (u32, u32) {
    let of = |address: Address| match address {
        0..0x80000 => address >> 14,
        _ => 0x1000 + ((address - 0x80000) >> 15),
    };
    (of(start), of(start + bytes - 1))
}

/// Output and panel operand of a GEMM in distinct elements, the output and interleaved coefficients
/// from 0x80000, and every operand inside its buffer.
fn verify_calls(program: &Program, placement: &Placement) -> Result<(), PlacementFault> {
    for step in &program.steps {
        let Work::Compute { calls, .. } = &step.work else {
            continue;
        };
        for call in calls {
            let spec = program.templates[call.template as usize].kernel;
            let fault = |problem: String| PlacementFault {
                tile: call.tile,
                problem,
            };
            let mut addresses = Vec::new();
            let sizes = operand_bytes(&spec);
            if sizes.len() != call.operands.len() {
                let found = call.operands.len();
                return Err(fault(format!("{spec:?} has {found} operands")));
            }
            for (operand, bytes) in call.operands.iter().zip(sizes) {
                let buffer = &program.buffers[operand.buffer as usize];
                if buffer.tile != call.tile || operand.offset + bytes > buffer.bytes {
                    return Err(fault(format!("{spec:?}: operand leaves its buffer")));
                }
                addresses.push((
                    placement.addresses[operand.buffer as usize] + operand.offset,
                    bytes,
                ));
            }
            let KernelSpec::GemmF16 { coefficients, .. } = spec else {
                continue;
            };
            let (output, left) = (addresses[0], addresses[1]);
            let (output_elements, left_elements) =
                (elements(output.0, output.1), elements(left.0, left.1 + 16));
            if output_elements.0 <= left_elements.1 && left_elements.0 <= output_elements.1 {
                return Err(fault(format!(
                    "output {:#x} and panel operand {:#x} share a memory element",
                    output.0, left.0
                )));
            }
            let is_interleaved = coefficients == MemoryClass::Interleaved;
            if output.0 < 0x80000 || (is_interleaved && addresses[2].0 < 0x80000) {
                return Err(fault(format!(
                    "{spec:?}: operands below 0x80000: {addresses:x?}"
                )));
            }
        }
    }
    Ok(())
}

/// Bytes that a kernel touches of each operand, in operand order.
fn operand_bytes(spec: &KernelSpec) -> Vec<u32> {
    match *spec {
        KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            ..
        } => {
            vec![2 * rows * columns, 2 * rows * inner, 2 * inner * columns]
        }
        KernelSpec::ReduceSumF16 { partials, elements } => {
            vec![2 * elements, 2 * elements * partials]
        }
        KernelSpec::ZeroFill { bytes } => vec![bytes],
        KernelSpec::Copy { bytes } | KernelSpec::CopyWords { bytes } => vec![bytes, bytes],
        KernelSpec::CopyRows(spec) => {
            let reach = |stride: u32| stride * (spec.rows - 1) + spec.bytes;
            vec![reach(spec.out_stride), reach(spec.source_stride)]
        }
        KernelSpec::Gelu(spec) => vec![2 * spec.rows * spec.width; 2],
        KernelSpec::Add(spec) => vec![2 * spec.rows * spec.width; 3],
        KernelSpec::LayerNorm(spec) => vec![2 * spec.rows * spec.width; 4],
        KernelSpec::Softmax(spec) => {
            let scores = 2 * spec.rows * spec.padded;
            vec![scores + 32 * spec.rows, scores]
        }
        KernelSpec::Merge(spec) => merge_bytes(&spec),
        KernelSpec::MergeAll(spec) => {
            let element = if spec.half_output { 2 } else { 4 };
            let part = [2 * spec.rows * spec.padded, 32 * spec.rows];
            let parts = std::iter::repeat_n(part, spec.parts as usize).flatten();
            let out = element * spec.rows * spec.columns;
            std::iter::once(out).chain(parts).collect()
        }
        KernelSpec::Rearrange(spec) if spec.order == Order::PackLeft => {
            let padded = spec.columns.next_multiple_of(16);
            vec![2 * spec.rows * padded, 2 * spec.rows * spec.stride]
        }
        KernelSpec::Rearrange(spec) if spec.order == Order::UnpackTransposed => {
            vec![2 * spec.rows * spec.columns; 2]
        }
        // No plan emits the others.
        _ => Vec::new(),
    }
}

fn merge_bytes(spec: &Merge) -> Vec<u32> {
    let element = if spec.half_output { 2 } else { 4 };
    let mut bytes = Vec::new();
    bytes.extend(spec.last.then_some(element * spec.rows * spec.columns));
    let state = 4 * spec.rows * (spec.columns + 2);
    bytes.extend((!(spec.first && spec.last)).then_some(state));
    bytes.extend([2 * spec.rows * spec.padded, 32 * spec.rows]);
    bytes
}
