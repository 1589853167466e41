//! The `ipu-stack` command: real standard streams and environment around [`server::cli::run`].

use std::io::{IsTerminal as _, stderr, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use server::cli::{Io, Status, run};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("IPU_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .init();
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
