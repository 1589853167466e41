//! Compares every element of a run's outputs with the reference: outputs → [`CheckReport`].

use half::f16;
use rayon::prelude::*;

use super::reference::{Reference, ReferenceError, evaluate};
use super::{Graph, ValueId};

/// How far an element may be from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Equal after rounding the reference to F16.
    Exact,
    /// |got − reference| ≤ absolute + relative·|reference|, and finite.
    Mixed {
        /// Absolute part.
        absolute: f32,
        /// Part relative to the reference.
        relative: f32,
    },
    /// [`Self::Mixed`] for each element, and for each output the root mean square of the errors at
    /// most rms_absolute + rms_relative · that of the reference.
    WithRms {
        /// Absolute part.
        absolute: f32,
        /// Part relative to the reference.
        relative: f32,
        /// Absolute part of the bound on the root mean square.
        rms_absolute: f64,
        /// Relative part of the bound on the root mean square.
        rms_relative: f64,
    },
}

impl Tolerance {
    /// The tolerance of Gaussian data: absolute 0.03, relative 0.05.
    pub const GAUSSIAN: Self = Self::Mixed {
        absolute: 0.03,
        relative: 0.05,
    };

    fn accepts(self, got: f32, expected: f32) -> bool {
        match self {
            Self::Exact => got == f16::from_f32(expected).to_f32(),
            Self::Mixed { absolute, relative }
            | Self::WithRms {
                absolute, relative, ..
            } => (got - expected).abs() <= absolute + relative * expected.abs(),
        }
    }

    /// Whether the root mean squares of an output's errors and of its reference are acceptable.
    fn accepts_rms(self, rms: Rms) -> bool {
        match self {
            Self::WithRms {
                rms_absolute,
                rms_relative,
                ..
            } => rms.error <= rms_absolute + rms_relative * rms.reference,
            Self::Exact | Self::Mixed { .. } => true,
        }
    }
}

/// Root mean squares over the elements of one output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rms {
    /// Of the errors.
    pub error: f64,
    /// Of the reference.
    pub reference: f64,
}

/// What comparing all outputs found.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// Elements compared.
    pub elements: u64,
    /// Elements outside the tolerance.
    pub failures: u64,
    /// The element furthest from its reference; the first one of equals, not-a-number furthest of
    /// all.
    pub worst: Option<Difference>,
    /// Root mean squares of the output whose errors are largest beside its reference.
    pub rms: Rms,
    /// Outputs whose root mean square of errors is above its bound.
    pub rms_failures: u64,
}

impl CheckReport {
    /// Whether something was compared and all of it is within the tolerance.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.failures == 0 && self.rms_failures == 0 && self.elements > 0
    }
}

/// One element and its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Name of the output.
    pub output: String,
    /// Row-major element index.
    pub element: u64,
    /// What the device computed.
    pub got: f32,
    /// What the reference computed.
    pub expected: f32,
    /// |got − expected|.
    pub error: f32,
}

/// Why outputs could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The reference could not be evaluated.
    #[error("reference: {0}")]
    Reference(#[from] ReferenceError),
    /// An output is missing or has the wrong number of elements.
    #[error("output {name}: {found} elements were read back, the graph has {expected}")]
    Missing {
        /// Name of the output.
        name: String,
        /// Elements given.
        found: u64,
        /// Elements of the graph.
        expected: u64,
    },
}

/// Evaluates the reference and compares every element of every output with it.
///
/// `output` gives the row-major values of an output by its name.
///
/// # Errors
/// A reference that cannot be evaluated, or an output that is missing or of another size.
pub fn check<'a>(
    graph: &Graph,
    tolerance: Tolerance,
    output: impl Fn(&str) -> Option<&'a [f16]>,
) -> Result<CheckReport, CheckError> {
    check_samples(graph, tolerance, None, output)
}

/// [`check`] of at most `samples` elements of each output, at equal distances from the first;
/// `None` is all.
///
/// # Errors
/// As [`check`].
pub fn check_samples<'a>(
    graph: &Graph,
    tolerance: Tolerance,
    samples: Option<usize>,
    output: impl Fn(&str) -> Option<&'a [f16]>,
) -> Result<CheckReport, CheckError> {
    let mut report = CheckReport {
        elements: 0,
        failures: 0,
        worst: None,
        rms: Rms::default(),
        rms_failures: 0,
    };
    for reference in evaluate(graph)? {
        let name = output_name(graph, &reference);
        let got = output(&name).unwrap_or(&[]);
        if got.len() != reference.values.len() {
            let (found, expected) = (got.len() as u64, reference.values.len() as u64);
            return Err(CheckError::Missing {
                name,
                found,
                expected,
            });
        }
        let distance = samples.map_or(1, |samples| got.len().div_ceil(samples.max(1)).max(1));
        if distance == 1 {
            compare(&mut report, &name, got, (&reference.values, 1), tolerance);
        } else {
            let got: Vec<f16> = got.iter().copied().step_by(distance).collect();
            let expected: Vec<f32> = reference.values.into_iter().step_by(distance).collect();
            compare(&mut report, &name, &got, (&expected, distance), tolerance);
        }
    }
    Ok(report)
}

fn output_name(graph: &Graph, reference: &Reference) -> String {
    let id: ValueId = reference.value;
    graph.value(id).name.clone()
}

/// What one block of an output gives.
struct BlockResult {
    failures: u64,
    /// Index and error of the worst element.
    worst: Option<(usize, f32)>,
    /// Sums of squares of the errors and of the reference.
    squares: [f64; 2],
}

/// Elements of a block: enough work for a thread, few enough blocks to merge in order.
const BLOCK: usize = 1 << 16;

fn compare(
    report: &mut CheckReport,
    name: &str,
    got: &[f16],
    (expected, distance): (&[f32], usize),
    tolerance: Tolerance,
) {
    let blocks: Vec<BlockResult> = got
        .par_chunks(BLOCK)
        .zip(expected.par_chunks(BLOCK))
        .map(|(got, expected)| compare_block(got, expected, tolerance))
        .collect();
    report.elements += got.len() as u64;
    report_rms(report, &blocks, got.len(), tolerance);
    for (block, result) in blocks.into_iter().enumerate() {
        report.failures += result.failures;
        let Some((index, error)) = result.worst else {
            continue;
        };
        if report
            .worst
            .as_ref()
            .is_none_or(|worst| worse(error, worst.error))
        {
            let index = block * BLOCK + index;
            report.worst = Some(Difference {
                output: name.to_owned(),
                element: (index * distance) as u64,
                got: got[index].to_f32(),
                expected: expected[index],
                error,
            });
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^36 elements at most")]
fn report_rms(
    report: &mut CheckReport,
    blocks: &[BlockResult],
    elements: usize,
    tolerance: Tolerance,
) {
    let mean = |index: usize| {
        let squares: f64 = blocks.iter().map(|block| block.squares[index]).sum();
        (squares / elements.max(1) as f64).sqrt()
    };
    let rms = Rms {
        error: mean(0),
        reference: mean(1),
    };
    report.rms_failures += u64::from(!tolerance.accepts_rms(rms));
    let is_worse = rms.error * report.rms.reference >= report.rms.error * rms.reference;
    if is_worse || rms.error.is_nan() {
        report.rms = rms;
    }
}

fn compare_block(got: &[f16], expected: &[f32], tolerance: Tolerance) -> BlockResult {
    let (mut failures, mut squares) = (0, [0.0; 2]);
    let mut worst: Option<(usize, f32)> = None;
    for (index, (got, &expected)) in got.iter().zip(expected).enumerate() {
        let got = got.to_f32();
        failures += u64::from(!tolerance.accepts(got, expected));
        let error = (got - expected).abs();
        squares[0] += f64::from(error) * f64::from(error);
        squares[1] += f64::from(expected) * f64::from(expected);
        if worst.is_none_or(|(_, before)| worse(error, before)) {
            worst = Some((index, error));
        }
    }
    BlockResult {
        failures,
        worst,
        squares,
    }
}

/// Whether an error is further out than another; not-a-number is furthest.
fn worse(error: f32, before: f32) -> bool {
    error > before || (error.is_nan() && !before.is_nan())
}

#[cfg(test)]
mod tests {
    use runtime::package::{DType, Fill};

    use super::super::{ValueKind, parse::parse};
    use super::*;

    fn ones() -> Graph {
        let mut graph = Graph::default();
        let one = ValueKind::Input(Fill::Constant(1.0));
        let left = graph.add_host("a", DType::F16, &[3, 8], one).unwrap();
        let right = graph.add_host("b", DType::F16, &[8, 2], one).unwrap();
        let product = graph.add_gemm("c", left, right).unwrap();
        graph.add_output(product).unwrap();
        graph
    }

    fn checked(values: &[f32], tolerance: Tolerance) -> CheckReport {
        let values: Vec<f16> = values.iter().map(|&value| f16::from_f32(value)).collect();
        check(&ones(), tolerance, |_| Some(&values)).unwrap()
    }

    #[test]
    fn every_element_is_compared_and_the_worst_is_named() {
        let mut values = [8.0; 6];
        assert!(checked(&values, Tolerance::Exact).passed());
        values[4] = 8.25;
        let report = checked(&values, Tolerance::Exact);
        assert_eq!((report.elements, report.failures), (6, 1));
        let worst = report.worst.unwrap();
        assert_eq!((worst.element, worst.error, worst.expected), (4, 0.25, 8.0));
        assert!(checked(&values, Tolerance::GAUSSIAN).passed());
    }

    #[test]
    fn values_that_are_no_numbers_fail_every_tolerance() {
        let mut values = [8.0; 6];
        values[1] = f32::NAN;
        values[2] = f32::INFINITY;
        for tolerance in [Tolerance::Exact, Tolerance::GAUSSIAN] {
            let report = checked(&values, tolerance);
            assert_eq!(report.failures, 2);
            assert_eq!(report.worst.unwrap().element, 1);
        }
    }

    #[test]
    fn missing_outputs_are_an_error() {
        let error = check(&ones(), Tolerance::Exact, |_| None)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "output c: 0 elements were read back, the graph has 6"
        );
        let graph = parse("input a: f32[2, 2] = constant(1)\n").unwrap_err();
        assert!(graph.to_string().contains("no operation"));
    }
}
