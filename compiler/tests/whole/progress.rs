//! What a compilation tells while it works, and of its time.

use std::collections::BTreeSet;
use std::sync::Mutex;

use compiler::OperandPolicy::Replicated;
use compiler::graph::workload::WorkloadExtents;
use compiler::timing::STAGES;
use compiler::{Progress, compile};

use crate::support::named;

#[test]
fn every_stage_is_announced_counts_its_units_and_ends_with_all_of_them() {
    let extents = WorkloadExtents {
        tokens: 50,
        width: 96,
        heads: 4,
        ..WorkloadExtents::published(64)
    };
    let (workload, options) = named("siglip-attention-benchmark", &extents, Replicated);
    let told: Mutex<Vec<Progress>> = Mutex::default();
    let sink = |at: Progress| told.lock().unwrap().push(at);
    let compiled = compile(&workload.graph, &options, &sink).unwrap();
    let told = told.into_inner().unwrap();
    let names: BTreeSet<&str> = told.iter().map(|at| at.stage).collect();
    assert_eq!(names, STAGES.iter().map(|(_, stage)| *stage).collect());
    let runs: Vec<&[Progress]> = told
        .split_inclusive(|at| at.total > 0 && at.done == at.total)
        .collect();
    for run in &runs {
        assert!(run.iter().all(|at| at.stage == run[0].stage), "{run:?}");
    }
    let last = told.last().unwrap();
    assert_eq!((last.stage, last.done), ("package", last.total));
    // The way is shown while it is gone: operations, then exchanges.
    for stage in ["mid planning", "final exchange lowering"] {
        let inside = |at: &&Progress| at.stage == stage && 0 < at.done && at.done < at.total;
        assert!(told.iter().filter(inside).count() >= 2, "{stage}: {told:?}");
    }
    let text = compiled.timings_text();
    for part in ["mid planning", "  schedule", "total", "a second of encode"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(
        text.contains("peak of resident memory"),
        cfg!(target_os = "linux"),
        "{text}"
    );
}
