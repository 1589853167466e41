//! AMP arithmetic: F16 products summed in F32, rounded to F16 once per panel of 16 inner values.
//!
//! For each panel: acc = F32(out); for k = 0..16 in order, acc += F32(a)·F32(b); out = F16(acc).
//! The product of two F16 is exact in F32, so fused and separate multiply-adds give the same bits,
//! and the vector form may be chosen per machine. Every NaN is stored as the quiet NaN 0x7e00.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod f143;
mod plain;
mod round;

use half::f16;

pub(crate) use round::{Rounder, canonical};

/// Width of a coefficient panel: 16 inner values by 16 columns fill the 64 × 64-bit store.
pub(crate) const PANEL: usize = 16;

/// Extents of a product; inner and columns are multiples of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Rows R.
    pub(crate) rows: usize,
    /// Inner extent K.
    pub(crate) inner: usize,
    /// Columns C.
    pub(crate) columns: usize,
}

/// One panel's worth of work: some rows of F32 left values (16 each) times a coefficient panel.
///
/// `acc` rows start from the output and end as the unrounded sums.
type Block = fn(left: &[[f32; PANEL]], coefficients: &Coefficients, acc: &mut [[f32; PANEL]]);

/// Coefficients of a panel by inner index, then column.
type Coefficients = [[f32; PANEL]; PANEL];

/// The arithmetic of one machine; all forms give the same bits.
#[derive(Clone, Copy)]
pub(crate) struct Engine {
    block: Block,
    widen: fn(&[f16], &mut [f32]),
    round: fn(&[f32], &mut [f16]),
}

impl Engine {
    /// The fastest form that this processor has.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if avx2::available() {
            return Self {
                block: avx2::block,
                widen: avx2::widen,
                round: avx2::round,
            };
        }
        Self::plain()
    }

    /// The portable form.
    pub(crate) const fn plain() -> Self {
        Self {
            block: plain::block,
            widen: plain::widen,
            round: plain::round,
        }
    }

    /// out = or += left · right, rounded per panel. Layouts as in the package model: out and left
    /// in AMP-left panels, right block-major.
    pub(crate) fn multiply(
        &self,
        shape: Shape,
        out: &mut [f16],
        left: &[f16],
        right: &[f16],
        accumulate: bool,
        rounder: &Rounder,
    ) {
        let Shape {
            rows,
            inner,
            columns,
        } = shape;
        assert_eq!(
            (out.len(), left.len(), right.len()),
            (rows * columns, rows * inner, inner * columns),
            "operands do not fit {shape:?}"
        );
        let panels = inner / PANEL;
        let mut wide = vec![[0.0; PANEL]; rows];
        let mut acc = vec![[0.0; PANEL]; rows];
        for panel in 0..panels {
            let start = panel * rows * PANEL;
            (self.widen)(&left[start..start + rows * PANEL], wide.as_flattened_mut());
            for group in 0..columns / PANEL {
                let coefficients = self.coefficients(right, group * panels + panel);
                let first = group * rows * PANEL;
                let out = &mut out[first..first + rows * PANEL];
                self.start(out, &mut acc, accumulate || panel > 0);
                (self.block)(&wide, &coefficients, &mut acc);
                self.finish(acc.as_flattened(), out, rounder, (panel, first));
            }
        }
    }

    /// The accumulators of a panel: the output so far, or zero.
    fn start(&self, out: &[f16], acc: &mut [[f32; PANEL]], is_added_to: bool) {
        if is_added_to {
            (self.widen)(out, acc.as_flattened_mut());
        } else {
            acc.as_flattened_mut().fill(0.0);
        }
    }

    /// Rounds the sums of a panel whose first output has this index.
    fn finish(
        &self,
        sums: &[f32],
        out: &mut [f16],
        rounder: &Rounder,
        (panel, first): (usize, usize),
    ) {
        match rounder {
            Rounder::NearestEven => (self.round)(sums, out),
            Rounder::Stochastic { .. } => rounder.round_panel(sums, out, panel, first),
        }
    }

    /// Sum of packed partials of `elements` each, in order, rounded to F16 after each add: the adds
    /// are numbered like the panels of a product. To nearest, a sum of two F16 that is rounded to
    /// F32 on the way has the same F16 bits.
    pub(crate) fn sum(&self, partials: &[f16], elements: usize, rounder: &Rounder) -> Vec<f16> {
        let mut partials = partials.chunks_exact(elements);
        let mut sum = partials.next().unwrap_or_default().to_vec();
        let (mut wide, mut next) = (vec![0.0; elements], vec![0.0; elements]);
        for (add, partial) in partials.enumerate() {
            (self.widen)(&sum, &mut wide);
            (self.widen)(partial, &mut next);
            for (left, right) in wide.iter_mut().zip(&next) {
                *left += right;
            }
            self.finish(&wide, &mut sum, rounder, (add, 0));
        }
        sum
    }

    /// Coefficient panel `index` of the right operand: stored by column, wanted by inner index.
    fn coefficients(&self, right: &[f16], index: usize) -> Coefficients {
        let stored = &right[index * PANEL * PANEL..(index + 1) * PANEL * PANEL];
        let mut by_column = [[0.0; PANEL]; PANEL];
        (self.widen)(stored, by_column.as_flattened_mut());
        let mut by_inner = [[0.0; PANEL]; PANEL];
        for (column, values) in by_column.iter().enumerate() {
            for (inner, &value) in values.iter().enumerate() {
                by_inner[inner][column] = value;
            }
        }
        by_inner
    }
}

#[cfg(test)]
mod tests;
