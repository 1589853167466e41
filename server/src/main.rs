//! The `ipu-stack` command: real standard streams and environment around [`server::cli::run`].

use std::io::{IsTerminal as _, stderr, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use server::cli::{Io, Status, run};

fn main() -> ExitCode {
    server::logging::start();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut io = Io {
            stdout: &mut std::io::BufWriter::new(stdout()),
            stderr: &mut stderr(),
            interactive: stderr().is_terminal(),
            environment: &|name| std::env::var_os(name),
        };
        run(std::env::args_os(), &mut io)
    }));
    // The panic hook has printed what happened.
    ExitCode::from(outcome.unwrap_or(Status::InternalError).code())
}
