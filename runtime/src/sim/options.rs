//! How to run: everything a caller may choose, and the machine's timing parameters.

use analytics::profile::Granularity;
use analytics::units::{Cycles, RawCounter};

use crate::exchange::Untested;
use crate::kernels::Generation;
use crate::machine::arch;

/// How instructions round their results to F16 and F143.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    NearestEven,
    /// Stochastic; the random bits are a hash of seed, tile, call, panel and element. Kernels
    /// without panels number their instructions instead.
    Stochastic,
}

/// Fixed times of a superstep. Together they add 261 cycles to a phase's horizon, the mean of the
/// eleven published C600 phase overheads (229 to 295); how they split is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimingParameters {
    /// From the latest arrival of any tile to the release, which is event 0 on every tile.
    pub release: Cycles,
    /// From a tile's own row horizon to its exit; the worker barrier before the row is part of it.
    pub exit: Cycles,
    /// What each recorded sample adds to its tile. None by default: the published overheads, which
    /// `release` and `exit` make up, were measured with samples taken.
    pub sample: Cycles,
}

impl Default for TimingParameters {
    fn default() -> Self {
        Self {
            release: arch::BARRIER_RELEASE,
            exit: arch::EXCHANGE_EXIT,
            sample: Cycles::ZERO,
        }
    }
}

/// Everything a caller may choose about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// Tile clock in hertz; `None` takes the package's.
    pub clock_hz: Option<u64>,
    /// Seed of the start skew and of stochastic rounding.
    pub seed: u64,
    /// Largest start skew; every tile starts 0..=this many cycles late.
    pub start_skew: Cycles,
    /// What every tile's cycle counter reads when the run begins.
    pub counter_start: RawCounter,
    /// Count cycles and move no numbers; the report has no outputs.
    pub timing_only: bool,
    /// Start with SRAM full of NaN, so that a value made of what was never written shows.
    pub poison: bool,
    /// How F16 and F143 results are rounded.
    pub rounding: Rounding,
    /// Kernel generation; `None` takes the package's.
    pub generation: Option<Generation>,
    /// Run kernels whose cost is assumed; without it a package that calls one is refused.
    pub allow_assumed_kernels: bool,
    /// Record a profile this finely; `None` records none.
    pub profile: Option<Granularity>,
    /// What to do about exchange encodings that no hardware run has exercised.
    pub untested: Untested,
    /// Fixed times of a superstep.
    pub timing: TimingParameters,
}
