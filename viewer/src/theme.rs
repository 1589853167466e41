//! Colours of both themes: surfaces of the canvas, kinds, and a hue for each kernel.
//!
//! Kinds and the twelve kernel hues were searched for together, so that each pair of them, and each
//! of them beside the backgrounds, stays apart for people who lack any one kind of cone: the tests
//! simulate their sight and hold the distance that was reached. From the thirteenth kernel on hues
//! come again, lighter and darker; those are told apart by their names only. Idle is the
//! background.

use std::collections::BTreeMap;

use analytics::order;
use analytics::timeline::CellKind;

use crate::timeline::scene::Colour;

/// Which of the two sets of colours is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Dark text on light surfaces.
    Light,
    /// Light text on dark surfaces.
    Dark,
}

/// Colours that the canvas painters need; the page's own colours are in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Palette {
    /// Behind the plot: nothing was recorded.
    pub(crate) nothing: Colour,
    /// No command: a shade beside the background.
    pub(crate) idle: Colour,
    /// Exchange rows.
    pub(crate) exchange: Colour,
    /// Waiting at a barrier.
    pub(crate) synchronization: Colour,
    /// Compute without a kernel name.
    pub(crate) compute: Colour,
    /// Kinds that this version does not know.
    pub(crate) unknown: Colour,
    /// Everything that is not in focus.
    pub(crate) dimmed: Colour,
    /// Labels.
    pub(crate) text: Colour,
    /// Secondary labels.
    pub(crate) muted: Colour,
    /// Lines of the axes.
    pub(crate) grid: Colour,
    /// Cross-hair, window and selection.
    pub(crate) accent: Colour,
    /// Behind labels on top of the plot.
    pub(crate) panel: Colour,
    kernels: [u32; HUES],
}

impl Palette {
    /// The colour of a kind without a name.
    pub(crate) const fn of_kind(&self, kind: CellKind) -> Colour {
        match kind {
            CellKind::Exchange => self.exchange,
            CellKind::Synchronization => self.synchronization,
            CellKind::Compute => self.compute,
            CellKind::Idle => self.idle,
            CellKind::Nothing => self.nothing,
            CellKind::Unknown => self.unknown,
        }
    }
}

/// Kernels that have a hue of their own.
pub(crate) const HUES: usize = 12;

/// How opaque the plate behind a name on cells is: the name stays readable on any of their colours.
pub(crate) const PLATE: u8 = 170;

const LIGHT: Palette = Palette {
    nothing: Colour::rgb(0xff_ffff),
    idle: Colour::rgb(0xf1_f3f5),
    exchange: Colour::rgb(0x82_a7df),
    synchronization: Colour::rgb(0xef_d68e),
    compute: Colour::rgb(0x7b_7674),
    unknown: Colour::rgb(0xc3_98b3),
    dimmed: Colour::rgb(0xdb_dee3),
    text: Colour::rgb(0x1d_2630),
    muted: Colour::rgb(0x5c_6873),
    grid: Colour::rgb(0xd5_dae0),
    accent: Colour::rgb(0x0b_5cad),
    panel: Colour::rgb(0xff_ffff),
    kernels: [
        0x4a_2f90, 0x86_150a, 0x01_64ce, 0x47_6f3b, 0x75_2540, 0x86_a951, 0xb1_5aa1, 0xcc_9723,
        0x2e_b57a, 0x59_3467, 0xaa_5a0f, 0xa4_8fff,
    ],
};

const DARK: Palette = Palette {
    nothing: Colour::rgb(0x12_161b),
    idle: Colour::rgb(0x1b_2128),
    exchange: Colour::rgb(0x27_afff),
    synchronization: Colour::rgb(0x70_4f1d),
    compute: Colour::rgb(0x7a_8483),
    unknown: Colour::rgb(0x73_5987),
    dimmed: Colour::rgb(0x2b_323b),
    text: Colour::rgb(0xe3_e8ed),
    muted: Colour::rgb(0x98_a4b0),
    grid: Colour::rgb(0x30_3842),
    accent: Colour::rgb(0x6c_b6ff),
    panel: Colour::rgb(0x1b_2128),
    kernels: [
        0x16_e8e2, 0xbf_d086, 0xaf_c6ff, 0xc9_564a, 0xd6_9651, 0x42_76cc, 0x8d_7b11, 0xbf_7ac1,
        0xef_cf6b, 0x01_a56d, 0xf8_80b2, 0x8f_e2b0,
    ],
};

impl Theme {
    /// The colours of the theme.
    pub(crate) const fn palette(self) -> &'static Palette {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }

    /// The colours of exchange ports.
    pub(crate) const fn ports(self) -> PortInks {
        match self {
            Self::Light => LIGHT_PORTS,
            Self::Dark => DARK_PORTS,
        }
    }

    /// The name in the page's `data-theme` and in the browser's storage.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// Colours of an exchange port's roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortInks {
    /// Words leave the tile.
    pub(crate) send: Colour,
    /// Words land on the tile.
    pub(crate) receive: Colour,
    /// Both.
    pub(crate) both: Colour,
    /// The pair partner borrows the transmit lane.
    pub(crate) lent: Colour,
    /// Inside an exchange, without a transfer.
    pub(crate) open: Colour,
}

const LIGHT_PORTS: PortInks = PortInks {
    send: Colour::rgb(0xb8_5c00),
    receive: Colour::rgb(0x1f_6fb2),
    both: Colour::rgb(0x4b_2a7b),
    lent: Colour::rgb(0x8f_a83a),
    open: Colour::rgb(0xe4_e9ee),
};

const DARK_PORTS: PortInks = PortInks {
    send: Colour::rgb(0xf0_a04b),
    receive: Colour::rgb(0x57_a9e8),
    both: Colour::rgb(0xd9_c7ff),
    lent: Colour::rgb(0x5f_7a1e),
    open: Colour::rgb(0x27_303a),
};

/// Which hue, and how often it was used before, for each kernel: the hash of the name picks the
/// hue, the next one where others are taken more rarely. The same names give the same hues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelHues {
    slots: BTreeMap<String, (usize, usize)>,
}

impl KernelHues {
    /// Hues for these kernels, in whatever order they come.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::default().and(names)
    }

    /// The same hues, and hues for those of other kernels that have none, in whatever order they
    /// come.
    pub(crate) fn and<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let Self { mut slots } = self;
        let mut uses = [0; HUES];
        for &(hue, _) in slots.values() {
            uses[hue] += 1;
        }
        let news = names.into_iter().filter(|name| !slots.contains_key(*name));
        let mut news = order::map(news.map(|name| (name.to_owned(), (0, 0))));
        for (name, slot) in &mut news {
            let least = uses.iter().copied().min().unwrap_or(0);
            let start = fnv1a(name) % HUES;
            let free = (start..start + HUES).map(|hue| hue % HUES);
            let hue = free
                .into_iter()
                .find(|&hue| uses[hue] == least)
                .unwrap_or(start);
            *slot = (hue, uses[hue]);
            uses[hue] += 1;
        }
        slots.append(&mut news);
        Self { slots }
    }

    /// The colour of a kernel in a theme; kernels that were not named share one.
    pub(crate) fn colour(&self, name: &str, theme: Theme) -> Colour {
        let palette = theme.palette();
        match self.slots.get(name) {
            Some(&(hue, used)) => shade(Colour::rgb(palette.kernels[hue]), used % 3),
            None => palette.compute,
        }
    }
}

/// Stops of the scale from nothing to everything: lightness rises all the way, so that it reads
/// without hues (viridis, <https://bids.github.io/colormap/>).
const SCALE: [u32; 5] = [0x44_0154, 0x3b_528b, 0x21_918c, 0x5e_c962, 0xfd_e725];
/// More than everything.
const BEYOND: u32 = 0xff_5a36;

/// A share as a colour, the same in both themes; shares above 1 have a colour of their own.
pub(crate) fn scale(share: f64) -> Colour {
    if share > 1.0 {
        return Colour::rgb(BEYOND);
    }
    let mut from = 0.0;
    for pair in SCALE.windows(2) {
        let to = from + 0.25;
        if share <= to {
            return between(pair[0], pair[1], ((share - from) / 0.25).clamp(0.0, 1.0));
        }
        from = to;
    }
    Colour::rgb(SCALE[0])
}

/// Black or white, whichever is read better on `colour`.
pub(crate) fn text_on(colour: Colour) -> Colour {
    // Squares come close to the curve of a screen, and close is enough between the two.
    let square = |channel: u8| u32::from(channel) * u32::from(channel);
    let light = square(colour.red) * 213 + square(colour.green) * 715 + square(colour.blue) * 72;
    // About where both have the same contrast: a luminance of 0.18, a grey of 0x75.
    if light > 0x75 * 0x75 * 1_000 {
        Colour::rgb(0)
    } else {
        Colour::rgb(0xff_ffff)
    }
}

/// Less (blue) and more (orange) than before, -1..=1, apart for people who see fewer hues; `quiet`
/// is no change.
pub(crate) fn diverging(share: f64, quiet: Colour) -> Colour {
    const LESS: Colour = Colour::rgb(0x21_66ac);
    const MORE: Colour = Colour::rgb(0xe0_6a00);
    let end = if share < 0.0 { LESS } else { MORE };
    // Small changes show: the root spreads them.
    mixed(quiet, end, share.abs().min(1.0).sqrt())
}

fn between(from: u32, to: u32, part: f64) -> Colour {
    mixed(Colour::rgb(from), Colour::rgb(to), part)
}

fn mixed(from: Colour, to: Colour, part: f64) -> Colour {
    let channel = |from: u8, to: u8| {
        let mixed = f64::from(from) * (1.0 - part) + f64::from(to) * part;
        u8::try_from(crate::timeline::viewport::rounded(mixed)).unwrap_or(u8::MAX)
    };
    Colour {
        red: channel(from.red, to.red),
        green: channel(from.green, to.green),
        blue: channel(from.blue, to.blue),
        alpha: 255,
    }
}

/// Kernels that share a hue differ in lightness.
fn shade(colour: Colour, step: usize) -> Colour {
    let toward = |channel: u8, goal: u8, percent: u16| {
        let mixed = (u16::from(channel) * (100 - percent) + u16::from(goal) * percent) / 100;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    };
    let (goal, percent) = [(0, 0), (255, 32), (0, 30)][step];
    Colour {
        red: toward(colour.red, goal, percent),
        green: toward(colour.green, goal, percent),
        blue: toward(colour.blue, goal, percent),
        alpha: colour.alpha,
    }
}

/// The 32-bit FNV-1a hash.
fn fnv1a(text: &str) -> usize {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash as usize
}

#[cfg(test)]
mod tests;
