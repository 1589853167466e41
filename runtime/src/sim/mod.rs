//! The run: a package in, outputs, cycles and a profile out.
//!
//! package → [`program`] (validate, rules without data) → [`device`] (load, supersteps) → outputs →
//! recorder. Time is per tile; tiles meet only at exchanges.

mod buffers;
mod device;
mod iteration;
mod options;
mod parameters;
mod program;
mod report;
mod skew;
pub(crate) mod superstep;

use analytics::format::WriteError;
use analytics::profile::Granularity;
use analytics::units::Cycles;
use thiserror::Error;

use crate::fault::{Fault, Faults};
use crate::host::{self, HostError, OutputError};
use crate::machine::memory::OutOfRange;
use crate::machine::topology::MappingError;
use crate::package::{Package, PackageError};
use crate::record::{self, Recorder};
use device::Device;
use program::{Program, footprint};

pub use options::{Rounding, RunOptions, TimingParameters};
pub use report::{OutputTensor, PhaseKind, PhaseReport, Progress, RunReport, Stage};

/// Why a run ended without a report.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The package is not well formed.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The program broke rules of the machine in one phase.
    #[error("the program broke a rule of the machine: {0}")]
    Faults(#[from] Faults),
    /// The same while a profile was recorded, which shows the run up to there and names the fault.
    #[error("the program broke a rule of the machine: {faults}")]
    Stopped {
        /// The rules that were broken.
        faults: Faults,
        /// The profile's bytes.
        profile: Vec<u8>,
    },
    /// The host could not make, write or read a tensor.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The tile mapping is no part of the device.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// Code or a zero range leaves SRAM.
    #[error("loading the tiles: {0}")]
    Memory(OutOfRange),
    /// The profile could not be written.
    #[error("writing the profile: {0}")]
    Profile(#[from] WriteError),
    /// An option that the run cannot honour.
    #[error("run option {option}: {what}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// What is wrong and what to do.
        what: String,
    },
}

impl From<Fault> for RunError {
    fn from(fault: Fault) -> Self {
        Self::Faults(fault.into())
    }
}

impl From<OutputError> for RunError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Host(error) => Self::Host(error),
            OutputError::Fault(fault) => Self::Faults(fault.into()),
        }
    }
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
    let mut stage = |stage| {
        progress(Progress {
            stage,
            done: 0,
            total: 1,
        })
    };
    stage(Stage::Validate);
    let program = Program::prepare(package, options)?;
    stage(Stage::Load);
    let mut device = Device::load(&program, options)?;
    let starts = device.now.clone();
    let parameters = parameters::parameters(&program, options);
    let clock_hz = options.clock_hz.unwrap_or(package.target.clock_hz);
    device.recorder = recorder(&program, options, clock_hz, &parameters, &starts)?;
    if let Err(error) = device.execute(progress) {
        return Err(stopped(error, package, device));
    }
    let mut stage = |stage| {
        progress(Progress {
            stage,
            done: 0,
            total: 1,
        })
    };
    stage(Stage::Outputs);
    let outputs = if options.timing_only {
        Vec::new()
    } else {
        match outputs(package, &device) {
            Ok(outputs) => outputs,
            Err(error) => return Err(stopped(error, package, device)),
        }
    };
    stage(Stage::Record);
    let ends = device.now;
    let profile = device
        .recorder
        .map(|recorder| recorder.finish(&ends))
        .transpose()?;
    Ok(RunReport {
        outputs,
        total_cycles: cropped_span(&starts, &ends),
        assumed_cycles: device.assumed.into_iter().max().unwrap_or(Cycles::ZERO),
        clock_hz,
        phases: device.phases,
        memory_high_water: footprint(&program),
        parameters,
        seed: options.seed,
        profile,
    })
}

fn recorder<'a>(
    program: &'a Program<'_>,
    options: &RunOptions,
    clock_hz: u64,
    parameters: &[(String, String)],
    starts: &[u64],
) -> Result<Option<Recorder<'a>>, RunError> {
    let Some(granularity) = options.profile else {
        return Ok(None);
    };
    if granularity == Granularity::Unknown {
        let what = "unknown is no granularity; choose graph, region, phase or step".to_owned();
        return Err(RunError::Option {
            option: "profile",
            what,
        });
    }
    let package = program.package;
    let header = record::header(package, granularity, clock_hz, options.seed, parameters);
    let counter_start = options.counter_start;
    Ok(Some(Recorder::new(
        package,
        &program.flat,
        &header,
        counter_start,
        options.timing.sample,
        starts,
    )))
}

/// The error of a run that began, with what was recorded of it.
fn stopped(error: RunError, package: &Package, device: Device<'_, '_>) -> RunError {
    let RunError::Faults(faults) = error else {
        return error;
    };
    let Some(recorder) = device.recorder else {
        return faults.into();
    };
    match recorder.stop(&faults, package, &device.now) {
        Ok(profile) => RunError::Stopped { faults, profile },
        // The fault is what people look for; its profile only helps.
        Err(_) => faults.into(),
    }
}

fn outputs(package: &Package, device: &Device<'_, '_>) -> Result<Vec<OutputTensor>, RunError> {
    let values = host::read_outputs(package, &device.memories)?;
    let named = values.into_iter().map(|(tensor, values)| OutputTensor {
        tensor,
        name: package.tensors[tensor as usize].name.clone(),
        values,
    });
    Ok(named.collect())
}

/// From the start of the last tile to begin to the end of the last tile to finish.
fn cropped_span(starts: &[u64], ends: &[u64]) -> Cycles {
    let latest = |instants: &[u64]| instants.iter().copied().max().unwrap_or(0);
    Cycles::new(latest(ends).saturating_sub(latest(starts)))
}

#[cfg(test)]
pub(crate) mod tests;
