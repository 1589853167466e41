//! The parameters of a run with their provenance, for reports and profile headers.

use super::options::{Rounding, RunOptions};
use super::program::Program;
use crate::exchange::Untested;
use crate::kernels::Basis;

/// Name and value of each, in a fixed order.
pub(crate) fn parameters(program: &Program<'_>, options: &RunOptions) -> Vec<(String, String)> {
    let timing = &options.timing;
    let rounding = match options.rounding {
        Rounding::NearestEven => "nearest-even",
        Rounding::Stochastic => "stochastic",
    };
    let untested = match options.untested {
        Untested::Refuse => "refused",
        Untested::Allow => "allowed",
    };
    let kernels = |basis| match program.kernels_of(basis).join(" ") {
        symbols if symbols.is_empty() => "none".to_owned(),
        symbols => symbols,
    };
    let pairs = [
        ("kernel_generation", program.generation.name().to_owned()),
        ("rounding", rounding.to_owned()),
        ("start_skew_cycles", options.start_skew.get().to_string()),
        ("superstep_release_cycles", timing.release.get().to_string()),
        ("superstep_exit_cycles", timing.exit.get().to_string()),
        ("sample_cycles", timing.sample.get().to_string()),
        (
            "superstep_basis",
            "mean of eleven published C600 overheads, 229 to 295".to_owned(),
        ),
        ("timing_only", options.timing_only.to_string()),
        ("poison", options.poison.to_string()),
        ("untested_encodings", untested.to_owned()),
        (
            "assumed",
            "split of the superstep overhead into release and exit".to_owned(),
        ),
        (
            "assumed",
            "a sample costs nothing beyond the superstep overhead and sample_cycles".to_owned(),
        ),
        (
            "assumed",
            "route formula of the vendor's fabric model, never time-stamped".to_owned(),
        ),
        ("derived_kernels", kernels(Basis::Derived)),
        ("assumed_kernels", kernels(Basis::Assumed)),
    ];
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
