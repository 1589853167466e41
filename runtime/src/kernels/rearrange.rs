//! Changes of element order, bit by bit.

use super::generation::{Cost, Generation};
use super::kernel::Kernel;
use super::operands::{Operand, multiple, read, write};
use super::rules::Violation;
use super::tile::{F16, TileCall, WORD, WORD_HALVES, size, uninitialised};
use super::workers::parts;
use crate::machine::memory::WordRun;
use crate::package::{Order, Rearrange};

/// Width of an F16 panel.
const PANEL: u32 = 16;

/// Launch of the worker kernels. Published fits, as are the constants of the two kernels below.
const LAUNCH: u64 = 300;
/// Transposed unpack, 12 rows: set-up, and two columns.
const UNPACK: u64 = 100;
const UNPACK_PAIR: u64 = 90;
/// Coefficient pack, 12 rows in slots of six cycles: one panel; or set-up, and each panel.
const PACK_ONE: u64 = 60;
const PACK: u64 = 12;
const PACK_PANEL: u64 = 140;
/// Supervisor overhead of the others, then cycles an element. The left pack is decided at the
/// older, slower figure, which a measured call of 640 elements supports within 9 %; the rest is
/// assumed by an early planner.
const PLANNER_LAUNCH: u64 = 11;
const LEFT_ELEMENT: u64 = 4;
const TRANSPOSED_RIGHT_ELEMENT: u64 = 3;
const OTHER_ELEMENT: u64 = 10;

/// An element's position in row-major and in panel order, of one matrix; `None` beyond the matrix.
struct Position {
    out: usize,
    source: Option<usize>,
}

/// A matrix of a rearrangement in elements.
struct Extents {
    rows: usize,
    columns: usize,
    padded_rows: usize,
    padded_columns: usize,
    stride: usize,
}

impl Extents {
    const fn row_major(&self, row: usize, column: usize) -> usize {
        row * self.stride + column
    }

    /// AMP-left with the rows as they are.
    const fn left(&self, row: usize, column: usize) -> usize {
        let panel = PANEL as usize;
        (column / panel * self.rows + row) * panel + column % panel
    }

    const fn transposed_left(&self, row: usize, column: usize) -> usize {
        let panel = PANEL as usize;
        (row / panel * self.columns + column) * panel + row % panel
    }

    /// Block-major with this many inner values.
    const fn right(inner_extent: usize, inner: usize, column: usize) -> usize {
        let panel = PANEL as usize;
        let block = column / panel * (inner_extent / panel) + inner / panel;
        (block * panel + column % panel) * panel + inner % panel
    }
}

impl Rearrange {
    const fn extents(&self) -> Extents {
        let (rows, columns) = (self.rows as usize, self.columns as usize);
        let panel = PANEL as usize;
        Extents {
            rows,
            columns,
            padded_rows: rows.next_multiple_of(panel),
            padded_columns: columns.next_multiple_of(panel),
            stride: self.stride as usize,
        }
    }

    /// Elements of one matrix as the output and as the source hold it, from first to last.
    fn sizes(&self) -> (u64, u64) {
        let (rows, columns) = (u64::from(self.rows), u64::from(self.columns));
        let panel = u64::from(PANEL);
        let row_major = (rows.saturating_sub(1)).saturating_mul(u64::from(self.stride)) + columns;
        let left = rows.saturating_mul(columns.next_multiple_of(panel));
        let both = rows
            .next_multiple_of(panel)
            .saturating_mul(columns.next_multiple_of(panel));
        match self.order {
            Order::PackLeft => (left, row_major),
            Order::PackRight | Order::PackTransposedRight => (both, row_major),
            Order::UnpackTransposed => (
                row_major,
                rows.next_multiple_of(panel).saturating_mul(columns),
            ),
            Order::UnpackLeft => (row_major, left),
            Order::LeftToRight => (both, both),
        }
    }

    /// Elements from one matrix to the next on each side: a row-major side keeps its row stride.
    fn pitches(&self) -> (usize, usize) {
        let row_major = self.rows as usize * self.stride as usize;
        let (out, source) = self.sizes();
        let of = |elements: u64| usize::try_from(elements).unwrap_or(usize::MAX);
        match self.order {
            Order::PackLeft | Order::PackRight | Order::PackTransposedRight => (of(out), row_major),
            Order::UnpackTransposed | Order::UnpackLeft => (row_major, of(source)),
            Order::LeftToRight => (of(out), of(source)),
        }
    }

    /// Every element of the output's padded extents.
    fn positions(&self) -> impl Iterator<Item = Position> {
        let it = self.extents();
        let order = self.order;
        let (rows, columns) = match order {
            Order::PackLeft => (it.rows, it.padded_columns),
            Order::PackRight | Order::PackTransposedRight => (it.padded_rows, it.padded_columns),
            Order::UnpackTransposed | Order::UnpackLeft | Order::LeftToRight => {
                (it.rows, it.columns)
            }
        };
        (0..rows * columns).map(move |element| {
            let (row, column) = (element / columns, element % columns);
            let is_inside = row < it.rows && column < it.columns;
            let (out, source) = match order {
                Order::PackLeft => (it.left(row, column), it.row_major(row, column)),
                Order::PackRight => (
                    Extents::right(it.padded_rows, row, column),
                    it.row_major(row, column),
                ),
                Order::PackTransposedRight => (
                    Extents::right(it.padded_columns, column, row),
                    it.row_major(row, column),
                ),
                Order::UnpackTransposed => {
                    (it.row_major(row, column), it.transposed_left(row, column))
                }
                Order::UnpackLeft => (it.row_major(row, column), it.left(row, column)),
                Order::LeftToRight => (
                    Extents::right(it.padded_rows, row, column),
                    it.left(row, column),
                ),
            };
            let source = is_inside.then_some(source);
            Position { out, source }
        })
    }
}

impl Kernel for Rearrange {
    fn operands(&self) -> Vec<Operand> {
        let (out, source) = self.sizes();
        let (out_pitch, source_pitch) = self.pitches();
        let further = u64::from(self.matrices.saturating_sub(1));
        let bytes = |one: u64, pitch: usize| {
            let last = further.saturating_mul(pitch as u64);
            last.saturating_add(one).saturating_mul(F16 as u64)
        };
        vec![
            write("out", bytes(out, out_pitch)),
            read("source", bytes(source, source_pitch)),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        let panels = || {
            (self.order == Order::LeftToRight).then(|| {
                multiple("rows", self.rows, PANEL)
                    .or_else(|| multiple("columns", self.columns, PANEL))
            })?
        };
        multiple("matrices", self.matrices, 1)
            .or_else(|| multiple("rows", self.rows, 1))
            .or_else(|| multiple("columns", self.columns, 2))
            .or_else(|| multiple("stride", self.stride, 2))
            .or_else(panels)
            .or_else(|| {
                (self.stride < self.columns).then(|| {
                    format!(
                        "stride is {}, less than the {} columns",
                        self.stride, self.columns
                    )
                })
            })
    }

    /// The same in both generations.
    fn cost(&self, _generation: Generation) -> Cost {
        let matrices = u64::from(self.matrices);
        let elements = self.sizes().0.saturating_mul(matrices);
        let planner =
            |element: u64| PLANNER_LAUNCH.saturating_add(elements.saturating_mul(element));
        let workers = |cycles: u64| {
            let rows = matrices.saturating_mul(parts(self.rows, 12));
            LAUNCH.saturating_add(rows.saturating_mul(cycles))
        };
        match self.order {
            Order::UnpackTransposed => {
                Cost::fitted(workers(UNPACK + UNPACK_PAIR * parts(self.columns, 2)))
            }
            Order::PackRight => {
                let slots = if self.columns <= PANEL {
                    PACK_ONE
                } else {
                    PACK + PACK_PANEL * parts(self.columns, PANEL)
                };
                Cost::fitted(workers(6 * slots))
            }
            Order::PackLeft => Cost::derived(planner(LEFT_ELEMENT)),
            Order::PackTransposedRight => Cost::assumed(planner(TRANSPOSED_RIGHT_ELEMENT)),
            Order::UnpackLeft | Order::LeftToRight => Cost::assumed(planner(OTHER_ELEMENT)),
        }
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let (out_pitch, source_pitch) = self.pitches();
        let bytes = |elements: u64| u32::try_from(elements * F16 as u64).unwrap_or(u32::MAX);
        let (out_bytes, source_bytes) = (bytes(self.sizes().0), bytes(self.sizes().1));
        for matrix in 0..self.matrices as usize {
            let source = call.address(1) + size(matrix * source_pitch * F16);
            let out = call.address(0) + size(matrix * out_pitch * F16);
            let from = call.memory().take(source, source_bytes)?;
            let to = call.memory().take(out, out_bytes)?;
            let run = self.rearranged(&from, &to, source)?;
            call.memory().land(out, &run)?;
        }
        Ok(())
    }
}

impl Rearrange {
    /// One matrix in its new order, over what the output held between its rows.
    fn rearranged(&self, from: &WordRun, to: &WordRun, source: u32) -> Result<WordRun, Violation> {
        let unwritten = |run: &WordRun| -> Vec<bool> {
            let mut words = vec![false; run.bytes.len() / WORD];
            for &word in &run.uninitialised {
                words[word as usize] = true;
            }
            words
        };
        let missing = unwritten(from);
        // Of each output half: not touched, or touched and whether its source was written.
        let mut halves = vec![None; to.bytes.len() / F16];
        let mut bytes = to.bytes.clone();
        for Position { out, source: at } in self.positions() {
            let is_written = at.is_none_or(|at| !missing[at / WORD_HALVES]);
            halves[out] = Some((is_written, at));
            let value = at.map_or([0; F16], |at| {
                [from.bytes[at * F16], from.bytes[at * F16 + 1]]
            });
            bytes[out * F16..(out + 1) * F16].copy_from_slice(&value);
        }
        let before = unwritten(to);
        let mut words = Vec::new();
        let (pairs, _) = halves.as_chunks::<WORD_HALVES>();
        for (word, pair) in pairs.iter().enumerate() {
            let is_written = pair.map(|half| half.map_or(!before[word], |(written, _)| written));
            if is_written == [false, false] {
                words.push(size(word));
            } else if is_written != [true, true] {
                let at = pair.iter().flatten().find(|(written, _)| !written);
                let at = at.and_then(|&(_, at)| at).unwrap_or(0);
                let detail = format!("output word {word} mixes written and unwritten words");
                return Err(uninitialised(
                    source + size(at / WORD_HALVES * WORD),
                    detail,
                ));
            }
        }
        Ok(WordRun {
            bytes,
            uninitialised: words,
        })
    }
}
