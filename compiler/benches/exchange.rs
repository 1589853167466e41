//! Exchange scheduling, encoding and checking on the four problems of a whole device that
//! `ipu-stack schedule-bench --write` writes. The horizon of each is printed once, so that a faster
//! scheduler that schedules worse is noticed.

use std::hint::black_box;

use compiler::TILES_MAX;
use compiler::exchange::problem::read;
use compiler::exchange::{
    ExchangeContext, GrowingRow, Synthetic, encode, endpoint_bound, schedule, verify,
};
use criterion::{Criterion, criterion_group, criterion_main};
use runtime::machine::topology::Topology;

#[expect(clippy::print_stderr, reason = "a benchmark tells its horizons")]
fn exchanges(c: &mut Criterion) {
    let topology = Topology::first_tiles(TILES_MAX);
    let context = ExchangeContext {
        topology: &topology,
        row_code: &[],
    };
    for kind in Synthetic::ALL {
        let name = kind.name();
        let text = kind.text().expect("it can be written");
        let problem = read(&text).expect("it can be read");
        let transfers = &problem.phases[0].transfers;
        let planned = schedule(transfers, &context).expect("it can be scheduled");
        let rows = encode(&planned, &context).expect("it can be encoded");
        let longest = rows.iter().flatten().map(|row| 4 * row.words.len()).max();
        eprintln!(
            "{name}: {} transfers, horizon {}, endpoint bound {}, longest row {} bytes",
            transfers.len(),
            planned.report().horizon,
            endpoint_bound(transfers),
            longest.unwrap_or(0),
        );
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        group.bench_function("schedule", |b| {
            b.iter(|| schedule(black_box(transfers), &context));
        });
        group.bench_function("encode", |b| {
            b.iter(|| encode(black_box(&planned), &context))
        });
        group.bench_function("verify", |b| {
            b.iter(|| verify(black_box(&rows), transfers, &context));
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
