//! Blocked, parallel F32 matrix products of the reference.

use rayon::prelude::*;

use super::GemmExtents;

/// Rows of a block: its accumulators of [`LANES`] columns fit the vector registers.
const ROWS: usize = 4;
/// Columns of a block.
const LANES: usize = 32;
/// Rows of the left operand that one task multiplies.
const TASK_ROWS: usize = 64;

/// left[rows, inner] · right[inner, columns], row-major.
pub(super) fn product(extents: GemmExtents, left: &[f32], right: &[f32]) -> Vec<f32> {
    let [rows, inner, columns] = [extents.rows, extents.inner, extents.columns]
        .map(|extent| usize::try_from(extent).unwrap_or(usize::MAX));
    let mut out = vec![0.0; rows * columns];
    if columns == 0 || inner == 0 {
        return out;
    }
    let panels = column_panels(inner, columns, right);
    out.par_chunks_mut(TASK_ROWS * columns)
        .zip(left.par_chunks(TASK_ROWS * inner))
        .for_each(|(out, left)| task(out, left, &panels, inner, columns));
    out
}

/// The right operand as panels of [`LANES`] columns, zero-padded, each inner-major.
fn column_panels(inner: usize, columns: usize, right: &[f32]) -> Vec<f32> {
    let count = columns.div_ceil(LANES);
    let mut panels = vec![0.0; count * inner * LANES];
    panels
        .par_chunks_mut(inner * LANES)
        .enumerate()
        .for_each(|(panel, out)| {
            let start = panel * LANES;
            let width = LANES.min(columns - start);
            for (k, line) in out.chunks_mut(LANES).enumerate() {
                line[..width].copy_from_slice(&right[k * columns + start..][..width]);
            }
        });
    panels
}

fn task(out: &mut [f32], left: &[f32], panels: &[f32], inner: usize, columns: usize) {
    for (panel, right) in panels.chunks(inner * LANES).enumerate() {
        let start = panel * LANES;
        let width = LANES.min(columns - start);
        for (out, left) in out
            .chunks_mut(ROWS * columns)
            .zip(left.chunks(ROWS * inner))
        {
            let sums = block(left, right, inner);
            for (row, line) in out.chunks_mut(columns).enumerate() {
                line[start..start + width].copy_from_slice(&sums[row][..width]);
            }
        }
    }
}

/// Sums of up to [`ROWS`] rows with one panel; missing rows repeat the first.
///
/// Apart from its callers: where it was inlined, the compiler lost sight of its accumulators, kept
/// them in memory and multiplied one number at a time, at a fifteenth of the speed.
#[inline(never)]
fn block(left: &[f32], right: &[f32], inner: usize) -> [[f32; LANES]; ROWS] {
    let mut sums = [[0.0; LANES]; ROWS];
    let rows: [&[f32]; ROWS] =
        std::array::from_fn(|row| left.chunks(inner).nth(row).unwrap_or(&left[..inner]));
    for (k, line) in right.chunks_exact(LANES).enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            let factor = row[k];
            for (sum, value) in sums.iter_mut().zip(line) {
                *sum += factor * value;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, written for clarity.
    fn plain(extents: GemmExtents, left: &[f32], right: &[f32]) -> Vec<f32> {
        let [rows, inner, columns] =
            [extents.rows, extents.inner, extents.columns].map(|n| usize::try_from(n).unwrap());
        let mut out = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let terms = (0..inner).map(|k| left[row * inner + k] * right[k * columns + column]);
                out.push(terms.fold(0.0, |sum, term| sum + term));
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn blocked_products_equal_the_definition(
            rows in 1_u64..140, inner in 1_u64..40, columns in 1_u64..70, seed in 0_u32..1000,
        ) {
            let extents = GemmExtents { rows, inner, columns };
            let number = |index: u64| {
                u8::try_from((index * 7 + u64::from(seed)) % 23).map(f32::from).unwrap() - 11.0
            };
            let left: Vec<f32> = (0..rows * inner).map(number).collect();
            let right: Vec<f32> = (0..inner * columns).map(|index| number(index * 3)).collect();
            prop_assert_eq!(product(extents, &left, &right), plain(extents, &left, &right));
        }
    }
}
