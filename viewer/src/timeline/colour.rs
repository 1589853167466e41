//! Cells to pixels: what a kind, a kernel and a focus look like.

use super::scene::{Bitmap, Colour};
use crate::engine::protocol::{RasterAnswer, StripAnswer};
use crate::theme::{KernelHues, Palette, Theme};
use analytics::timeline::CellKind;

/// A cell with little in it still shows at this part of its colour.
const FAINTEST: u16 = 90;

/// The colours of one profile in one theme.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ink {
    palette: &'static Palette,
    /// By string id plus one; 0 is compute without a kernel.
    kernels: Vec<Colour>,
    focus: Focus,
}

/// Which kernel stays coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Everything,
    /// String id plus one.
    Kernel(u32),
    /// A name that the profile does not have: everything is dimmed.
    Nothing,
}

impl Ink {
    /// Colours for kernels given by string id and name, with `focus` in focus.
    pub(crate) fn new(
        kernels: &[(u32, String)],
        hues: &KernelHues,
        theme: Theme,
        focus: Option<&str>,
    ) -> Self {
        let palette = theme.palette();
        let last = kernels
            .iter()
            .map(|(id, _)| *id as usize + 1)
            .max()
            .unwrap_or(0);
        let mut colours = vec![palette.compute; last + 1];
        for (id, name) in kernels {
            colours[*id as usize + 1] = hues.colour(name, theme);
        }
        let focus = match focus {
            None => Focus::Everything,
            Some(name) => kernels
                .iter()
                .find(|(_, it)| it == name)
                .map_or(Focus::Nothing, |(id, _)| Focus::Kernel(id + 1)),
        };
        Self {
            palette,
            kernels: colours,
            focus,
        }
    }

    /// The cells of `raster` as pixels.
    pub(crate) fn cells(&self, raster: &RasterAnswer, id: u64) -> Bitmap {
        let cells = raster.kinds.iter().zip(&raster.kernels).zip(&raster.busy);
        let mut rgba = Vec::with_capacity(raster.kinds.len() * 4);
        for ((&kind, &kernel), &busy) in cells {
            let Colour {
                red,
                green,
                blue,
                alpha,
            } = self.cell(kind, kernel, busy);
            rgba.extend_from_slice(&[red, green, blue, alpha]);
        }
        Bitmap {
            id,
            columns: raster.columns,
            rows: raster.rows,
            rgba,
        }
    }

    fn cell(&self, kind: u8, kernel: u32, busy: u8) -> Colour {
        let kind = CellKind::from_byte(kind);
        match kind {
            CellKind::Nothing => return self.palette.nothing,
            CellKind::Idle => return self.palette.idle,
            _ => {}
        }
        let lit = match self.focus {
            Focus::Everything => true,
            Focus::Kernel(focused) => kernel == focused && kind == CellKind::Compute,
            Focus::Nothing => false,
        };
        let ink = if lit {
            self.kind(kind, kernel)
        } else {
            self.palette.dimmed
        };
        // Only compute has a share of the cell.
        if kind == CellKind::Compute {
            mixed(self.palette.idle, ink, busy)
        } else {
            ink
        }
    }

    fn kind(&self, kind: CellKind, kernel: u32) -> Colour {
        match kind {
            CellKind::Exchange => self.palette.exchange,
            CellKind::Synchronization => self.palette.synchronization,
            CellKind::Compute => self
                .kernels
                .get(kernel as usize)
                .copied()
                .unwrap_or(self.palette.compute),
            CellKind::Idle => self.palette.idle,
            CellKind::Nothing => self.palette.nothing,
            CellKind::Unknown => self.palette.unknown,
        }
    }

    /// The share of each kind over the run as a stack, `rows` pixels high.
    pub(crate) fn strip(&self, strip: &StripAnswer, rows: u32, id: u64) -> Bitmap {
        /// From the bottom up.
        const STACK: [CellKind; 4] = [
            CellKind::Compute,
            CellKind::Exchange,
            CellKind::Synchronization,
            CellKind::Unknown,
        ];
        let columns = strip.columns as usize;
        let mut rgba = vec![0; columns * rows as usize * 4];
        for (column, shares) in strip.shares.chunks_exact(CellKind::COUNT).enumerate() {
            let mut from = 0_u64;
            for kind in STACK {
                let to = from + u64::from(shares[kind as usize]) * u64::from(rows);
                let colour = if kind == CellKind::Compute {
                    self.kernels_together()
                } else {
                    self.kind(kind, 0)
                };
                for level in levels(from)..levels(to).min(u64::from(rows)) {
                    let row = rows as usize - 1 - usize::try_from(level).unwrap_or(0);
                    let at = (row * columns + column) * 4;
                    let Colour {
                        red,
                        green,
                        blue,
                        alpha,
                    } = colour;
                    rgba[at..at + 4].copy_from_slice(&[red, green, blue, alpha]);
                }
                from = to;
            }
        }
        Bitmap {
            id,
            columns: strip.columns,
            rows,
            rgba,
        }
    }

    /// The colour that stands for compute of any kernel.
    fn kernels_together(&self) -> Colour {
        self.palette.compute
    }
}

/// Whole pixels of a height in 1/65535 of a pixel.
const fn levels(height: u64) -> u64 {
    (height + 32_767) / 65_535
}

/// `ink` on `paper`, by how much of the cell is compute.
fn mixed(paper: Colour, ink: Colour, busy: u8) -> Colour {
    if busy == u8::MAX {
        return ink;
    }
    let part = u16::from(busy).max(FAINTEST);
    let channel = |paper: u8, ink: u8| {
        let sum = u16::from(paper) * (255 - part) + u16::from(ink) * part;
        u8::try_from(sum / 255).unwrap_or(u8::MAX)
    };
    Colour {
        red: channel(paper.red, ink.red),
        green: channel(paper.green, ink.green),
        blue: channel(paper.blue, ink.blue),
        alpha: 255,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(focus: Option<&str>) -> Ink {
        let kernels = [(3, "gemm".to_owned()), (5, "add".to_owned())];
        let hues = KernelHues::new(["gemm", "add"]);
        Ink::new(&kernels, &hues, Theme::Light, focus)
    }

    #[test]
    fn a_focus_dims_all_but_its_kernel() {
        let light = Theme::Light.palette();
        let (compute, exchange) = (CellKind::Compute as u8, CellKind::Exchange as u8);
        let all = ink(None);
        let gemm = all.cell(compute, 4, 255);
        assert_ne!(gemm, all.cell(compute, 6, 255));
        assert_eq!(all.cell(exchange, 0, 255), light.exchange);
        let focused = ink(Some("gemm"));
        assert_eq!(focused.cell(compute, 4, 255), gemm);
        assert_eq!(focused.cell(compute, 6, 255), light.dimmed);
        assert_eq!(focused.cell(exchange, 0, 255), light.dimmed);
        assert_eq!(ink(Some("none")).cell(compute, 4, 255), light.dimmed);
    }

    #[test]
    fn idle_and_nothing_are_background_under_any_focus() {
        for focus in [None, Some("gemm")] {
            let idle = ink(focus).cell(CellKind::Idle as u8, 0, 0);
            assert_eq!(idle, Theme::Light.palette().idle);
            assert_eq!(ink(focus).cell(200, 0, 0), Theme::Light.palette().nothing);
        }
    }

    #[test]
    fn a_cell_with_little_compute_is_faint_but_there() {
        let compute = CellKind::Compute as u8;
        let (full, faint) = (
            ink(None).cell(compute, 4, 255),
            ink(None).cell(compute, 4, 1),
        );
        assert_ne!(faint, full);
        assert_ne!(faint, Theme::Light.palette().idle);
        let exchange = ink(None).cell(CellKind::Exchange as u8, 0, 0);
        assert_eq!(exchange, Theme::Light.palette().exchange);
    }

    #[test]
    fn the_strip_stacks_shares_from_the_bottom() {
        // One column, half compute, a quarter exchange, the rest not recorded.
        let strip = StripAnswer {
            columns: 1,
            run: 10,
            shares: vec![16_384, 32_768, 0, 0, 0],
        };
        let bitmap = ink(None).strip(&strip, 4, 1);
        let light = Theme::Light.palette();
        let pixel = |row: usize| bitmap.rgba[row * 4..row * 4 + 3].to_vec();
        let rgb = |colour: Colour| vec![colour.red, colour.green, colour.blue];
        assert_eq!(bitmap.rgba[3], 0, "nothing recorded is transparent");
        assert_eq!(pixel(1), rgb(light.exchange));
        assert_eq!(pixel(2), rgb(light.compute));
        assert_eq!(pixel(3), rgb(light.compute));
    }
}
