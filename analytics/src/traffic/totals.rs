//! Sums over whole exchanges: bytes, cycles and the busiest tiles.

use super::{Exchanges, Role, bytes_per_event, visit_group};
use crate::clock::{ClockKind, Frame};
use crate::format::DecodeError;
use crate::order;
use crate::profile::ProfileReport;
use crate::query::place_name;
use crate::traffic::groups::groups;
use crate::units::PhysicalTile;

/// The exchanges of a run, and what each tile moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The clock that instants are on.
    pub clock: ClockKind,
    /// Tile clock in hertz; 0 is unknown.
    pub clock_hz: u64,
    /// In time order.
    pub exchanges: Vec<ExchangeTotals>,
    /// One for each profiled tile, ascending by physical id.
    pub tiles: Vec<PortTotals>,
    /// Exchange samples that take time.
    pub samples: u64,
    /// Those of them whose transfers the file tells.
    pub described: u64,
}

/// One exchange over all tiles. Instants are cycles on the clock that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeTotals {
    /// Its place, for people.
    pub name: String,
    /// Phase, as recorded.
    pub phase: u32,
    /// Epoch.
    pub epoch: u32,
    /// First entry of a tile.
    pub first_entry: u64,
    /// Last entry: from here on transfers are placed.
    pub start: u64,
    /// Last exit.
    pub end: u64,
    /// Cycles that the static schedule takes; 0 is unknown.
    pub horizon: u64,
    /// Bytes that left tiles.
    pub sent: u64,
    /// Bytes that landed on tiles; more than were sent where one transfer has several receivers.
    pub received: u64,
    /// Tiles that send.
    pub senders: u64,
    /// Tiles that receive.
    pub receivers: u64,
    /// The tile on which most bytes land, and their number; of several, the smallest id.
    pub hottest: Option<(PhysicalTile, u64)>,
}

impl Totals {
    /// Bytes of a role over all tiles.
    #[must_use]
    pub fn bytes(&self, role: Role) -> u64 {
        self.tiles.iter().map(|it| it.bytes[role as usize]).sum()
    }

    /// The tiles that something is told of, those first on which most bytes land, then by id.
    #[must_use]
    pub fn busiest(&self) -> Vec<PortTotals> {
        let tiles = self.tiles.iter().copied();
        let mut tiles: Vec<_> = tiles.filter(|it| it.bytes != [0; Role::COUNT]).collect();
        order::by_key(&mut tiles, |it| {
            let received = it.bytes[Role::Receive as usize];
            (std::cmp::Reverse(received), it.tile)
        });
        tiles
    }
}

impl ExchangeTotals {
    /// Whether the file tells what it moved.
    #[must_use]
    pub const fn is_described(&self) -> bool {
        self.sent > 0 || self.received > 0
    }

    /// Last exit minus last entry.
    #[must_use]
    pub const fn cycles(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Bytes landed on all tiles together for each cycle of the exchange; `None` without a cycle.
    #[must_use]
    pub fn bytes_per_cycle(&self) -> Option<f64> {
        crate::aggregate::ratio(crate::aggregate::float(self.received), self.cycles())
    }
}

/// What one tile's port moved over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortTotals {
    /// Physical id.
    pub tile: PhysicalTile,
    /// Events of transfers by [`Role`].
    pub events: [u64; Role::COUNT],
    /// Bytes by [`Role`]; those of partner-busy are the partner's.
    pub bytes: [u64; Role::COUNT],
}

/// Sums over the exchanges of `report`; instants on `clock`, where the tile clock means the shared
/// one. Events count whole, whatever the crop.
///
/// # Errors
/// Where a chunk cannot be decoded.
pub fn totals(
    report: &ProfileReport,
    exchanges: &Exchanges,
    clock: ClockKind,
) -> Result<Totals, DecodeError> {
    let zero = Frame::new(report, clock).crop();
    let mut rows = empty_rows(report, exchanges, zero);
    let mut tiles: Vec<PortTotals> = report
        .tiles()
        .iter()
        .map(|entry| PortTotals {
            tile: entry.tile,
            ..PortTotals::default()
        })
        .collect();
    let mut described = 0;
    for group in groups(report) {
        visit_group(report, exchanges, &group, None, &mut |transfers| {
            let tile = &mut tiles[transfers.tile as usize];
            let mut moved = [0; Role::COUNT];
            for activity in transfers.activities {
                let Some(role) = Role::of(activity.kind) else {
                    continue;
                };
                let events = u64::from(activity.end.saturating_sub(activity.start));
                tile.events[role as usize] += events;
                moved[role as usize] += events * bytes_per_event(activity);
            }
            described += u64::from(!transfers.activities.is_empty());
            for (sum, moved) in tile.bytes.iter_mut().zip(moved) {
                *sum += moved;
            }
            if let Some(row) = &mut rows[transfers.phase_row as usize] {
                row.add(tile.tile, moved);
            }
        })?;
    }
    let mut exchanges_found: Vec<ExchangeTotals> = rows.into_iter().flatten().collect();
    order::by(&mut exchanges_found, |a, b| {
        (a.start, a.end, &a.name).cmp(&(b.start, b.end, &b.name))
    });
    Ok(Totals {
        clock: clock.common(),
        clock_hz: report.header().clock_hz,
        exchanges: exchanges_found,
        tiles,
        samples: exchanges.samples,
        described,
    })
}

/// By phase row: the exchange there before its transfers are counted.
fn empty_rows(
    report: &ProfileReport,
    exchanges: &Exchanges,
    zero: u64,
) -> Vec<Option<ExchangeTotals>> {
    let places = report.phases().iter().zip(&exchanges.windows);
    let row = |(place, window): (&crate::profile::PhaseKey, &Option<_>)| {
        let (first, window): &(u64, crate::inspect::Window) = window.as_ref()?;
        Some(ExchangeTotals {
            name: place_name(place.phase, place.epoch),
            phase: place.phase,
            epoch: place.epoch,
            first_entry: first.saturating_sub(zero),
            start: window.last_entry.saturating_sub(zero),
            end: window.last_exit.saturating_sub(zero),
            horizon: window.horizon,
            ..ExchangeTotals::default()
        })
    };
    places.map(row).collect()
}

impl ExchangeTotals {
    fn add(&mut self, tile: PhysicalTile, [sent, received, _]: [u64; Role::COUNT]) {
        self.sent += sent;
        self.received += received;
        self.senders += u64::from(sent > 0);
        self.receivers += u64::from(received > 0);
        let is_hotter = self
            .hottest
            .is_none_or(|(other, most)| received > most || (received == most && tile < other));
        if received > 0 && is_hotter {
            self.hottest = Some((tile, received));
        }
    }
}
