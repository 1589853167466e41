//! Operations on whatever pieces a value lies in, and layer norms on whole rows.

use runtime::package::MemoryClass;

use crate::graph::{Graph, Operation, OperationKind};
use crate::instrument::{add_call, clear_call, gelu_call, layer_norm_call};
use crate::layout::{Block, LANES, LineAxis, Order, UNIT_BYTES, View, split};
use crate::options::OperandPolicy;
use crate::plan::{HeadLayout, axis, consumers, wanted_axes};

use super::build::{Builder, Title};
use super::home::{Home, HomePiece};
use super::operand::{Arrival, Want, arrive, bring_all, host};
use super::{BufferId, Call, HostRange, Place};

/// Expands GeLU and add where their first operand lies.
pub(crate) fn expand_pointwise(
    builder: &mut Builder,
    graph: &Graph,
    operation: &Operation,
    heads: HeadLayout,
) {
    let title = Title::of(&[operation]);
    let homes = operands_in_place(builder, graph, operation, heads);
    let Some(mut home) = homes else {
        return;
    };
    let other = (operation.kind == OperationKind::Add).then(|| operation.inputs[1]);
    let mut arrival = Arrival::default();
    let seconds: Vec<Option<BufferId>> = home
        .pieces
        .iter()
        .map(|piece| {
            let other = other?;
            Some(alongside(
                builder,
                graph,
                (other, &home.view),
                piece,
                &mut arrival,
            ))
        })
        .collect();
    builder.push_arrival(&title, arrival);
    let reuse = consumers(graph, operation.inputs[0]).count() == 1
        && !graph.outputs().contains(&operation.inputs[0])
        && graph.value(operation.inputs[0]).fill().is_none()
        && graph
            .carried(operation.inputs[0])
            .is_none_or(|it| it.argument == operation.inputs[0]);
    let label = builder.label(&format!("{} result piece", operation.name));
    let mut calls = Vec::new();
    let pieces = std::mem::take(&mut home.pieces);
    let mut result = Home::new(&home.view);
    for (piece, second) in pieces.into_iter().zip(seconds) {
        let units = piece.units.end - piece.units.start;
        let tile = builder.program.buffers[piece.buffer as usize].tile;
        let out = if reuse {
            piece.buffer
        } else {
            builder.buffer(tile, units * UNIT_BYTES, label)
        };
        let logical =
            crate::layout::boxes::logical_elements(&home.view, &piece.block, piece.units.clone());
        let call = match second {
            None => gelu_call(units * LANES, logical),
            Some(_) => add_call(units * LANES, logical),
        };
        let buffers = [Some(out), Some(piece.buffer), second];
        calls.push(Call {
            tile,
            template: builder.template(call),
            operands: buffers.into_iter().flatten().map(Place::start).collect(),
        });
        result.put(&piece.block, piece.units, out);
    }
    let role = operation.kind.name();
    builder.compute(&title, role, calls);
    builder.settle(graph, operation.output, result);
}

/// Where the first operand lies; the host spreads it where nothing has laid it down.
fn operands_in_place(
    builder: &mut Builder,
    graph: &Graph,
    operation: &Operation,
    heads: HeadLayout,
) -> Option<Home> {
    let value = operation.inputs[0];
    let axis = axis(wanted_axes(graph, value, heads));
    let second = operation.inputs.get(1);
    if let Some(home) = builder.homes.get(&(value, axis)) {
        return Some(home.clone());
    }
    if graph.value(value).fill().is_none() {
        let other = match axis {
            LineAxis::Rows => LineAxis::Columns,
            LineAxis::Columns => LineAxis::Rows,
        };
        return builder.homes.get(&(value, other)).cloned();
    }
    let (rows, columns) = graph.value(value).matrix();
    let fit = |extent: u64| u32::try_from(extent).unwrap_or(u32::MAX);
    let view = View::new(fit(rows), fit(columns), axis);
    // The layout of the other operand serves both where there is one.
    let laid = second.and_then(|&second| builder.homes.get(&(second, axis)));
    let home = match laid {
        Some(laid) => laid.clone(),
        None => spread(builder, &view),
    };
    Some(upload_like(builder, graph, value, &home))
}

/// Pieces of a value that nothing has laid down: equal shares of its lines.
fn spread(builder: &Builder, view: &View) -> Home {
    let tiles = u32::from(builder.program.tiles);
    let mut home = Home::new(view);
    let parts = tiles.min(view.lines);
    for part in 0..parts {
        let block = Block {
            lines: split(view.lines, parts, part),
            panels: 0..view.panels(),
            order: Order::Panels,
        };
        let units = 0..block.units();
        home.pieces.push(HomePiece {
            block,
            units,
            buffer: part,
        });
    }
    home
}

/// Has the host write a value in the pieces of another one, on the same tiles.
fn upload_like(
    builder: &mut Builder,
    graph: &Graph,
    value: crate::graph::ValueId,
    like: &Home,
) -> Home {
    let label = builder.label(&format!("home of {}", graph.value(value).name));
    let mut home = Home::new(&like.view);
    for piece in &like.pieces {
        let tile = match builder.program.buffers.get(piece.buffer as usize) {
            Some(buffer) => buffer.tile,
            None => u16::try_from(piece.buffer).unwrap_or(0),
        };
        let bytes = (piece.units.end - piece.units.start) * UNIT_BYTES;
        let buffer = builder.buffer(tile, bytes, label);
        builder.upload(HostRange {
            buffer,
            value,
            view: like.view,
            block: piece.block.clone(),
            units: piece.units.clone(),
            copy: 0,
        });
        home.put(&piece.block, piece.units.clone(), buffer);
    }
    home
}

/// The units of another value that belong to a piece, on the piece's tile.
fn alongside(
    builder: &mut Builder,
    graph: &Graph,
    (value, view): (crate::graph::ValueId, &View),
    piece: &HomePiece,
    arrival: &mut Arrival,
) -> BufferId {
    let tile = builder.program.buffers[piece.buffer as usize].tile;
    let bytes = (piece.units.end - piece.units.start) * UNIT_BYTES;
    let label = builder.label(&format!("piece of {}", graph.value(value).name));
    let buffer = builder.buffer(tile, bytes, label);
    if graph.value(value).fill().is_some() {
        builder.upload(HostRange {
            buffer,
            value,
            view: *view,
            block: piece.block.clone(),
            units: piece.units.clone(),
            copy: 0,
        });
        return buffer;
    }
    let home = &builder.homes[&(value, view.axis)];
    let segments = home.unit_segments(view, &piece.block, piece.units.clone());
    bring_all(builder, arrival, segments, [buffer]);
    buffer
}

/// Expands a layer norm: each tile gathers whole rows, one call a row.
pub(crate) fn expand_rows(
    builder: &mut Builder,
    graph: &Graph,
    operation: &Operation,
    policy: OperandPolicy,
) {
    let title = Title::of(&[operation]);
    let (rows, columns) = graph.value(operation.output).matrix();
    let fit = |extent: u64| u32::try_from(extent).unwrap_or(u32::MAX);
    let (rows, columns) = (fit(rows), fit(columns));
    let view = View::new(rows, columns, LineAxis::Rows);
    let tiles = u32::from(builder.program.tiles).min(rows);
    let tile_of = |row: u32| {
        let tile = u64::from(row) * u64::from(tiles) / u64::from(rows);
        u16::try_from(tile).unwrap_or(u16::MAX)
    };
    let label = builder.label(&format!("{} row", operation.name));
    let want = |row: u32| Want {
        value: operation.inputs[0],
        view,
        block: row_block(&view, row),
        tiles: vec![tile_of(row)],
        class: MemoryClass::Standard,
        tail: 0,
        label,
    };
    let wants: Vec<Want> = (0..rows).map(want).collect();
    let placed = host(builder, graph, &wants, policy);
    let mut arrival = Arrival::default();
    let mut sources = Vec::new();
    for (want, placed) in wants.iter().zip(placed) {
        sources.push(arrive(builder, want, placed.as_ref(), &mut arrival)[0]);
    }
    let scales = [1, 2].map(|position| {
        let value = operation.inputs[position];
        vectors(builder, graph, value, (columns, tiles))
    });
    builder.push_arrival(&title, arrival);
    let label = builder.label(&format!("{} result row", operation.name));
    let mut home = Home::new(&view);
    let (mut clears, mut calls) = (Vec::new(), Vec::new());
    for (row, source) in (0..rows).zip(sources) {
        let (tile, block) = (tile_of(row), row_block(&view, row));
        let out = builder.buffer(tile, block.bytes(), label);
        if !columns.is_multiple_of(LANES) {
            let offset = block.bytes() - UNIT_BYTES;
            clears.push(Call {
                tile,
                template: builder.template(clear_call(UNIT_BYTES)),
                operands: vec![Place {
                    buffer: out,
                    offset,
                }],
            });
        }
        let scale = |side: usize| scales[side][usize::from(tile)];
        calls.push(Call {
            tile,
            template: builder.template(layer_norm_call(columns)),
            operands: [out, source, scale(0), scale(1)].map(Place::start).to_vec(),
        });
        home.put(&block, 0..block.units(), out);
    }
    builder.compute(&title, "clear", clears);
    builder.compute(&title, "norm", calls);
    builder.settle(graph, operation.output, home);
}

fn row_block(view: &View, row: u32) -> Block {
    Block {
        lines: row..row + 1,
        panels: 0..view.panels(),
        order: Order::Panels,
    }
}

/// A parameter vector on each of the first tiles, written by the host.
fn vectors(
    builder: &mut Builder,
    graph: &Graph,
    value: crate::graph::ValueId,
    (count, tiles): (u32, u32),
) -> Vec<BufferId> {
    let label = builder.label(&graph.value(value).name);
    let view = View::run(0, count);
    let block = row_block(&view, 0);
    (0..tiles)
        .map(|tile| {
            let tile = u16::try_from(tile).unwrap_or(u16::MAX);
            let buffer = builder.buffer(tile, block.bytes(), label);
            builder.upload(HostRange {
                buffer,
                value,
                view,
                block: block.clone(),
                units: 0..block.units(),
                copy: 0,
            });
            buffer
        })
        .collect()
}
