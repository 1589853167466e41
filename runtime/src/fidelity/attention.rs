//! Softmax and the merge of online attention.

use super::{Bound, Row, cycles};
use crate::kernels::softmax::{OLDEST, SET_A, SET_B, SET_C, SET_D, Slots};
use crate::kernels::{self, Generation};
use crate::package::{KernelSpec, Merge, Output, Scalar, Softmax};

const SOFTMAX: &str = "published C600 cycle samples of one call";
const RANDOM: &str = "published C600 cycle samples, random data, buffers in separate elements";
const MERGE: &str = "published C600 cycle samples, 72 value columns, F32 state";

/// Which kernel of a set: the one that it chooses, or the one named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Best,
    Whole,
    Split,
}

/// Set and its name, rows, keys, padded columns, form, published cycles.
type Point = (Slots, &'static str, u32, u32, u32, Form, u64);

const POINTS: &[Point] = &[
    (OLDEST, "2026-09-07", 8, 729, 768, Form::Best, 40_326),
    (SET_A, "A", 7, 64, 64, Form::Best, 2928),
    (SET_A, "A", 8, 64, 64, Form::Best, 2928),
    (SET_A, "A", 7, 25, 64, Form::Best, 2682),
    (SET_A, "A", 8, 25, 64, Form::Best, 2682),
    (SET_A, "A", 7, 729, 768, Form::Best, 21_762),
    (SET_A, "A", 8, 729, 768, Form::Best, 21_780),
    (SET_B, "B", 7, 729, 768, Form::Best, 20_226),
    (SET_B, "B", 8, 729, 768, Form::Best, 20_244),
    (SET_C, "C", 1, 729, 768, Form::Whole, 12_258),
    (SET_C, "C", 1, 729, 768, Form::Split, 5232),
    (SET_D, "2026-09-13", 1, 64, 64, Form::Best, 1422),
    (SET_D, "2026-09-13", 7, 64, 64, Form::Best, 2640),
    (SET_D, "2026-09-13", 8, 64, 64, Form::Best, 3168),
    (SET_D, "2026-09-13", 1, 65, 80, Form::Best, 1770),
    (SET_D, "2026-09-13", 7, 65, 80, Form::Best, 3330),
    (SET_D, "2026-09-13", 8, 65, 80, Form::Best, 3774),
    (SET_D, "2026-09-13", 1, 729, 768, Form::Best, 5190),
    (SET_D, "2026-09-13", 7, 729, 768, Form::Best, 21_456),
    (SET_D, "2026-09-13", 8, 729, 768, Form::Best, 22_536),
];

pub(super) fn softmax_rows() -> Vec<Row> {
    POINTS.iter().map(softmax).collect()
}

fn softmax(&(slots, set, rows, keys, padded, form, published): &Point) -> Row {
    let generation = Generation::ALL.into_iter().find(|g| g.name() == set);
    let simulated = match (form, generation) {
        (Form::Best, Some(generation)) => {
            let spec = KernelSpec::Softmax(Softmax {
                rows,
                keys,
                padded,
                scale: Scalar::new(1.0),
                output: Output::F16,
            });
            kernels::cycles(&spec, generation).get()
        }
        (Form::Best, None) => slots.best(rows, keys, padded).1,
        (Form::Whole, _) => slots.whole(rows, keys, padded),
        (Form::Split, _) => slots.split(rows, padded).unwrap_or(0),
    };
    let (bound, provenance) = if slots == SET_D {
        (Bound::Percent(20.0), RANDOM)
    } else {
        (Bound::Percent(2.0), SOFTMAX)
    };
    let form = match form {
        Form::Best => "",
        Form::Whole => " whole rows",
        Form::Split => " split rows",
    };
    let name = format!("{rows} rows, {keys} of {padded} keys{form}");
    cycles("softmax", name, (simulated, published), bound, provenance).of_set(set)
}

pub(super) fn merge_rows() -> Vec<Row> {
    let points = [
        (true, false, "first", 2430),
        (false, false, "middle", 3378),
        (false, true, "final", 3438),
    ];
    let mut found = Vec::new();
    for rows in [7, 8] {
        for (first, last, name, published) in points {
            let generation = Generation::G20260907;
            let spec = KernelSpec::Merge(Merge {
                rows,
                columns: 72,
                padded: 80,
                first,
                last,
                half_output: false,
            });
            let simulated = kernels::cycles(&spec, generation).get();
            let name = format!("{rows} rows, {name}");
            let both = (simulated, published);
            found.push(cycles("merge", name, both, Bound::Exact, MERGE).of(generation));
        }
    }
    found
}
