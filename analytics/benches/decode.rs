//! Size and speed of the columnar format on a generated profile of 10 million samples.
//!
//! Prints bytes a sample in the file and in memory, then measures opening and decoding, on one
//! thread and, with feature `native`, on all. `PROFILE_SAMPLES` changes the number of samples.

use std::hint::black_box;
use std::sync::OnceLock;

use analytics::format::{open_bytes, row};
use analytics::profile::{ChunkScratch, ProfileReport};
use analytics::synth::{SynthOptions, generate_bytes};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn options() -> SynthOptions {
    let samples = std::env::var("PROFILE_SAMPLES")
        .ok()
        .and_then(|text| text.parse().ok());
    SynthOptions {
        samples: samples.unwrap_or(10_000_000),
        ..SynthOptions::default()
    }
}

fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| generate_bytes(&options()).expect("the options are valid"))
}

/// Decodes chunks `first`, `first + step`, … and returns something that depends on every sample.
fn decode(report: &ProfileReport, first: usize, step: usize) -> u64 {
    let mut scratch = ChunkScratch::new();
    let mut sum = 0u64;
    for index in (first..report.chunks().len()).step_by(step) {
        report
            .decode_chunk(index, &mut scratch)
            .expect("the profile is whole");
        let last = scratch.start.last().copied().unwrap_or(0);
        sum = sum.wrapping_add(last ^ scratch.step.len() as u64);
    }
    sum
}

#[cfg(feature = "native")]
fn decode_parallel(report: &ProfileReport) -> u64 {
    use rayon::prelude::*;
    let threads = rayon::current_num_threads();
    let parts = (0..threads)
        .into_par_iter()
        .map(|first| decode(report, first, threads));
    parts.reduce(|| 0, u64::wrapping_add)
}

#[expect(
    clippy::print_stdout,
    reason = "sizes are part of what the benchmark reports"
)]
fn report_sizes(report: &ProfileReport) {
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let each = |bytes: u64| bytes as f64 / report.sample_count() as f64;
    println!(
        "{} samples, {} steps, {} chunks: {:.3} bytes a sample in the file, {:.3} resident",
        report.sample_count(),
        report.steps().len(),
        report.chunks().len(),
        each(bytes().len() as u64),
        each(report.resident_bytes()),
    );
}

fn benches(criterion: &mut Criterion) {
    let report = open_bytes(bytes()).expect("the profile is whole");
    report_sizes(&report);
    let mut group = criterion.benchmark_group("columnar");
    group
        .sample_size(20)
        .throughput(Throughput::Elements(report.sample_count()));
    group.bench_function("open", |bencher| {
        bencher.iter(|| open_bytes(black_box(bytes())))
    });
    group.bench_function("decode, 1 thread", |bencher| {
        bencher.iter(|| decode(black_box(&report), 0, 1));
    });
    #[cfg(feature = "native")]
    group.bench_function("decode, all threads", |bencher| {
        bencher.iter(|| decode_parallel(black_box(&report)));
    });
    group.finish();
    let small = SynthOptions {
        samples: 1_000_000,
        ..SynthOptions::default()
    };
    let mut group = criterion.benchmark_group("columnar, 1 M samples");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(small.samples));
    group.bench_function("generate and write", |bencher| {
        bencher.iter(|| generate_bytes(black_box(&small)));
    });
    group.finish();
    let large = SynthOptions {
        samples: 300_000,
        ..SynthOptions::default()
    };
    let columnar = generate_bytes(&large).expect("the options are valid");
    let report = open_bytes(columnar).expect("the profile is whole");
    let rows = row::encode(&report).expect("the profile is small enough");
    let mut group = criterion.benchmark_group("row, 0.3 M samples");
    group
        .sample_size(10)
        .throughput(Throughput::Bytes(rows.len() as u64));
    group.bench_function("to columnar", |bencher| {
        bencher.iter(|| row::to_columnar(black_box(&rows)));
    });
    group.finish();
}

criterion_group!(decoding, benches);
criterion_main!(decoding);
