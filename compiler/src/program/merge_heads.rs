//! Result rows of attention as the left operand of a product: each tile packs its rows of a head
//! into panels.

use crate::graph::{Graph, Operation, OperationKind};
use crate::instrument::pack_left_call;
use crate::layout::{Block, Groups, LineAxis, Order, View};
use crate::plan::{AttentionProblem, consumers};

use super::build::{Builder, Title};
use super::home::Home;
use super::results::ResultRows;
use super::{Call, Place};

/// Packs result rows for every view that merges the heads.
pub(crate) fn pack(
    builder: &mut Builder,
    graph: &Graph,
    (operation, problem): (&Operation, &AttentionProblem),
    results: &[ResultRows],
) {
    for merge in consumers(graph, operation.output) {
        let OperationKind::MergeHeads { heads } = merge.kind else {
            continue;
        };
        let heads = u32::try_from(heads).unwrap_or(1);
        let panels = problem.panels();
        let rows = problem.streams / heads * problem.queries;
        let view = View::grouped(
            (rows, Groups::whole(rows)),
            (heads * problem.width, Groups::of(problem.width)),
            LineAxis::Rows,
        );
        let mut home = Home::new(&view);
        let label = builder.label(&format!("{} result panels", operation.name));
        let mut calls = Vec::new();
        for each in results {
            let (batch, head) = (each.stream / heads, each.stream % heads);
            let line = batch * problem.queries + each.first_row;
            let block = Block {
                lines: line..line + each.rows,
                panels: head * panels..(head + 1) * panels,
                order: Order::Panels,
            };
            let packed = builder.buffer(each.tile, block.bytes(), label);
            calls.push(Call {
                tile: each.tile,
                template: builder.template(pack_left_call(each.rows, problem.width)),
                operands: vec![Place::start(packed), Place::start(each.buffer)],
            });
            home.put(&block, 0..block.units(), packed);
        }
        builder.compute(&Title::of(&[operation]), "pack", calls);
        builder.settle(graph, merge.output, home);
    }
}
