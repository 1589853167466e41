//! Kernels against plain references, and their costs against published measurements.

mod costs;
mod execute;
mod numbers;
mod padding;
mod stochastic;

use half::f16;

use super::{Engine, Rounder, Violation, execute as execute_call};
use crate::machine::memory::TileMemory;
use crate::package::{Address, KernelSpec};

fn run(spec: &KernelSpec, operands: &[Address], memory: &mut TileMemory) -> Result<(), Violation> {
    let rounder = Rounder::NearestEven;
    execute_call(Engine::detect(), spec, operands, &rounder, memory)
}

/// Writes F16 values.
fn put(memory: &mut TileMemory, address: Address, values: &[f32]) {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|&value| f16::from_f32(value).to_le_bytes())
        .collect();
    memory.write(address, &bytes).unwrap();
}

/// Reads F16 values.
fn get(memory: &TileMemory, address: Address, elements: usize) -> Vec<f32> {
    let bytes = u32::try_from(elements * 2).unwrap();
    let (pairs, _) = memory.read(address, bytes).unwrap().as_chunks::<2>();
    pairs
        .iter()
        .map(|&pair| f16::from_le_bytes(pair).to_f32())
        .collect()
}
