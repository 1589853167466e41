//! How the simulated device behaves: flags → options of a run.

use analytics::profile::Granularity;
use analytics::units::Cycles;
use clap::Args;
use runtime::exchange::Untested;
use runtime::kernels::Generation;
use runtime::sim::{Rounding, RunOptions, TimingParameters};

use crate::error::CliError;

/// How the device behaves.
#[derive(Clone, Debug, Default, Args)]
pub struct DeviceArgs {
    /// Largest start skew between tiles in cycles
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub start_skew: u32,
    /// Seed of everything that is drawn at random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Move data and count cycles, but compute no numbers and check no outputs
    #[arg(long)]
    pub timing_only: bool,
    /// Dated set of kernel costs [default: the package's]
    #[arg(long, value_name = "DATE")]
    pub kernel_generation: Option<String>,
    /// Run kernels whose cost no measurement stands behind
    #[arg(long)]
    pub allow_assumed_kernels: bool,
    /// Accept exchange encodings that no hardware run has exercised
    #[arg(long)]
    pub allow_untested: bool,
    /// Start with memory full of NaN, so that outputs show where something unwritten was read
    #[arg(long, conflicts_with = "timing_only")]
    pub poison: bool,
    /// Round F16 and F143 results stochastically, from the seed
    #[arg(long)]
    pub stochastic_rounding: bool,
    /// Tile clock in hertz [default: the package's]
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u64).range(1..))]
    pub clock_hz: Option<u64>,
    /// Cycles that each recorded sample adds to its tile
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub sample_cycles: u32,
}

/// The value of `--kernel-generation`.
pub(super) fn generation(name: &str) -> Result<Generation, CliError> {
    name.parse()
        .map_err(|error| CliError::user(error, "--kernel-generation", "name one of them"))
}

impl DeviceArgs {
    /// The options of a run that records at this granularity, if any.
    pub(super) fn run_options(&self, profile: Option<Granularity>) -> Result<RunOptions, CliError> {
        let generation = self.kernel_generation.as_deref().map(generation);
        Ok(RunOptions {
            generation: generation.transpose()?,
            seed: self.seed,
            start_skew: Cycles::new(self.start_skew.into()),
            timing_only: self.timing_only,
            allow_assumed_kernels: self.allow_assumed_kernels,
            poison: self.poison,
            rounding: if self.stochastic_rounding {
                Rounding::Stochastic
            } else {
                Rounding::NearestEven
            },
            untested: if self.allow_untested {
                Untested::Allow
            } else {
                Untested::Refuse
            },
            clock_hz: self.clock_hz,
            timing: TimingParameters {
                sample: Cycles::new(self.sample_cycles.into()),
                ..TimingParameters::default()
            },
            profile,
            ..RunOptions::default()
        })
    }
}
