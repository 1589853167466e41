//! Kernels whose cost is assumed: planned only where they are allowed, run only where they are
//! allowed, right in every element, and their share of the total told apart.

use compiler::OperandPolicy::Replicated;
use compiler::graph::workload::WorkloadExtents;
use runtime::sim::{RunError, RunOptions, run};

use crate::support::{checked, compiled, named, simulated};

#[test]
fn a_merge_in_one_pass_is_planned_where_assumed_kernels_are_allowed() {
    let extents = WorkloadExtents {
        batch: 1,
        tokens: 160,
        width: 288,
        heads: 4,
        ..WorkloadExtents::published(48)
    };
    let (workload, mut options) = named("siglip-attention-benchmark", &extents, Replicated);
    let plain = compiled(&workload.graph, &options);
    assert!(plain.report.assumed_kernels.is_empty());
    let plain_cycles = simulated(&plain.package);
    assert_eq!(plain_cycles.assumed_cycles.get(), 0);
    options.allow_assumed_kernels = true;
    let bold = compiled(&workload.graph, &options);
    let plans = bold.report.plan.join(" ");
    assert!(plans.contains("split-one-pass"), "{plans}");
    let [symbol] = bold.report.assumed_kernels.as_slice() else {
        panic!("{:?}", bold.report.assumed_kernels);
    };
    assert!(symbol.starts_with("attention_merge_all"), "{symbol}");
    let refused = run(&bold.package, &RunOptions::default(), &mut |_| {});
    assert!(
        matches!(
            &refused,
            Err(RunError::Option {
                option: "allow-assumed-kernels",
                ..
            })
        ),
        "{refused:?}"
    );
    let allowed = RunOptions {
        allow_assumed_kernels: true,
        ..RunOptions::default()
    };
    let report = run(&bold.package, &allowed, &mut |_| {}).unwrap();
    let check = checked(&workload.graph, workload.tolerance, &report);
    assert!(check.passed(), "{check:?}");
    println!(
        "{}, {} of them assumed; {} without assumed kernels",
        report.total_cycles, report.assumed_cycles, plain_cycles.total_cycles
    );
    assert!(report.total_cycles < plain_cycles.total_cycles);
    assert!(report.assumed_cycles.get() > 0);
}
