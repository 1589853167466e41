//! What an exchange costs before it is scheduled: a bound that holds and an estimate that is close.
//!
//! Both look at the busiest endpoint only, since the fabric between the tiles never blocks.

use analytics::units::{Cycles, TileId};

use super::transfer::Transfer;

/// Events that the busiest endpoint waits between messages, in hundredths of its words. Fit to the
/// three exchanges of `benches/exchange.rs`, where first fit leaves 2.5 to 5.
const GAP_PERCENT: u64 = 4;
/// Events from the busiest endpoint's last word to the end of the longest row, typical: 65 from
/// leaving to landing on average by the route model, five to the return, the rest a fit as above.
const TAIL: u64 = 100;

/// Words that each tile sends and receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loads {
    sent: Vec<u64>,
    received: Vec<u64>,
    any: bool,
}

impl Loads {
    /// No load on `tiles` logical tiles.
    #[must_use]
    pub fn new(tiles: usize) -> Self {
        Self {
            sent: vec![0; tiles],
            received: vec![0; tiles],
            any: false,
        }
    }

    /// Adds a message of `words` from `source` to the tiles of `destinations`.
    ///
    /// # Panics
    /// If a tile is not below the tile count.
    pub fn add(
        &mut self,
        source: TileId,
        words: u32,
        destinations: impl IntoIterator<Item = TileId>,
    ) {
        self.any = true;
        self.sent[source.index()] += u64::from(words);
        for tile in destinations {
            self.received[tile.index()] += u64::from(words);
        }
    }

    /// Words through the busiest endpoint: no schedule has a shorter horizon.
    #[must_use]
    pub fn endpoint_bound(&self) -> Cycles {
        let busiest = self.sent.iter().chain(&self.received).max();
        Cycles::new(busiest.copied().unwrap_or(0))
    }

    /// The horizon that [`schedule`](super::schedule()) is expected to reach; zero without
    /// messages.
    #[must_use]
    pub fn estimate(&self) -> Cycles {
        if !self.any {
            return Cycles::ZERO;
        }
        let busiest = self.endpoint_bound().get();
        Cycles::new(busiest + busiest * GAP_PERCENT / 100 + TAIL)
    }
}

fn loads(transfers: &[Transfer]) -> Loads {
    let touched = transfers.iter().flat_map(|transfer| {
        let received = transfer.destinations.iter().map(|&(tile, _)| tile);
        received.chain([transfer.source])
    });
    let mut loads = Loads::new(touched.map(|tile| tile.index() + 1).max().unwrap_or(0));
    for transfer in transfers {
        let destinations = transfer.destinations.iter().map(|&(tile, _)| tile);
        loads.add(transfer.source, transfer.words, destinations);
    }
    loads
}

/// Words through the busiest endpoint, in events: no schedule has a shorter horizon.
#[must_use]
pub fn endpoint_bound(transfers: &[Transfer]) -> Cycles {
    loads(transfers).endpoint_bound()
}

/// The horizon in events that the transfers are expected to need; zero for none.
#[must_use]
pub fn estimate(transfers: &[Transfer]) -> Cycles {
    loads(transfers).estimate()
}
