//! `ipu-trivial-test`: a named workload → package → simulated run → every output element checked.

mod arguments;
mod planning;
mod run;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    run::run_and_report(&arguments::Arguments::parse())
}
