//! Target and build manifest: everything that is needed to compile the same package again.

use analytics::units::TileId;
use runtime::machine::{arch, topology};
use runtime::package::{Manifest, Target, TensorRole};

use crate::options::Options;

use super::Lowering;
use super::bindings::Host;

pub(super) fn target(options: &Options) -> Target {
    Target {
        machine: arch::MACHINE.to_owned(),
        clock_hz: options.clock_hz,
        tile_mapping: (0..options.tiles)
            .map(|tile| topology::default_physical(TileId::new(tile)))
            .collect(),
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
