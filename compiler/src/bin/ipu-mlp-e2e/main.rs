//! `ipu-mlp-e2e`: the SigLIP MLP → package → simulated run → every output element checked. Takes
//! the flags of `ipu-trivial-test`, and the profile variables of the environment.

#[path = "../ipu-trivial-test/arguments.rs"]
mod arguments;
#[path = "../ipu-trivial-test/planning.rs"]
mod planning;
#[path = "../ipu-trivial-test/run.rs"]
mod run;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let workload = ["--workload", "siglip-mlp-benchmark", "--mlp-batch", "1"];
    let mut words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let flags = workload.map(std::ffi::OsString::from);
    let at = words.len().min(1);
    words.splice(at..at, flags);
    run::run_and_report(&arguments::Arguments::parse_from(words))
}
