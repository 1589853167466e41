//! F16 matrix product on the AMP unit.

use analytics::units::Cycles;

use super::generation::{Basis, Generation};
use super::workers::launched;
use crate::package::MemoryClass;

/// Width of a coefficient panel, [`super::amp::PANEL`] as an extent.
pub(crate) const PANEL: u32 = 16;

/// Launch, pointer set-up and rendezvous. Fit to published C600 GEMM measurements.
const LAUNCH: u64 = 294;
/// Cycles per row and panel: four AMP instructions a row, six workers in turn. Published C600
/// measurement, supported by the slope of the published AMP 1×1 points.
const ROW: u64 = 4;
/// Sync and coefficient load of a panel by 32 128-bit loads. Fit, within 2 % of measurements.
const PANEL_INTERLEAVED: u64 = 160;
/// The same by 64 64-bit loads: 32 bundles more. Fits the two measured standard-memory calls.
const PANEL_STANDARD: u64 = 192;

/// Cost of one call; the same in both generations.
pub(crate) fn cost(
    _generation: Generation,
    rows: u32,
    inner: u32,
    columns: u32,
    coefficients: MemoryClass,
) -> (Cycles, Basis) {
    let panels = u64::from(inner.div_ceil(PANEL)) * u64::from(columns.div_ceil(PANEL));
    let setup = match coefficients {
        MemoryClass::Interleaved => PANEL_INTERLEAVED,
        MemoryClass::Standard => PANEL_STANDARD,
    };
    let panel = Cycles::new(ROW * u64::from(rows) + setup);
    (launched(LAUNCH, panel.times(panels)), Basis::Fitted)
}
