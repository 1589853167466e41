//! One way to spread a GEMM: what it costs and whether the fullest tile holds it.
//!
//! Costs are those of the largest shard: kernels from the runtime's cost table, exchanges by the words
//! and messages of the busiest endpoint.

use analytics::units::Cycles;
use runtime::kernels::{Generation, cycles};
use runtime::package::{KernelSpec, MemoryClass};

use crate::instrument::class_name;
use crate::layout::{LANES, UNIT_BYTES};
use crate::options::{OperandPolicy, PredictedCycles};
use crate::place::{Arena, Request, allocate};
use crate::program::{PANEL_TAIL, PIECE_UNITS};

use super::{GemmPlan, Problem};

/// Release and exit of an exchange beside its horizon: the mean of eleven published overheads.
const EXCHANGE_OVERHEAD: u64 = 261;
/// From a word's departure to its landing, and the end of a row: the mean over all pairs of tiles,
/// 65 cycles of route and 5 of row end (route formula).
const ROUTE: u64 = 70;
/// Events that a message occupies at its receiver beside its words. Fit to our own schedules.
const MESSAGE_GAP: u64 = 2;
/// Words of a unit.
const UNIT_WORDS: u64 = 8;

/// A candidate with its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) plan: GemmPlan,
    pub(crate) predicted: PredictedCycles,
    /// Part of the operand exchange that each side causes: panels, coefficients.
    pub(crate) sides: [Cycles; 2],
}

/// Extents of the fullest tile.
#[derive(Clone, Copy, Debug)]
struct Shard {
    lines: u32,
    chunk_panels: u32,
    groups: u32,
}

impl Shard {
    fn new(problem: &Problem, plan: &GemmPlan) -> Self {
        let panels = problem.depth_panels().div_ceil(plan.grid.inner);
        Self {
            lines: problem.panels.view.lines.div_ceil(plan.grid.rows),
            chunk_panels: panels.div_ceil(plan.chunks),
            groups: plan.groups,
        }
    }

    /// Units of the operands of one chunk and of the result.
    fn units(&self) -> (u32, u32, u32) {
        let panels = self.lines.saturating_mul(self.chunk_panels);
        let coefficients = (self.groups * LANES).saturating_mul(self.chunk_panels);
        (panels, coefficients, self.lines.saturating_mul(self.groups))
    }
}

/// Prices a plan; `resident` operands need no exchange.
pub(crate) fn price(
    problem: &Problem,
    plan: &GemmPlan,
    generation: Generation,
    resident: [bool; 2],
) -> Candidate {
    let shard = Shard::new(problem, plan);
    let (panels, coefficients, result) = shard.units();
    let fans = [plan.grid.columns, plan.grid.rows];
    let mut sides = [Cycles::ZERO; 2];
    if plan.policy == OperandPolicy::Sharded {
        for (side, units) in [panels, coefficients].into_iter().enumerate() {
            if fans[side] > 1 && !resident[side] {
                let messages = fans[side].min(units.div_ceil(PIECE_UNITS));
                sides[side] = endpoint(units, messages);
            }
        }
    }
    let words = sides[0] + sides[1];
    let operands = if words == Cycles::ZERO {
        words
    } else {
        words + phase_overhead()
    };
    let gemm = cycles(
        &KernelSpec::GemmF16 {
            rows: shard.lines,
            inner: shard.chunk_panels * LANES,
            columns: shard.groups * LANES,
            accumulate: false,
            coefficients: plan.coefficients,
        },
        generation,
    );
    let chunks = u64::from(plan.chunks);
    let mut predicted = PredictedCycles {
        operands: operands.times(chunks),
        gemm: gemm.times(chunks),
        ..PredictedCycles::default()
    };
    let parts = plan.grid.inner;
    if parts > 1 {
        let piece = result.div_ceil(parts);
        let copy = KernelSpec::Copy {
            bytes: piece * UNIT_BYTES,
        };
        let sum = KernelSpec::ReduceSumF16 {
            partials: parts,
            elements: piece * LANES,
        };
        let others = endpoint(piece.saturating_mul(parts - 1), parts - 1);
        predicted.partials = others + phase_overhead() + cycles(&copy, generation);
        predicted.reduce = cycles(&sum, generation);
    }
    Candidate {
        plan: *plan,
        predicted,
        sides,
    }
}

fn phase_overhead() -> Cycles {
    Cycles::new(EXCHANGE_OVERHEAD + ROUTE)
}

/// Cycles that units in so many messages keep an endpoint busy.
fn endpoint(units: u32, messages: u32) -> Cycles {
    Cycles::new(u64::from(units) * UNIT_WORDS + u64::from(messages) * MESSAGE_GAP)
}

/// What the fullest tile has no room for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lack {
    /// Size of the buffer that finds no place.
    pub(crate) bytes: u64,
    /// The buffer, its class and what is live with it.
    pub(crate) what: String,
}

/// Whether the fullest tile holds the plan beside `others` bytes of other values.
pub(crate) fn fits(problem: &Problem, plan: &GemmPlan, others: u64) -> Result<(), Lack> {
    let shard = Shard::new(problem, plan);
    let (panels, coefficients, result) = shard.units();
    let arena = Arena::with_rows(0);
    let limit = (arena.interleaved.end - arena.standard.start) / UNIT_BYTES;
    let largest = panels.max(coefficients).max(result);
    if largest > limit {
        let bytes = u64::from(largest) * u64::from(UNIT_BYTES);
        return Err(Lack {
            bytes,
            what: format!("a block of {bytes} bytes in any memory"),
        });
    }
    let (requests, names) = requests(plan, &shard, others);
    allocate(&requests, &arena).map(|_| ()).map_err(|failure| {
        let (request, name) = (&requests[failure.request], names[failure.request]);
        let (bytes, live, class) = (request.bytes, failure.live, class_name(request.class));
        let what = format!("{bytes} bytes of {name} in {class} memory beside {live} live bytes");
        Lack {
            bytes: u64::from(bytes),
            what,
        }
    })
}

/// What the fullest tile allocates for the operation, in the shape of its lifetimes.
fn requests(plan: &GemmPlan, shard: &Shard, others: u64) -> (Vec<Request>, Vec<&'static str>) {
    let (panels, coefficients, result) = shard.units();
    let (mut requests, mut names) = (Vec::new(), Vec::new());
    let mut add = |name, units: u32, class, lifetime| {
        let (bytes, tail) = (units * UNIT_BYTES, 0);
        let (apart, avoid) = (Vec::new(), Vec::new());
        requests.push(Request {
            bytes,
            tail,
            class,
            lifetime,
            apart,
            avoid,
        });
        names.push(name);
        requests.len() - 1
    };
    let class = plan.coefficients;
    let standard = MemoryClass::Standard;
    let fans = [plan.grid.columns, plan.grid.rows];
    let is_direct = fans.map(|fan| fan == 1 || plan.policy == OperandPolicy::Replicated);
    let copies = is_direct.map(|direct| if direct { plan.chunks } else { 1 });
    let mut pairs = Vec::new();
    let output = add("result block", result, MemoryClass::Interleaved, (2, 4));
    for _ in 0..copies[0] {
        let left = add(
            "panel operand",
            panels,
            standard,
            (u32::from(!is_direct[0]), 2),
        );
        pairs.push((output, left));
        if !is_direct[0] {
            let home = add(
                "home",
                panels.div_ceil(fans[0]) * plan.chunks,
                standard,
                (0, 1),
            );
            pairs.push((home, left));
        }
    }
    for _ in 0..copies[1] {
        let right = add(
            "coefficients",
            coefficients,
            class,
            (u32::from(!is_direct[1]), 2),
        );
        if !is_direct[1] {
            let home = add(
                "home",
                coefficients.div_ceil(fans[1]) * plan.chunks,
                standard,
                (0, 1),
            );
            pairs.push((home, right));
        }
    }
    if plan.grid.inner > 1 {
        let piece = result.div_ceil(plan.grid.inner);
        let partials = add("partial sums", piece * plan.grid.inner, standard, (3, 5));
        let sum = add("result piece", piece, standard, (5, 6));
        pairs.push((partials, sum));
    }
    let mut rest = others.div_ceil(u64::from(UNIT_BYTES));
    while rest > 0 {
        let units = u32::try_from(rest.min(256)).unwrap_or(256);
        add("other values", units, standard, (0, 6));
        rest -= u64::from(units);
    }
    for (one, other) in pairs {
        requests[one].apart.push(other);
        requests[other].apart.push(one);
    }
    for (request, name) in requests.iter_mut().zip(&names) {
        request.tail = if *name == "panel operand" {
            PANEL_TAIL
        } else {
            0
        };
    }
    (requests, names)
}
