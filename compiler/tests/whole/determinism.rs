//! The package does not depend on the number of threads or on the run.

use crate::support::{compiled, named};
use compiler::OperandPolicy::Sharded;
use compiler::graph::workload::WorkloadExtents;
use rayon::ThreadPoolBuilder;

#[test]
fn packages_are_byte_identical_for_any_number_of_threads() {
    let extents = WorkloadExtents {
        tokens: 200,
        width: 320,
        ..WorkloadExtents::published(96)
    };
    let (workload, options) = named("gemm-projections", &extents, Sharded);
    let with_threads = |threads: usize| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let package = pool.install(|| compiled(&workload.graph, &options).package);
        runtime::package::write(&package).unwrap()
    };
    let bytes = with_threads(1);
    assert!(bytes.len() > 10_000);
    for threads in [1, 2, 8] {
        assert_eq!(with_threads(threads), bytes, "{threads} threads");
    }
    let decoded = runtime::package::read(&bytes).unwrap();
    assert_eq!(decoded, compiled(&workload.graph, &options).package);
}
