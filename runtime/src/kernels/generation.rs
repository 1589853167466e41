//! Dated sets of kernels. Kernel code changed over time, so every cost belongs to one generation.

use std::fmt;
use std::str::FromStr;

use analytics::units::Cycles;
use thiserror::Error;

/// A dated set of kernels, never mixed with another inside one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// The set of the published whole-program runs.
    G20260907,
    /// The newest set.
    #[default]
    G20260913,
}

impl Generation {
    /// All generations, oldest first.
    pub const ALL: [Self; 2] = [Self::G20260907, Self::G20260913];

    /// The date that names it in flags, packages and profiles.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::G20260907 => "2026-09-07",
            Self::G20260913 => "2026-09-13",
        }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no kernel generation.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown kernel generation \"{0}\"; known are 2026-09-07 and 2026-09-13")]
pub struct UnknownGeneration(String);

impl FromStr for Generation {
    type Err = UnknownGeneration;

    fn from_str(name: &str) -> Result<Self, UnknownGeneration> {
        Self::ALL
            .into_iter()
            .find(|generation| generation.name() == name)
            .ok_or_else(|| UnknownGeneration(name.to_owned()))
    }
}

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// Reproduces published C600 measurements exactly.
    Measured,
    /// A formula fitted to published C600 measurements.
    Fitted,
    /// Reasoned from a measured kernel of the same structure and decided for this machine.
    Derived,
    /// Assumed, extrapolated or a planner's constant; no measurement stands behind it. Runs only
    /// where the caller allows assumed kernels.
    Assumed,
}

impl Basis {
    /// The word in reports and profile headers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Fitted => "fitted",
            Self::Derived => "derived",
            Self::Assumed => "assumed",
        }
    }
}

/// What a kernel call costs, launch to rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Cycles on one tile.
    pub cycles: Cycles,
    /// Where they come from.
    pub basis: Basis,
}

impl Cost {
    pub(crate) const fn new(cycles: u64, basis: Basis) -> Self {
        let cycles = Cycles::new(cycles);
        Self { cycles, basis }
    }

    pub(crate) const fn measured(cycles: u64) -> Self {
        Self::new(cycles, Basis::Measured)
    }

    pub(crate) const fn fitted(cycles: u64) -> Self {
        Self::new(cycles, Basis::Fitted)
    }

    pub(crate) const fn derived(cycles: u64) -> Self {
        Self::new(cycles, Basis::Derived)
    }

    pub(crate) const fn assumed(cycles: u64) -> Self {
        Self::new(cycles, Basis::Assumed)
    }
}
