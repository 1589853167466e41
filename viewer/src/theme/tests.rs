//! The colours as people see them: apart for every kind of sight, and with enough contrast, on the
//! canvas and in the style sheet.

use super::*;

const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

#[test]
fn the_scale_gets_lighter_all_the_way() {
    let luminance = |step: u32| {
        let colour = scale(f64::from(step) / 20.0);
        u32::from(colour.red) * 299 + u32::from(colour.green) * 587 + u32::from(colour.blue) * 114
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
    for theme in THEMES {
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

/// A row for each of red, green and blue that is seen, of linear red, green and blue.
type Sight = [[f64; 3]; 3];

/// Usual sight, and that of people without one kind of cone: Machado, Oliveira and Fernandes,
/// "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, severity 1.0,
/// <https://www.inf.ufrgs.br/~oliveira/pubs_files/CVD_Simulation/CVD_Simulation.html>.
const SIGHTS: [(&str, Sight); 4] = [
    ("usual", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// Linear red, green and blue of a colour (IEC 61966-2-1).
fn linear(colour: Colour) -> [f64; 3] {
    [colour.red, colour.green, colour.blue].map(|value| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn dot(row: [f64; 3], of: [f64; 3]) -> f64 {
    row.iter().zip(of).map(|(a, b)| a * b).sum()
}

/// CIE L*a*b* of a colour as it is seen, for the white of screens (D65).
fn lab(colour: Colour, sight: &Sight) -> [f64; 3] {
    const XYZ: Sight = [
        [0.412_456_4, 0.357_576_1, 0.180_437_5],
        [0.212_672_9, 0.715_152_2, 0.072_175_0],
        [0.019_333_9, 0.119_192_0, 0.950_304_1],
    ];
    const WHITE: [f64; 3] = [0.950_47, 1.0, 1.088_83];
    let seen = sight.map(|row| dot(row, linear(colour)).clamp(0.0, 1.0));
    let mut scaled = [0.0; 3];
    for ((place, row), white) in scaled.iter_mut().zip(XYZ).zip(WHITE) {
        let share = dot(row, seen) / white;
        *place = if share > 216.0 / 24_389.0 {
            share.cbrt()
        } else {
            (share * 24_389.0 / 27.0 + 16.0) / 116.0
        };
    }
    let [x, y, z] = scaled;
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The distance ΔE of 1976 between two colours.
fn distance(a: Colour, b: Colour, sight: &Sight) -> f64 {
    let (a, b) = (lab(a, sight), lab(b, sight));
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

/// The least distance between two of `marks`, and of any of them to one of `papers`.
fn least(marks: &[(String, Colour)], papers: &[(String, Colour)], sight: &Sight) -> (f64, String) {
    let mut found = (f64::INFINITY, String::new());
    for (at, (name, colour)) in marks.iter().enumerate() {
        for (other, beside) in marks[..at].iter().chain(papers) {
            let apart = distance(*colour, *beside, sight);
            if apart < found.0 {
                found = (apart, format!("{name} and {other}"));
            }
        }
    }
    found
}

fn named<const N: usize>(colours: [(&str, Colour); N]) -> Vec<(String, Colour)> {
    colours
        .map(|(name, colour)| (name.to_owned(), colour))
        .to_vec()
}

/// The hue of each kernel, and the kinds that are no background.
fn kernels_and_kinds(palette: &Palette) -> Vec<(String, Colour)> {
    let kinds = named([
        ("exchange", palette.exchange),
        ("synchronization", palette.synchronization),
        ("compute", palette.compute),
        ("unknown kind", palette.unknown),
    ]);
    let kernels = palette.kernels.iter().enumerate();
    let kernels = kernels.map(|(at, &hex)| (format!("kernel {at}"), Colour::rgb(hex)));
    kernels.chain(kinds).collect()
}

#[test]
fn known_colours_have_their_published_lab_and_look_alike_where_a_cone_lacks() {
    let [usual, protanopia, deuteranopia, tritanopia] = SIGHTS.map(|it| it.1);
    let [l, a, b] = lab(Colour::rgb(0xff_0000), &usual);
    assert!((l - 53.24).abs() < 0.01 && (a - 80.09).abs() < 0.01 && (b - 67.20).abs() < 0.01);
    // Green and orange, green and red, orange and pink.
    for (one, other, sight) in [
        (0x5b_8c2a, 0xd9_772b, protanopia),
        (0xc8_443c, 0x5b_8c2a, deuteranopia),
        (0xd9_772b, 0xc2_557f, tritanopia),
    ] {
        let (one, other) = (Colour::rgb(one), Colour::rgb(other));
        let (seen, usually) = (distance(one, other, &sight), distance(one, other, &usual));
        assert!(seen * 2.0 < usually, "{seen} of {usually}");
    }
}

#[test]
fn kernels_and_kinds_stay_apart_for_every_kind_of_sight() {
    for (theme, reached) in [(Theme::Light, 19.5), (Theme::Dark, 16.8)] {
        let palette = theme.palette();
        let papers = named([
            ("idle", palette.idle),
            ("nothing", palette.nothing),
            ("dimmed", palette.dimmed),
        ]);
        for (name, sight) in SIGHTS {
            let (apart, pair) = least(&kernels_and_kinds(palette), &papers, &sight);
            assert!(apart >= reached, "{theme:?}, {name}: {pair} by {apart:.1}");
        }
    }
}

#[test]
fn roles_of_ports_stay_apart_for_every_kind_of_sight() {
    for theme in THEMES {
        let inks = theme.ports();
        let roles = named([
            ("send", inks.send),
            ("receive", inks.receive),
            ("both", inks.both),
            ("lent", inks.lent),
        ]);
        let papers = named([("open", inks.open), ("nothing", theme.palette().nothing)]);
        for (name, sight) in SIGHTS {
            let (apart, pair) = least(&roles, &papers, &sight);
            assert!(apart >= 15.0, "{theme:?}, {name}: {pair} by {apart:.1}");
        }
    }
}

#[test]
fn labels_have_contrast_in_both_themes() {
    for theme in THEMES {
        let palette = theme.palette();
        for text in [palette.text, palette.muted, palette.accent] {
            assert!(contrast(text, palette.nothing) >= 4.5, "{theme:?} {text:?}");
        }
        let mut below: Vec<Colour> = Vec::new();
        for (_, colour) in kernels_and_kinds(palette) {
            below.extend((0..3).map(|step| shade(colour, step)));
        }
        for colour in &below {
            let text = text_on(*colour);
            assert!(contrast(text, *colour) >= 4.5, "{theme:?} {colour:?}");
        }
        below.extend((0..=20).map(|step| scale(f64::from(step) / 20.0)));
        below.extend([palette.idle, palette.dimmed, scale(2.0)]);
        for colour in below {
            let plate = mixed(colour, palette.panel, f64::from(PLATE) / 255.0);
            let reached = contrast(palette.text, plate);
            assert!(reached >= 4.5, "{theme:?} {colour:?} {reached}");
        }
    }
}

/// Contrast ratio as the web's accessibility guidelines define it.
fn contrast(a: Colour, b: Colour) -> f64 {
    let luminance = |colour| dot([0.2126, 0.7152, 0.0722], linear(colour));
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

const STYLE: &str = include_str!("../../../static/shell/style.css");

/// Colours of the style sheet by their names.
type Properties = BTreeMap<String, Colour>;

/// The custom properties of the first rule with this selector that are plain colours.
fn properties(selector: &str) -> Properties {
    let from = STYLE.find(selector).expect("the style sheet has the rule");
    let rule = STYLE[from..].split(['{', '}']).nth(1).expect("a rule");
    let pairs = rule.split(';').filter_map(|it| it.trim().split_once(": #"));
    let colour = |hex: &str| Colour::rgb(u32::from_str_radix(hex, 16).expect("a colour"));
    pairs
        .map(|(name, hex)| (name.to_owned(), colour(hex)))
        .collect()
}

fn style_themes() -> [Properties; 2] {
    [":root {", ":root[data-theme=\"dark\"] {"].map(properties)
}

#[test]
fn the_style_sheet_has_both_themes_whole() {
    let [light, dark] = style_themes();
    assert!(light.len() >= 14, "{light:?}");
    assert!(light.keys().eq(dark.keys()), "{light:?} {dark:?}");
    assert_eq!(properties(":root:not([data-theme]) {"), dark);
    for (style, theme) in [light, dark].iter().zip(THEMES) {
        let palette = theme.palette();
        for (name, colour) in [
            ("--text", palette.text),
            ("--muted", palette.muted),
            ("--line", palette.grid),
            ("--accent", palette.accent),
        ] {
            assert_eq!(style[name], colour, "{theme:?} {name}");
        }
    }
}

#[test]
fn text_of_the_page_has_contrast_4_5_and_controls_3() {
    const SURFACES: [&str; 5] = ["page", "panel", "sunken", "accent-soft", "bar"];
    let on_surfaces = |mark| SURFACES.map(|surface| (mark, surface));
    let mut texts = [
        ("accent-text", "accent"),
        ("warn", "warn-soft"),
        ("warn", "panel"),
        ("text", "warn-soft"),
        ("bad", "bad-soft"),
        ("text", "bad-soft"),
        ("muted", "bad-soft"),
    ]
    .to_vec();
    texts.extend(["text", "accent"].into_iter().flat_map(on_surfaces));
    // Bars have figures on them, no secondary text.
    let is_read = |it: &(&str, &str)| it.1 != "bar";
    texts.extend(on_surfaces("muted").into_iter().filter(is_read));
    // Borders of controls, the ring around what has the focus, and the border of what is chosen.
    let mut marks: Vec<_> = ["edge", "accent"]
        .into_iter()
        .flat_map(on_surfaces)
        .collect();
    marks.extend([("warn", "warn-soft"), ("warn", "panel"), ("bad", "page")]);
    for style in style_themes() {
        let reached = |(above, below): (&str, &str)| {
            contrast(style[&format!("--{above}")], style[&format!("--{below}")])
        };
        for pair in &texts {
            assert!(reached(*pair) >= 4.5, "{pair:?} {}", reached(*pair));
        }
        for pair in &marks {
            assert!(reached(*pair) >= 3.0, "{pair:?} {}", reached(*pair));
        }
    }
}

#[test]
fn borders_of_controls_and_the_ring_of_the_focus_are_the_colours_that_were_measured() {
    let rule = |selector: &str| {
        let from = STYLE.find(&format!("\n{selector} {{"));
        let from = from.unwrap_or_else(|| panic!("no rule for {selector}"));
        STYLE[from..].split_once('}').expect("it ends").0
    };
    for selector in [
        "button, .button, select, input[type=\"text\"]",
        ".badge summary",
        ".profile",
    ] {
        let rule = rule(selector);
        assert!(rule.contains("border: 1px solid var(--edge)"), "{rule}");
    }
    for selector in [":focus-visible", ".button:focus-within"] {
        let rule = rule(selector);
        assert!(rule.contains("outline: 2px solid var(--accent)"), "{rule}");
    }
}

#[test]
fn kernels_of_another_profile_get_hues_beside_those_that_are_there() {
    let own = KernelHues::new(["gemm", "add", "copy"]);
    let both = own.clone().and(["fill", "gemm"]);
    for theme in [Theme::Light, Theme::Dark] {
        for name in ["gemm", "add", "copy"] {
            assert_eq!(both.colour(name, theme), own.colour(name, theme), "{name}");
        }
        let fill = both.colour("fill", theme);
        assert_ne!(fill, theme.palette().compute, "it has one of its own");
        assert!(
            ["gemm", "add", "copy"]
                .iter()
                .all(|it| own.colour(it, theme) != fill)
        );
    }
}
