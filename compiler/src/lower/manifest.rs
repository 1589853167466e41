//! Target and build manifest: everything that is needed to compile the same package again.

use runtime::machine::arch;
use runtime::package::{Manifest, Target, TensorRole};

use super::Lowering;
use super::bindings::Host;

pub(super) fn target(input: &Lowering<'_>) -> Target {
    Target {
        machine: arch::MACHINE.to_owned(),
        clock_hz: input.options.clock_hz,
        tile_mapping: input.topology.mapping().to_vec(),
    }
}

pub(super) fn manifest(input: &Lowering<'_>, host: &Host) -> Manifest {
    let held = host
        .tensors
        .iter()
        .filter(|tensor| tensor.role != TensorRole::Output);
    Manifest {
        compiler_version: env!("CARGO_PKG_VERSION").to_owned(),
        workload: input.options.workload.clone(),
        graph: input.graph.to_string(),
        flags: input.options.flags.clone(),
        plan: input
            .plan
            .operations
            .iter()
            .map(ToString::to_string)
            .collect(),
        kernel_generation: input.options.kernel_generation.name().to_owned(),
        host_bytes: held
            .map(|tensor| tensor.elements() * u64::from(tensor.dtype.bytes()))
            .sum(),
        replicated_host_bytes: host.written,
    }
}
