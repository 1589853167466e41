//! The run: a package in, outputs, cycles and a profile out.

mod options;
mod report;

use thiserror::Error;

use crate::host::HostError;
use crate::package::{Package, PackageError};

pub use options::{Rounding, RunOptions, TimingParameters};
pub use report::{OutputTensor, PhaseKind, PhaseReport, Progress, RunReport, Stage};

/// Why a run ended without a report.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The package is not well formed.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The host could not make, write or read a tensor.
    #[error(transparent)]
    Host(#[from] HostError),
    /// An option that the run cannot honour.
    #[error("run option {option}: {what}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// What is wrong and what to do.
        what: String,
    },
}

/// Runs a package on the simulated device.
///
/// The result does not depend on the number of threads. `progress` is called between phases on the
/// calling thread.
///
/// # Errors
///
/// An invalid package, a violation of a machine rule, or outputs that contradict each other.
pub fn run(
    package: &Package,
    options: &RunOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<RunReport, RunError> {
    progress(Progress {
        stage: Stage::Validate,
        done: 0,
        total: 1,
    });
    let _ = options;
    crate::package::validate(package)?;
    Err(RunError::Option {
        option: "run",
        what: "the run loop is not there yet".to_owned(),
    })
}
