//! Chooses over all operations: partial plans are extended by the ranked plans of one operation
//! after another, and the cheapest are kept.

use std::cell::Cell;
use std::ops::Range;

use analytics::units::Cycles;

use crate::graph::{Graph, Operation, OperationKind, ValueId};
use crate::options::{OperandPolicy, Options, PredictedCycles};
use crate::place::Arena;

use super::candidate::price;
use super::explain::{explain, explain_at_once, explain_others};
use super::pick::Pick;
use super::rank::{Ranked, rank};
use super::{GemmPlan, Plan, PlanError, Problem, attention, constraint, pointwise};

/// Candidates of an operation that each partial plan tries.
const BRANCHES: usize = 32;
/// Times that the plans of products at once are chosen anew, one after another.
const SWEEPS: usize = 3;

/// Bytes per tile that one more attempt keeps free when no combination of plans fits.
const RESERVE_STEP: u64 = 64 * 1024;
/// Attempts with ever more bytes kept free.
const ATTEMPTS: u64 = 5;

/// A partial plan: one pick for each operation so far.
#[derive(Clone, Default)]
struct Branch {
    picks: Vec<Pick>,
    /// Lengths of the runs of picks that are done at once.
    groups: Vec<usize>,
    total: Cycles,
}

/// What the choice of one pick after another looks at beside the picks.
#[derive(Clone, Copy)]
struct Setting<'a> {
    graph: &'a Graph,
    options: &'a Options,
    /// Bytes of every tile that stay free.
    reserve: u64,
    /// Bytes of every tile that picks may use together.
    room: u64,
    /// Plans of single operations that were priced or found not to fit.
    tried: &'a Cell<u64>,
}

impl Setting<'_> {
    fn count(&self, tried: usize) {
        self.tried.set(self.tried.get() + tried as u64);
    }

    /// How often an operation runs.
    fn runs(&self, operation: usize) -> u64 {
        let repeat = self.graph.repeat_around(operation);
        repeat.map_or(1, |repeat| u64::from(repeat.count))
    }

    /// Whether an operation starts a repeated block or follows one: nothing stays on the tiles from
    /// the operation before it then.
    fn is_border(&self, operation: usize) -> bool {
        let range = self.graph.repeat().map(|repeat| &repeat.operations);
        range.is_some_and(|range| range.start == operation || range.end == operation)
    }
}

impl Branch {
    /// The whole plan.
    fn plan(self, at: &Setting<'_>, explanation: &str) -> Plan {
        let predicted = |pick: &Pick| pick.predicted.times(at.runs(pick.plan.operation()));
        Plan {
            tiles: at.options.tiles,
            heads: at.options.attention.heads(),
            operations: self.picks.iter().map(|pick| pick.plan).collect(),
            predicted: self.picks.iter().map(predicted).collect(),
            groups: self.groups,
            explain: explanation.to_owned(),
            tried: at.tried.get(),
        }
    }

    /// Whether what a later operation needs on the tiles from the start leaves the earlier ones
    /// room, and in a repeated block theirs the later one.
    fn leaves_room(&self, later: &Pick, at: &Setting<'_>) -> bool {
        let position = later.plan.operation();
        let body = at.graph.repeat().map_or(0..0, |it| it.operations.clone());
        let kept = |operations: Range<usize>| -> u64 {
            let picks = self.picks[operations].iter();
            picks.map(|pick| pick.early_bytes).sum()
        };
        if body.contains(&position) {
            let before = kept(body.start..self.picks.len());
            if later.bytes + before > at.room {
                return false;
            }
        }
        let mut early = later.early_bytes;
        self.picks.iter().enumerate().rev().all(|(index, pick)| {
            let before = if body.contains(&index) {
                kept(body.start..index)
            } else {
                0
            };
            let fits = pick.bytes + early + before <= at.room;
            early += pick.early_bytes;
            fits
        })
    }
}

/// Chooses a plan. `reserve` bytes of every tile are kept free beside what the plan needs.
///
/// # Errors
/// [`PlanError::Constraint`] for a constraint that cannot be met, [`PlanError::NoPlan`] where no
/// grid fits the memory.
pub fn plan(graph: &Graph, options: &Options, reserve: u64) -> Result<Plan, PlanError> {
    let mut plans = plans(graph, options, reserve)?;
    Ok(plans.swap_remove(0))
}

/// The best plans by predicted cycles, at least one and at most as many as are to be expanded.
///
/// # Errors
/// As [`plan`].
pub fn plans(graph: &Graph, options: &Options, reserve: u64) -> Result<Vec<Plan>, PlanError> {
    plans_counted(graph, options, reserve, &|| {})
}

/// [`plans`], which calls `step` between two operations.
pub(crate) fn plans_counted(
    graph: &Graph,
    options: &Options,
    reserve: u64,
    step: &dyn Fn(),
) -> Result<Vec<Plan>, PlanError> {
    constraint::check(&options.plan_constraints, graph)?;
    let reserve = reserve + over_budget(options);
    let mut result = attempt(graph, options, reserve, step);
    for more in 1..ATTEMPTS {
        if result.is_ok() {
            break;
        }
        result = attempt(graph, options, reserve + more * RESERVE_STEP, step).or(result);
    }
    result
}

/// Bytes of a tile that buffers may use.
fn tile_bytes() -> u64 {
    let arena = Arena::with_rows(0);
    u64::from(arena.interleaved.end - arena.standard.start)
}

/// Bytes of a tile beyond what the caller allows.
fn over_budget(options: &Options) -> u64 {
    let budget = options.limits.tile_bytes.unwrap_or(u64::MAX);
    tile_bytes().saturating_sub(budget)
}

/// Bytes of a tile that picks may use together: all but a sixteenth, which fragments, or what the
/// caller allows.
fn room(options: &Options, reserve: u64) -> u64 {
    let (all, over) = (tile_bytes(), over_budget(options));
    let most = (all / 16 * 15).min(all - over);
    most.saturating_sub(reserve - over)
}

fn attempt(
    graph: &Graph,
    options: &Options,
    reserve: u64,
    step: &dyn Fn(),
) -> Result<Vec<Plan>, PlanError> {
    let at = &Setting {
        graph,
        options,
        reserve,
        room: room(options, reserve),
        tried: &Cell::new(0),
    };
    let mut explanation = String::new();
    let count = graph.operations().len();
    // The beam before each operation, as far as it was reached.
    let mut beams: Vec<Vec<Branch>> = vec![Vec::new(); count + 1];
    beams[0].push(Branch::default());
    for index in 0..count {
        if index > 0 {
            step();
        }
        let operation = &graph.operations()[index];
        let beam = std::mem::take(&mut beams[index]);
        if beam.is_empty() {
            // Every partial plan does this operation at once with the one before it.
            continue;
        }
        let together = together(graph, options, index);
        if together > 1 {
            let picks = at_once(at, index..index + together);
            explanation += &explain_at_once(&graph.operations()[index..index + together], &picks);
            let next = beam
                .iter()
                .filter_map(|branch| extend_at_once(branch, &picks, at));
            beams[index + together].extend(next);
            let beam_at_once = &mut beams[index + together];
            if options.limits.at_once && !beam_at_once.is_empty() {
                prune(beam_at_once, options.limits.beam_width, operation)?;
                continue;
            }
        }
        let next = if operation.kind == OperationKind::Gemm {
            let ranked = rank(graph, options, (index, 0..options.tiles), reserve)?;
            at.count(ranked.tried);
            let feasible = ranked.feasible.iter().map(|&each| Pick::from(each));
            explanation += &explain(&operation.name, feasible, ranked.tried);
            advance(at, &beam, &ranked, operation)?
        } else {
            let (picks, text) = other(at, index, &beam)?;
            explanation += &text;
            let both = picks.into_iter().zip(beam);
            both.filter_map(|(pick, branch)| Some(extend(at, &branch, pick?)))
                .collect()
        };
        beams[index + 1].extend(next);
        prune(&mut beams[index + 1], options.limits.beam_width, operation)?;
    }
    let mut plans: Vec<Plan> = Vec::new();
    for branch in beams.swap_remove(count) {
        let plan = branch.plan(at, &explanation);
        let is_known = |it: &Plan| (&it.operations, &it.groups) == (&plan.operations, &plan.groups);
        if plans.len() < options.limits.expanded_plans && !plans.iter().any(is_known) {
            plans.push(plan);
        }
    }
    Ok(plans)
}

/// How many products from `index` on multiply the same left operand, none reads another's result,
/// and none is forced to a plan: they may be done at once on different tiles. Only where the host
/// writes every copy: a shared operand that is spread leaves from one share for all of them, which
/// the price does not know.
fn together(graph: &Graph, options: &Options, index: usize) -> usize {
    let operations = &graph.operations()[index..];
    let left = operations[0].inputs[0];
    let first = index
        .checked_sub(1)
        .map(|before| &graph.operations()[before]);
    let is_before = |value: &ValueId| graph.producer(*value).is_none_or(|made| made < index);
    let is_alike = |operation: &Operation| {
        operation.kind == OperationKind::Gemm
            && operation.inputs[0] == left
            && operation.inputs.iter().all(is_before)
    };
    if first.is_some_and(is_alike) {
        return 1;
    }
    let alike = operations.iter().take_while(|each| is_alike(each)).count();
    let is_inside = |at: usize| graph.repeat_around(at).is_some();
    let alike = (index..index + alike)
        .take_while(|&at| is_inside(at) == is_inside(index))
        .count();
    let forced = options
        .plan_constraints
        .iter()
        .any(|each| (index..index + alike).contains(&each.operation));
    let is_spread = options.operands == OperandPolicy::Sharded;
    if forced || is_spread || alike > usize::from(options.tiles) {
        1
    } else {
        alike
    }
}

/// The plans of some products, each on its share of the tiles, that are fastest together; nothing
/// where a share has no room.
fn at_once(at: &Setting<'_>, operations: Range<usize>) -> Vec<Pick> {
    let (graph, options, reserve) = (at.graph, at.options, at.reserve);
    let count = u16::try_from(operations.len()).unwrap_or(u16::MAX);
    let share = options.tiles / count;
    let mut choices: Vec<Vec<Pick>> = Vec::new();
    for (position, index) in (0..).zip(operations) {
        let first = position * share;
        let Ok(ranked) = rank(graph, options, (index, first..first + share), reserve) else {
            return Vec::new();
        };
        at.count(ranked.tried);
        let best = ranked.feasible.into_iter().take(BRANCHES);
        choices.push(best.map(Pick::from).collect());
    }
    let mut picks: Vec<Pick> = choices.iter().map(|each| each[0]).collect();
    for _ in 0..SWEEPS {
        for (position, choices) in choices.iter().enumerate() {
            let total = |pick: &Pick| {
                let mut picks = picks.clone();
                picks[position] = *pick;
                slowest(&picks).total()
            };
            if let Some(best) = choices.iter().min_by_key(|pick| total(pick)) {
                picks[position] = *best;
            }
        }
    }
    picks
}

/// Products at once take as long as the slowest in each part.
fn slowest(picks: &[Pick]) -> PredictedCycles {
    let most = |part: fn(&PredictedCycles) -> Cycles| {
        let parts = picks.iter().map(|pick| part(&pick.predicted));
        parts.max().unwrap_or(Cycles::ZERO)
    };
    PredictedCycles {
        operands: most(|parts| parts.operands),
        gemm: most(|parts| parts.gemm),
        partials: most(|parts| parts.partials),
        reduce: most(|parts| parts.reduce),
        pointwise: Cycles::ZERO,
    }
}

/// The price of products at once is carried by the first of them.
fn extend_at_once(branch: &Branch, picks: &[Pick], at: &Setting<'_>) -> Option<Branch> {
    if picks.is_empty() || picks.iter().any(|pick| !branch.leaves_room(pick, at)) {
        return None;
    }
    let predicted = slowest(picks);
    let mut next = branch.clone();
    next.groups.push(picks.len());
    let runs = at.runs(picks[0].plan.operation());
    next.total = branch.total + predicted.total().times(runs);
    for (position, pick) in picks.iter().enumerate() {
        let none = PredictedCycles::default();
        let predicted = if position == 0 { predicted } else { none };
        next.picks.push(Pick { predicted, ..*pick });
    }
    Some(next)
}

/// The pick of an operation that is no product, for each branch, nothing where none fits; and the
/// plans that there were, for people.
fn other(
    at: &Setting<'_>,
    index: usize,
    beam: &[Branch],
) -> Result<(Vec<Option<Pick>>, String), PlanError> {
    let (graph, options) = (at.graph, at.options);
    let operation = &graph.operations()[index];
    let OperationKind::Attention { .. } = operation.kind else {
        let pick = |branch: &Branch| pointwise::pick(graph, options, index, &branch.picks);
        let picks: Vec<Pick> = beam.iter().map(pick).collect::<Result<_, _>>()?;
        let text = explain_others(operation, &picks);
        return Ok((picks.into_iter().map(Some).collect(), text));
    };
    let (ranked, tried) = attention::rank(graph, options, index)?;
    at.count(tried);
    // Beside the whole memory, which placing knows better, this count does not decide.
    let cheapest = ranked.first().copied();
    let cheapest = cheapest.filter(|_| options.limits.tile_bytes.is_none());
    let fitting = |branch: &Branch| {
        let pick = ranked.iter().find(|pick| branch.leaves_room(pick, at));
        pick.copied().or(cheapest)
    };
    let picks: Vec<Option<Pick>> = beam.iter().map(fitting).collect();
    if picks.iter().all(Option::is_none) {
        return Err(attention::over_budget(graph, options, index, &ranked));
    }
    let text = explain(&operation.name, ranked.into_iter(), tried);
    Ok((picks, text))
}

/// Keeps the cheapest branches.
fn prune(beam: &mut Vec<Branch>, width: usize, operation: &Operation) -> Result<(), PlanError> {
    beam.sort_by_cached_key(|branch| {
        let plans: Vec<_> = branch
            .picks
            .iter()
            .map(|pick| {
                let gemm =
                    |plan: &GemmPlan| (plan.grid.tiles(), plan.orientation, plan.grid, plan.chunks);
                let total = pick.predicted.total();
                (total, pick.plan.gemm().map(gemm), pick.plan.to_string())
            })
            .collect();
        (branch.total, plans)
    });
    beam.truncate(width);
    if beam.is_empty() {
        let problem = "what the host writes for it in advance leaves no room for the operations \
                       before it; use more tiles or operands that are exchanged";
        return Err(PlanError::NoPlan {
            operation: operation.name.clone(),
            problem: problem.to_owned(),
        });
    }
    Ok(())
}

/// Extends every partial plan by the candidates of the next product.
fn advance(
    at: &Setting<'_>,
    beam: &[Branch],
    ranked: &Ranked,
    operation: &Operation,
) -> Result<Vec<Branch>, PlanError> {
    let (graph, options) = (at.graph, at.options);
    let mut next = Vec::new();
    for branch in beam {
        let fitting = ranked
            .feasible
            .iter()
            .map(|candidate| Pick::from(*candidate))
            .filter(|pick| branch.leaves_room(pick, at));
        next.extend(fitting.take(BRANCHES).map(|pick| extend(at, branch, pick)));
        let last = branch
            .picks
            .last()
            .filter(|_| !at.is_border(branch.picks.len()));
        let Some(before) = last.and_then(|pick| pick.plan.gemm()) else {
            continue;
        };
        for candidate in ranked
            .feasible
            .iter()
            .filter(|each| each.plan.grid == before.grid)
        {
            let resident = resident(graph, operation, before, &candidate.plan)?;
            if resident != [false; 2] {
                let problem = Problem::new(
                    graph,
                    operation,
                    candidate.plan.orientation,
                    candidate.plan.heads,
                )?;
                let candidate = price(&problem, &candidate.plan, options, resident);
                next.push(extend(at, branch, Pick::from(candidate)));
            }
        }
    }
    Ok(next)
}

fn extend(at: &Setting<'_>, branch: &Branch, pick: Pick) -> Branch {
    let mut next = branch.clone();
    let runs = at.runs(pick.plan.operation());
    next.total = branch.total + pick.predicted.total().times(runs);
    next.picks.push(pick);
    next.groups.push(1);
    next
}

/// Which operands lie where the operation before left them.
fn resident(
    graph: &Graph,
    operation: &Operation,
    before: &GemmPlan,
    now: &GemmPlan,
) -> Result<[bool; 2], PlanError> {
    if before.chunks > 1 || now.chunks > 1 || before.orientation != now.orientation {
        return Ok([false; 2]);
    }
    let earlier = Problem::new(
        graph,
        &graph.operations()[before.operation],
        before.orientation,
        before.heads,
    )?;
    let current = Problem::new(graph, operation, now.orientation, now.heads)?;
    let same = |one: &super::Operand, other: &super::Operand| {
        one.value == other.value && one.view == other.view
    };
    Ok([
        same(&earlier.panels, &current.panels),
        same(&earlier.coefficients, &current.coefficients),
    ])
}
