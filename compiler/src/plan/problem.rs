//! A GEMM as the AMP unit sees it, and how a grid cuts it: (graph, operation, orientation) → the
//! panel operand, the coefficient operand, the result, and the block of each on each tile.

use std::ops::Range;

use crate::graph::{Graph, Operation, OperationKind, ValueId};
use crate::layout::{Block, LANES, LineAxis, Order, View, split};

use super::PlanError;
use super::shape::{HeadLayout, Heads, fitting};

/// Which operand is streamed as AMP-left panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Orientation {
    /// The left operand; the right one is the coefficients.
    Normal,
    /// The right operand: (Bᵀ·Aᵀ)ᵀ is computed, the left operand is the coefficients.
    Swapped,
}

impl Orientation {
    /// The name in plan texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Swapped => "swapped",
        }
    }
}

/// A three-dimensional grid of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grid {
    /// Parts of the lines of the panel operand.
    pub rows: u32,
    /// Parts of the lines of the coefficient operand, in groups of 16.
    pub columns: u32,
    /// Parts of the contraction, in panels of 16.
    pub inner: u32,
}

/// Position of a tile in a [`Grid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Row of the grid.
    pub row: u32,
    /// Column of the grid.
    pub column: u32,
    /// Contraction part.
    pub inner: u32,
}

impl Grid {
    /// Tiles of the grid.
    #[must_use]
    pub const fn tiles(&self) -> u32 {
        self.rows * self.columns * self.inner
    }

    /// Logical tile of a cell: columns fastest, then contraction, then rows.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a grid has at most 1,472 tiles"
    )]
    pub const fn tile(&self, cell: Cell) -> u16 {
        ((cell.row * self.inner + cell.inner) * self.columns + cell.column) as u16
    }

    /// All cells in tile order.
    pub fn cells(self) -> impl Iterator<Item = Cell> {
        let Self {
            rows,
            columns,
            inner,
        } = self;
        (0..rows).flat_map(move |row| {
            (0..inner)
                .flat_map(move |inner| (0..columns).map(move |column| Cell { row, column, inner }))
        })
    }
}

/// An operand of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The value.
    pub value: ValueId,
    /// How it is seen: its lines are not contracted, its depth is.
    pub view: View,
    /// The host holds it; else an operation computed it.
    pub is_host: bool,
    /// It lies in the blocks of a product, so that messages with parts of it are long.
    pub is_blocked: bool,
    /// How many of it lie on the tiles: one for each run of a repeated block that has its own.
    pub copies: u32,
}

/// A GEMM in one orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Streamed operand, in [`Order::Panels`].
    pub panels: Operand,
    /// Loaded operand, in [`Order::Coefficients`].
    pub coefficients: Operand,
    /// Result: lines of the panel operand, depth of the coefficient operand's lines.
    pub result: Operand,
}

/// Whether a value lies as a product left it: its own result, what was made of one in place, or
/// what a repeated block hands on.
fn is_blocked(graph: &Graph, value: ValueId) -> bool {
    let Some(producer) = graph.producer(value) else {
        return graph.value(value).fill().is_none();
    };
    let operation = &graph.operations()[producer];
    match operation.kind {
        OperationKind::Gemm => true,
        OperationKind::Gelu | OperationKind::Add => is_blocked(graph, operation.inputs[0]),
        OperationKind::LayerNorm
        | OperationKind::SplitHeads { .. }
        | OperationKind::MergeHeads { .. }
        | OperationKind::Attention { .. } => false,
    }
}

impl Problem {
    /// The problem of an operation.
    ///
    /// # Errors
    /// [`PlanError::NoPlan`] for extents beyond what a tile address can reach.
    pub fn new(
        graph: &Graph,
        operation: &Operation,
        orientation: Orientation,
        heads: HeadLayout,
    ) -> Result<Self, PlanError> {
        let extents = graph.gemm_extents(operation);
        let fit = |extent: u64| fitting(extent, &operation.name);
        let (rows, inner) = (fit(extents.rows)?, fit(extents.inner)?);
        let columns = fit(extents.columns)?;
        let heads = Heads::of(graph, operation, heads);
        let rows = (rows, heads.row_groups(rows));
        let inner = (
            inner,
            Heads::depth_groups(graph, operation.inputs[0], inner),
        );
        let columns = (columns, heads.column_groups(columns));
        let operand = |position: usize, view: View| {
            let value = operation.inputs[position];
            let is_host = graph.value(value).fill().is_some();
            Operand {
                value,
                view,
                is_host,
                is_blocked: is_blocked(graph, value),
                copies: graph.copies(value),
            }
        };
        let left = operand(0, View::grouped(rows, inner, LineAxis::Rows));
        let right = operand(1, View::grouped(inner, columns, LineAxis::Columns));
        let (axis, panels, coefficients) = match orientation {
            Orientation::Normal => (LineAxis::Rows, left, right),
            Orientation::Swapped => (LineAxis::Columns, right, left),
        };
        let result = Operand {
            value: operation.output,
            view: View::grouped(rows, columns, axis),
            is_host: false,
            is_blocked: true,
            copies: 1,
        };
        Ok(Self {
            panels,
            coefficients,
            result,
        })
    }

    /// Panels of 16 along the contraction.
    #[must_use]
    pub const fn depth_panels(&self) -> u32 {
        self.panels.view.panels()
    }

    /// Panels of the `chunk`-th of `chunks` parts of a contraction part.
    #[must_use]
    pub fn panel_range(&self, grid: Grid, inner: u32, (chunk, chunks): (u32, u32)) -> Range<u32> {
        let part = split(self.depth_panels(), grid.inner, inner);
        let within = split(part.end - part.start, chunks, chunk);
        part.start + within.start..part.start + within.end
    }

    /// Lines of the panel operand on a cell. Columns are cut in pairs where they can be, so that a
    /// row-major copy of a swapped result has rows of whole words.
    fn panel_lines(&self, grid: Grid, cell: Cell) -> Range<u32> {
        let lines = self.panels.view.lines;
        let in_pairs = self.panels.view.axis == LineAxis::Columns
            && lines.is_multiple_of(2)
            && grid.rows <= lines / 2;
        if in_pairs {
            let pairs = split(lines / 2, grid.rows, cell.row);
            2 * pairs.start..2 * pairs.end
        } else {
            split(lines, grid.rows, cell.row)
        }
    }

    /// Lines of the fullest cell.
    #[must_use]
    pub(super) fn most_lines(&self, grid: Grid) -> u32 {
        let (row, column, inner) = (0, 0, 0);
        let lines = self.panel_lines(grid, Cell { row, column, inner });
        lines.end - lines.start
    }

    /// The panel operand's block of a cell.
    #[must_use]
    pub fn panel_block(&self, grid: Grid, cell: Cell, chunk: (u32, u32)) -> Block {
        Block {
            lines: self.panel_lines(grid, cell),
            panels: self.panel_range(grid, cell.inner, chunk),
            order: Order::Panels,
        }
    }

    /// The coefficient operand's block of a cell.
    #[must_use]
    pub fn coefficient_block(&self, grid: Grid, cell: Cell, chunk: (u32, u32)) -> Block {
        let groups = split(self.coefficients.view.groups(), grid.columns, cell.column);
        Block {
            lines: groups.start * LANES..groups.end * LANES,
            panels: self.panel_range(grid, cell.inner, chunk),
            order: Order::Coefficients,
        }
    }

    /// The result block of a cell, the same for all contraction parts.
    #[must_use]
    pub fn result_block(&self, grid: Grid, cell: Cell) -> Block {
        Block {
            lines: self.panel_lines(grid, cell),
            panels: split(self.coefficients.view.groups(), grid.columns, cell.column),
            order: Order::Panels,
        }
    }
}
