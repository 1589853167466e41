//! The profile header: what was run, on which machine model, with which constants.

use analytics::profile::{Granularity, ProfileHeader};

use crate::machine::arch;
use crate::package::Package;

/// The header of a profile of this package; `parameters` are those in effect for the run.
pub(crate) fn header(
    package: &Package,
    granularity: Granularity,
    clock_hz: u64,
    seed: u64,
    parameters: &[(String, String)],
) -> ProfileHeader {
    let manifest = &package.manifest;
    let mut provenance = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            provenance.push((name.to_owned(), value.to_owned()));
        }
    };
    add("workload", &manifest.workload);
    add("compiler_version", &manifest.compiler_version);
    for line in &manifest.plan {
        add("plan", line);
    }
    for (name, value) in &manifest.flags {
        add(&format!("flag_{name}"), value);
    }
    for (name, value) in parameters {
        add(name, value);
    }
    ProfileHeader {
        row_schema_version: 0,
        clock_hz,
        granularity,
        target: arch::MACHINE.to_owned(),
        simulated: Some(true),
        seed: Some(seed),
        provenance,
    }
}
