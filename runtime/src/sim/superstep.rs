//! The superstep: when tiles are released from a barrier and when they leave an exchange.
//!
//! Arrivals and horizons in, release and exits out. Exits are not aligned again: each tile goes on
//! at its own.

use analytics::units::Cycles;

use super::TimingParameters;

/// The times of one exchange, in cycles since the run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Superstep {
    /// When every tile's event clock starts.
    pub(crate) release: u64,
    /// When each tile is through.
    pub(crate) exits: Vec<u64>,
}

/// Releases all tiles once the last has arrived, and lets each go after its own row.
pub(crate) fn superstep(
    arrivals: &[u64],
    horizons: impl IntoIterator<Item = u32>,
    timing: &TimingParameters,
) -> Superstep {
    let latest = arrivals.iter().copied().max().unwrap_or(0);
    let release = latest.saturating_add(timing.release.get());
    let exit = |horizon| {
        release
            .saturating_add(u64::from(horizon))
            .saturating_add(timing.exit.get())
    };
    Superstep {
        release,
        exits: horizons.into_iter().map(exit).collect(),
    }
}

/// Latest minus earliest of some instants.
pub(crate) fn spread(instants: &[u64]) -> Cycles {
    let latest = instants.iter().copied().max().unwrap_or(0);
    Cycles::new(latest - instants.iter().copied().min().unwrap_or(latest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_follows_the_last_arrival_and_exits_their_own_rows() {
        let step = superstep(&[100, 340, 20], [7, 0, 50], &TimingParameters::default());
        assert_eq!(step.release, 340 + 138);
        assert_eq!(step.exits, [478 + 7 + 123, 478 + 123, 478 + 50 + 123]);
        // From the latest arrival to the latest exit the phase takes its horizon and 261 cycles.
        assert_eq!(step.exits[2] - 340, 50 + 261);
        assert_eq!(spread(&[100, 340, 20]), Cycles::new(320));
        assert_eq!(spread(&[]), Cycles::ZERO);
    }
}
