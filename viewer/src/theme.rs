//! Colours of both themes: surfaces of the canvas, kinds, and a hue for each kernel.
//!
//! Kinds and kernels differ in lightness as well as in hue, so that they stay apart for people who
//! see fewer hues. Idle is the background.

use std::collections::BTreeMap;

use analytics::order;

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

const HUES: usize = 12;

const LIGHT: Palette = Palette {
    nothing: Colour::rgb(0xff_ffff),
    idle: Colour::rgb(0xf1_f3f5),
    exchange: Colour::rgb(0x3f_83b8),
    synchronization: Colour::rgb(0xec_cf8f),
    compute: Colour::rgb(0x8a_8f98),
    unknown: Colour::rgb(0xb0_9ad0),
    dimmed: Colour::rgb(0xdb_dee3),
    text: Colour::rgb(0x1d_2630),
    muted: Colour::rgb(0x5c_6873),
    grid: Colour::rgb(0xd5_dae0),
    accent: Colour::rgb(0x0b_5cad),
    panel: Colour::rgb(0xff_ffff),
    kernels: [
        0xc8_443c, 0x11_7a65, 0x8e_4a9e, 0xd9_772b, 0x5b_8c2a, 0xc2_557f, 0x00_868b, 0x7a_5c3e,
        0x4b_5fc0, 0x9c_2f50, 0x6a_9a78, 0x9a_7bb5,
    ],
};

const DARK: Palette = Palette {
    nothing: Colour::rgb(0x12_161b),
    idle: Colour::rgb(0x1b_2128),
    exchange: Colour::rgb(0x4f_9fd1),
    synchronization: Colour::rgb(0x73_602f),
    compute: Colour::rgb(0x8d_949e),
    unknown: Colour::rgb(0x8e_78b0),
    dimmed: Colour::rgb(0x2b_323b),
    text: Colour::rgb(0xe3_e8ed),
    muted: Colour::rgb(0x98_a4b0),
    grid: Colour::rgb(0x30_3842),
    accent: Colour::rgb(0x6c_b6ff),
    panel: Colour::rgb(0x1b_2128),
    kernels: [
        0xe0_664f, 0x3d_a88d, 0xb8_7fd0, 0xea_9550, 0x8f_bf55, 0xe0_85ab, 0x38_b2b8, 0xb0_8d68,
        0x80_92ee, 0xc8_5a7e, 0x9c_c7a8, 0xc4_a8dc,
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
    lent: Colour::rgb(0x8f_a83a),
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
        let names = names.into_iter();
        let mut slots = order::map(names.map(|name| (name.to_owned(), (0, 0))));
        let mut uses = [0; HUES];
        for (name, slot) in &mut slots {
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
mod tests {
    use super::*;

    #[test]
    fn the_scale_gets_lighter_all_the_way() {
        let luminance = |step: u32| {
            let colour = scale(f64::from(step) / 20.0);
            u32::from(colour.red) * 299
                + u32::from(colour.green) * 587
                + u32::from(colour.blue) * 114
        };
        let steps: Vec<u32> = (0..=20).map(luminance).collect();
        assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
        assert_eq!(scale(0.0), Colour::rgb(0x44_0154));
        assert_eq!(scale(1.0), Colour::rgb(0xfd_e725));
        assert_eq!(scale(1.01), Colour::rgb(BEYOND));
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Published vectors of the 32-bit hash.
        assert_eq!(fnv1a(""), 0x811c_9dc5);
        assert_eq!(fnv1a("a"), 0xe40c_292c);
        assert_eq!(fnv1a("foobar"), 0xbf9c_f968);
    }

    #[test]
    fn twelve_kernels_have_twelve_colours_and_thirty_six_differ() {
        for theme in [Theme::Light, Theme::Dark] {
            for count in [12, 36] {
                let names: Vec<String> = (0..count).map(|it| format!("kernel{it}")).collect();
                let hues = KernelHues::new(names.iter().map(String::as_str));
                let mut colours: Vec<String> = names
                    .iter()
                    .map(|name| hues.colour(name, theme).css())
                    .collect();
                colours.sort();
                colours.dedup();
                assert_eq!(colours.len(), count);
            }
        }
    }

    #[test]
    fn the_order_of_the_names_does_not_matter() {
        assert_eq!(
            KernelHues::new(["b", "a", "c"]),
            KernelHues::new(["c", "b", "a"])
        );
    }

    #[test]
    fn labels_have_contrast_in_both_themes() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = theme.palette();
            for text in [palette.text, palette.muted, palette.accent] {
                assert!(contrast(text, palette.nothing) >= 4.5, "{theme:?} {text:?}");
            }
        }
    }

    /// Contrast ratio as the web's accessibility guidelines define it.
    fn contrast(a: Colour, b: Colour) -> f64 {
        let luminance = |colour: Colour| {
            let channel = |value: u8| {
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(colour.red)
                + 0.7152 * channel(colour.green)
                + 0.0722 * channel(colour.blue)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}
