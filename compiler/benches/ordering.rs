//! Two choices of data structure, on what real programs give: radix or comparison sort of spans,
//! and binary or min-max heap for messages that are ready to be placed.
//!
//! The sorts are the compiler's. The ready queue is a model written here: list scheduling with a
//! lazily refreshed heap, as earlier schedulers for this machine did it. The compiler ranks
//! messages beforehand and has a heap of fixed ranks only where program order holds some back; what
//! the model takes is why.
//!
//! Spans and messages are those of the largest exchange of the SigLIP attention block with the
//! published projections: what receivers get, in the order of the senders, and messages as listed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use compiler::graph::workload::{WorkloadExtents, workload};
use compiler::plan::{PlanConstraint, plan};
use compiler::program::{Move, expand};
use compiler::{
    AttentionProducts, AttentionStrategy, ExchangeItems, Limits, OperandPolicy, Options,
    RepeatPolicy,
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use min_max_heap::MinMaxHeap;
use runtime::kernels::Generation;

/// Bytes that a move writes: where in all buffers, and how many.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u64,
    bytes: u32,
}

/// A move with what the ready queue looks at.
#[derive(Clone, Copy)]
struct Message {
    source: usize,
    destination: usize,
    words: u64,
}

/// One way to order spans by their start.
type Sort = fn(&mut [Span]);

/// The moves of the largest exchange, with the tile of each buffer.
fn largest_exchange() -> (Vec<Move>, Vec<u16>) {
    let name = "siglip-attention-benchmark";
    let graph = workload(name, &WorkloadExtents::published(1472))
        .expect("a known workload")
        .graph;
    let forced = [0, 1, 2].map(|operation| {
        let text = format!("{operation}:10x46x3:1x1:16:interleaved:swapped:complete:direct");
        PlanConstraint::parse(&text).expect("a published plan")
    });
    let options = Options {
        workload: name.to_owned(),
        tiles: 1472,
        operands: OperandPolicy::Replicated,
        clock_hz: 1_500_000_000,
        kernel_generation: Generation::G20260907,
        allow_assumed_kernels: false,
        attention: AttentionStrategy::Materialized,
        products: AttentionProducts::default(),
        repeats: RepeatPolicy::default(),
        items: ExchangeItems::default(),
        limits: Limits::STANDARD,
        tile_mapping: None,
        plan_constraints: forced.to_vec(),
        flags: Vec::new(),
    };
    let plan = plan(&graph, &options, 0).expect("a published plan");
    let program = expand(&graph, &plan, options.operands).expect("a published plan");
    let moves = program.exchanges().map(|(_, moves)| moves.to_vec());
    let moves = moves.max_by_key(Vec::len).expect("it exchanges");
    let tiles = program.buffers.iter().map(|buffer| buffer.tile).collect();
    (moves, tiles)
}

/// What receivers get, in the order in which senders list it.
fn spans(moves: &[Move]) -> Vec<Span> {
    let mut moves: Vec<&Move> = moves.iter().collect();
    moves.sort_by_key(|each| each.source);
    let all = moves.into_iter().flat_map(|each| {
        each.destinations.iter().map(|&buffer| Span {
            start: u64::from(buffer) << 32 | u64::from(each.destination_offset),
            bytes: each.bytes,
        })
    });
    all.collect()
}

fn sorts(criterion: &mut Criterion, moves: &[Move]) {
    let all = spans(moves);
    let mut group = criterion.benchmark_group("sort spans");
    group.sample_size(30);
    for entries in [256, 1024, 4096, 16_384] {
        let listed: Vec<Span> = all.iter().copied().take(entries).collect();
        assert!(!listed.is_sorted_by_key(|span| span.start));
        let mut sorted = listed.clone();
        sorted.sort_unstable_by_key(|span| span.start);
        group.throughput(Throughput::Elements(listed.len() as u64));
        for (order, input) in [("by sender", &listed), ("sorted", &sorted)] {
            let sorts: [(&str, Sort); 3] = [
                ("radix", |spans| radsort::sort_by_key(spans, |s| s.start)),
                ("comparison", |spans| {
                    spans.sort_unstable_by_key(|s| s.start)
                }),
                ("checked radix", |spans| {
                    if !spans.is_sorted_by_key(|s| s.start) {
                        radsort::sort_by_key(spans, |s| s.start);
                    }
                }),
            ];
            for (name, sort) in sorts {
                let id = BenchmarkId::new(format!("{name}, {order}"), listed.len());
                group.bench_function(id, |bencher| {
                    bencher.iter_batched_ref(
                        || input.clone(),
                        |spans| sort(black_box(spans)),
                        BatchSize::SmallInput,
                    );
                });
            }
        }
    }
    group.finish();
}

/// Earliest start first, then longer messages, then as listed.
type Key = (Reverse<u64>, u64, Reverse<usize>);

/// A queue of messages by key, largest first.
trait Ready: Default {
    fn put(&mut self, key: Key);
    fn take(&mut self) -> Option<Key>;
}

impl Ready for BinaryHeap<Key> {
    fn put(&mut self, key: Key) {
        self.push(key);
    }

    fn take(&mut self) -> Option<Key> {
        self.pop()
    }
}

impl Ready for MinMaxHeap<Key> {
    fn put(&mut self, key: Key) {
        self.push(key);
    }

    fn take(&mut self) -> Option<Key> {
        self.pop_max()
    }
}

/// A model of list scheduling with a lazily refreshed queue, not the compiler's: a message whose
/// start has moved goes back.
fn drain<Q: Ready>(messages: &[Message]) -> u64 {
    let (mut sends, mut receives) = (vec![0_u64; 1472], vec![0_u64; 1472]);
    let mut queue = Q::default();
    for (number, message) in messages.iter().enumerate() {
        queue.put((Reverse(0), message.words, Reverse(number)));
    }
    let mut end = 0;
    while let Some((Reverse(start), words, Reverse(number))) = queue.take() {
        let Message {
            source,
            destination,
            ..
        } = messages[number];
        let earliest = sends[source].max(receives[destination]);
        if earliest > start {
            queue.put((Reverse(earliest), words, Reverse(number)));
            continue;
        }
        sends[source] = start + words;
        receives[destination] = start + words;
        end = end.max(start + words);
    }
    end
}

fn heaps(criterion: &mut Criterion, moves: &[Move], tiles: &[u16]) {
    let tile = |buffer: u32| usize::from(tiles[buffer as usize]);
    let all = moves.iter().map(|each| Message {
        source: tile(each.source.buffer),
        destination: tile(each.destinations[0]),
        words: u64::from(each.bytes / 4),
    });
    let all: Vec<Message> = all.collect();
    let mut group = criterion.benchmark_group("model of a ready queue");
    group.sample_size(10);
    for messages in [1024, 8192, all.len()] {
        let some = &all[..messages.min(all.len())];
        let ends = [
            drain::<BinaryHeap<Key>>(some),
            drain::<MinMaxHeap<Key>>(some),
        ];
        assert_eq!(ends[0], ends[1], "keys are a total order");
        group.throughput(Throughput::Elements(some.len() as u64));
        group.bench_function(BenchmarkId::new("binary", some.len()), |bencher| {
            bencher.iter(|| drain::<BinaryHeap<Key>>(black_box(some)));
        });
        group.bench_function(BenchmarkId::new("min-max", some.len()), |bencher| {
            bencher.iter(|| drain::<MinMaxHeap<Key>>(black_box(some)));
        });
    }
    group.finish();
}

fn orderings(criterion: &mut Criterion) {
    let (moves, tiles) = largest_exchange();
    sorts(criterion, &moves);
    heaps(criterion, &moves, &tiles);
}

criterion_group!(benches, orderings);
criterion_main!(benches);
