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
struct Memory {
    buffers: Vec<Vec<f16>>,
    /// Elements from one run's copy of a buffer to the next.
    steps: Vec<usize>,
    /// The run of the repeated steps.
    run: usize,
}

impl Memory {
    fn start(&self, place: Place) -> usize {
        place.offset as usize / 2 + self.run * self.steps[place.buffer as usize]
    }

    fn read(&self, place: Place, elements: u32) -> Vec<f16> {
        let start = self.start(place);
        self.buffers[place.buffer as usize][start..start + elements as usize].to_vec()
    }

    fn write(&mut self, place: Place, data: &[f16]) {
        let start = self.start(place);
        self.buffers[place.buffer as usize][start..start + data.len()].copy_from_slice(data);
    }
}

/// Interprets the program and compares its outputs with the reference.
pub(crate) fn interpret(graph: &Graph, program: &Program, tolerance: Tolerance) -> CheckReport {
    let mut memory = load(graph, program);
    let repeat = program.repeat.clone().unwrap_or_default();
    let count = u32::try_from(program.steps.len()).unwrap();
    let (start, end) = (repeat.steps.start, repeat.steps.end);
    (0..start).for_each(|step| run_step(program, step, &mut memory));
    for run in 0..repeat.count {
        memory.run = run as usize;
        (start..end).for_each(|step| run_step(program, step, &mut memory));
    }
    memory.run = 0;
    (end..count).for_each(|step| run_step(program, step, &mut memory));
    outputs_pass(graph, program, tolerance, &memory)
}

fn run_step(program: &Program, step: u32, memory: &mut Memory) {
    match &program.steps[step as usize].work {
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
                execute(memory, kernel, &call.operands);
            }
        }
    }
}

fn outputs_pass(
    graph: &Graph,
    program: &Program,
    tolerance: Tolerance,
    memory: &Memory,
) -> CheckReport {
    let outputs: Vec<(String, Vec<f16>)> = graph
        .outputs()
        .iter()
        .map(|id| {
            let mut data = vec![f16::NAN; usize::try_from(graph.value(*id).elements()).unwrap()];
            for range in program.host.iter().filter(|range| range.value == *id) {
                walk(range, |element, at| {
                    data[element] = memory.buffers[range.buffer as usize][at]
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

/// The buffers as the host leaves them.
fn load(graph: &Graph, program: &Program) -> Memory {
    let fresh = |buffer: &compiler::program::Buffer| {
        let start = if buffer.zero { f16::ZERO } else { f16::NAN };
        vec![start; buffer.total_bytes() as usize / 2]
    };
    let step = |buffer: &compiler::program::Buffer| buffer.step() as usize / 2;
    let mut memory = Memory {
        buffers: program.buffers.iter().map(fresh).collect(),
        steps: program.buffers.iter().map(step).collect(),
        run: 0,
    };
    for range in &program.host {
        let value = graph.value(range.value);
        let Some(fill) = value.fill() else { continue };
        let data = host_data(value.name.clone(), value.shape.clone(), fill);
        let first = range.copy as usize * program.buffers[range.buffer as usize].bytes as usize / 2;
        walk(range, |element, at| {
            memory.buffers[range.buffer as usize][first + at] = data[element]
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
            if line >= range.view.lines || depth >= range.view.depth {
                continue;
            }
            let view = &range.view;
            let (Some(line), Some(depth)) = (
                view.line_groups.element(line),
                view.depth_groups.element(depth),
            ) else {
                continue;
            };
            let element = view.base
                + i64::from(line) * view.line_stride
                + i64::from(depth) * view.depth_stride;
            let at = (unit - range.units.start) * LANES + lane;
            visit(usize::try_from(element).unwrap(), at as usize);
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
        KernelSpec::CopyRows(spec) => {
            for row in 0..spec.rows {
                let shifted = |place: Place, stride: u32| Place {
                    offset: place.offset + row * stride,
                    ..place
                };
                let data = memory.read(shifted(operands[1], spec.source_stride), spec.bytes / 2);
                memory.write(shifted(operands[0], spec.out_stride), &data);
            }
        }
        other => attention_and_pointwise(memory, other, operands),
    }
}

fn map(memory: &mut Memory, operands: &[Place], count: u32, f: impl Fn(&[f32]) -> f32) {
    let inputs: Vec<Vec<f16>> = operands[1..]
        .iter()
        .map(|&place| memory.read(place, count))
        .collect();
    let at =
        |index: usize| -> Vec<f32> { inputs.iter().map(|input| input[index].to_f32()).collect() };
    let out: Vec<f16> = (0..count as usize)
        .map(|index| f16::from_f32(f(&at(index))))
        .collect();
    memory.write(operands[0], &out);
}

fn attention_and_pointwise(memory: &mut Memory, kernel: KernelSpec, operands: &[Place]) {
    match kernel {
        KernelSpec::Gelu(spec) => map(memory, operands, spec.rows * spec.width, |x| {
            let inner = 0.797_884_6 * (x[0] + 0.044_715 * x[0].powi(3));
            0.5 * x[0] * (1.0 + inner.tanh())
        }),
        KernelSpec::Add(spec) => map(memory, operands, spec.width, |x| x[0] + x[1]),
        KernelSpec::LayerNorm(spec) => layer_norm(memory, spec.width, operands),
        KernelSpec::Softmax(spec) => softmax(memory, &spec, operands),
        KernelSpec::Merge(spec) => merge(memory, &spec, operands),
        KernelSpec::Rearrange(spec) => {
            assert_eq!(spec.order, runtime::package::Order::PackLeft);
            let source = memory.read(operands[1], spec.rows * spec.stride);
            let padded = spec.columns.next_multiple_of(LANES);
            let mut out = vec![f16::ZERO; (spec.rows * padded) as usize];
            for row in 0..spec.rows {
                for column in 0..spec.columns {
                    let at = ((column / 16) * spec.rows + row) * 16 + column % 16;
                    out[at as usize] = source[(row * spec.stride + column) as usize];
                }
            }
            memory.write(operands[0], &out);
        }
        other => unreachable!("{other:?} is not emitted"),
    }
}

fn layer_norm(memory: &mut Memory, width: u32, operands: &[Place]) {
    let read = |place| -> Vec<f64> {
        let values = memory.read(place, width);
        values.iter().map(|x| x.to_f64()).collect()
    };
    let [x, gain, shift] = [1, 2, 3].map(|operand| read(operands[operand]));
    let mean = x.iter().sum::<f64>() / f64::from(width);
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(width);
    let out: Vec<f16> = (0..width as usize)
        .map(|i| f16::from_f64((x[i] - mean) / (variance + 1e-6).sqrt() * gain[i] + shift[i]))
        .collect();
    memory.write(operands[0], &out);
}

fn softmax(memory: &mut Memory, spec: &runtime::package::Softmax, operands: &[Place]) {
    let scores = memory.read(operands[1], spec.rows * spec.padded);
    let count = (spec.rows * (spec.padded + 16)) as usize;
    let mut out = vec![f16::ZERO; count];
    for row in 0..spec.rows {
        let at = |key: u32| (((key / 16) * spec.rows + row) * 16 + key % 16) as usize;
        let score = |key: u32| scores[at(key)].to_f32() * spec.scale.get();
        let most = (0..spec.keys).map(score).fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for key in 0..spec.keys {
            out[at(key)] = f16::from_f32((score(key) - most).exp());
            sum += out[at(key)].to_f32();
        }
        let state = at(spec.padded);
        store_f32(&mut out, state, most);
        store_f32(&mut out, state + 2, sum);
    }
    memory.write(operands[0], &out);
}

/// An F32 as two halves of memory.
fn store_f32(out: &mut [f16], at: usize, value: f32) {
    let bits = value.to_bits();
    for (half, shift) in [(0, 0), (1, 16)] {
        let bits = u16::try_from((bits >> shift) & 0xffff).unwrap();
        out[at + half] = f16::from_bits(bits);
    }
}

fn load_f32(halves: &[f16], at: usize) -> f32 {
    let [low, high] = [0, 1].map(|half| u32::from(halves[at + half].to_bits()));
    f32::from_bits(low | high << 16)
}

fn merge(memory: &mut Memory, spec: &runtime::package::Merge, operands: &[Place]) {
    let mut rest = operands.iter().copied();
    let out = if spec.last { rest.next() } else { None };
    let alone = spec.first && spec.last;
    let state = if alone { None } else { rest.next() };
    let (block, row_state) = (rest.next().unwrap(), rest.next().unwrap());
    let blocks = memory.read(block, spec.rows * spec.padded);
    let states = memory.read(row_state, spec.rows * 16);
    let row_halves = 2 * (spec.columns + 2);
    let mut running = match state {
        Some(state) => memory.read(state, spec.rows * row_halves),
        None => vec![f16::ZERO; (spec.rows * row_halves) as usize],
    };
    let mut result = vec![f16::ZERO; (spec.rows * spec.columns) as usize];
    for row in 0..spec.rows {
        let base = (row * row_halves) as usize;
        let (most, sum) = (
            load_f32(&states, row as usize * 16),
            load_f32(&states, row as usize * 16 + 2),
        );
        let (old_most, old_sum) = if spec.first {
            (f32::NEG_INFINITY, 0.0)
        } else {
            (load_f32(&running, base), load_f32(&running, base + 2))
        };
        let new_most = most.max(old_most);
        let (old, new) = ((old_most - new_most).exp(), (most - new_most).exp());
        store_f32(&mut running, base, new_most);
        store_f32(&mut running, base + 2, old_sum * old + sum * new);
        for column in 0..spec.columns {
            let at = ((column / 16) * spec.rows + row) * 16 + column % 16;
            let slot = base + 4 + 2 * column as usize;
            let before = if spec.first {
                0.0
            } else {
                load_f32(&running, slot)
            };
            let value = before * old + blocks[at as usize].to_f32() * new;
            store_f32(&mut running, slot, value);
            let total = load_f32(&running, base + 2);
            result[(row * spec.columns + column) as usize] = f16::from_f32(value / total);
        }
    }
    if let Some(state) = state {
        memory.write(state, &running);
    }
    if let Some(out) = out {
        memory.write(out, &result);
    }
}
