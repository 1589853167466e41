//! Charts of query answers, drawn on any plotters backend.
//!
//! An answer and a drawing area in, shapes out. Nothing here opens a file or a canvas: the command
//! line brings an SVG backend, the page a canvas backend. Numbers become text in [`crate::text`]
//! only.

mod cumulative;
mod histogram;
mod kernel_work;
mod labels;
mod paint;
mod question;
mod roofline;
mod tile_map;
mod waterfall;

pub use cumulative::cumulative_work;
pub use histogram::duration_histogram;
pub use kernel_work::kernel_work;
pub use question::{Chart, ChartData, ChartQuestion};
pub use roofline::roofline;
pub use tile_map::tile_map;
pub use waterfall::phase_waterfall;

use plotters::style::RGBColor;

/// Colours of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Behind everything.
    pub background: RGBColor,
    /// Names and numbers.
    pub text: RGBColor,
    /// Measured cycles.
    pub measured: RGBColor,
    /// The useful part of measured cycles.
    pub useful: RGBColor,
}

impl Theme {
    /// For light pages and paper.
    pub const LIGHT: Self = Self {
        background: RGBColor(255, 255, 255),
        text: RGBColor(31, 35, 40),
        measured: RGBColor(199, 208, 217),
        useful: RGBColor(36, 106, 168),
    };

    /// For dark pages.
    pub const DARK: Self = Self {
        background: RGBColor(22, 27, 34),
        text: RGBColor(222, 228, 234),
        measured: RGBColor(72, 82, 94),
        useful: RGBColor(92, 165, 224),
    };
}
