//! The package does not depend on the number of threads or on the run.

use crate::support::{compiled, named};
use compiler::OperandPolicy::{Replicated, Sharded};
use compiler::Options;
use compiler::graph::Graph;
use compiler::graph::workload::WorkloadExtents;
use rayon::ThreadPoolBuilder;

/// The bytes of the package that so many threads compile.
fn with_threads(threads: usize, graph: &Graph, options: &Options) -> Vec<u8> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let package = pool.unwrap().install(|| compiled(graph, options).package);
    runtime::package::write(&package).unwrap()
}

#[test]
fn packages_are_byte_identical_for_any_number_of_threads() {
    let extents = WorkloadExtents {
        tokens: 200,
        width: 320,
        ..WorkloadExtents::published(96)
    };
    let (workload, options) = named("gemm-projections", &extents, Sharded);
    let with_threads = |threads| with_threads(threads, &workload.graph, &options);
    let bytes = with_threads(1);
    assert!(bytes.len() > 10_000);
    for threads in [1, 2, 8] {
        assert_eq!(with_threads(threads), bytes, "{threads} threads");
    }
    let decoded = runtime::package::read(&bytes).unwrap();
    assert_eq!(decoded, compiled(&workload.graph, &options).package);
}

/// Equal bytes have equal hashes: the package of a workload has one name wherever it is compiled.
#[test]
fn siglip_packages_are_byte_identical_for_one_two_and_eight_threads() {
    let extents = WorkloadExtents {
        batch: 1,
        ..WorkloadExtents::published(1472)
    };
    for name in ["siglip-mlp-benchmark", "siglip-attention-benchmark"] {
        let (workload, options) = named(name, &extents, Replicated);
        let one = with_threads(1, &workload.graph, &options);
        for threads in [2, 8] {
            let many = with_threads(threads, &workload.graph, &options);
            // No assert_eq: the message would have all the bytes.
            assert!(many == one, "{name} on {threads} threads differs");
        }
    }
}
