//! The plans of one product: grids enumerated, what does not fit dropped, the rest ranked.

use std::ops::Range;

use analytics::units::Cycles;
use runtime::package::MemoryClass;

use crate::graph::{Graph, Operation, OperationKind, ValueId};
use crate::options::{OperandPolicy, OperandSlices, Options, TILES_MAX};

use super::candidate::{Candidate, Lack, fits, price};
use super::shape::{consumers, wanted_axes};
use super::{GemmPlan, Grid, HeadLayout, Orientation, PlanConstraint, PlanError, Problem};

/// Chunk counts that are tried, in order, until one fits.
const CHUNKS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// Feasible candidates of an operation, cheapest first, with how many were tried.
pub(super) struct Ranked {
    pub(super) feasible: Vec<Candidate>,
    pub(super) tried: usize,
}

/// Ranks the plans of a product on some of the tiles.
pub(super) fn rank(
    graph: &Graph,
    options: &Options,
    (index, tiles): (usize, Range<u16>),
    reserve: u64,
) -> Result<Ranked, PlanError> {
    let operation = &graph.operations()[index];
    let constraint = options
        .plan_constraints
        .iter()
        .find(|constraint| constraint.operation == index);
    let others = other_bytes(graph, operation) / u64::from(options.tiles) + reserve;
    let mut feasible = Vec::new();
    let (mut tried, mut lacking) = (0, None);
    let forced = constraint.and_then(|each| each.orientation);
    let heads = options.attention.heads();
    let is_unpacked = is_unpacked(graph, operation, heads);
    let pieces = |grid: Grid| if is_unpacked { 1 } else { grid.inner };
    let legal = orientations(graph, operation, heads)?;
    let allowed = policies(graph, options, index, constraint);
    for (orientation, policy) in legal
        .into_iter()
        .filter(|each| forced.is_none_or(|one| one == *each))
        .flat_map(|each| allowed.iter().map(move |&policy| (each, policy)))
    {
        let problem = Problem::new(graph, operation, orientation, heads)?;
        let owners = constraint.and_then(|each| each.pieces).unwrap_or(1);
        // Only blocks of whole pairs of lines are unpacked.
        let pairs = problem.panels.view.lines / 2;
        let is_in_pairs = is_unpacked && orientation == Orientation::Swapped && pairs > 0;
        let rows_max = if is_in_pairs { pairs } else { u32::MAX };
        let grids = grids((&problem, rows_max), &tiles, constraint)?.into_iter();
        for grid in grids.filter(|grid| owners <= grid.inner) {
            tried += 1;
            let base = GemmPlan {
                operation: index,
                orientation,
                grid,
                groups: problem.coefficients.view.groups().div_ceil(grid.columns),
                coefficients: MemoryClass::Interleaved,
                policy,
                chunks: 1,
                pieces: constraint
                    .and_then(|each| each.pieces)
                    .unwrap_or(pieces(grid)),
                first_tile: constraint
                    .and_then(|each| each.first_tile)
                    .unwrap_or(tiles.start),
                heads,
            };
            match variant(&problem, &base, constraint, (others, options.limits.slices)) {
                Ok(plan) => {
                    feasible.push(price(&problem, &plan, options, [false; 2]));
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

/// How operands may arrive: as asked, and in a repeated block also spread, since what the host
/// writes in place lies on the tiles once for each run.
fn policies(
    graph: &Graph,
    options: &Options,
    index: usize,
    constraint: Option<&PlanConstraint>,
) -> Vec<OperandPolicy> {
    let forced = constraint.and_then(|each| each.policy);
    let first = forced.unwrap_or(options.operands);
    let spread = OperandPolicy::Sharded;
    let is_free = forced.is_none() && first != spread && graph.repeat_around(index).is_some();
    [first]
        .into_iter()
        .chain(is_free.then_some(spread))
        .collect()
}

/// Whether the result is unpacked to rows, which takes whole blocks.
fn is_unpacked(graph: &Graph, operation: &Operation, heads: HeadLayout) -> bool {
    let is_split = |reader: &Operation| matches!(reader.kind, OperationKind::SplitHeads { .. });
    heads == HeadLayout::Packed && consumers(graph, operation.output).any(is_split)
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
            return constraint.refused("plan", problem.to_owned());
        }
        (Some(lack), Some(constraint)) => {
            let problem = format!(
                "tile 0, the fullest, has no room for {}; force other parts or use a smaller shape",
                lack.what
            );
            return constraint.refused("plan", problem);
        }
        (None, None) => "no grid to try".to_owned(),
        (Some(lack), None) => format!(
            "none of {tried} grids fits {} tiles: tile 0, the fullest, has no room for {}; all \
             values together take {} bytes a tile; {}",
            options.tiles,
            lack.what,
            values / u64::from(options.tiles),
            remedy(options)
        ),
    };
    PlanError::NoPlan {
        operation: operation.name.clone(),
        problem,
    }
}

/// What makes more room on a tile.
pub(super) const fn remedy(options: &Options) -> &'static str {
    if options.tiles < TILES_MAX {
        "use more tiles or a smaller shape"
    } else {
        "use a smaller shape"
    }
}

/// A total order: cycles, then fewer tiles, then the plan itself.
pub(super) fn key(total: Cycles, plan: &GemmPlan) -> impl Ord + use<> {
    (
        total,
        plan.grid.tiles(),
        plan.orientation,
        plan.grid,
        plan.chunks,
        plan.policy == OperandPolicy::Sharded,
    )
}

/// Bytes of all values that are not operands or result of the operation.
fn other_bytes(graph: &Graph, operation: &Operation) -> u64 {
    let ours = |id: &ValueId| operation.inputs.contains(id) || operation.output == *id;
    let sequences = graph.repeat().into_iter().flat_map(|it| &it.iterated);
    let ours_too = sequences.filter(|(id, _)| ours(id));
    let counted: u64 = ours_too
        .flat_map(|(id, values)| values.iter().filter(move |each| *each != id))
        .map(|id| graph.value(*id).elements() * 2)
        .sum();
    let is_there =
        |id: &ValueId| graph.value(*id).fill().is_some() || graph.producer(*id).is_some();
    let others = graph.ids().filter(|id| !ours(id) && is_there(id));
    let all: u64 = others
        .map(|id| graph.value(id).elements().saturating_mul(2))
        .sum();
    all - counted
}

/// Orientations whose result has the units that its consumers read.
fn orientations(
    graph: &Graph,
    operation: &Operation,
    heads: HeadLayout,
) -> Result<Vec<Orientation>, PlanError> {
    let [rows, columns] = wanted_axes(graph, operation.output, heads);
    match (rows, columns) {
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
    (problem, rows_max): (&Problem, u32),
    available: &Range<u16>,
    constraint: Option<&PlanConstraint>,
) -> Result<Vec<Grid>, PlanError> {
    let first = constraint.and_then(|each| each.first_tile);
    let first = first.unwrap_or(available.start).min(available.end);
    let tiles = u32::from(available.end - first);
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
            return Err(constraint.refused("grid", problem));
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
            let rows = lines.min(rows_max).min(tiles / (inner * columns));
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
    (others, slices): (u64, OperandSlices),
) -> Result<GemmPlan, Option<Lack>> {
    let panels = problem.depth_panels() / base.grid.inner;
    let forced = constraint.and_then(|each| each.chunks);
    let mut lacking = None;
    for chunks in CHUNKS.into_iter().chain(forced) {
        if chunks > panels || !slices.allows(chunks, panels) {
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
