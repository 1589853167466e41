//! What a row of the timeline stands for, as people choose it.

use analytics::timeline::RowsBy;
use serde::{Deserialize, Serialize};

/// What a row of the timeline stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rows {
    /// A tile.
    #[default]
    Tile,
    /// The tiles of a row of the chip.
    ChipRow,
    /// The tiles of a column of the chip.
    ChipColumn,
    /// Tiles that ran the same program.
    Cohort,
    /// A model-level operation on all tiles.
    Operation,
}

impl Rows {
    /// All choices, in the order of the menu.
    pub(crate) const ALL: [Self; 5] = [
        Self::Tile,
        Self::ChipRow,
        Self::ChipColumn,
        Self::Cohort,
        Self::Operation,
    ];

    /// The name in links.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tile => "tile",
            Self::ChipRow => "chip-row",
            Self::ChipColumn => "chip-column",
            Self::Cohort => "cohort",
            Self::Operation => "operation",
        }
    }

    /// What the menu says.
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Self::Tile => "tile",
            Self::ChipRow => "row of the chip",
            Self::ChipColumn => "column of the chip",
            Self::Cohort => "cohort of like tiles",
            Self::Operation => "operation",
        }
    }

    /// The choice of the engine.
    pub(crate) const fn to_engine(self) -> RowsBy {
        match self {
            Self::Tile => RowsBy::Tile,
            Self::ChipRow => RowsBy::ChipRow,
            Self::ChipColumn => RowsBy::ChipColumn,
            Self::Cohort => RowsBy::Cohort,
            Self::Operation => RowsBy::Operation,
        }
    }

    /// The choice with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
