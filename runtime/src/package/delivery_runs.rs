//! Destinations of a delivery as runs of equal tile and address steps.
//!
//! A multicast to every other tile at one address is two runs, however many tiles it reaches.

use analytics::units::TileId;

use super::column::narrow;
use super::{Address, PackageError};

/// `length` destinations; each further one adds the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) length: u32,
    pub(super) tile: i64,
    pub(super) tile_step: i64,
    pub(super) address: i64,
    pub(super) address_step: i64,
}

/// Splits destinations into runs, greedily from the first.
pub(super) fn split(destinations: &[(TileId, Address)], runs: &mut Vec<Run>) {
    let value = |index: usize| {
        destinations
            .get(index)
            .map(|&(tile, address)| (i64::from(tile.get()), i64::from(address)))
    };
    let mut start = 0;
    while let Some((tile, address)) = value(start) {
        let mut run = Run {
            length: 1,
            tile,
            tile_step: 0,
            address,
            address_step: 0,
        };
        let mut last = (tile, address);
        while let Some(next) = value(start + run.length as usize) {
            let step = (next.0 - last.0, next.1 - last.1);
            if run.length > 1 && step != (run.tile_step, run.address_step) {
                break;
            }
            (run.tile_step, run.address_step) = step;
            run.length += 1;
            last = next;
        }
        start += run.length as usize;
        runs.push(run);
    }
}

/// Appends the destinations of a run.
pub(super) fn expand(
    run: &Run,
    destinations: &mut Vec<(TileId, Address)>,
) -> Result<(), PackageError> {
    for index in 0..i64::from(run.length) {
        let at = |first: i64, step: i64| {
            step.checked_mul(index)
                .and_then(|offset| first.checked_add(offset))
                .unwrap_or(-1)
        };
        let tile = narrow(at(run.tile, run.tile_step), "runTiles")?;
        let address = narrow(at(run.address, run.address_step), "runAddresses")?;
        destinations.push((TileId::new(tile), address));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn multicast_to_all_others_is_two_runs() {
        let all: Vec<_> = (0..1472)
            .filter(|&t| t != 7)
            .map(|t| (TileId::new(t), 0x5_0000))
            .collect();
        let mut runs = Vec::new();
        split(&all, &mut runs);
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].length, runs[1].length), (7, 1464));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn runs_expand_to_what_was_split(
            list in proptest::collection::vec((0_u16..12, 0_u32..4), 0..40)
        ) {
            let list: Vec<_> = list.into_iter().map(|(t, a)| (TileId::new(t), 4 * a)).collect();
            let mut runs = Vec::new();
            split(&list, &mut runs);
            let mut back = Vec::new();
            for run in &runs {
                expand(run, &mut back).unwrap();
            }
            prop_assert_eq!(back, list);
        }
    }
}
