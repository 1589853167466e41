//! What the person looks at: a small plain value that a link can hold.
//!
//! Every change is a pure method here. Selecting never moves the view and moving never selects.

use std::fmt;

use analytics::clock::ClockKind;
use analytics::query::GroupBy;
use serde::{Deserialize, Serialize};

pub(crate) use super::chip_choice::Metric;
pub(crate) use super::kind_choice::KindFilter;
use super::panels::PanelState;
pub(crate) use super::row_choice::Rows;
use super::trail::Stay;

/// A half-open range of cycles on the clock in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First cycle.
    pub(crate) from: u64,
    /// One past the last cycle; after `from`.
    pub(crate) to: u64,
}

impl Span {
    /// Length in cycles.
    pub(crate) const fn len(self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

/// Physical tile ids, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileIds {
    /// Smallest id.
    pub(crate) first: u32,
    /// Largest id.
    pub(crate) last: u32,
}

/// A part of tiles × time that was marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Cycles on the clock in force.
    pub(crate) span: Span,
    /// Tiles; `None` is all of them.
    pub(crate) tiles: Option<TileIds>,
}

/// What one row of the table stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Grouping {
    /// A kernel symbol.
    #[default]
    Kernel,
    /// A model-level operation.
    Operation,
    /// A place in the schedule.
    Phase,
    /// A physical tile.
    Tile,
    /// A sample kind.
    Kind,
    /// A value of a metadata name.
    Metadata,
}

impl Grouping {
    /// All groupings, in the order of the menu.
    pub(crate) const ALL: [Self; 6] = [
        Self::Kernel,
        Self::Operation,
        Self::Phase,
        Self::Tile,
        Self::Kind,
        Self::Metadata,
    ];

    /// The name in links and in `profile-query --group-by`.
    pub(crate) fn name(self) -> &'static str {
        self.to_query("").name()
    }

    /// The heading of the first column.
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Self::Kernel => "Kernel",
            Self::Operation => "Operation",
            Self::Phase => "Phase / epoch",
            Self::Tile => "Tile",
            Self::Kind => "Kind",
            Self::Metadata => "Value",
        }
    }

    /// The grouping of a query; `key` is the metadata name.
    pub(crate) fn to_query(self, key: &str) -> GroupBy {
        match self {
            Self::Kernel => GroupBy::Kernel,
            Self::Operation => GroupBy::Operation,
            Self::Phase => GroupBy::Phase,
            Self::Tile => GroupBy::Tile,
            Self::Kind => GroupBy::Kind,
            Self::Metadata => GroupBy::Metadata(key.to_owned()),
        }
    }

    /// The grouping with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// The order of the table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    /// JSON name of the column.
    pub(crate) column: String,
    /// Smallest first.
    pub(crate) ascending: bool,
}

impl Default for Sort {
    fn default() -> Self {
        Self {
            column: "workCycles".to_owned(),
            ascending: false,
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            self.column,
            if self.ascending { ".asc" } else { "" }
        )
    }
}

impl Sort {
    /// Reads what `Display` wrote.
    pub(crate) fn parse(text: &str) -> Self {
        match text.strip_suffix(".asc") {
            Some(column) => Self {
                column: column.to_owned(),
                ascending: true,
            },
            None => Self {
                column: text.to_owned(),
                ascending: false,
            },
        }
    }

    /// After a press on the heading of `column`: the other direction of the same column, else names
    /// from A and numbers from the largest.
    pub(crate) fn pressed(&self, column: &str) -> Self {
        let ascending = if self.column == column {
            !self.ascending
        } else {
            column == "name"
        };
        Self {
            column: column.to_owned(),
            ascending,
        }
    }
}

/// What the colours of the timeline say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Colouring {
    /// The kernel that took most of a cell.
    #[default]
    Kernel,
    /// The kind alone.
    Kind,
    /// The model-level operation.
    Operation,
    /// Useful work over measured time.
    Efficiency,
    /// Useful work over physical work.
    Occupancy,
}

impl Colouring {
    /// All colourings, in the order of the menu.
    pub(crate) const ALL: [Self; 5] = [
        Self::Kernel,
        Self::Kind,
        Self::Operation,
        Self::Efficiency,
        Self::Occupancy,
    ];

    /// What cells are asked for: kinds are the cells of kernels in fewer colours.
    pub(crate) const fn of_cells(self) -> Self {
        match self {
            Self::Kind => Self::Kernel,
            other => other,
        }
    }

    /// Whether colours say a share, not a name.
    pub(crate) const fn is_scale(self) -> bool {
        matches!(self, Self::Efficiency | Self::Occupancy)
    }

    /// The name in links and in the menu.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Kind => "kind",
            Self::Operation => "operation",
            Self::Efficiency => "efficiency",
            Self::Occupancy => "occupancy",
        }
    }

    /// The colouring with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// What is shown below the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lower {
    /// Figures of the whole run.
    #[default]
    Figures,
    /// Sums over the part in view.
    InView,
    /// The chip as a map.
    Chip,
    /// Barriers and the critical path.
    Phases,
    /// Exchange ports and bytes.
    Exchange,
    /// Another profile beside this one.
    Compare,
    /// Charts.
    Plots,
    /// Memory of the package's tiles.
    Memory,
}

impl Lower {
    /// All choices, in the order of the buttons.
    pub(crate) const ALL: [Self; 8] = [
        Self::Figures,
        Self::InView,
        Self::Chip,
        Self::Phases,
        Self::Exchange,
        Self::Compare,
        Self::Plots,
        Self::Memory,
    ];

    /// The name in links.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Figures => "figures",
            Self::InView => "in-view",
            Self::Chip => "chip",
            Self::Phases => "phases",
            Self::Exchange => "exchange",
            Self::Compare => "compare",
            Self::Plots => "plots",
            Self::Memory => "memory",
        }
    }

    /// What its button says.
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Self::Figures => "Whole run",
            Self::InView => "In view",
            Self::Chip => "Chip map",
            Self::Phases => "Phases",
            Self::Exchange => "Exchange",
            Self::Compare => "Compare",
            Self::Plots => "Plots",
            Self::Memory => "Memory",
        }
    }

    /// What there is to see.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Figures => "Figures of the whole run by kernel, operation, phase, tile or kind",
            Self::InView => "What the cycles and tiles in view were spent on",
            Self::Chip => {
                "The physical grid of tiles, coloured by a figure over the cycles in view"
            }
            Self::Phases => "Who arrives last at each barrier, who waits, what balance would save",
            Self::Exchange => "When tiles send and receive, bytes a cycle, hottest receivers",
            Self::Compare => "This profile against another one",
            Self::Plots => "Charts, as SVG, PNG and data",
            Self::Memory => {
                "SRAM of each tile over the schedule or the cycles in view, from the package"
            }
        }
    }

    /// The choice with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Everything a link restores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewState {
    /// The clock in force.
    pub(crate) clock: ClockKind,
    /// Cycles in view; `None` is the whole run.
    pub(crate) span: Option<Span>,
    /// Tiles in view; `None` is all of them.
    pub(crate) tiles: Option<TileIds>,
    /// What a row of the timeline stands for.
    pub(crate) rows: Rows,
    /// The part that is marked.
    pub(crate) selection: Option<Selection>,
    /// What a table row stands for.
    pub(crate) by: Grouping,
    /// The focused kernel; all others are dimmed.
    pub(crate) kernel: Option<String>,
    /// Which samples the table counts.
    pub(crate) kind: KindFilter,
    /// Order of the table.
    pub(crate) sort: Sort,
    /// Part of the names of the rows that the table shows, whatever the case; empty shows all.
    pub(crate) find: String,
    /// What the colours of the timeline say.
    pub(crate) colour: Colouring,
    /// What is shown below the timeline.
    pub(crate) lower: Lower,
    /// What the map of the chip shows.
    pub(crate) metric: Metric,
    /// What the other panels show.
    pub(crate) panels: PanelState,
}

impl ViewState {
    /// Focuses `kernel`, or clears the focus where it was focused already.
    pub(crate) fn toggle_kernel(&mut self, kernel: &str) {
        self.kernel = match self.kernel.take() {
            Some(old) if old == kernel => None,
            _ => Some(kernel.to_owned()),
        };
    }

    /// Lets go of the kernel in focus, else of what is selected.
    pub(crate) fn let_go(&mut self) {
        if self.kernel.take().is_none() {
            self.selection = None;
        }
    }

    /// Changes the clock. Offsets of another clock mean other instants, so the whole run comes back
    /// into view.
    pub(crate) fn set_clock(&mut self, clock: ClockKind) {
        if self.clock != clock {
            self.clock = clock;
            self.span = None;
            self.selection = None;
            self.panels.aligned = None;
            self.panels.cycle = None;
        }
    }

    /// Changes the clock as [`Self::set_clock`] does, but keeps what is in view and what is
    /// selected where the new clock is the old one from another origin: the cropped and the shared
    /// one, which are `crop` cycles apart.
    pub(crate) fn change_clock(&mut self, clock: ClockKind, crop: u64) {
        let shifted = |span: Span| match (self.clock, clock) {
            (ClockKind::Cropped, ClockKind::Shared) => Some(Span {
                from: span.from.saturating_add(crop),
                to: span.to.saturating_add(crop),
            }),
            // What lies in the crop is on no other clock.
            (ClockKind::Shared, ClockKind::Cropped) => Some(Span {
                from: span.from.saturating_sub(crop),
                to: span.to.saturating_sub(crop),
            })
            .filter(|it| it.from < it.to),
            _ => None,
        };
        if self.clock == clock {
            return;
        }
        let span = self.span.and_then(shifted);
        let selection = self.selection.and_then(|it| {
            let span = shifted(it.span)?;
            Some(Selection { span, ..it })
        });
        let cycle = self.panels.cycle.and_then(|from| {
            let to = from.saturating_add(1);
            shifted(Span { from, to }).map(|it| it.from)
        });
        self.set_clock(clock);
        (self.span, self.selection) = (span, selection);
        self.panels.cycle = cycle;
    }

    /// Brings these tiles into view, where rows are groups as rows of their own.
    pub(crate) fn show_tiles(&mut self, tiles: TileIds) {
        self.rows = Rows::Tile;
        self.tiles = Some(tiles);
    }

    /// The tiles in view, where not all are: groups are always of all tiles.
    pub(crate) fn shown_tiles(&self) -> Option<TileIds> {
        self.tiles.filter(|_| self.rows == Rows::Tile)
    }

    /// The part in view.
    pub(crate) fn stay(&self) -> Stay {
        Stay {
            clock: self.clock,
            span: self.span,
            tiles: self.tiles,
        }
    }

    /// Shows a part that was in view.
    pub(crate) fn return_to(&mut self, stay: Stay) {
        self.set_clock(stay.clock);
        (self.span, self.tiles) = (stay.span, stay.tiles);
    }

    /// Whether only the place in view, the cycle that was pointed at or the typed text differs:
    /// such changes replace the entry in the history.
    pub(crate) fn differs_only_in_place(&self, other: &Self) -> bool {
        let mut placed = Self {
            span: other.span,
            tiles: other.tiles,
            find: other.find.clone(),
            ..self.clone()
        };
        placed.panels.cycle = other.panels.cycle;
        placed == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selecting_toggles_and_leaves_the_place_alone() {
        let place = Some(Span { from: 10, to: 20 });
        let mut view = ViewState {
            span: place,
            ..ViewState::default()
        };
        view.toggle_kernel("a");
        assert_eq!(view.kernel.as_deref(), Some("a"));
        view.toggle_kernel("b");
        assert_eq!(view.kernel.as_deref(), Some("b"));
        view.toggle_kernel("b");
        assert_eq!(
            view,
            ViewState {
                span: place,
                ..ViewState::default()
            }
        );
    }

    #[test]
    fn another_clock_brings_the_whole_run_back() {
        let mut view = ViewState {
            span: Some(Span { from: 1, to: 2 }),
            ..ViewState::default()
        };
        view.set_clock(ClockKind::default());
        assert!(view.span.is_some());
        view.set_clock(ClockKind::Tile);
        assert_eq!(view.span, None);
    }

    #[test]
    fn clocks_that_only_start_apart_keep_what_is_in_view_and_selected() {
        let span = |from, to| Some(Span { from, to });
        let selected = |from, to| {
            let span = Span { from, to };
            Some(Selection { span, tiles: None })
        };
        let mut view = ViewState {
            span: span(100, 200),
            selection: selected(150, 160),
            ..ViewState::default()
        };
        view.change_clock(ClockKind::Cropped, 30);
        assert_eq!(view.span, span(100, 200), "it is that clock already");
        view.change_clock(ClockKind::Shared, 30);
        assert_eq!(
            (view.span, view.selection),
            (span(130, 230), selected(180, 190))
        );
        view.change_clock(ClockKind::Cropped, 30);
        assert_eq!(
            (view.span, view.selection),
            (span(100, 200), selected(150, 160))
        );
        view.change_clock(ClockKind::Tile, 30);
        assert_eq!((view.span, view.selection), (None, None));
        view.change_clock(ClockKind::Shared, 30);
        view.selection = selected(10, 20);
        view.change_clock(ClockKind::Cropped, 30);
        assert_eq!(view.selection, None, "it is cropped away");
    }

    #[test]
    fn letting_go_takes_the_focus_first_and_then_the_selection() {
        let mut view = ViewState {
            kernel: Some("k".to_owned()),
            selection: Some(Selection {
                span: Span { from: 1, to: 2 },
                tiles: None,
            }),
            ..ViewState::default()
        };
        view.let_go();
        assert!(view.kernel.is_none() && view.selection.is_some());
        view.let_go();
        assert_eq!(view, ViewState::default());
    }

    #[test]
    fn headings_toggle_and_start_where_people_look_first() {
        let sort = Sort::default().pressed("p95Cycles");
        assert_eq!(sort.to_string(), "p95Cycles");
        assert_eq!(sort.pressed("p95Cycles").to_string(), "p95Cycles.asc");
        assert_eq!(sort.pressed("name").to_string(), "name.asc");
        assert_eq!(Sort::parse("name.asc"), sort.pressed("name"));
    }

    #[test]
    fn zooming_is_told_from_selecting() {
        let whole = ViewState::default();
        let zoomed = ViewState {
            span: Some(Span { from: 1, to: 2 }),
            ..whole.clone()
        };
        let selected = ViewState {
            kernel: Some("k".to_owned()),
            ..zoomed.clone()
        };
        assert!(whole.differs_only_in_place(&zoomed));
        let typed = ViewState {
            find: "ge".to_owned(),
            ..whole.clone()
        };
        assert!(whole.differs_only_in_place(&typed));
        assert!(!zoomed.differs_only_in_place(&selected));
    }
}
