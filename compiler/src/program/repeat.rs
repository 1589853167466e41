//! A block of operations that runs several times: its steps are built once.
//!
//! What goes from one run to the next lies, at the start of each run, where the run before left it.
//! So the block is built on trial until its result lies as its argument did; then the argument is
//! laid down that way before the first run, and results land in the argument's own buffers where
//! nothing reads the old ones any more, else they are copied there at the end of the run.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use runtime::package::MemoryClass;

use crate::graph::{Carried, Graph, Repeat, ValueId};
use crate::instrument::copy_call;
use crate::layout::{Block, LineAxis, Order, UNIT_BYTES, View, split};
use crate::plan::{HeadLayout, PlanError, axis, wanted_axes};

use super::build::{Builder, Title};
use super::home::Home;
use super::operand::{Arrival, bring_all};
use super::{BufferId, Call, HostRange, Place, Program, RepeatedSteps, Work};

/// Trials after which a block counts as one that does not settle.
const TRIALS: usize = 4;

/// One piece of a carried value.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    block: Block,
    units: Range<u32>,
    tile: u16,
    class: MemoryClass,
    tail: u32,
}

/// How a carried value lies.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    view: View,
    pieces: Vec<Piece>,
}

/// Buffers that turned out to be one: the second takes the place of the first.
pub(super) type Aliases = Vec<(BufferId, BufferId)>;

/// Builds the block with `body` and what goes round it.
///
/// # Errors
/// [`PlanError::Repeat`] where a carried value never lies twice the same way or nowhere at all, and
/// what `body` refuses.
pub(super) fn expand_repeat(
    builder: &mut Builder,
    (graph, repeat, heads): (&Graph, &Repeat, HeadLayout),
    body: impl Fn(&mut Builder) -> Result<(), PlanError>,
) -> Result<Aliases, PlanError> {
    let first = |it: &Carried| spread(graph, it.argument, builder.program.tiles, heads);
    let mut layouts: Vec<Layout> = repeat.carried.iter().map(first).collect();
    for _ in 0..TRIALS {
        let mut trial = builder.clone();
        let mut arguments = Vec::new();
        for (carried, layout) in repeat.carried.iter().zip(&layouts) {
            arguments.push(begin(&mut trial, graph, carried, layout)?);
        }
        let start = trial.now();
        let locals = trial.program.buffers.len();
        trial.iterated = Some(repeat.iterated.clone());
        body(&mut trial)?;
        let results: Result<Vec<Home>, _> = repeat
            .carried
            .iter()
            .map(|it| home_of(&trial, graph, it.result, repeat))
            .collect();
        let results = results?;
        let reached: Vec<Layout> = results.iter().map(|home| layout(&trial, home)).collect();
        if reached != layouts {
            layouts = reached;
            continue;
        }
        *builder = trial;
        let pairs = pairs(&arguments, &results);
        let aliases = hand_over(builder, graph, repeat, &pairs)?;
        builder.iterated = None;
        keep_for_all_runs(builder, start, locals);
        for (carried, home) in repeat.carried.iter().zip(arguments) {
            builder.homes.insert((carried.result, home.view.axis), home);
        }
        let steps = start..builder.now();
        let count = repeat.count;
        builder.program.repeat = Some(RepeatedSteps { steps, count });
        return Ok(aliases);
    }
    let problem = "what it hands to its next run lies differently each time";
    Err(refusal(graph, repeat, problem))
}

fn refusal(graph: &Graph, repeat: &Repeat, problem: &str) -> PlanError {
    PlanError::Repeat {
        operation: graph.operations()[repeat.operations.start].name.clone(),
        problem: problem.to_owned(),
    }
}

/// Equal shares of the lines: where the first trial takes its argument from.
fn spread(graph: &Graph, value: ValueId, tiles: u16, heads: HeadLayout) -> Layout {
    let (rows, columns) = graph.value(value).matrix();
    let fit = |extent: u64| u32::try_from(extent).unwrap_or(u32::MAX);
    let axis = axis(wanted_axes(graph, value, heads));
    let view = View::new(fit(rows), fit(columns), axis);
    let parts = u32::from(tiles).min(view.lines);
    let piece = |tile: u16| {
        let block = Block {
            lines: split(view.lines, parts, tile.into()),
            panels: 0..view.panels(),
            order: Order::Panels,
        };
        Piece {
            units: 0..block.units(),
            block,
            tile,
            class: MemoryClass::Standard,
            tail: 0,
        }
    };
    let parts = u16::try_from(parts).unwrap_or(tiles);
    Layout {
        view,
        pieces: (0..parts).map(piece).collect(),
    }
}

fn layout(builder: &Builder, home: &Home) -> Layout {
    let pieces = home.pieces.iter().map(|piece| {
        let buffer = &builder.program.buffers[piece.buffer as usize];
        Piece {
            block: piece.block.clone(),
            units: piece.units.clone(),
            tile: buffer.tile,
            class: buffer.class,
            tail: buffer.tail,
        }
    });
    Layout {
        view: home.view,
        pieces: pieces.collect(),
    }
}

/// Where a value lies, by whichever axis.
fn home_of(
    builder: &Builder,
    graph: &Graph,
    value: ValueId,
    repeat: &Repeat,
) -> Result<Home, PlanError> {
    let both = [LineAxis::Rows, LineAxis::Columns];
    let mut homes = both
        .iter()
        .filter_map(|&axis| builder.homes.get(&(value, axis)));
    let problem = "what it hands to its next run lies nowhere as a whole";
    let home = homes.next().cloned();
    home.ok_or_else(|| refusal(graph, repeat, problem))
}

/// Lays the argument of the first run down.
fn begin(
    builder: &mut Builder,
    graph: &Graph,
    carried: &Carried,
    layout: &Layout,
) -> Result<Home, PlanError> {
    let label = builder.label(&format!("home of {}", graph.value(carried.result).name));
    let mut home = Home::new(&layout.view);
    for piece in &layout.pieces {
        let bytes = (piece.units.end - piece.units.start) * UNIT_BYTES;
        let buffer = builder.buffer(piece.tile, bytes, label);
        builder.buffer_mut(buffer).class = piece.class;
        builder.buffer_mut(buffer).tail = piece.tail;
        home.put(&piece.block, piece.units.clone(), buffer);
    }
    let view = layout.view;
    if graph.value(carried.initial).fill().is_some() {
        for piece in &home.pieces {
            builder.upload(HostRange {
                buffer: piece.buffer,
                value: carried.initial,
                view,
                block: piece.block.clone(),
                units: piece.units.clone(),
                copy: 0,
            });
        }
    } else if let Some(repeat) = graph.repeat() {
        let source = home_of(builder, graph, carried.initial, repeat)?;
        let mut arrival = Arrival::default();
        for piece in &home.pieces {
            let segments = source.unit_segments(&view, &piece.block, piece.units.clone());
            bring_all(builder, &mut arrival, segments, [piece.buffer]);
        }
        builder.push_arrival(&title(graph, carried), arrival);
    }
    builder
        .homes
        .insert((carried.argument, view.axis), home.clone());
    Ok(home)
}

/// Moves of a carried value are shown under the operation that makes it.
fn title(graph: &Graph, carried: &Carried) -> Title {
    let made = graph.producer(carried.result);
    let operations: Vec<_> = made.map(|at| &graph.operations()[at]).into_iter().collect();
    Title::of(&operations)
}

/// Argument and result buffer of each piece of each carried value.
fn pairs(arguments: &[Home], results: &[Home]) -> Vec<Vec<(BufferId, BufferId)>> {
    let both = arguments.iter().zip(results);
    both.map(|(argument, result)| {
        let pieces = argument.pieces.iter().zip(&result.pieces);
        pieces
            .map(|(one, other)| (one.buffer, other.buffer))
            .collect()
    })
    .collect()
}

/// Results that are written when nothing reads the argument any more take its buffer; others are
/// copied at the end of the run.
fn hand_over(
    builder: &mut Builder,
    graph: &Graph,
    repeat: &Repeat,
    pairs: &[Vec<(BufferId, BufferId)>],
) -> Result<Aliases, PlanError> {
    let arguments: Vec<BufferId> = pairs.iter().flatten().map(|pair| pair.0).collect();
    let mut aliases = Aliases::new();
    for (carried, pairs) in repeat.carried.iter().zip(pairs) {
        let mut copies = Vec::new();
        for &(argument, result) in pairs {
            if argument == result {
                continue;
            }
            if arguments.binary_search(&result).is_ok() {
                let problem = "it exchanges the places of two values from run to run";
                return Err(refusal(graph, repeat, problem));
            }
            let [old, new] = [argument, result].map(|id| &builder.program.buffers[id as usize]);
            if old.last < new.first {
                aliases.push((result, argument));
                continue;
            }
            let (tile, bytes) = (old.tile, old.bytes);
            builder.program.apart.push((argument, result));
            copies.push(Call {
                tile,
                template: builder.template(copy_call(bytes)),
                operands: [argument, result].map(Place::start).to_vec(),
            });
        }
        builder.compute(&title(graph, carried), "copy", copies);
    }
    Ok(aliases)
}

/// What lay on the tiles before the block, or was written by the host for it, stays until its last
/// run is over.
fn keep_for_all_runs(builder: &mut Builder, start: u32, locals: usize) {
    let last = builder.now().saturating_sub(1);
    let program = &mut builder.program;
    let mut is_kept = vec![false; program.buffers.len()];
    for (kept, buffer) in is_kept.iter_mut().zip(&program.buffers).take(locals) {
        *kept = buffer.last >= start;
    }
    for range in &program.host {
        let is_local = range.buffer as usize >= locals;
        let is_written = program.buffers[range.buffer as usize].first == 0;
        is_kept[range.buffer as usize] |= is_local && is_written;
    }
    for (buffer, is_kept) in program.buffers.iter_mut().zip(is_kept) {
        if is_kept {
            buffer.last = buffer.last.max(last);
        }
    }
}

/// Puts buffers that are one under one id and drops the ids that are left over.
pub(super) fn merge(program: &mut Program, aliases: &Aliases) {
    if aliases.is_empty() {
        return;
    }
    let mut target: Vec<BufferId> = (0..super::build::index(program.buffers.len())).collect();
    for &(gone, kept) in aliases {
        target[gone as usize] = kept;
        let gone = program.buffers[gone as usize].clone();
        let kept = &mut program.buffers[kept as usize];
        kept.first = kept.first.min(gone.first);
        kept.last = kept.last.max(gone.last);
    }
    let mut next = 0;
    let mut place = vec![0; target.len()];
    let mut buffers = Vec::with_capacity(target.len());
    for (id, buffer) in (0..).zip(program.buffers.drain(..)) {
        if target[id as usize] == id {
            place[id as usize] = next;
            next += 1;
            buffers.push(buffer);
        }
    }
    program.buffers = buffers;
    rename(program, |id| place[target[id as usize] as usize]);
}

/// Gives every buffer its new id where it is used.
fn rename(program: &mut Program, new: impl Fn(BufferId) -> BufferId) {
    for (one, other) in &mut program.apart {
        (*one, *other) = (new(*one), new(*other));
    }
    for range in &mut program.host {
        range.buffer = new(range.buffer);
    }
    // Destinations are shared by many moves, and stay so.
    let mut known: BTreeMap<Arc<[BufferId]>, Arc<[BufferId]>> = BTreeMap::new();
    for step in &mut program.steps {
        match &mut step.work {
            Work::Exchange(moves) => {
                for each in moves {
                    each.source.buffer = new(each.source.buffer);
                    let renamed = known
                        .entry(Arc::clone(&each.destinations))
                        .or_insert_with_key(|old| old.iter().map(|&id| new(id)).collect());
                    each.destinations = Arc::clone(renamed);
                }
            }
            Work::Compute { calls, .. } => {
                for operand in calls.iter_mut().flat_map(|call| &mut call.operands) {
                    operand.buffer = new(operand.buffer);
                }
            }
        }
    }
}
