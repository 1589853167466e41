//! Matrix products and the vendor's AMP 1×1 points.

use super::{Bound, Row, cycles};
use crate::kernels::{self, Generation, amp_point_cycles};
use crate::package::MemoryClass::{Interleaved, Standard};
use crate::package::{Gemm, KernelSpec, MemoryClass};

pub(super) const GROUP: &str = "gemm";

const MEASURED: &str = "published C600 cycle samples of one kernel call";
const INFERRED: &str = "published C600 cycle samples; the shape follows from the published grid";
const AMP: &str = "published C600 AMP 1x1 F16 throughput, K16xC16, as cycles at 1.85 GHz";

#[derive(Clone, Copy, Debug)]
enum Kind {
    F16,
    Packed,
    F143,
}

/// Precision and store, rows, inner extent, columns, coefficients, published cycles, provenance.
type Point = (Kind, u32, u32, u32, MemoryClass, u64, &'static str);

const POINTS: &[Point] = &[
    (Kind::F16, 184, 288, 48, Interleaved, 48_654, MEASURED),
    (Kind::F16, 182, 288, 48, Interleaved, 48_180, MEASURED),
    (Kind::F16, 184, 288, 32, Interleaved, 32_538, MEASURED),
    (Kind::F16, 146, 576, 32, Interleaved, 53_718, MEASURED),
    (Kind::F16, 120, 80, 272, Interleaved, 55_344, MEASURED),
    (Kind::F16, 81, 80, 80, Interleaved, 12_402, MEASURED),
    (Kind::F16, 92, 80, 80, Interleaved, 13_572, INFERRED),
    (Kind::F16, 92, 96, 80, Interleaved, 16_194, INFERRED),
    (Kind::F16, 8, 80, 768, Standard, 54_744, MEASURED),
    (Kind::F16, 8, 768, 80, Standard, 53_712, MEASURED),
    (Kind::Packed, 48, 240, 64, Standard, 35_022, MEASURED),
    (Kind::Packed, 48, 240, 64, Interleaved, 33_102, MEASURED),
    (Kind::Packed, 96, 64, 64, Interleaved, 12_108, MEASURED),
    (Kind::Packed, 128, 64, 64, Interleaved, 19_944, MEASURED),
    (Kind::Packed, 128, 64, 64, Interleaved, 19_872, MEASURED),
    (Kind::F143, 244, 128, 64, Interleaved, 18_576, MEASURED),
    (Kind::F143, 82, 192, 160, Interleaved, 29_508, MEASURED),
    (Kind::F143, 122, 160, 128, Interleaved, 26_232, MEASURED),
    (Kind::F143, 146, 96, 48, Interleaved, 7122, MEASURED),
    (Kind::F143, 57, 128, 80, Interleaved, 8124, MEASURED),
    (Kind::F143, 56, 128, 80, Interleaved, 8076, MEASURED),
];

pub(super) fn rows() -> Vec<Row> {
    POINTS.iter().map(point).collect()
}

fn point(&(kind, rows, inner, columns, coefficients, published, provenance): &Point) -> Row {
    let gemm = Gemm {
        rows,
        inner,
        columns,
        accumulate: false,
        coefficients,
    };
    let (label, spec) = match kind {
        Kind::F16 => (
            "F16",
            KernelSpec::GemmF16 {
                rows,
                inner,
                columns,
                accumulate: false,
                coefficients,
            },
        ),
        Kind::Packed => ("F16 packed", KernelSpec::GemmPackedF16(gemm)),
        Kind::F143 => ("F143", KernelSpec::GemmF143 { gemm, scale: 0 }),
    };
    let class = match coefficients {
        Standard => "standard",
        Interleaved => "interleaved",
    };
    let name = format!("{label} {rows}x{inner}x{columns} {class}");
    let simulated = kernels::cycles(&spec, Generation::default()).get();
    cycles(
        GROUP,
        name,
        (simulated, published),
        Bound::Percent(2.0),
        provenance,
    )
}

/// Lines `rows,tflops,cycles` after one line of names.
const AMP_POINTS: &str = include_str!("amp1x1_fp16.csv");

pub(super) fn amp_rows() -> Vec<Row> {
    AMP_POINTS.lines().skip(1).filter_map(amp_point).collect()
}

fn amp_point(line: &str) -> Option<Row> {
    let mut fields = line.split(',');
    let rows: u32 = fields.next()?.trim().parse().ok()?;
    let published: f64 = fields.nth(1)?.trim().parse().ok()?;
    let simulated = amp_point_cycles(rows);
    let bound = Bound::Percent(2.0);
    let row = cycles("amp", format!("{rows} rows"), (simulated, 0), bound, AMP);
    Some(Row { published, ..row })
}
