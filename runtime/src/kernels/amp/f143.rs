//! Products of F143 operands: panels of 32 inner values, sums in F32, results F16.

use std::sync::LazyLock;

use half::f16;

use super::{Coefficients, Engine, PANEL, Rounder, Shape};
use crate::host::f143;

/// Inner values of a panel.
const WIDTH: usize = 2 * PANEL;

/// Values of all codes.
static VALUES: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|code| f143::decode(u8::try_from(code).unwrap_or(0))));

impl Engine {
    /// out = or += left · right · 2^scale, rounded per panel of 32. Left in panels of 32, right
    /// block-major with panels of 32.
    pub(crate) fn multiply_f143(
        &self,
        shape: Shape,
        out: &mut [f16],
        (left, right, scale): (&[u8], &[u8], i8),
        accumulate: bool,
        rounder: &Rounder,
    ) {
        let Shape {
            rows,
            inner,
            columns,
        } = shape;
        let panels = inner / WIDTH;
        let factor = f32::from(scale).exp2();
        let mut halves = [vec![[0.0; PANEL]; rows], vec![[0.0; PANEL]; rows]];
        let mut acc = vec![[0.0; PANEL]; rows];
        for panel in 0..panels {
            let (codes, _) = left[panel * rows * WIDTH..].as_chunks::<WIDTH>();
            for (row, codes) in codes.iter().take(rows).enumerate() {
                for (k, &code) in codes.iter().enumerate() {
                    let value = VALUES[usize::from(code)] * factor;
                    halves[k / PANEL][row][k % PANEL] = value;
                }
            }
            for group in 0..columns / PANEL {
                let first = group * rows * PANEL;
                let out = &mut out[first..first + rows * PANEL];
                self.start(out, &mut acc, accumulate || panel > 0);
                let block = (group * panels + panel) * PANEL * WIDTH;
                for (half, left) in halves.iter().enumerate() {
                    (self.block)(left, &coefficients(&right[block..], half), &mut acc);
                }
                self.finish(acc.as_flattened(), out, rounder, (panel, first));
            }
        }
    }
}

/// One half of a coefficient panel's inner values, by inner index, then column.
fn coefficients(stored: &[u8], half: usize) -> Coefficients {
    let mut by_inner = [[0.0; PANEL]; PANEL];
    let (columns, _) = stored.as_chunks::<WIDTH>();
    for (column, codes) in columns.iter().take(PANEL).enumerate() {
        for (inner, row) in by_inner.iter_mut().enumerate() {
            row[column] = VALUES[usize::from(codes[half * PANEL + inner])];
        }
    }
    by_inner
}
