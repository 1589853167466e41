//! Questions to the generated profile of ten million samples, after open.
//!
//! `cargo bench -p analytics --features native --bench query`; `SAMPLES=1000000` for a smaller one.

use std::hint::black_box;

use analytics::clock::ClockKind;
use analytics::format::open_bytes;
use analytics::profile::{ChunkScratch, ProfileReport, SampleKind};
use analytics::query::{Filter, GroupBy, Query, query};
use analytics::synth::{SynthOptions, generate};
use analytics::timeline::{Viewport, hit, kind_shares, raster};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn report() -> ProfileReport {
    let samples = std::env::var("SAMPLES").ok().and_then(|it| it.parse().ok());
    let options = SynthOptions {
        samples: samples.unwrap_or(10_000_000),
        ..SynthOptions::default()
    };
    let mut bytes = Vec::new();
    generate(&options, &mut |piece| bytes.extend_from_slice(piece)).expect("generates");
    open_bytes(bytes).expect("opens")
}

fn queries(criterion: &mut Criterion) {
    let report = report();
    let mut group = criterion.benchmark_group("query");
    group
        .throughput(Throughput::Elements(report.sample_count()))
        .sample_size(10);
    group.bench_function("decode only, one thread", |bencher| {
        let mut scratch = ChunkScratch::new();
        bencher.iter(|| {
            for chunk in 0..report.chunks().len() {
                report.decode_chunk(chunk, &mut scratch).expect("decodes");
                black_box(&scratch);
            }
        });
    });
    let metadata = || GroupBy::Metadata("layer".to_owned());
    let groupings = [
        GroupBy::Kernel,
        GroupBy::Kind,
        GroupBy::Operation,
        GroupBy::Phase,
        GroupBy::Tile,
        metadata(),
    ];
    for group_by in groupings {
        let name = format!("by {}", group_by.name());
        let question = Query {
            group_by,
            limit: 0,
            ..Query::default()
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| query(black_box(&report), &question).expect("answers"));
        });
    }
    let filter = Filter {
        kind: Some(SampleKind::Compute),
        ..Filter::default()
    };
    let longest = Query {
        filter,
        samples: 20,
        limit: 0,
        ..Query::default()
    };
    group.bench_function("compute by kernel, 20 longest", |bencher| {
        bencher.iter(|| query(black_box(&report), &longest).expect("answers"));
    });
    group.finish();
}

fn views(criterion: &mut Criterion) {
    let report = report();
    let tiles = u32::try_from(report.tiles().len()).expect("few tiles");
    let span = kind_shares(&report, ClockKind::Cropped, 1)
        .expect("decodes")
        .span;
    let view = |from, to, rows| Viewport {
        clock: ClockKind::Cropped,
        cycles: from..to,
        columns: 1_500,
        tiles: 0..tiles,
        rows,
    };
    let mut group = criterion.benchmark_group("timeline");
    group.sample_size(10);
    for (name, view) in [
        ("whole run, 1472 rows", view(0, span, tiles)),
        ("whole run, 736 rows", view(0, span, 736)),
        (
            "a tenth, 1472 rows",
            view(span / 2, span / 2 + span / 10, tiles),
        ),
        (
            "a thousandth, 1472 rows",
            view(span / 2, span / 2 + span / 1_000, tiles),
        ),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| raster(black_box(&report), &view).expect("paints"));
        });
    }
    group.bench_function("kind shares, 1500 columns", |bencher| {
        bencher.iter(|| kind_shares(&report, ClockKind::Cropped, 1_500).expect("sums"));
    });
    group.bench_function("hit", |bencher| {
        bencher.iter(|| hit(&report, ClockKind::Cropped, 700, black_box(span / 2)).expect("hits"));
    });
    group.finish();
}

criterion_group!(benches, queries, views);
criterion_main!(benches);
