//! Exchange phases at full size: 200,192 transfers between pairs of tiles, and every tile to every
//! tile.
//!
//! Each phase is measured whole and in its parts: decoding rows, resolving them on the fabric,
//! moving the words, comparing with the declared deliveries.

#[expect(dead_code, reason = "the benchmark builds simpler rows than the tests")]
#[path = "../src/exchange/tests/assembler.rs"]
mod assembler;

use std::hint::black_box;
use std::time::Duration;

use analytics::units::TileId;
use assembler::{NEUTRAL, Register, Sent, Write, assemble};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use rayon::prelude::*;
use runtime::exchange::{
    ExchangeOutcome, PhaseContext, TimedRow, compare_deliveries, decode_row, execute, move_words,
    resolve,
};
use runtime::machine::arch::TILES;
use runtime::machine::memory::TileMemory;
use runtime::machine::topology::Topology;
use runtime::package::{Address, Delivery};

const ROW: Address = 0x5_c000;
const WORDS: u32 = 16;
/// Events between two rounds: longer than the spread of the routes, so that no two controls meet.
const SPACING: u32 = 420;
const SOURCE: Address = 0x6_c000;

#[derive(Default)]
struct Script {
    sent: Vec<Sent>,
    writes: Vec<Write>,
    horizon: u32,
    landed: u32,
}

struct Phase {
    topology: Topology,
    memories: Vec<TileMemory>,
    deliveries: Vec<Delivery>,
}

/// Collects transfers into scripts and deliveries.
struct Builder {
    topology: Topology,
    scripts: Vec<Script>,
    deliveries: Vec<Delivery>,
}

impl Builder {
    fn new() -> Self {
        Self {
            topology: Topology::first_tiles(TILES),
            scripts: (0..TILES).map(|_| Script::default()).collect(),
            deliveries: Vec::new(),
        }
    }

    fn transfer(&mut self, source: TileId, start: u32, receivers: impl Iterator<Item = TileId>) {
        let mut destinations = Vec::new();
        let mut control = 0;
        let physical = self.topology.physical(source).get();
        for tile in receivers {
            let route = self.topology.route(source, tile);
            control |= u32::from(route.direction.send_bit());
            let select = start
                .checked_add_signed(route.mux + 1)
                .expect("rounds start late");
            let lands = select + self.topology.landing_delay(tile);
            let script = &mut self.scripts[tile.index()];
            // Wraps inside the interleaved region; later words overwrite earlier ones.
            let address = 0x8_0000 + script.landed % 0x6_0000;
            script.landed += 4 * WORDS;
            let write = |event, register, value| Write {
                event,
                register,
                value,
            };
            script.writes.extend([
                write(select, Register::Mux, physical),
                write(select + WORDS, Register::Mux, NEUTRAL),
                write(lands, Register::Pointer, address / 4),
            ]);
            script.horizon = script.horizon.max(lands + WORDS + 5);
            destinations.push((tile, address));
        }
        let script = &mut self.scripts[source.index()];
        script.sent.push(Sent {
            event: start,
            items: WORDS,
            address: SOURCE / 4,
            control,
        });
        script.horizon = script.horizon.max(start + WORDS);
        self.deliveries.push(Delivery {
            source,
            source_address: SOURCE,
            bytes: 4 * WORDS,
            destinations,
        });
    }

    fn phase(self) -> Phase {
        let load = |(tile, mut script): (usize, Script)| {
            script.writes.sort_unstable();
            let row = assemble(&script.sent, &script.writes, script.horizon);
            let row = row.expect("controls keep apart from sends");
            let mut memory = TileMemory::new();
            let bytes = |words: &[u32]| -> Vec<u8> {
                words.iter().flat_map(|word| word.to_le_bytes()).collect()
            };
            memory.write(ROW, &bytes(&row)).expect("rows fit");
            let tile = u32::try_from(tile).expect("few tiles");
            let data: Vec<_> = (0..WORDS).map(|word| tile << 16 | word).collect();
            memory.write(SOURCE, &bytes(&data)).expect("in SRAM");
            memory
        };
        Phase {
            topology: self.topology,
            memories: self.scripts.into_iter().enumerate().map(load).collect(),
            deliveries: self.deliveries,
        }
    }
}

/// Rounds in which one half of the tiles sends to the other, each time shifted.
fn pairs() -> Phase {
    let mut builder = Builder::new();
    for round in 0..272 {
        for index in 0..TILES / 2 {
            let partner = (index + 37 * (round / 2) + 1) % (TILES / 2);
            let (from, to) = if round % 2 == 0 {
                (2 * index, 2 * partner + 1)
            } else {
                (2 * index + 1, 2 * partner)
            };
            let start = 200 + SPACING * u32::from(round);
            builder.transfer(TileId::new(from), start, std::iter::once(TileId::new(to)));
        }
    }
    builder.phase()
}

/// Each tile in turn sends to all others.
fn everyone() -> Phase {
    let mut builder = Builder::new();
    for source in (0..TILES).map(TileId::new) {
        let others = (0..TILES)
            .map(TileId::new)
            .filter(move |&tile| tile != source);
        builder.transfer(source, 200 + SPACING * u32::from(source.get()), others);
    }
    builder.phase()
}

impl Phase {
    fn decode(&self) -> Vec<Option<TimedRow>> {
        let rows = self.memories.par_iter().enumerate().map(|(tile, memory)| {
            let tile = TileId::new(u16::try_from(tile).expect("few tiles"));
            decode_row(tile, memory, ROW, 0, 0).map(Some)
        });
        rows.collect::<Result<_, _>>().expect("legal rows")
    }

    fn resolve(&self, rows: &[Option<TimedRow>]) -> ExchangeOutcome {
        resolve(PhaseContext::default(), rows, &self.topology).expect("a legal phase")
    }
}

fn measure(criterion: &mut Criterion, name: &str, mut phase: Phase) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    let rows = phase.decode();
    let outcome = phase.resolve(&rows);
    let landings: usize = outcome.landings.iter().map(Vec::len).sum();
    let declared: usize = phase.deliveries.iter().map(|d| d.destinations.len()).sum();
    assert_eq!(landings, declared, "every transfer arrives");
    group.throughput(criterion::Throughput::Elements(landings as u64));
    group.bench_function("decode", |b| b.iter(|| black_box(phase.decode())));
    group.bench_function("resolve", |b| b.iter(|| black_box(phase.resolve(&rows))));
    group.bench_function("compare", |b| {
        b.iter(|| compare_deliveries(&phase.deliveries, &outcome).expect("as declared"));
    });
    group.bench_function("move", |b| {
        b.iter(|| move_words(&outcome, &mut phase.memories))
    });
    group.bench_function("whole", |b| {
        b.iter_batched(
            || (),
            |()| {
                let rows = phase.decode();
                let context = PhaseContext::default();
                let outcome = execute(context, &rows, &mut phase.memories, &phase.topology);
                let outcome = outcome.expect("a legal phase");
                compare_deliveries(&phase.deliveries, &outcome).expect("as declared");
                black_box(outcome)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn phases(criterion: &mut Criterion) {
    measure(criterion, "exchange_200k_transfers", pairs());
    measure(criterion, "exchange_everyone_to_everyone", everyone());
}

criterion_group!(benches, phases);
criterion_main!(benches);
