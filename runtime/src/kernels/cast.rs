//! Changes of element type.

use super::generation::{Cost, Generation};
use super::kernel::Kernel;
use super::operands::{Operand, multiple, read, scale_error, write};
use super::pointwise::narrow;
use super::rules::Violation;
use super::tile::{F16, TileCall, WORD, size};
use super::workers::parts;
use crate::host::f143;
use crate::package::Cast;
use half::f16;

/// Launch of the casts with worker loops. Published fits.
const LAUNCH: u64 = 330;
/// 12 elements of F32 to F16. Published fit.
const SINGLE_BLOCK: u64 = 48;
/// 48 elements of F16 to F143 in flat order. Published planner fallback, assumed: the one published
/// point, of a pipelined variant, is 2,706 cycles for 8,320 elements, and this says 4,506.
const FLAT_BLOCK: u64 = 24;
/// F16 to F143 in panel order: a panel, and a row of the busiest worker. Published fit, coarse:
/// bank conflicts between source and result are not in it.
const PANEL: u64 = 120;
const PANEL_ROW: u64 = 72;
/// Rows up to which a worker takes whole panels, and panels from which it does.
const WHOLE_PANEL_ROWS: u32 = 32;
const WHOLE_PANEL_COUNT: u32 = 6;
/// Any other cast: supervisor overhead, then bytes in and out at 8 a cycle. Assumed by the vendor's
/// planner.
const PLANNER_LAUNCH: u64 = 11;
const PLANNER_BYTES: u64 = 8;
/// Columns of an F143 panel and of an F16 one.
const F143_PANEL: usize = 32;
const F16_PANEL: usize = 16;

/// Elements with their bytes on both sides.
struct Sides {
    elements: u64,
    from: u64,
    to: u64,
}

impl Cast {
    const fn sides(&self) -> Sides {
        let (elements, from, to) = match *self {
            Self::F16ToF32 { elements } => (elements as u64, 2, 4),
            Self::F32ToF16 { elements } => (elements as u64, 4, 2),
            Self::F16ToF143 { elements, .. } => (elements as u64, 2, 1),
            Self::F16ToF143Panels { rows, panels, .. } => {
                (rows as u64 * panels as u64 * F143_PANEL as u64, 2, 1)
            }
            Self::F143ToF16 { elements, .. } => (elements as u64, 1, 2),
        };
        Sides { elements, from, to }
    }

    /// Source word and output word counts are tied by element size; which source words an output
    /// word needs.
    fn sources(&self, word: usize, base: u32, from: &mut Vec<u32>) {
        let Sides { from: f, to, .. } = self.sides();
        let (f, to) = (
            usize::try_from(f).unwrap_or(1),
            usize::try_from(to).unwrap_or(1),
        );
        let (first, last) = match *self {
            Self::F16ToF143Panels { rows, .. } => {
                let at = f16_position(word * WORD, rows as usize);
                (at * f, (at + WORD) * f)
            }
            _ => (word * WORD / to * f, (word + 1) * WORD / to * f),
        };
        let (start, end) = (first / WORD, last.div_ceil(WORD).max(first / WORD + 1));
        from.extend((start..end).map(|w| base + size(w * WORD)));
    }
}

/// Where element `at` of F143 panels lies in F16 panels of the same rows.
const fn f16_position(at: usize, rows: usize) -> usize {
    let (panel, row, lane) = (
        at / F143_PANEL / rows,
        at / F143_PANEL % rows,
        at % F143_PANEL,
    );
    ((panel * 2 + lane / F16_PANEL) * rows + row) * F16_PANEL + lane % F16_PANEL
}

impl Kernel for Cast {
    fn operands(&self) -> Vec<Operand> {
        let Sides { elements, from, to } = self.sides();
        vec![
            write("out", elements.saturating_mul(to)),
            read("source", elements.saturating_mul(from)),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        match *self {
            Self::F16ToF32 { elements } | Self::F32ToF16 { elements } => {
                multiple("elements", elements, 2)
            }
            Self::F16ToF143 { elements, scale } | Self::F143ToF16 { elements, scale } => {
                multiple("elements", elements, 4).or_else(|| scale_error(scale))
            }
            Self::F16ToF143Panels {
                rows,
                panels,
                scale,
            } => multiple("rows", rows, 1)
                .or_else(|| multiple("panels", panels, 1))
                .or_else(|| scale_error(scale)),
        }
    }

    /// The same in both generations.
    fn cost(&self, _generation: Generation) -> Cost {
        match *self {
            Self::F32ToF16 { elements } => {
                Cost::fitted(LAUNCH + SINGLE_BLOCK * parts(elements, 12))
            }
            Self::F16ToF143 { elements, .. } => {
                Cost::assumed(LAUNCH + FLAT_BLOCK * parts(elements, 48))
            }
            Self::F16ToF143Panels { rows, panels, .. } => {
                let cycles = if rows <= WHOLE_PANEL_ROWS && panels >= WHOLE_PANEL_COUNT {
                    parts(panels, 6).saturating_mul(PANEL + PANEL_ROW * u64::from(rows))
                } else {
                    u64::from(panels).saturating_mul(PANEL + PANEL_ROW * parts(rows, 6))
                };
                Cost::fitted(cycles.saturating_add(LAUNCH))
            }
            Self::F16ToF32 { .. } | Self::F143ToF16 { .. } => {
                let Sides { elements, from, to } = self.sides();
                let bytes = elements.saturating_mul(from + to);
                Cost::assumed(PLANNER_LAUNCH.saturating_add(bytes.div_ceil(PLANNER_BYTES)))
            }
        }
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let Sides { elements, from, to } = self.sides();
        let count = |bytes: u64| usize::try_from(elements * bytes).unwrap_or(usize::MAX);
        let elements = count(1);
        let padding = if call.is_complete(1, count(from))? {
            Vec::new()
        } else {
            let base = call.address(1);
            call.padding_words(count(to) / WORD, |word, sources| {
                self.sources(word, base, sources);
            })?
        };
        let rounder = call.rounder;
        match *self {
            Self::F16ToF32 { .. } => {
                let values = call.halves(1, elements)?;
                let values: Vec<f32> = values.into_iter().map(f16::to_f32).collect();
                Ok(call.store_floats(0, &values, padding)?)
            }
            Self::F32ToF16 { .. } => {
                let values = call.floats(1, elements)?;
                let values = (0..)
                    .zip(values)
                    .map(|(at, value)| rounder.round(value, at));
                let values: Vec<f16> = values.collect();
                Ok(call.store_halves(0, &values, padding)?)
            }
            Self::F16ToF143 { scale, .. } => {
                let values = call.halves(1, elements)?;
                let code = |(at, value): (usize, f16)| narrow(call, value.to_f32(), scale, at);
                let codes = values.into_iter().enumerate().map(code).collect();
                Ok(call.store(0, codes, padding)?)
            }
            Self::F16ToF143Panels { rows, scale, .. } => {
                let values = call.halves(1, elements)?;
                let code = |at: usize| {
                    let value = values[f16_position(at, rows as usize)].to_f32();
                    narrow(call, value, scale, at)
                };
                let codes = (0..elements).map(code).collect();
                Ok(call.store(0, codes, padding)?)
            }
            Self::F143ToF16 { scale, .. } => {
                let factor = f32::from(scale).exp2();
                let codes = call.bytes(1, elements)?.to_vec();
                let value = |(at, code): (u64, u8)| rounder.round(f143::decode(code) * factor, at);
                let values: Vec<f16> = (0..).zip(codes).map(value).collect();
                debug_assert_eq!(values.len() * F16, count(to));
                Ok(call.store_halves(0, &values, padding)?)
            }
        }
    }
}
