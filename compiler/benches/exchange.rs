//! Exchange scheduling, encoding and checking on three problems of a whole device.
//!
//! `prep`: a fragmented layout change, 62,342 eight-word messages from 162 owners to all tiles.
//! `unicast`: a balanced redistribution, 200,000 eight-word messages. `broadcast`: one attention
//! block, 160 messages of 512 words to 91 tiles each. The horizon of each is printed once, so that
//! a faster scheduler that schedules worse is noticed.

use std::hint::black_box;

use analytics::units::TileId;
use compiler::exchange::{
    ExchangeContext, GrowingRow, SourceSteps, Transfer, encode, endpoint_bound, schedule, verify,
};
use criterion::{Criterion, criterion_group, criterion_main};
use runtime::machine::topology::Topology;

const TILES: u16 = 1472;

/// A SplitMix64 stream.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u16) -> u16 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let word = u128::from(word ^ (word >> 31));
        u16::try_from((word * u128::from(limit)) >> 64).expect("it is below the limit")
    }

    /// A tile other than `tile`.
    fn other(&mut self, tile: u16) -> u16 {
        (tile + 1 + self.below(TILES - 1)) % TILES
    }
}

/// Transfers whose ranges follow each other on each tile.
struct Layout {
    sources: Vec<u32>,
    destinations: Vec<u32>,
    transfers: Vec<Transfer>,
}

impl Layout {
    fn new() -> Self {
        Self {
            sources: vec![0x6_0000; usize::from(TILES)],
            destinations: vec![0x9_0000; usize::from(TILES)],
            transfers: Vec::new(),
        }
    }

    fn add(&mut self, source: u16, destinations: &[u16], words: u32) {
        let next = &mut self.sources[usize::from(source)];
        let source_address = *next;
        *next += 4 * words;
        if *next > 0x7_f000 {
            *next = 0x6_0000;
        }
        let destinations = destinations.iter().map(|&tile| {
            let next = &mut self.destinations[usize::from(tile)];
            let address = *next;
            *next += 4 * words + 8;
            if *next > 0xd_0000 {
                *next = 0x9_0000;
            }
            (TileId::new(tile), address)
        });
        self.transfers.push(Transfer {
            source: TileId::new(source),
            source_address,
            steps: SourceSteps::NONE,
            words,
            destinations: destinations.collect(),
        });
    }
}

fn prep() -> Vec<Transfer> {
    let (mut layout, mut random) = (Layout::new(), Random(7));
    for k in 0..62_342_u32 {
        let owner = u16::try_from(k % 162 * 9).expect("a tile id");
        layout.add(owner, &[random.other(owner)], 8);
    }
    layout.transfers
}

fn unicast() -> Vec<Transfer> {
    let (mut layout, mut random) = (Layout::new(), Random(7));
    for k in 0..200_000_u32 {
        let source = u16::try_from(k % u32::from(TILES)).expect("a tile id");
        layout.add(source, &[random.other(source)], 8);
    }
    layout.transfers
}

fn broadcast() -> Vec<Transfer> {
    let mut layout = Layout::new();
    for head in 0..16_u16 {
        let group: Vec<u16> = (0..92).map(|place| head + 16 * place).collect();
        for panel in 0..10 {
            let source = group[usize::from((panel * 9 + head) % 92)];
            let others: Vec<u16> = group
                .iter()
                .copied()
                .filter(|&tile| tile != source)
                .collect();
            layout.add(source, &others, 512);
        }
    }
    layout.transfers
}

#[expect(clippy::print_stderr, reason = "a benchmark tells its horizons")]
fn exchanges(c: &mut Criterion) {
    let topology = Topology::first_tiles(TILES);
    let context = ExchangeContext {
        topology: &topology,
        row_code: &[],
    };
    for (name, transfers) in [
        ("prep", prep()),
        ("unicast", unicast()),
        ("broadcast", broadcast()),
    ] {
        let planned = schedule(&transfers, &context).expect("it can be scheduled");
        let rows = encode(&planned, &context).expect("it can be encoded");
        let longest = rows.iter().flatten().map(|row| 4 * row.words.len()).max();
        eprintln!(
            "{name}: {} transfers, horizon {}, endpoint bound {}, longest row {} bytes",
            transfers.len(),
            planned.report().horizon,
            endpoint_bound(&transfers),
            longest.unwrap_or(0),
        );
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        group.bench_function("schedule", |b| {
            b.iter(|| schedule(black_box(&transfers), &context));
        });
        group.bench_function("encode", |b| {
            b.iter(|| encode(black_box(&planned), &context))
        });
        group.bench_function("verify", |b| {
            b.iter(|| verify(black_box(&rows), &transfers, &context));
        });
        group.finish();
    }
}

/// A row to which one message after another is added, encoded again after each.
fn growing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("row");
    for transfers in [32_u32, 128, 512, 2048] {
        let grown = |count: u32, after_each: &dyn Fn(&mut GrowingRow)| {
            let mut row = GrowingRow::default();
            for k in 0..count {
                let source = u16::try_from(k % 1472).expect("it is a tile");
                row.receive(source, 5 + k % 7, 0x9_0000 + 64 * k);
                after_each(&mut row);
            }
            row
        };
        let incremental = |row: &mut GrowingRow| {
            black_box(row.encode()).expect("delays can be cut");
        };
        let full = |row: &mut GrowingRow| {
            black_box(row.encode_in_full()).expect("delays can be cut");
        };
        let mut one = grown(transfers, &|_| {});
        let words = one.encode().expect("delays can be cut");
        assert_eq!(words, one.encode_in_full().expect("delays can be cut"));
        group.bench_function(format!("checkpoints/{transfers}"), |bencher| {
            bencher.iter(|| grown(transfers, &incremental));
        });
        group.bench_function(format!("full/{transfers}"), |bencher| {
            bencher.iter(|| grown(transfers, &full));
        });
    }
    group.finish();
}

criterion_group!(benches, exchanges, growing);
criterion_main!(benches);
