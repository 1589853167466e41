//! What the map of the chip shows, and over which cycles.

use serde::{Deserialize, Serialize};

/// The figure that the map of the chip shows of each tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Metric {
    /// Share of compute, or of the kernel in focus.
    #[default]
    Compute,
    /// Useful work over measured time of compute, or of the kernel in focus.
    Efficiency,
    /// Physical work over measured time, of the same.
    Work,
    /// Useful work over physical work, of the same.
    Occupancy,
    /// Cycles with an estimate over cycles, of the same.
    Coverage,
    /// Share of exchange.
    Exchange,
    /// Share of synchronization.
    Waiting,
    /// Share of idle.
    Idle,
}

impl Metric {
    /// All figures, in the order of the menu.
    pub(crate) const ALL: [Self; 8] = [
        Self::Compute,
        Self::Efficiency,
        Self::Work,
        Self::Occupancy,
        Self::Coverage,
        Self::Exchange,
        Self::Waiting,
        Self::Idle,
    ];

    /// The name in links.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Efficiency => "efficiency",
            Self::Work => "work",
            Self::Occupancy => "occupancy",
            Self::Coverage => "coverage",
            Self::Exchange => "exchange",
            Self::Waiting => "waiting",
            Self::Idle => "idle",
        }
    }

    /// What the menu says.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Compute => "compute, or the kernel in focus",
            Self::Efficiency => "useful efficiency U/D",
            Self::Work => "work cycles P/D",
            Self::Occupancy => "lane occupancy U/P",
            Self::Coverage => "coverage",
            Self::Exchange => "exchange",
            Self::Waiting => "waiting at barriers",
            Self::Idle => "idle",
        }
    }

    /// The figure with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// The cycles that the map of the chip is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Over {
    /// Those in view.
    #[default]
    View,
    /// Those of the selection; in view while there is none.
    Selection,
    /// The one that the pointer was at last; in view before.
    Cursor,
}

impl Over {
    /// All choices, in the order of the menu.
    pub(crate) const ALL: [Self; 3] = [Self::View, Self::Selection, Self::Cursor];

    /// The name in links.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Selection => "selection",
            Self::Cursor => "cursor",
        }
    }

    /// What the menu says.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::View => "the cycles in view",
            Self::Selection => "the selected cycles",
            Self::Cursor => "the cycle under the pointer",
        }
    }

    /// The choice with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
