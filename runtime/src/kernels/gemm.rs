//! Matrix products on the AMP unit: F16 with native or packed store, F143, F32.

use half::f16;

use super::amp::{PANEL as LANES, Shape};
use super::generation::{Basis, Cost, Generation};
use super::kernel::Kernel;
use super::operands::{Access, Operand, matrix, multiple};
use super::rules::{Placed, Violation};
use super::tile::{F16, Ranges, State, TileCall, WORD_HALVES, size, uninitialised};
use super::workers::{WORKERS, share};
use crate::fault::FaultRule;
use crate::package::{Gemm, MemoryClass};

/// Columns of a coefficient panel, and the panel width of F16 operands: [`super::amp::PANEL`] as an
/// extent.
pub(crate) const PANEL: u32 = 16;
/// Inner values of an F143 panel: as many bytes as an F16 panel.
const F143_PANEL: u32 = 32;
/// Inner values of an F32 panel, and columns of an F32 result's panel.
const F32_PANEL: u32 = 8;

/// Launch, pointer set-up and rendezvous. Fit to published C600 GEMM measurements.
const LAUNCH: u64 = 294;
/// Cycles per row and panel: four AMP instructions a row, six workers in turn. Published C600
/// measurement, supported by the slope of the published AMP 1×1 points.
const ROW: u64 = 4;
/// Sync and coefficient load of a panel by 32 128-bit loads. Fit, within 2 % of measurements.
const PANEL_INTERLEAVED: u64 = 160;
/// The same by 64 64-bit loads: 32 bundles more. Fits the two measured standard-memory calls.
const PANEL_STANDARD: u64 = 192;

/// Launch of the packed store. Fit, within 0.5 % of four published C600 measurements.
const PACKED_LAUNCH: u64 = 342;
/// A worker's cycles per row, and per group of 16 rows that it touches. Same fit.
const PACKED_ROW: u64 = 24;
const PACKED_CHUNK: u64 = 184;
/// Sync and coefficient load of a panel. Same fit.
const PACKED_INTERLEAVED: u64 = 170;
const PACKED_STANDARD: u64 = 202;

/// F32: four times the cycles of a row, and the group constant of an early planner. That planner
/// counted quarters of cycles: its 940, 1063 and 2126 are 235, 265.75 and 531.5 cycles of an
/// interleaved, a standard and an F32 panel, the last two also published so. Assumed.
const F32_ROW: u64 = 4 * ROW;
const F32_GROUP_QUARTERS: u64 = 2126;

/// Launch of the vendor's AMP 1×1 dispatcher; the rows cost [`ROW`] cycles there too. Fit to 128
/// published points of one K16 × C16 panel.
const AMP_POINT_LAUNCH: u64 = 332;

/// Cycles of the vendor's AMP 1×1 benchmark for `rows` rows of one F16 panel.
pub(crate) const fn amp_point_cycles(rows: u32) -> u64 {
    AMP_POINT_LAUNCH + ROW * rows as u64
}

/// Alignment of all operands in bytes. Hardware-exercised rule.
const ALIGNMENT: u32 = 32;
/// The AMP left stream reads eight F16 past its end. Hardware-exercised rule.
const LEFT_TAIL: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F16,
    PackedF16,
    F143 { scale: i8 },
    F32,
}

/// A product with its precision and store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    gemm: Gemm,
    kind: Kind,
}

impl Product {
    pub(crate) const fn f16(gemm: Gemm) -> Self {
        let kind = Kind::F16;
        Self { gemm, kind }
    }

    pub(crate) const fn packed_f16(gemm: Gemm) -> Self {
        let kind = Kind::PackedF16;
        Self { gemm, kind }
    }

    pub(crate) const fn f143(gemm: Gemm, scale: i8) -> Self {
        let kind = Kind::F143 { scale };
        Self { gemm, kind }
    }

    pub(crate) const fn f32(gemm: Gemm) -> Self {
        let kind = Kind::F32;
        Self { gemm, kind }
    }

    /// Inner values of a panel.
    const fn width(&self) -> u32 {
        match self.kind {
            Kind::F16 | Kind::PackedF16 => PANEL,
            Kind::F143 { .. } => F143_PANEL,
            Kind::F32 => F32_PANEL,
        }
    }

    /// Bytes of an operand element and of a result element.
    const fn element_bytes(&self) -> (u64, u64) {
        match self.kind {
            Kind::F16 | Kind::PackedF16 => (2, 2),
            Kind::F143 { .. } => (1, 2),
            Kind::F32 => (4, 4),
        }
    }

    fn shape(&self) -> Shape {
        Shape {
            rows: self.gemm.rows as usize,
            inner: self.gemm.inner as usize,
            columns: self.gemm.columns as usize,
        }
    }

    /// Cycles of a panel: the busiest worker's rows and chunks, sync and coefficient load.
    fn packed_panel(&self) -> u64 {
        let occupancy = (0..WORKERS).map(|worker| {
            let rows = share(self.gemm.rows, worker);
            let (count, start) = (rows.len() as u64, u64::from(rows.start));
            let chunks = (start % u64::from(PANEL) + count).div_ceil(u64::from(PANEL));
            PACKED_ROW * count + PACKED_CHUNK * chunks
        });
        let load = match self.gemm.coefficients {
            MemoryClass::Interleaved => PACKED_INTERLEAVED,
            MemoryClass::Standard => PACKED_STANDARD,
        };
        occupancy.max().unwrap_or(0) + load
    }
}

impl Kernel for Product {
    fn operands(&self) -> Vec<Operand> {
        let Gemm {
            rows,
            inner,
            columns,
            accumulate,
            ..
        } = self.gemm;
        let access = if accumulate {
            Access::Update
        } else {
            Access::Write
        };
        let operand = |name, bytes, tail, access| Operand {
            name,
            bytes,
            tail,
            alignment: ALIGNMENT,
            access,
        };
        let (from, to) = self.element_bytes();
        vec![
            operand("out", matrix(rows, columns, to), 0, access),
            operand("left", matrix(rows, inner, from), LEFT_TAIL, Access::Read),
            operand("right", matrix(inner, columns, from), 0, Access::Read),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        let scale = match self.kind {
            Kind::F143 { scale } if !(-32..=30).contains(&scale) => {
                Some(format!("scale is {scale}, outside -32..=30"))
            }
            _ => None,
        };
        multiple("rows", self.gemm.rows, 1)
            .or_else(|| multiple("inner", self.gemm.inner, self.width()))
            .or_else(|| multiple("columns", self.gemm.columns, PANEL))
            .or(scale)
    }

    /// The same in both generations. An F143 panel holds twice the inner values and costs the same.
    fn cost(&self, _generation: Generation) -> Cost {
        let Gemm {
            rows,
            inner,
            columns,
            ..
        } = self.gemm;
        let inner_panels = match self.kind {
            Kind::F143 { .. } => inner.div_ceil(F143_PANEL),
            Kind::F16 | Kind::PackedF16 | Kind::F32 => inner.div_ceil(PANEL),
        };
        let panels = u64::from(inner_panels) * u64::from(columns.div_ceil(PANEL));
        let setup = match self.gemm.coefficients {
            MemoryClass::Interleaved => PANEL_INTERLEAVED,
            MemoryClass::Standard => PANEL_STANDARD,
        };
        let rows = u64::from(rows);
        let (launch, panel, basis) = match self.kind {
            Kind::F16 | Kind::F143 { .. } => (LAUNCH, ROW * rows + setup, Basis::Fitted),
            Kind::PackedF16 => (PACKED_LAUNCH, self.packed_panel(), Basis::Fitted),
            Kind::F32 => {
                let quarters = panels.saturating_mul(4 * F32_ROW * rows + F32_GROUP_QUARTERS);
                return Cost::assumed(quarters.div_ceil(4).saturating_add(LAUNCH));
            }
        };
        let cycles = panels.saturating_mul(panel).saturating_add(launch);
        Cost::new(cycles, basis)
    }

    /// Hardware-exercised rules of the AMP kernels.
    fn check_places(&self, placed: &[Placed]) -> Result<(), Violation> {
        let [out, left, right] = placed else {
            return Ok(());
        };
        if self.gemm.accumulate || self.gemm.inner > self.width() {
            out.require_interleaved("it is read back for each panel")?;
        }
        if self.gemm.coefficients == MemoryClass::Interleaved {
            right.require_interleaved("its coefficients are loaded 128 bits at a time")?;
        }
        if left.elements & out.elements == 0 {
            return Ok(());
        }
        let detail = format!(
            "output at {:#x} and left operand at {:#x} share a memory element",
            out.address, left.address
        );
        Err(Violation::new(
            FaultRule::OperandElement,
            out.address,
            detail,
        ))
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let padding = self.padding(call)?;
        match self.kind {
            Kind::F16 | Kind::PackedF16 => self.execute_f16(call, padding),
            Kind::F143 { scale } => self.execute_f143(call, scale, padding),
            Kind::F32 => self.execute_f32(call, padding),
        }
    }
}

/// Numbers.
impl Product {
    fn execute_f16(&self, call: &mut TileCall<'_>, padding: Vec<u32>) -> Result<(), Violation> {
        let shape = self.shape();
        let left = call.halves(1, shape.rows * shape.inner)?;
        let right = call.halves(2, shape.inner * shape.columns)?;
        let mut out = self.accumulator(call)?;
        let accumulate = self.gemm.accumulate;
        call.engine
            .multiply(shape, &mut out, &left, &right, accumulate, &call.rounder);
        self.store(call, out, padding)
    }

    fn execute_f143(
        &self,
        call: &mut TileCall<'_>,
        scale: i8,
        padding: Vec<u32>,
    ) -> Result<(), Violation> {
        let shape = self.shape();
        let mut out = self.accumulator(call)?;
        let left = call.bytes(1, shape.rows * shape.inner)?;
        let right = call.bytes(2, shape.inner * shape.columns)?;
        let accumulate = self.gemm.accumulate;
        call.engine.multiply_f143(
            shape,
            &mut out,
            (left, right, scale),
            accumulate,
            &call.rounder,
        );
        self.store(call, out, padding)
    }

    /// F32 products and sums, each rounded, inner index in order.
    fn execute_f32(&self, call: &mut TileCall<'_>, padding: Vec<u32>) -> Result<(), Violation> {
        let Shape {
            rows,
            inner,
            columns,
        } = self.shape();
        let width = F32_PANEL as usize;
        let left = call.floats(1, rows * inner)?;
        let right = call.floats(2, inner * columns)?;
        let mut out = if self.gemm.accumulate {
            call.floats(0, rows * columns)?
        } else {
            vec![0.0; rows * columns]
        };
        for row in 0..rows {
            for column in 0..columns {
                let slot = &mut out[(column / width * rows + row) * width + column % width];
                let block = column / LANES * (inner / width);
                for k in 0..inner {
                    let l = (k / width * rows + row) * width + k % width;
                    let r = ((block + k / width) * LANES + column % LANES) * width + k % width;
                    *slot += left[l] * right[r];
                }
            }
        }
        Ok(call.store_floats(0, &out, padding)?)
    }

    /// The F16 output in AMP-left order, or zeroes.
    fn accumulator(&self, call: &TileCall<'_>) -> Result<Vec<f16>, Violation> {
        let elements = self.shape().rows * self.shape().columns;
        if !self.gemm.accumulate {
            return Ok(vec![f16::ZERO; elements]);
        }
        let stored = call.halves(0, elements)?;
        if self.kind != Kind::PackedF16 {
            return Ok(stored);
        }
        Ok(self.packed_order().map(|at| stored[at]).collect())
    }

    fn store(
        &self,
        call: &mut TileCall<'_>,
        out: Vec<f16>,
        padding: Vec<u32>,
    ) -> Result<(), Violation> {
        if self.kind != Kind::PackedF16 {
            return Ok(call.store_halves(0, &out, padding)?);
        }
        let mut packed = vec![f16::ZERO; out.len()];
        for (value, at) in out.into_iter().zip(self.packed_order()) {
            packed[at] = value;
        }
        Ok(call.store_halves(0, &packed, padding)?)
    }

    /// Where each element of the AMP-left order lies in the packed order.
    fn packed_order(&self) -> impl Iterator<Item = usize> + use<> {
        let Shape { rows, columns, .. } = self.shape();
        let group_rows = move |row: usize| (rows - row / LANES * LANES).min(LANES);
        let row_starts =
            (0..columns / LANES).flat_map(move |group| (0..rows).map(move |row| (group, row)));
        row_starts.flat_map(move |(group, row)| {
            let start =
                row / LANES * LANES * columns + (group * group_rows(row) + row % LANES) * LANES;
            start..start + LANES
        })
    }
}

/// Initialisation.
impl Product {
    /// Output words that come from padding only. Padded inner lanes must be initialised: a row or a
    /// column that is so in part is a fault.
    fn padding(&self, call: &TileCall<'_>) -> Result<Vec<u32>, Violation> {
        let Shape {
            rows,
            inner,
            columns,
        } = self.shape();
        let (from, to) = self.element_bytes();
        let (from, to) = (size_of_element(from), size_of_element(to));
        if call.is_complete(1, rows * inner * from)?
            && call.is_complete(2, inner * columns * from)?
            && (!self.gemm.accumulate || call.is_complete(0, rows * columns * to)?)
        {
            return Ok(Vec::new());
        }
        let row_is_padding = self.row_padding(call)?;
        let column_is_padding = self.column_padding(call)?;
        let per_word = WORD_HALVES * F16 / to;
        let order: Vec<usize> = match self.kind {
            Kind::PackedF16 => self.packed_order().collect(),
            Kind::F16 | Kind::F143 { .. } | Kind::F32 => (0..rows * columns).collect(),
        };
        let panel = LANES * F16 / to;
        let mut words = Vec::new();
        for (element, at) in order.into_iter().enumerate().step_by(per_word) {
            let (row, column) = (
                element / panel % rows,
                element / (panel * rows) * panel + element % panel,
            );
            let of_columns = column_is_padding[column..column + per_word]
                .iter()
                .all(|&p| p);
            let word = size(at / per_word);
            if row_is_padding[row] || of_columns {
                words.push(word);
            } else if self.gemm.accumulate && !call.is_written(call.address(0) + word * 4) {
                let detail = format!("output row {row} column {column} is added to");
                return Err(uninitialised(call.address(0) + word * 4, detail));
            }
        }
        words.sort_unstable();
        Ok(words)
    }

    /// Which rows of the left operand were never written.
    fn row_padding(&self, call: &TileCall<'_>) -> Result<Vec<bool>, Violation> {
        let rows = self.shape().rows;
        let first = |row| (row, rows);
        self.unwritten(call, (1, rows), first, |row| {
            format!("left row {row} is written in part; its inner padding must be too")
        })
    }

    /// Which columns of the right operand were never written.
    fn column_padding(&self, call: &TileCall<'_>) -> Result<Vec<bool>, Violation> {
        let Shape { inner, columns, .. } = self.shape();
        let panels = inner / self.width() as usize;
        let first = |column| (column / LANES * panels * LANES + column % LANES, LANES);
        self.unwritten(call, (2, columns), first, |column| {
            format!("right column {column} is written in part")
        })
    }

    /// Which of `count` lines of operand `operand` were never written. A line is one piece a panel;
    /// `first` says which piece is its first, and how many lie from one to the next.
    fn unwritten(
        &self,
        call: &TileCall<'_>,
        (operand, count): (usize, usize),
        first: impl Fn(usize) -> (usize, usize),
        mixed: impl Fn(usize) -> String,
    ) -> Result<Vec<bool>, Violation> {
        let width = self.width() as usize;
        let bytes = width * size_of_element(self.element_bytes().0);
        let state = |line| {
            let (piece, step) = first(line);
            let ranges = Ranges {
                first: call.address(operand) + size(piece * bytes),
                bytes,
                stride: step * bytes,
                count: self.shape().inner / width,
            };
            match call.state(&[ranges]) {
                State::All => Ok(false),
                State::None => Ok(true),
                State::Mixed(address) => Err(uninitialised(address, mixed(line))),
            }
        };
        (0..count).map(state).collect()
    }
}

fn size_of_element(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
