//! Reductions, GeLU, adds, layer norm, casts and copies.

use super::{Bound, Row, cycles};
use crate::kernels::{self, Generation};
use crate::package::{
    Add, BiasGelu, Cast, Gelu, KernelSpec, LayerNorm, LayerNormApply, LayerNormMoments, Order,
    Output, Rearrange, Scalar,
};

const MEASURED: &str = "published C600 cycle samples of one call";
const OLDER_NORM: &str = "published C600 cycle samples of the older set";
const SEPARATE: &str = "published C600 cycle samples, source and result in separate banks";
const SHARED: &str = "published C600 cycle samples, source and result in one bank";
const FALLBACK: &str =
    "published C600 cycle samples of a pipelined variant that the cost table does not have";

const NEW: Generation = Generation::G20260913;
const OLD: Generation = Generation::G20260907;

/// Partials, elements, cycles.
pub(crate) const REDUCTIONS: &[(u32, u32, u64)] = &[
    (2, 8, 360),
    (2, 56, 438),
    (2, 1472, 2700),
    (4, 2208, 4974),
    (4, 1472, 3444),
    (15, 576, 3090),
    (28, 2208, 18_222),
];

/// Generation, elements, cycles.
const GELU: &[(Generation, u32, u64)] = &[
    (NEW, 16, 792),
    (NEW, 96, 792),
    (NEW, 1408, 7260),
    (NEW, 2208, 10_956),
    (NEW, 2, 462),
    (NEW, 6, 702),
    (NEW, 14, 1182),
    (NEW, 18, 810),
    (NEW, 30, 1182),
    (NEW, 94, 1182),
    (NEW, 98, 942),
    (OLD, 16, 840),
    (OLD, 96, 840),
    (OLD, 1408, 7980),
    (OLD, 2208, 12_060),
];

/// Rows, width, cycles.
const BIAS_GELU: &[(u32, u32, u64)] = &[
    (1, 16, 540),
    (1, 94, 1458),
    (1, 98, 1170),
    (1, 1408, 5760),
    (1, 2152, 8550),
    (1, 2208, 8730),
    (3, 94, 3942),
    (3, 2152, 25_206),
    (3, 2208, 25_746),
];

/// Elements, cycles.
const ADD: &[(u32, u64)] = &[(1152, 1368), (2152, 2124)];

/// Generation, rows, width, and cycles of the whole norm, of the norm with the add fused, of the
/// moments and of the application.
const NORM: &[(Generation, u32, u32, [u64; 4])] = &[
    (NEW, 1, 144, [2196, 2454, 1464, 1620]),
    (NEW, 1, 576, [4140, 4992, 2112, 2916]),
    (NEW, 1, 1152, [6732, 8376, 2976, 4644]),
    (NEW, 3, 1152, [19_938, 24_864, 8676, 12_468]),
    (OLD, 1, 144, [2448, 2778, 1476, 1656]),
    (OLD, 1, 1152, [9378, 11_598, 3366, 6696]),
    (OLD, 3, 1152, [27_876, 34_530, 9846, 18_972]),
];

fn row(
    group: &'static str,
    name: String,
    spec: &KernelSpec,
    generation: Generation,
    (published, bound, provenance): (u64, Bound, &'static str),
) -> Row {
    let simulated = kernels::cycles(spec, generation).get();
    cycles(group, name, (simulated, published), bound, provenance).of(generation)
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(partials, elements, published) in REDUCTIONS {
        let spec = KernelSpec::ReduceSumF16 { partials, elements };
        let name = format!("{partials} partials of {elements}");
        let published = (published, Bound::Exact, MEASURED);
        rows.push(row("reduction", name, &spec, NEW, published));
    }
    for &(generation, width, published) in GELU {
        let output = Output::F16;
        let spec = KernelSpec::Gelu(Gelu {
            rows: 1,
            width,
            output,
        });
        let published = (published, Bound::Exact, MEASURED);
        let name = format!("{width} elements");
        rows.push(row("gelu", name, &spec, generation, published));
    }
    for &(count, width, published) in BIAS_GELU {
        let spec = KernelSpec::BiasGelu(BiasGelu {
            rows: count,
            width,
            output: Output::F16,
        });
        let published = (published, Bound::Exact, MEASURED);
        rows.push(row(
            "bias-gelu",
            format!("{count}x{width}"),
            &spec,
            NEW,
            published,
        ));
    }
    for &(width, published) in ADD {
        let spec = KernelSpec::Add(Add { rows: 1, width });
        let published = (published, Bound::Exact, MEASURED);
        rows.push(row(
            "add",
            format!("{width} elements"),
            &spec,
            NEW,
            published,
        ));
    }
    rows.extend(NORM.iter().flat_map(norm));
    rows.extend(casts_and_copies());
    rows
}

fn norm(&(generation, rows, width, published): &(Generation, u32, u32, [u64; 4])) -> [Row; 4] {
    let epsilon = Scalar::new(1e-6);
    let whole = |add| {
        KernelSpec::LayerNorm(LayerNorm {
            rows,
            width,
            add,
            epsilon,
            output: Output::F16,
        })
    };
    let moments = KernelSpec::LayerNormMoments(LayerNormMoments {
        rows,
        width,
        add: false,
    });
    let apply = KernelSpec::LayerNormApply(LayerNormApply {
        rows,
        width,
        total_width: width,
        parts: 1,
        epsilon,
    });
    let provenance = if generation == OLD {
        OLDER_NORM
    } else {
        MEASURED
    };
    let specs = [whole(false), whole(true), moments, apply];
    let labels = ["norm", "norm with add", "moments", "apply"];
    std::array::from_fn(|at| {
        let name = format!("{rows}x{width} {}", labels[at]);
        let published = (published[at], Bound::Percent(5.0), provenance);
        row("layer-norm", name, &specs[at], generation, published)
    })
}

fn casts_and_copies() -> Vec<Row> {
    let panels = |rows, columns: u32| {
        let (panels, scale) = (columns / 32, 0);
        KernelSpec::Cast(Cast::F16ToF143Panels {
            rows,
            panels,
            scale,
        })
    };
    let flat = KernelSpec::Cast(Cast::F16ToF143 {
        elements: 8320,
        scale: 0,
    });
    let pack = KernelSpec::Rearrange(Rearrange {
        order: Order::PackLeft,
        matrices: 1,
        rows: 40,
        columns: 16,
        stride: 16,
    });
    let stage = KernelSpec::StageInterleaved { bytes: 8192 };
    let coarse = Bound::Percent(20.0);
    let table = [
        (
            "cast",
            "F16 to F143 panels 184x96",
            panels(184, 96),
            (6762, coarse, SEPARATE),
        ),
        (
            "cast",
            "F16 to F143 panels 184x96",
            panels(184, 96),
            (8172, coarse, SHARED),
        ),
        (
            "cast",
            "F16 to F143 panels 65x128",
            panels(65, 128),
            (4794, coarse, MEASURED),
        ),
        (
            "cast",
            "F16 to F143 flat, 8320",
            flat,
            (2706, Bound::Unclaimed, FALLBACK),
        ),
        (
            "copy",
            "standard to interleaved, 8192 bytes",
            stage,
            (1308, Bound::Exact, MEASURED),
        ),
        (
            "rearrange",
            "left pack, 640 elements",
            pack,
            (2364, Bound::Percent(10.0), MEASURED),
        ),
    ];
    table
        .into_iter()
        .map(|(group, name, spec, published)| row(group, name.to_owned(), &spec, NEW, published))
        .collect()
}
