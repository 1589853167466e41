//! What the panels below the timeline show: their part of the view and of its link.

use analytics::chart::Chart;
use serde::{Deserialize, Serialize};

pub(crate) use super::chip_choice::Over;
use super::url::{decoded, encoded, range};
use super::view::Sort;

/// What a row of the comparison stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pairs {
    /// A model-level operation: two plans have them in common, kernels hardly.
    #[default]
    Operation,
    /// A kernel symbol.
    Kernel,
    /// A phase, aligned by structure.
    Phase,
    /// A physical tile.
    Tile,
    /// A sample kind.
    Kind,
}

impl Pairs {
    /// All choices, in the order of the menu.
    pub(crate) const ALL: [Self; 5] = [
        Self::Operation,
        Self::Kind,
        Self::Kernel,
        Self::Phase,
        Self::Tile,
    ];

    /// The name in links.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Phase => "phase",
            Self::Operation => "operation",
            Self::Tile => "tile",
            Self::Kind => "kind",
        }
    }

    /// The heading of the first column.
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Self::Kernel => "Kernel",
            Self::Phase => "Phase",
            Self::Operation => "Operation",
            Self::Tile => "Tile",
            Self::Kind => "Kind",
        }
    }

    /// The choice with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// What the picture of a tile's memory has from left to right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Across {
    /// The cycles in view, where the open profile was recorded from the package.
    #[default]
    Cycles,
    /// Items of the schedule, each as wide as the others.
    Items,
}

impl Across {
    /// All choices, in the order of the menu.
    pub(crate) const ALL: [Self; 2] = [Self::Cycles, Self::Items];

    /// The name in links.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Items => "items",
        }
    }

    /// What the menu says.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Cycles => "cycles in view, as the timeline",
            Self::Items => "items of the schedule",
        }
    }

    /// The choice with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A cycle of the open profile, and the one of the other profile that lies below it.
pub(crate) type Aligned = (u64, u64);

/// What a link says of a table with every figure.
const ALL_FIGURES: &str = "all";
/// What a link says of what is so.
const YES: &str = "1";

/// What a link restores of the panels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PanelState {
    /// Order of the panel's table; `None` is the order that it comes in.
    pub(crate) order: Option<Sort>,
    /// The cycles of the map of the chip.
    pub(crate) over: Over,
    /// The cycle that the pointer was at last, where the map follows it.
    pub(crate) cycle: Option<u64>,
    /// The chart of the plots.
    pub(crate) chart: Chart,
    /// What a row of the comparison stands for.
    pub(crate) pairs: Pairs,
    /// Address of the profile to compare with, as the page's own addresses are written.
    pub(crate) compare: Option<String>,
    /// Cycles of both profiles that lie over each other; `None` is the same ones.
    pub(crate) aligned: Option<Aligned>,
    /// Whether profiles that are unlike are compared all the same.
    pub(crate) force: bool,
    /// Whether the open profile is the run before, the other one the run after.
    pub(crate) swapped: bool,
    /// Name of the phase whose straggler is marked.
    pub(crate) phase: Option<String>,
    /// Address of the package whose memory is shown.
    pub(crate) package: Option<String>,
    /// Physical tile whose memory is shown.
    pub(crate) tile: Option<u32>,
    /// What its picture has from left to right.
    pub(crate) across: Across,
    /// Metadata name that the table of the run is grouped by.
    pub(crate) key: String,
    /// Whether the table of the run shows every figure.
    pub(crate) all_figures: bool,
}

impl PanelState {
    /// Compares with another profile, given by its address where it has one: what was said of the
    /// one before goes.
    pub(crate) fn compare_with(&mut self, address: Option<String>) {
        self.compare = address;
        self.aligned = None;
        self.force = false;
        self.swapped = false;
    }

    /// Takes a pair of a link into the state; `false` where the key is none of its own.
    pub(crate) fn read_key(&mut self, key: &str, value: &str) -> bool {
        let text = || Some(decoded(value)).filter(|it| !it.is_empty());
        match key {
            "order" => self.order = text().map(|it| Sort::parse(&it)),
            "over" => self.over = Over::from_name(value).unwrap_or_default(),
            "cycle" => self.cycle = value.parse().ok(),
            "plot" => self.chart = Chart::from_name(value).unwrap_or_default(),
            "pairs" => self.pairs = Pairs::from_name(value).unwrap_or_default(),
            "compare" => self.compare = text(),
            "align" => self.aligned = range(value),
            "force" => self.force = value == YES,
            "swap" => self.swapped = value == YES,
            "phase" => self.phase = text(),
            "package" => self.package = text(),
            "tile" => self.tile = value.parse().ok(),
            "across" => self.across = Across::from_name(value).unwrap_or_default(),
            "key" => self.key = decoded(value),
            "columns" => self.all_figures = value == ALL_FIGURES,
            _ => return false,
        }
        true
    }

    /// The pairs that a link needs, encoded; defaults are left out.
    pub(crate) fn pairs_of_link(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        if let Some(order) = &self.order {
            pairs.push(("order", encoded(&order.to_string())));
        }
        if self.over != Over::default() {
            pairs.push(("over", self.over.name().to_owned()));
        }
        if let Some(cycle) = self.cycle {
            pairs.push(("cycle", cycle.to_string()));
        }
        if self.chart != Chart::default() {
            pairs.push(("plot", self.chart.name().to_owned()));
        }
        if self.pairs != Pairs::default() {
            pairs.push(("pairs", self.pairs.name().to_owned()));
        }
        if let Some(compare) = &self.compare {
            pairs.push(("compare", encoded(compare)));
        }
        if let Some((here, there)) = self.aligned {
            pairs.push(("align", format!("{here}-{there}")));
        }
        if self.force {
            pairs.push(("force", YES.to_owned()));
        }
        if self.swapped {
            pairs.push(("swap", YES.to_owned()));
        }
        if let Some(phase) = &self.phase {
            pairs.push(("phase", encoded(phase)));
        }
        if let Some(package) = &self.package {
            pairs.push(("package", encoded(package)));
        }
        if let Some(tile) = self.tile {
            pairs.push(("tile", tile.to_string()));
        }
        if self.across != Across::default() {
            pairs.push(("across", self.across.name().to_owned()));
        }
        if !self.key.is_empty() {
            pairs.push(("key", encoded(&self.key)));
        }
        if self.all_figures {
            pairs.push(("columns", ALL_FIGURES.to_owned()));
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_restores_what_the_panels_show() {
        let state = PanelState {
            order: Some(Sort::parse("waiting.asc")),
            over: Over::Cursor,
            cycle: Some(1_234),
            chart: Chart::Roofline,
            pairs: Pairs::Phase,
            compare: Some("/a/b c&d".to_owned()),
            aligned: Some((70, 95)),
            force: true,
            swapped: true,
            phase: Some("exchange phase 3/0".to_owned()),
            package: Some("https://host/x.ipuexe?y=1".to_owned()),
            tile: Some(7),
            across: Across::Items,
            key: "role of it".to_owned(),
            all_figures: true,
        };
        let mut again = PanelState::default();
        for (key, value) in state.pairs_of_link() {
            assert!(again.read_key(key, &value), "{key}");
        }
        assert_eq!(again, state);
        assert_eq!(PanelState::default().pairs_of_link(), []);
        assert!(!again.read_key("moon", "full"));
    }
}
