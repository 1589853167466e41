//! Enumerates grids, drops what does not fit, ranks the rest and chooses over all operations.

use analytics::units::Cycles;
use runtime::package::MemoryClass;

use crate::graph::{Graph, Operation, ValueId};
use crate::options::Options;
use crate::place::Arena;

use super::candidate::{Candidate, Lack, fits, price};
use super::explain::explain;
use super::{GemmPlan, Grid, Orientation, Plan, PlanConstraint, PlanError, Problem};

/// Partial plans that are carried from one operation to the next.
const BEAM_WIDTH: usize = 16;
/// Candidates of an operation that each partial plan tries.
const BRANCHES: usize = 32;
/// Chunk counts that are tried, in order, until one fits.
const CHUNKS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// Bytes per tile that one more attempt keeps free when no combination of plans fits.
const RESERVE_STEP: u64 = 64 * 1024;
/// Attempts with ever more bytes kept free.
const ATTEMPTS: u64 = 5;

/// A partial plan: one candidate for each operation so far.
#[derive(Clone)]
struct Branch {
    picks: Vec<Candidate>,
    total: Cycles,
}

impl Branch {
    /// Whether what a later operation needs on the tiles from the start leaves the earlier ones
    /// room.
    fn leaves_room(&self, later: &Candidate) -> bool {
        let arena = Arena::with_rows(0);
        let bytes = |range: &std::ops::Range<u32>| u64::from(range.end - range.start);
        let capacity = (bytes(&arena.standard) + bytes(&arena.interleaved)) / 16 * 15;
        let mut early = later.early_bytes;
        self.picks.iter().rev().all(|pick| {
            let fits = pick.bytes + early <= capacity;
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
    for constraint in &options.plan_constraints {
        if constraint.operation >= graph.operations().len() {
            let problem = format!("the graph has operations 0..{}", graph.operations().len());
            let (text, field) = (constraint.text().to_owned(), "operation");
            return Err(PlanError::Constraint {
                text,
                field,
                problem,
            });
        }
    }
    let mut result = attempt(graph, options, reserve);
    for more in 1..ATTEMPTS {
        if result.is_ok() {
            break;
        }
        result = attempt(graph, options, reserve + more * RESERVE_STEP).or(result);
    }
    result
}

fn attempt(graph: &Graph, options: &Options, reserve: u64) -> Result<Plan, PlanError> {
    let mut beam = vec![Branch {
        picks: Vec::new(),
        total: Cycles::ZERO,
    }];
    let mut explanation = String::new();
    for (index, operation) in graph.operations().iter().enumerate() {
        let ranked = rank(graph, options, index, reserve)?;
        explanation += &explain(operation, &ranked);
        beam = advance(graph, options, &beam, &ranked, operation)?;
    }
    let best = beam.swap_remove(0);
    Ok(Plan {
        tiles: options.tiles,
        operations: best.picks.iter().map(|pick| pick.plan).collect(),
        predicted: best.picks.iter().map(|pick| pick.predicted).collect(),
        explain: explanation,
    })
}

/// Feasible candidates of an operation, cheapest first, with how many were tried.
pub(super) struct Ranked {
    pub(super) feasible: Vec<Candidate>,
    pub(super) tried: usize,
}

fn rank(graph: &Graph, options: &Options, index: usize, reserve: u64) -> Result<Ranked, PlanError> {
    let operation = &graph.operations()[index];
    let constraint = options
        .plan_constraints
        .iter()
        .rev()
        .find(|constraint| constraint.operation == index);
    let others = other_bytes(graph, operation) / u64::from(options.tiles) + reserve;
    let mut feasible = Vec::new();
    let (mut tried, mut lacking) = (0, None);
    let forced = constraint.and_then(|each| each.orientation);
    let legal = orientations(graph, operation)?;
    for orientation in legal
        .into_iter()
        .filter(|each| forced.is_none_or(|one| one == *each))
    {
        let problem = Problem::new(graph, operation, orientation)?;
        for grid in grids(&problem, options, constraint)? {
            tried += 1;
            let base = GemmPlan {
                operation: index,
                orientation,
                grid,
                groups: problem.coefficients.view.groups().div_ceil(grid.columns),
                coefficients: MemoryClass::Interleaved,
                policy: constraint
                    .and_then(|each| each.policy)
                    .unwrap_or(options.operands),
                chunks: 1,
            };
            match variant(&problem, &base, constraint, others) {
                Ok(plan) => {
                    feasible.push(price(
                        &problem,
                        &plan,
                        options.kernel_generation,
                        [false; 2],
                    ));
                }
                Err(lack) => lacking = lacking.into_iter().chain(lack).min(),
            }
        }
    }
    feasible.sort_by_key(|each| key(each.predicted.total(), &each.plan));
    if feasible.is_empty() {
        return Err(refusal(
            graph,
            options,
            operation,
            constraint,
            (tried, lacking),
        ));
    }
    Ok(Ranked { feasible, tried })
}

/// Why no grid works: a constraint that none obeys, or memory.
fn refusal(
    graph: &Graph,
    options: &Options,
    operation: &Operation,
    constraint: Option<&PlanConstraint>,
    (tried, lacking): (usize, Option<Lack>),
) -> PlanError {
    let values: u64 = graph
        .values()
        .iter()
        .map(|value| value.elements() * 2)
        .sum();
    let problem = match (lacking, constraint) {
        (None, Some(constraint)) => {
            let problem = "no grid with these parts obeys the other fields; COLUMNS are those of \
                           the fullest tile, chunks at most its contraction panels";
            let (text, problem) = (constraint.text().to_owned(), problem.to_owned());
            return PlanError::Constraint {
                text,
                field: "plan",
                problem,
            };
        }
        (None, None) => "no grid to try".to_owned(),
        (Some(lack), _) => format!(
            "none of {tried} grids fits {} tiles: tile 0, the fullest, has no room for {}; all \
             values together take {} bytes a tile; use more tiles or a smaller shape",
            options.tiles,
            lack.what,
            values / u64::from(options.tiles)
        ),
    };
    PlanError::NoPlan {
        operation: operation.name.clone(),
        problem,
    }
}

/// A total order: cycles, then fewer tiles, then the plan itself.
fn key(total: Cycles, plan: &GemmPlan) -> impl Ord + use<> {
    (
        total,
        plan.grid.tiles(),
        plan.orientation,
        plan.grid,
        plan.chunks,
    )
}

/// Bytes of all values that are not operands or result of the operation.
fn other_bytes(graph: &Graph, operation: &Operation) -> u64 {
    let ours = |name: &str| {
        let id = graph.find(name);
        id.is_some_and(|id| operation.inputs.contains(&id) || operation.output == id)
    };
    let others = graph.values().iter().filter(|value| !ours(&value.name));
    others.map(|value| value.elements().saturating_mul(2)).sum()
}

/// Orientations whose result has the units that its consumers read.
fn orientations(graph: &Graph, operation: &Operation) -> Result<Vec<Orientation>, PlanError> {
    let used_as = |position: usize| {
        graph
            .operations()
            .iter()
            .any(|other| other.inputs[position] == operation.output)
    };
    match (used_as(0), used_as(1)) {
        (false, false) => Ok(vec![Orientation::Normal, Orientation::Swapped]),
        (true, false) => Ok(vec![Orientation::Normal]),
        (false, true) => Ok(vec![Orientation::Swapped]),
        (true, true) => {
            let problem = "its result is both a left and a right operand; compute it twice";
            let operation = operation.name.clone();
            Err(PlanError::NoPlan {
                operation,
                problem: problem.to_owned(),
            })
        }
    }
}

/// Grids to price: the forced one, or for each (inner, columns) the most rows that the tiles allow.
/// A part count that leaves the longest part as long as a smaller count does is left out.
fn grids(
    problem: &Problem,
    options: &Options,
    constraint: Option<&PlanConstraint>,
) -> Result<Vec<Grid>, PlanError> {
    let tiles = u32::from(options.tiles);
    let (lines, groups) = (
        problem.panels.view.lines,
        problem.coefficients.view.groups(),
    );
    let depth = problem.depth_panels();
    if let Some((constraint, grid)) = constraint.and_then(|each| Some((each, each.grid?))) {
        let is_other_way = constraint.orientation.is_none();
        let fits_problem = grid.rows <= lines && grid.columns <= groups && grid.inner <= depth;
        let count = u64::from(grid.rows) * u64::from(grid.columns) * u64::from(grid.inner);
        if count > u64::from(tiles) || (!fits_problem && !is_other_way) {
            let problem = format!(
                "at most {lines}x{groups}x{depth} parts and {tiles} tiles, got {count} tiles"
            );
            let text = constraint.text().to_owned();
            return Err(PlanError::Constraint {
                text,
                field: "grid",
                problem,
            });
        }
        return Ok(if fits_problem { vec![grid] } else { Vec::new() });
    }
    let mut grids = Vec::new();
    for inner in 1..=depth.min(tiles) {
        if depth.div_ceil(depth.div_ceil(inner)) != inner {
            continue;
        }
        for columns in 1..=groups.min(tiles / inner) {
            if groups.div_ceil(groups.div_ceil(columns)) != columns {
                continue;
            }
            let rows = lines.min(tiles / (inner * columns));
            grids.push(Grid {
                rows,
                columns,
                inner,
            });
        }
    }
    Ok(grids)
}

/// The first memory class and chunk count that fit, or the least that was lacking; nothing where no
/// variant obeys the constraint.
fn variant(
    problem: &Problem,
    base: &GemmPlan,
    constraint: Option<&PlanConstraint>,
    others: u64,
) -> Result<GemmPlan, Option<Lack>> {
    let panels = problem.depth_panels() / base.grid.inner;
    let forced = constraint.and_then(|each| each.chunks);
    let mut lacking = None;
    for chunks in CHUNKS.into_iter().chain(forced) {
        if chunks > panels {
            continue;
        }
        for coefficients in [MemoryClass::Interleaved, MemoryClass::Standard] {
            let plan = GemmPlan {
                coefficients,
                chunks,
                ..*base
            };
            if !constraint.is_none_or(|each| each.allows(&plan)) {
                continue;
            }
            match fits(problem, &plan, others) {
                Ok(()) => return Ok(plan),
                Err(lack) => lacking = lacking.into_iter().chain([lack]).min(),
            }
        }
    }
    Err(lacking)
}

/// Extends every partial plan by the candidates of the next operation and keeps the cheapest.
fn advance(
    graph: &Graph,
    options: &Options,
    beam: &[Branch],
    ranked: &Ranked,
    operation: &Operation,
) -> Result<Vec<Branch>, PlanError> {
    let mut next = Vec::new();
    for branch in beam {
        let fitting = ranked
            .feasible
            .iter()
            .filter(|candidate| branch.leaves_room(candidate));
        next.extend(
            fitting
                .take(BRANCHES)
                .map(|candidate| extend(branch, *candidate)),
        );
        let Some(before) = branch.picks.last() else {
            continue;
        };
        for candidate in ranked
            .feasible
            .iter()
            .filter(|each| each.plan.grid == before.plan.grid)
        {
            let resident = resident(graph, operation, &before.plan, &candidate.plan)?;
            if resident != [false; 2] {
                let problem = Problem::new(graph, operation, candidate.plan.orientation)?;
                let generation = options.kernel_generation;
                next.push(extend(
                    branch,
                    price(&problem, &candidate.plan, generation, resident),
                ));
            }
        }
    }
    next.sort_by_key(|branch| {
        let grids: Vec<_> = branch
            .picks
            .iter()
            .map(|pick| key(pick.predicted.total(), &pick.plan))
            .collect();
        (branch.total, grids)
    });
    next.truncate(BEAM_WIDTH);
    if next.is_empty() {
        let problem = "what the host writes for it in advance leaves no room for the operations \
                       before it; use more tiles or operands that are exchanged";
        let operation = operation.name.clone();
        return Err(PlanError::NoPlan {
            operation,
            problem: problem.to_owned(),
        });
    }
    Ok(next)
}

fn extend(branch: &Branch, candidate: Candidate) -> Branch {
    let mut picks = branch.picks.clone();
    picks.push(candidate);
    Branch {
        picks,
        total: branch.total + candidate.predicted.total(),
    }
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
    )?;
    let current = Problem::new(graph, operation, now.orientation)?;
    let same = |one: (ValueId, _), other: (ValueId, _)| one == other;
    let operand = |each: &super::Operand| (each.value, each.view.axis);
    Ok([
        same(operand(&earlier.panels), operand(&current.panels)),
        same(
            operand(&earlier.coefficients),
            operand(&current.coefficients),
        ),
    ])
}
