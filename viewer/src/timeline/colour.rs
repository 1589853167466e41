//! Cells to pixels: what a kind, a kernel and a focus look like.

use super::scene::{Bitmap, Colour};
use crate::engine::raster::{RasterAnswer, StripAnswer};
use crate::state::kind_choice::kind_called;
use crate::state::view::Colouring;
use crate::theme::{KernelHues, Palette, Theme, scale};
use analytics::timeline::{CellKind, FULL_EFFICIENCY, NO_EFFICIENCY};

/// A cell with little in it still shows at this part of its colour.
const FAINTEST: u16 = 90;

/// The colours of one profile in one theme.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ink {
    palette: &'static Palette,
    /// By string id plus one; 0 is compute without a kernel.
    kernels: Vec<Colour>,
    /// By string id plus one; 0 is no operation.
    operations: Vec<Colour>,
    focus: Focus,
    by_kind: bool,
}

/// What stays coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Everything,
    /// String id of a kernel that computes.
    Kernel(u32),
    /// What is called like a kernel where samples of this kind have a name.
    Kind(CellKind),
    /// A name that the profile does not have: everything is dimmed.
    Nothing,
}

/// What a raster says of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellData {
    kind: CellKind,
    name: u32,
    busy: u8,
    focused: u8,
    efficiency: u8,
}

impl Ink {
    /// Colours for the kernels and the operations, given by string id and name, with the kernel
    /// `focus` in focus.
    pub(crate) fn new(
        [kernels, operations]: [&[(u32, String)]; 2],
        hues: &KernelHues,
        theme: Theme,
        focus: Option<&str>,
    ) -> Self {
        let palette = theme.palette();
        let of_operations = KernelHues::new(operations.iter().map(|(_, name)| name.as_str()));
        let focus = match focus {
            None => Focus::Everything,
            Some(name) => kernels
                .iter()
                .find(|(_, it)| it == name)
                .map(|(id, _)| Focus::Kernel(*id))
                .or_else(|| kind_called(name).map(|it| Focus::Kind(CellKind::of(it))))
                .unwrap_or(Focus::Nothing),
        };
        Self {
            palette,
            kernels: by_id(kernels, hues, theme),
            operations: by_id(operations, &of_operations, theme),
            focus,
            by_kind: false,
        }
    }

    /// The same colours, for pictures of this colouring.
    pub(crate) fn with_colouring(self, colouring: Colouring) -> Self {
        Self {
            by_kind: colouring == Colouring::Kind,
            ..self
        }
    }

    /// String id of the kernel in focus.
    pub(crate) fn focus(&self) -> Option<u32> {
        match self.focus {
            Focus::Kernel(id) => Some(id),
            Focus::Everything | Focus::Kind(_) | Focus::Nothing => None,
        }
    }

    /// The cells of `raster` as pixels.
    pub(crate) fn cells(&self, raster: &RasterAnswer, id: u64) -> Bitmap {
        let columns = raster.kinds.iter().zip(&raster.kernels).zip(&raster.busy);
        let (focused, efficiency) = (&raster.focused, &raster.efficiency);
        let is_exact = !raster.from_overview;
        let has_shares =
            is_exact && raster.asked.focus.is_some() && raster.asked.focus == self.focus();
        // An overview knows kernels, no operations.
        let is_named = is_exact || raster.asked.colour != Colouring::Operation;
        let mut rgba = Vec::with_capacity(raster.kinds.len() * 4);
        let mut last: Option<(CellData, [u8; 4])> = None;
        for (at, ((&kind, &name), &busy)) in columns.enumerate() {
            let cell = CellData {
                kind: CellKind::from_byte(kind),
                name: if is_named { name } else { 0 },
                busy,
                focused: focused.get(at).copied().unwrap_or_default(),
                efficiency: efficiency.get(at).copied().unwrap_or(NO_EFFICIENCY),
            };
            // Neighbours are often alike.
            let pixel = match last {
                Some((before, pixel)) if before == cell => pixel,
                _ => self.cell(&cell, raster.asked.colour, has_shares).rgba(),
            };
            last = Some((cell, pixel));
            rgba.extend_from_slice(&pixel);
        }
        Bitmap {
            id,
            columns: raster.columns,
            rows: raster.rows,
            rgba,
        }
    }

    /// With `has_shares`, the cell knows its share of the kernel in focus; before that answer has
    /// come, a cell belongs to its dominant kernel.
    fn cell(&self, cell: &CellData, colouring: Colouring, has_shares: bool) -> Colour {
        if cell.kind == CellKind::Nothing {
            return self.palette.nothing;
        }
        let by_efficiency = colouring.is_scale();
        let paper = match cell.kind {
            CellKind::Idle => self.palette.idle,
            CellKind::Compute => mixed(self.palette.idle, self.palette.dimmed, cell.busy),
            _ => self.palette.dimmed,
        };
        let (ink, part) = match self.focus {
            Focus::Nothing => return paper,
            Focus::Kind(kind) if kind == cell.kind => return self.kind(cell, colouring),
            Focus::Kind(_) => return paper,
            Focus::Kernel(id) => {
                let is_it = cell.kind == CellKind::Compute && cell.name == id + 1;
                let part = match (has_shares, is_it && colouring == Colouring::Kernel) {
                    (true, _) => cell.focused,
                    (false, true) => cell.busy,
                    (false, false) => 0,
                };
                (self.named(&self.kernels, id + 1), part)
            }
            // Only compute has a share of the cell.
            Focus::Everything if cell.kind == CellKind::Compute => {
                (self.kind(cell, colouring), cell.busy.max(1))
            }
            Focus::Everything if by_efficiency => return paper,
            Focus::Everything => return self.kind(cell, colouring),
        };
        let ink = if by_efficiency {
            self.efficiency(cell.efficiency)
        } else {
            ink
        };
        match (part, self.focus) {
            (0, _) => paper,
            (_, Focus::Kernel(_)) => mixed(paper, ink, part),
            _ => mixed(self.palette.idle, ink, part),
        }
    }

    fn kind(&self, cell: &CellData, colouring: Colouring) -> Colour {
        match (cell.kind, colouring) {
            (CellKind::Compute, _) if self.by_kind => self.palette.compute,
            (CellKind::Compute, Colouring::Operation) => self.named(&self.operations, cell.name),
            (CellKind::Compute, _) => self.named(&self.kernels, cell.name),
            (kind, _) => self.palette.of_kind(kind),
        }
    }

    fn named(&self, colours: &[Colour], name: u32) -> Colour {
        colours
            .get(name as usize)
            .copied()
            .unwrap_or(self.palette.compute)
    }

    /// A level of [`analytics::timeline::Raster::efficiency`] as a colour.
    pub(crate) fn efficiency(&self, level: u8) -> Colour {
        match level {
            NO_EFFICIENCY => self.palette.compute,
            level => scale(f64::from(level) / f64::from(FULL_EFFICIENCY)),
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
                let colour = self.palette.of_kind(kind);
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
}

/// Colours by string id plus one.
fn by_id(names: &[(u32, String)], hues: &KernelHues, theme: Theme) -> Vec<Colour> {
    let last = names.iter().map(|(id, _)| *id as usize + 1).max();
    let mut colours = vec![theme.palette().compute; last.unwrap_or(0) + 1];
    for (id, name) in names {
        colours[*id as usize + 1] = hues.colour(name, theme);
    }
    colours
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
    use analytics::clock::ClockKind;

    fn ink(focus: Option<&str>) -> Ink {
        let kernels = [(3, "gemm".to_owned()), (5, "add".to_owned())];
        let operations = [(7, "block".to_owned())];
        let hues = KernelHues::new(["gemm", "add"]);
        Ink::new([&kernels, &operations], &hues, Theme::Light, focus)
    }

    fn data(kind: CellKind, name: u32, busy: u8) -> CellData {
        CellData {
            kind,
            name,
            busy,
            focused: 0,
            efficiency: NO_EFFICIENCY,
        }
    }

    /// A cell of a picture by kernel that has no shares of the focus yet.
    fn cell(ink: &Ink, kind: CellKind, name: u32, busy: u8) -> Colour {
        ink.cell(&data(kind, name, busy), Colouring::Kernel, false)
    }

    #[test]
    fn a_focus_dims_all_but_its_kernel() {
        let light = Theme::Light.palette();
        let (compute, exchange) = (CellKind::Compute, CellKind::Exchange);
        let all = ink(None);
        let gemm = cell(&all, compute, 4, 255);
        assert_ne!(gemm, cell(&all, compute, 6, 255));
        assert_eq!(cell(&all, exchange, 0, 255), light.exchange);
        let focused = ink(Some("gemm"));
        assert_eq!(cell(&focused, compute, 4, 255), gemm);
        assert_eq!(cell(&focused, compute, 6, 255), light.dimmed);
        assert_eq!(cell(&focused, exchange, 0, 255), light.dimmed);
        assert_eq!(cell(&ink(Some("none")), compute, 4, 255), light.dimmed);
    }

    #[test]
    fn what_is_called_by_a_reserved_word_is_focused_as_a_kind() {
        let light = Theme::Light.palette();
        for (name, kind, colour) in [
            ("exchange", CellKind::Exchange, light.exchange),
            ("sync", CellKind::Synchronization, light.synchronization),
            ("idle", CellKind::Idle, light.idle),
        ] {
            let focused = ink(Some(name));
            assert_eq!(cell(&focused, kind, 0, 0), colour, "{name}");
            assert_eq!(cell(&focused, CellKind::Compute, 4, 255), light.dimmed);
            assert_eq!(focused.focus(), None, "no kernel's share is asked for");
        }
    }

    #[test]
    fn a_focused_kernel_shows_where_another_one_took_most() {
        let focused = ink(Some("gemm"));
        for kind in [CellKind::Compute, CellKind::Exchange, CellKind::Idle] {
            let without = data(kind, 6, 255);
            let within = CellData {
                focused: 1,
                ..without
            };
            let shown = |it| focused.cell(it, Colouring::Kernel, true);
            assert_ne!(shown(&within), shown(&without), "{kind:?}");
        }
        let whole = CellData {
            focused: 255,
            ..data(CellKind::Compute, 4, 255)
        };
        assert_eq!(
            focused.cell(&whole, Colouring::Operation, true),
            cell(&ink(None), CellKind::Compute, 4, 255)
        );
    }

    #[test]
    fn efficiency_colours_compute_by_its_level_alone() {
        let (all, light) = (ink(None), Theme::Light.palette());
        let at = |level| CellData {
            efficiency: level,
            ..data(CellKind::Compute, 4, 255)
        };
        let shown = |it: &CellData| all.cell(it, Colouring::Efficiency, false);
        assert_eq!(shown(&at(100)), scale(0.5));
        assert_eq!(shown(&at(240)), scale(1.2), "above 100 % is shown");
        assert_eq!(shown(&at(NO_EFFICIENCY)), light.compute);
        assert_eq!(shown(&data(CellKind::Exchange, 0, 0)), light.dimmed);
    }

    #[test]
    fn kinds_and_operations_have_colours_of_their_own() {
        let by_kind = ink(None).with_colouring(Colouring::Kind);
        let light = Theme::Light.palette();
        assert_eq!(cell(&by_kind, CellKind::Compute, 4, 255), light.compute);
        let gemm = cell(&ink(None), CellKind::Compute, 4, 255);
        let block = ink(None).cell(
            &data(CellKind::Compute, 8, 255),
            Colouring::Operation,
            false,
        );
        assert_ne!(block, light.compute);
        assert_ne!(gemm, light.compute);
    }

    #[test]
    fn idle_and_nothing_are_background_under_any_focus() {
        for focus in [None, Some("gemm")] {
            let ink = ink(focus);
            let light = Theme::Light.palette();
            assert_eq!(cell(&ink, CellKind::Idle, 0, 0), light.idle);
            assert_eq!(cell(&ink, CellKind::Nothing, 0, 0), light.nothing);
        }
    }

    #[test]
    fn a_cell_with_little_compute_is_faint_but_there() {
        let all = ink(None);
        let full = cell(&all, CellKind::Compute, 4, 255);
        let faint = cell(&all, CellKind::Compute, 4, 1);
        assert_ne!(faint, full);
        assert_ne!(faint, Theme::Light.palette().idle);
        let exchange = cell(&all, CellKind::Exchange, 0, 0);
        assert_eq!(exchange, Theme::Light.palette().exchange);
    }

    #[test]
    fn the_strip_stacks_shares_from_the_bottom() {
        // One column, half compute, a quarter exchange, the rest not recorded.
        let strip = StripAnswer {
            clock: ClockKind::Cropped,
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
