//! Runs a program on its buffers directly, without addresses, exchange rows or the device, so that
//! a wrong expansion is told from a wrong placement or a wrong row.

use compiler::graph::Graph;
use compiler::graph::check::{CheckReport, Tolerance, check};
use compiler::layout::LANES;
use compiler::program::{HostRange, Place, Program, Work};
use half::f16;
use runtime::host::{TensorValues, values};
use runtime::package::{Fill, KernelSpec, Tensor, TensorRole};

/// Content of every buffer; not-a-number where nothing was written.
struct Memory(Vec<Vec<f16>>);

impl Memory {
    fn read(&self, place: Place, elements: u32) -> Vec<f16> {
        let start = place.offset as usize / 2;
        self.0[place.buffer as usize][start..start + elements as usize].to_vec()
    }

    fn write(&mut self, place: Place, data: &[f16]) {
        let start = place.offset as usize / 2;
        self.0[place.buffer as usize][start..start + data.len()].copy_from_slice(data);
    }
}

/// Interprets the program and compares its outputs with the reference.
pub(crate) fn interpret(graph: &Graph, program: &Program, tolerance: Tolerance) -> CheckReport {
    let mut memory = load(graph, program);
    for step in &program.steps {
        match &step.work {
            Work::Exchange(moves) => {
                let sent: Vec<Vec<f16>> = moves
                    .iter()
                    .map(|each| memory.read(each.source, each.bytes / 2))
                    .collect();
                for (each, data) in moves.iter().zip(&sent) {
                    for &buffer in each.destinations.iter() {
                        let offset = each.destination_offset;
                        memory.write(Place { buffer, offset }, data);
                    }
                }
            }
            Work::Compute { calls, .. } => {
                for call in calls {
                    let kernel = program.templates[call.template as usize].kernel;
                    execute(&mut memory, kernel, &call.operands);
                }
            }
        }
    }
    let outputs: Vec<(String, Vec<f16>)> = graph
        .outputs()
        .iter()
        .map(|id| {
            let mut data = vec![f16::NAN; usize::try_from(graph.value(*id).elements()).unwrap()];
            for range in program.host.iter().filter(|range| range.value == *id) {
                walk(range, |element, at| {
                    data[element] = memory.0[range.buffer as usize][at]
                });
            }
            (graph.value(*id).name.clone(), data)
        })
        .collect();
    let find = |name: &str| outputs.iter().find(|(known, _)| known == name);
    check(graph, tolerance, |name| {
        find(name).map(|(_, data)| data.as_slice())
    })
    .unwrap()
}

fn load(graph: &Graph, program: &Program) -> Memory {
    let fresh = |buffer: &compiler::program::Buffer| {
        let start = if buffer.zero { f16::ZERO } else { f16::NAN };
        vec![start; buffer.bytes as usize / 2]
    };
    let mut memory = Memory(program.buffers.iter().map(fresh).collect());
    for range in &program.host {
        let value = graph.value(range.value);
        let Some(fill) = value.fill() else { continue };
        let data = host_data(value.name.clone(), value.shape.clone(), fill);
        walk(range, |element, at| {
            memory.0[range.buffer as usize][at] = data[element]
        });
    }
    memory
}

fn host_data(name: String, shape: Vec<u64>, fill: Fill) -> Vec<f16> {
    let dtype = runtime::package::DType::F16;
    match values(&Tensor {
        name,
        dtype,
        shape,
        role: TensorRole::Input,
        fill,
    })
    .unwrap()
    {
        TensorValues::F16(data) => data,
        TensorValues::F32(_) | TensorValues::F143(_) => unreachable!("all values are F16"),
    }
}

/// Tensor element and buffer element of every logical element of a range, by definition.
fn walk(range: &HostRange, mut visit: impl FnMut(usize, usize)) {
    for unit in range.units.clone() {
        let (line, panel) = range.block.unit(unit);
        for lane in 0..LANES {
            let depth = panel * LANES + lane;
            if line < range.view.lines && depth < range.view.depth {
                let element = i64::from(line) * range.view.line_stride
                    + i64::from(depth) * range.view.depth_stride;
                let at = (unit - range.units.start) * LANES + lane;
                visit(usize::try_from(element).unwrap(), at as usize);
            }
        }
    }
}

fn execute(memory: &mut Memory, kernel: KernelSpec, operands: &[Place]) {
    match kernel {
        KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            accumulate,
            ..
        } => {
            let left = memory.read(operands[1], rows * inner);
            let right = memory.read(operands[2], inner * columns);
            let mut out = memory.read(operands[0], rows * columns);
            if !accumulate {
                out.fill(f16::ZERO);
            }
            for row in 0..rows {
                for column in 0..columns {
                    let terms = (0..inner).map(|k| {
                        let l = ((k / 16) * rows + row) * 16 + k % 16;
                        let panel = (column / 16) * (inner / 16) + k / 16;
                        let r = (panel * 16 + column % 16) * 16 + k % 16;
                        left[l as usize].to_f32() * right[r as usize].to_f32()
                    });
                    let at = (((column / 16) * rows + row) * 16 + column % 16) as usize;
                    out[at] = f16::from_f32(out[at].to_f32() + terms.sum::<f32>());
                }
            }
            memory.write(operands[0], &out);
        }
        KernelSpec::ReduceSumF16 { partials, elements } => {
            let mut sum = memory.read(operands[1], elements);
            for partial in 1..partials {
                let offset = operands[1].offset + partial * elements * 2;
                let next = memory.read(
                    Place {
                        offset,
                        ..operands[1]
                    },
                    elements,
                );
                for (sum, next) in sum.iter_mut().zip(next) {
                    *sum = f16::from_f32(sum.to_f32() + next.to_f32());
                }
            }
            memory.write(operands[0], &sum);
        }
        KernelSpec::ZeroFill { bytes } => {
            memory.write(operands[0], &vec![f16::ZERO; bytes as usize / 2]);
        }
        KernelSpec::Copy { bytes } => {
            let data = memory.read(operands[1], bytes / 2);
            memory.write(operands[0], &data);
        }
        _ => unreachable!("no program of these tests calls {kernel:?}"),
    }
}
