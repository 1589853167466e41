//! One exchange phase on all tiles: timed rows → who receives what where and when.
//!
//! Nothing here reads or writes memory contents, so the outcome of a phase can be kept and its
//! words moved again. Work is per receiving tile and in parallel; the outcome and the order of the
//! reported faults do not depend on the thread count.

use analytics::profile::ExchangeActivity;
use analytics::units::{Bytes, TileId};
use rayon::prelude::*;

use super::receive::{Fabric, receive};
use super::row::{Message, TimedRow};
use super::{activity, landing, rules, transport};
use crate::fault::{Fault, FaultRule, Faults};
use crate::machine::memory::TileMemory;
use crate::machine::topology::Topology;
use crate::package::model::Address;

/// Whether encodings that no hardware run has exercised are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Untested {
    /// A control at the first or second event of a send is a fault.
    #[default]
    Refuse,
    /// It is executed as the encodings say.
    Allow,
}

/// What is known about a phase beside its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseContext {
    /// Position of the exchange in the run; faults carry it.
    pub phase: u32,
    /// The longest row horizon that the package declares, compared when given.
    pub declared_horizon: Option<u32>,
    /// What to do about encodings that no hardware run has exercised.
    pub untested: Untested,
}

/// A message as it lands on one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Landing {
    /// Sending tile.
    pub source: TileId,
    /// Index into the sender's messages.
    pub message: u32,
    /// Event of the receiver at which the first item lands.
    pub event: u32,
    /// Items, one an event.
    pub items: u32,
    /// First byte at the receiver.
    pub address: Address,
    /// First byte at the sender.
    pub source_address: Address,
    /// Whether items are 64 bits wide.
    pub wide: bool,
}

impl Landing {
    /// Length in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.items * if self.wide { 8 } else { 4 }
    }

    /// One past the event at which the last item lands.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.event + self.items
    }
}

/// What a phase does, by logical tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeOutcome {
    /// Row horizon of each tile in events; zero for a tile without a row.
    pub horizons: Vec<u32>,
    /// What each tile sends, in event order.
    pub messages: Vec<Vec<Message>>,
    /// What lands on each tile, in landing order.
    pub landings: Vec<Vec<Landing>>,
}

impl ExchangeOutcome {
    /// The longest horizon.
    #[must_use]
    pub fn horizon(&self) -> u32 {
        self.horizons.iter().copied().max().unwrap_or(0)
    }

    /// Bytes that leave the tiles, each multicast counted once.
    #[must_use]
    pub fn sent(&self) -> Bytes {
        let messages = self.messages.iter().flatten();
        messages
            .map(|message| Bytes::new(u64::from(message.bytes())))
            .sum()
    }

    /// Bytes that land on a tile.
    ///
    /// # Panics
    ///
    /// If there is no such tile.
    #[must_use]
    pub fn received(&self, tile: TileId) -> Bytes {
        let landings = self.landings[tile.index()].iter();
        landings
            .map(|landing| Bytes::new(u64::from(landing.bytes())))
            .sum()
    }

    /// Scheduled intervals of each tile, in order of their start, for profiles.
    ///
    /// Sends count from the event at which the first item leaves, receives from the first landing.
    #[must_use]
    pub fn activities(&self, topology: &Topology) -> Vec<Vec<ExchangeActivity>> {
        activity::activities(self, topology)
    }
}

/// Works out what the rows of a phase do and checks every rule that needs no memory contents.
///
/// `rows` holds one entry for each logical tile of `topology`.
///
/// # Errors
///
/// Every violation that is no consequence of another: first what goes wrong on the way to a tile,
/// then what is wrong with a row as a whole, each in tile order.
///
/// # Panics
///
/// If `rows` and `topology` differ in length.
pub fn resolve(
    context: PhaseContext,
    rows: &[Option<TimedRow>],
    topology: &Topology,
) -> Result<ExchangeOutcome, Faults> {
    assert_eq!(rows.len(), topology.tiles(), "one row entry for each tile");
    resolve_rows(context, Fabric { rows, topology })
        .map_err(|faults| faults.in_phase(context.phase))
}

fn resolve_rows(context: PhaseContext, fabric: Fabric<'_>) -> Result<ExchangeOutcome, Faults> {
    let received = each_tile(fabric, |tile| receive(fabric, tile));
    let mut faults = Vec::new();
    let mut landings = Vec::with_capacity(received.len());
    for mut tile in received {
        landings.push(tile.landings);
        faults.append(&mut tile.faults);
    }
    // Rules about what landed say nothing new where something has not.
    let all_landed = faults.is_empty();
    let of_rows = each_tile(fabric, |tile| {
        let own = &landings[tile.index()];
        row_rules(context, fabric, tile, own, all_landed)
    });
    faults.extend(of_rows.into_iter().flatten());
    rules::barriers(fabric.rows, &mut faults);
    if all_landed {
        rules::loopbacks(fabric, &landings, &mut faults);
    }
    let of = |row: &Option<TimedRow>| row.as_ref().map_or(0, |row| row.horizon);
    let sent = |row: &Option<TimedRow>| {
        row.as_ref()
            .map_or_else(Vec::new, |row| row.messages.clone())
    };
    let outcome = ExchangeOutcome {
        horizons: fabric.rows.iter().map(of).collect(),
        messages: fabric.rows.iter().map(sent).collect(),
        landings,
    };
    faults.extend(horizon_fault(context, &outcome));
    Faults::check(faults).map(|()| outcome)
}

/// The rules about a tile's row as a whole.
fn row_rules(
    context: PhaseContext,
    fabric: Fabric<'_>,
    tile: TileId,
    landings: &[Landing],
    all_landed: bool,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Some(row) = fabric.row(tile) else {
        return faults;
    };
    if context.untested == Untested::Refuse {
        rules::untested(tile, row, &mut faults);
    }
    rules::lanes(fabric, tile, row, &mut faults);
    rules::elements(tile, row, landings, &mut faults);
    if all_landed {
        landing::check_held(tile, row, landings, &mut faults);
    }
    faults
}

fn horizon_fault(context: PhaseContext, outcome: &ExchangeOutcome) -> Option<Fault> {
    let longest = outcome.horizon();
    let declared = context.declared_horizon.filter(|&it| it != longest)?;
    let tile = outcome
        .horizons
        .iter()
        .position(|&horizon| horizon == longest);
    let tile = tile.and_then(|tile| u16::try_from(tile).ok()).unwrap_or(0);
    let what = format!("the longest row has {longest} events, the package declares {declared}");
    Some(Fault::new(FaultRule::HorizonMismatch, TileId::new(tile), what).at_event(longest))
}

/// Runs `work` for every tile in parallel; results are in tile order.
fn each_tile<T: Send>(fabric: Fabric<'_>, work: impl Fn(TileId) -> T + Sync) -> Vec<T> {
    let tiles = u16::try_from(fabric.rows.len()).unwrap_or(u16::MAX);
    (0..tiles)
        .into_par_iter()
        .map(|tile| work(TileId::new(tile)))
        .collect()
}

/// Resolves a phase and moves its words.
///
/// # Errors
///
/// As [`resolve`]; no memory is changed then.
///
/// # Panics
///
/// If `rows`, `memories` and `topology` differ in length.
pub fn execute(
    context: PhaseContext,
    rows: &[Option<TimedRow>],
    memories: &mut [TileMemory],
    topology: &Topology,
) -> Result<ExchangeOutcome, Faults> {
    let outcome = resolve(context, rows, topology)?;
    transport::move_words(&outcome, memories);
    Ok(outcome)
}
