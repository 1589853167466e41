//! One way to spread a GEMM: what it costs and whether the fullest tile holds it.
//!
//! Costs are those of the largest shard: kernels from the runtime's cost table, exchanges by the
//! words and messages of the busiest endpoint.

use analytics::units::Cycles;
use runtime::kernels::{Generation, cycles};
use runtime::package::{KernelSpec, MemoryClass};

use crate::instrument::class_name;
use crate::layout::{LANES, UNIT_BYTES};
use crate::options::{ExchangeItems, OperandPolicy, Options, PredictedCycles};
use crate::place::{Arena, Request, allocate};
use crate::program::{PANEL_TAIL, PIECE_UNITS};

use super::{GemmPlan, Operand, Problem};

/// Release and exit of an exchange beside its horizon: the mean of eleven published overheads.
pub(crate) const EXCHANGE_OVERHEAD: u64 = 261;
/// From a word's departure to its landing, and the end of a row: the mean over all pairs of tiles,
/// 65 cycles of route and 5 of row end (route formula).
pub(crate) const ROUTE: u64 = 70;
/// Events that a message occupies at its receiver beside its words. Fit to our own schedules.
const MESSAGE_GAP: u64 = 2;
/// Units of a message that carries part of a result: the runs that two unrelated grids share.
const RUN_UNITS: u32 = 64;
/// Rewriting the words of a row that send from another address in each run of a repeated block:
/// 28 cycles a word, two words where a tile sends one message with a control in it. The first run
/// needs none, so it is paid too often by one.
const REWRITE: Cycles = Cycles::new(2 * 28);
/// Units of the shortest message that is sent as 64-bit items.
const PAIR_UNITS: u32 = 16;
/// Words of a unit.
const UNIT_WORDS: u64 = 8;

/// A way to do a matrix product with its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) plan: GemmPlan,
    pub(crate) predicted: PredictedCycles,
    /// Bytes of the fullest tile that are live before the operation starts.
    pub(crate) early_bytes: u64,
    /// Bytes of the fullest tile at the operation's fullest moment.
    pub(crate) bytes: u64,
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
            lines: problem.most_lines(plan.grid),
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
    options: &Options,
    resident: [bool; 2],
) -> Candidate {
    let generation = options.kernel_generation;
    let shard = Shard::new(problem, plan);
    let gemm = KernelSpec::GemmF16 {
        rows: shard.lines,
        inner: shard.chunk_panels * LANES,
        columns: shard.groups * LANES,
        accumulate: false,
        coefficients: plan.coefficients,
    };
    let (partials, reduce) = reduction_cycles(plan, &shard, generation);
    let chunks = u64::from(plan.chunks);
    let predicted = PredictedCycles {
        operands: operand_cycles(problem, (plan, options.items), &shard, resident).times(chunks),
        gemm: cycles(&gemm, generation).times(chunks),
        partials,
        reduce,
        pointwise: Cycles::ZERO,
    };
    let memory = memory(problem, plan, &shard, 0);
    Candidate {
        plan: *plan,
        predicted,
        early_bytes: memory.live_at(0),
        bytes: memory.fullest(),
    }
}

/// Whether the host writes an operand into place where `fan` tiles need each of its blocks.
fn is_in_place(plan: &GemmPlan, operand: &Operand, fan: u32) -> bool {
    operand.is_host && (fan == 1 || plan.policy == OperandPolicy::Replicated)
}

/// The exchange that brings one chunk of the operands that are not there yet.
fn operand_cycles(
    problem: &Problem,
    (plan, items): (&GemmPlan, ExchangeItems),
    shard: &Shard,
    resident: [bool; 2],
) -> Cycles {
    let (panels, coefficients, _) = shard.units();
    let sides = [
        (&problem.panels, panels, plan.grid.columns),
        (&problem.coefficients, coefficients, plan.grid.rows),
    ];
    let mut words = Cycles::ZERO;
    let is_even = plan.grid.columns.is_multiple_of(2) && plan.first_tile.is_multiple_of(2);
    // The tiles that share a panel block are neighbours, those of a coefficient block are not.
    let pairs = [is_even && items == ExchangeItems::Auto, false];
    let sides = sides.into_iter().zip(resident).zip(pairs);
    for (((operand, units, fan), resident), in_pairs) in sides {
        if !is_in_place(plan, operand, fan) && !resident {
            let pieces = if operand.is_host {
                fan.min(units.div_ceil(PIECE_UNITS))
            } else {
                units.div_ceil(RUN_UNITS)
            };
            let is_paired = in_pairs && operand.is_blocked && units / pieces >= PAIR_UNITS;
            let units = if is_paired { units.div_ceil(2) } else { units };
            words += endpoint(units, pieces);
            if operand.copies > 1 {
                words += REWRITE;
            }
        }
    }
    if words == Cycles::ZERO {
        words
    } else {
        words + phase_overhead()
    }
}

/// Moving the partial sums to their owners, and adding them.
fn reduction_cycles(plan: &GemmPlan, shard: &Shard, generation: Generation) -> (Cycles, Cycles) {
    let partials = plan.grid.inner;
    if partials == 1 {
        return (Cycles::ZERO, Cycles::ZERO);
    }
    let (_, _, result) = shard.units();
    let piece = result.div_ceil(plan.pieces);
    let copy = KernelSpec::Copy {
        bytes: piece * UNIT_BYTES,
    };
    let sum = KernelSpec::ReduceSumF16 {
        partials,
        elements: piece * LANES,
    };
    let others = endpoint(piece.saturating_mul(partials - 1), partials - 1);
    (
        others + phase_overhead() + cycles(&copy, generation),
        cycles(&sum, generation),
    )
}

pub(super) fn phase_overhead() -> Cycles {
    Cycles::new(EXCHANGE_OVERHEAD + ROUTE)
}

/// Cycles that units in so many messages keep an endpoint busy.
pub(super) fn endpoint(units: u32, messages: u32) -> Cycles {
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
    let all = |operand: &Operand, units: u32, fan: u32| {
        let in_place = is_in_place(plan, operand, fan);
        units.saturating_mul(if in_place { operand.copies } else { 1 })
    };
    let panels = all(&problem.panels, panels, plan.grid.columns);
    let coefficients = all(&problem.coefficients, coefficients, plan.grid.rows);
    let blocks = [
        (panels, PANEL_OPERAND, MemoryClass::Standard),
        (coefficients, "coefficients", plan.coefficients),
        (result, "result block", MemoryClass::Interleaved),
    ];
    let largest = blocks.into_iter().max_by_key(|(units, ..)| *units);
    if let Some((units, name, class)) = largest.filter(|(units, ..)| *units > limit) {
        let bytes = u64::from(units) * u64::from(UNIT_BYTES);
        let (class, all) = (class_name(class), limit * UNIT_BYTES);
        let what = format!("{bytes} bytes of {name} in {class} memory, a tile has {all} for data");
        return Err(Lack { bytes, what });
    }
    memory(problem, plan, &shard, others).check()
}

/// What the fullest tile allocates, with the name of each request.
#[derive(Default)]
pub(crate) struct Memory {
    requests: Vec<Request>,
    names: Vec<&'static str>,
}

impl Memory {
    pub(crate) fn add(
        &mut self,
        name: &'static str,
        units: u32,
        class: MemoryClass,
        lifetime: (u32, u32),
    ) -> usize {
        let tail = if name == PANEL_OPERAND { PANEL_TAIL } else { 0 };
        let (apart, avoid) = (Vec::new(), Vec::new());
        let bytes = units * UNIT_BYTES;
        self.requests.push(Request {
            bytes,
            tail,
            class,
            lifetime,
            apart,
            avoid,
        });
        self.names.push(name);
        self.requests.len() - 1
    }

    /// Whether one tile has room for all requests.
    pub(crate) fn check(&self) -> Result<(), Lack> {
        let (requests, names) = (&self.requests, &self.names);
        allocate(requests, &Arena::with_rows(0))
            .map(|_| ())
            .map_err(|failure| {
                let (request, name) = (&requests[failure.request], names[failure.request]);
                let (bytes, live, class) = (request.bytes, failure.live, class_name(request.class));
                let what =
                    format!("{bytes} bytes of {name} in {class} memory beside {live} live bytes");
                Lack {
                    bytes: u64::from(bytes),
                    what,
                }
            })
    }

    /// Bytes that are live at the fullest step of the operation itself, which starts at step 1.
    pub(crate) fn fullest(&self) -> u64 {
        let steps = 1..=self.last_step();
        steps.map(|step| self.live_at(step)).max().unwrap_or(0)
    }

    /// Bytes of standard and of interleaved memory that are live at that step.
    pub(crate) fn fullest_by_class(&self) -> [u64; 2] {
        let step = (1..=self.last_step()).max_by_key(|&step| self.live_at(step));
        let step = step.unwrap_or(0);
        [MemoryClass::Standard, MemoryClass::Interleaved].map(|class| {
            let live = self.live(step).filter(|each| each.class == class);
            live.map(|each| u64::from(each.bytes)).sum()
        })
    }

    /// The last step at which a request is live.
    fn last_step(&self) -> u32 {
        let last = self.requests.iter().map(|each| each.lifetime.1);
        last.max().unwrap_or(0)
    }

    /// Bytes of the requests that are live at a step.
    pub(crate) fn live_at(&self, step: u32) -> u64 {
        self.live(step).map(|each| u64::from(each.bytes)).sum()
    }

    fn live(&self, step: u32) -> impl Iterator<Item = &Request> {
        let live = move |each: &&Request| each.lifetime.0 <= step && step <= each.lifetime.1;
        self.requests.iter().filter(live)
    }

    pub(crate) fn keep_apart(&mut self, one: usize, other: usize) {
        self.requests[one].apart.push(other);
        self.requests[other].apart.push(one);
    }

    /// The blocks of one operand: all chunks at once where the host writes them in place, else one
    /// chunk and a home. Gives the positions of the blocks.
    fn add_operand(
        &mut self,
        plan: &GemmPlan,
        (name, units, class): (&'static str, u32, MemoryClass),
        (operand, fan): (&Operand, u32),
    ) -> Vec<usize> {
        if !operand.is_host {
            return vec![self.add(name, units, class, (1, 2))];
        }
        if is_in_place(plan, operand, fan) {
            return (0..plan.chunks)
                .map(|_| self.add(name, units * operand.copies, class, (0, 2)))
                .collect();
        }
        let block = self.add(name, units, class, (1, 2));
        let home = units.div_ceil(fan) * plan.chunks * operand.copies;
        let home = self.add("home", home, MemoryClass::Standard, (0, 1));
        self.keep_apart(home, block);
        vec![block]
    }
}

/// Name of the operand that is read past its end.
const PANEL_OPERAND: &str = "panel operand";
/// Units of one request for other values: they come in pieces.
const OTHER_UNITS: u64 = 256;

/// The requests of the operation in the shape of its lifetimes: 0 upload, 1 operands arrive,
/// 2 multiply, 3 copy, 4 partial sums arrive, 5 add, 6 later.
fn memory(problem: &Problem, plan: &GemmPlan, shard: &Shard, others: u64) -> Memory {
    let (panels, coefficients, result) = shard.units();
    let standard = MemoryClass::Standard;
    let mut memory = Memory::default();
    let output = memory.add("result block", result, MemoryClass::Interleaved, (2, 4));
    let panels = (PANEL_OPERAND, panels, standard);
    for block in memory.add_operand(plan, panels, (&problem.panels, plan.grid.columns)) {
        memory.keep_apart(output, block);
    }
    memory.add_operand(
        plan,
        ("coefficients", coefficients, plan.coefficients),
        (&problem.coefficients, plan.grid.rows),
    );
    if plan.grid.inner > 1 {
        let piece = result.div_ceil(plan.pieces);
        let partials = memory.add("partial sums", piece * plan.grid.inner, standard, (3, 5));
        let sum = memory.add("result piece", piece, standard, (5, 6));
        memory.keep_apart(partials, sum);
    }
    let mut rest = others.div_ceil(u64::from(UNIT_BYTES));
    while rest > 0 {
        let units = rest.min(OTHER_UNITS);
        memory.add(
            "other values",
            u32::try_from(units).unwrap_or(u32::MAX),
            standard,
            (0, 6),
        );
        rest -= units;
    }
    memory
}
