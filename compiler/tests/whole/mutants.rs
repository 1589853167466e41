//! Wrong attention must fail the check of the attention workload: what a mistaken compiler or
//! kernel would plausibly compute.

use compiler::graph::check::check;
use compiler::graph::reference::evaluate;
use compiler::graph::workload::{Workload, WorkloadExtents, workload};
use half::f16;

/// Tokens of the published shape, whose last block of 64 has 25 keys.
const TOKENS: usize = 729;
/// Width of a head.
const WIDTH: usize = 72;

/// What a mutant does differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    None,
    Zeros,
    PermutedKeys,
    DoubledScale,
    LastKeysDropped,
    UniformSoftmax,
}

/// One head, with the published distribution of scores.
fn one_head() -> Workload {
    let extents = WorkloadExtents {
        tokens: TOKENS as u64,
        width: WIDTH as u64,
        heads: 1,
        ..WorkloadExtents::published(8)
    };
    workload("siglip-attention-benchmark", &extents).unwrap()
}

/// Projections of the workload, from the reference of a graph that stops at them.
fn projections() -> [Vec<f32>; 3] {
    let text = one_head().graph.to_string();
    ["q", "k", "v"].map(|name| {
        let lines = text.lines().filter(|line| {
            let is_host = line.starts_with("input") || line.starts_with("parameter");
            is_host || line.starts_with(&format!("{name} = "))
        });
        let text: Vec<&str> = lines.collect();
        let text = format!("{}\noutput {name}\n", text.join("\n"));
        let graph = compiler::graph::parse::parse(&text).unwrap();
        let values = evaluate(&graph).unwrap().swap_remove(0).values;
        values
            .iter()
            .map(|&value| f16::from_f32(value).to_f32())
            .collect()
    })
}

/// Attention in F32, with one mistake.
fn attention([q, k, v]: &[Vec<f32>; 3], mutant: Mutant) -> Vec<f16> {
    let (keys, scale) = match mutant {
        Mutant::LastKeysDropped => (TOKENS - 25, 1.0),
        Mutant::DoubledScale => (TOKENS, 2.0),
        Mutant::UniformSoftmax => (TOKENS, 0.0),
        _ => (TOKENS, 1.0),
    };
    let scale = scale / 72.0_f32.sqrt();
    let mut out = Vec::new();
    for query in q.chunks(WIDTH) {
        let dot = |key: &[f32]| query.iter().zip(key).map(|(a, b)| a * b).sum::<f32>();
        let scores: Vec<f32> = k
            .chunks(WIDTH)
            .take(keys)
            .map(|key| dot(key) * scale)
            .collect();
        let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weights: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
        let sum: f32 = weights.iter().sum();
        let mut row = [0.0; WIDTH];
        for (key, weight) in weights.iter().enumerate() {
            let key = if mutant == Mutant::PermutedKeys {
                key ^ 1
            } else {
                key
            };
            let values = &v[key.min(TOKENS - 1) * WIDTH..][..WIDTH];
            for (x, value) in row.iter_mut().zip(values) {
                *x += weight / sum * value;
            }
        }
        let zero = mutant == Mutant::Zeros;
        out.extend(row.map(|x| f16::from_f32(if zero { 0.0 } else { x })));
    }
    out
}

#[test]
fn wrong_attention_fails_the_check() {
    let Workload {
        graph, tolerance, ..
    } = one_head();
    let inputs = projections();
    let passes = |mutant| {
        let values = attention(&inputs, mutant);
        check(&graph, tolerance, |_| Some(&values))
            .unwrap()
            .passed()
    };
    assert!(passes(Mutant::None), "the right values pass");
    for mutant in [
        Mutant::Zeros,
        Mutant::PermutedKeys,
        Mutant::DoubledScale,
        Mutant::LastKeysDropped,
        Mutant::UniformSoftmax,
    ] {
        assert!(!passes(mutant), "{mutant:?} passes");
    }
}
