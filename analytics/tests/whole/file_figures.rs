//! What a columnar file says of itself equals what its samples say.

use std::collections::BTreeMap;

use analytics::clock::ClockKind;
use analytics::format::{ProfileWriter, open_slice};
use analytics::profile::{
    ChunkScratch, KernelSummary, Overview, ProfileHeader, ProfileReport, SampleKind,
    StepDescriptor, WorkEstimate,
};
use analytics::query::{Filter, Query, query};
use analytics::synth::{SynthOptions, generate_bytes};
use analytics::units::{PhysicalTile, RawCounter, StepId, Work};

fn synthetic(samples: u64, tiles: u32, seed: u64) -> ProfileReport {
    let options = SynthOptions {
        samples,
        tiles,
        seed,
        activities: false,
    };
    open_slice(&generate_bytes(&options).unwrap()).unwrap()
}

fn check_summary(report: &ProfileReport) {
    let summary = report.summary().unwrap();
    let mut rows = 0;
    for kind in (0..4).map(SampleKind::from_wire) {
        let filter = Filter {
            kind: Some(kind),
            ..Filter::default()
        };
        let asked = Query {
            filter,
            clock: ClockKind::Cropped,
            limit: 0,
            ..Query::default()
        };
        let answer = query(report, &asked).unwrap();
        assert_eq!(summary.span, answer.span);
        assert_eq!(summary.sample_count, answer.sample_count);
        assert_eq!(u64::from(summary.tile_count), answer.tile_count);
        for group in &answer.groups {
            let is_it = |row: &&KernelSummary| {
                let name = report.string(row.kernel);
                row.kind == kind
                    && (name == group.name || name.is_empty() && group.name == "(no kernel)")
            };
            let row = summary.rows.iter().find(is_it).unwrap();
            let it = &group.measures;
            assert_eq!(
                (
                    row.sample_count,
                    u64::from(row.tile_count),
                    row.work_cycles,
                    row.covered_cycles
                ),
                (
                    it.sample_count,
                    it.tile_count,
                    it.work_cycles,
                    it.estimated_cycles
                ),
                "{} {}",
                kind.name(),
                group.name
            );
            assert_eq!((row.useful, row.physical), (it.useful_sum, it.physical_sum));
            assert_eq!(
                (
                    row.p50_cycles,
                    row.p95_cycles,
                    row.maximum_cycles,
                    row.timeline_cycles
                ),
                (it.p50, it.p95, it.maximum, it.timeline_cycles)
            );
            rows += 1;
        }
    }
    assert_eq!(rows, summary.rows.len());
}

#[test]
fn the_summary_of_a_file_is_what_a_query_answers() {
    check_summary(&synthetic(4_000, 50, 1));
    check_summary(&synthetic(150_000, 130, 2));
}

fn step(kind: SampleKind, kernel: &str) -> StepDescriptor {
    StepDescriptor {
        kind,
        phase: 0,
        epoch: 0,
        operation: String::new(),
        kernel: kernel.to_owned(),
        exchange_event_cycles: 0,
        metadata: Vec::new(),
        estimate: Some(WorkEstimate {
            useful: Work::from_cycles(5),
            physical: Work::from_cycles(10),
            basis: "test".to_owned(),
        }),
    }
}

/// One call on each of two tiles; the crop cuts the first tile's in half.
#[test]
fn a_cut_sample_keeps_its_time_and_loses_its_estimate() {
    let mut writer = ProfileWriter::new(&ProfileHeader::default());
    let gemm = writer.step(&step(SampleKind::Compute, "gemm"));
    for (tile, start, end) in [(0, 100, 120), (1, 110, 150)] {
        let (start, end) = (RawCounter::new(start), RawCounter::new(end));
        writer.sample(PhysicalTile::new(tile), start, end, gemm, &[]);
    }
    let report = open_slice(&writer.finish().unwrap()).unwrap();
    check_summary(&report);
    let summary = report.summary().unwrap();
    assert_eq!((summary.crop.get(), summary.span.get()), (10, 40));
    let row = summary.rows[0];
    assert_eq!((row.work_cycles.get(), row.covered_cycles.get()), (50, 40));
    assert_eq!(
        (row.useful, row.timeline_cycles.get()),
        (Work::from_cycles(5), 40)
    );
}

#[test]
fn a_crop_past_the_samples_kept_back_leaves_the_summary_out() {
    let mut writer = ProfileWriter::new(&ProfileHeader::default());
    let gemm = writer.step(&step(SampleKind::Compute, "gemm"));
    for at in 0..100 {
        let (start, end) = (RawCounter::new(at), RawCounter::new(at + 1));
        writer.sample(PhysicalTile::new(0), start, end, gemm, &[]);
    }
    let (start, end) = (RawCounter::new(90), RawCounter::new(99));
    writer.sample(PhysicalTile::new(1), start, end, gemm, &[]);
    let report = open_slice(&writer.finish().unwrap()).unwrap();
    assert_eq!(report.summary(), None);
}

/// Cycles of each kind and kernel in each cell, straight from the samples.
#[derive(Clone, Debug, Default)]
struct Cell {
    kinds: BTreeMap<u16, u64>,
    kernels: BTreeMap<u32, u64>,
}

fn cells(report: &ProfileReport, overview: &Overview) -> Vec<Cell> {
    let columns = overview.columns as usize;
    let mut cells = vec![Cell::default(); columns * report.tiles().len()];
    let mut scratch = ChunkScratch::new();
    for index in 0..report.chunks().len() {
        report.decode_chunk(index, &mut scratch).unwrap();
        for span in &scratch.spans {
            for at in span.samples.start as usize..span.samples.end as usize {
                let row = report.step(StepId::new(scratch.step[at])).row;
                let start = i64::try_from(scratch.start[at]).unwrap() - overview.first_cycle;
                let mut start = u64::try_from(start).unwrap();
                let end = start + u64::from(scratch.duration[at]);
                while start < end {
                    let column = start / overview.cell_cycles;
                    let stop = end.min((column + 1) * overview.cell_cycles);
                    let cell = span.tile as usize * columns + usize::try_from(column).unwrap();
                    let cell = &mut cells[cell];
                    *cell.kinds.entry(row.kind.to_wire()).or_default() += stop - start;
                    if row.kind == SampleKind::Compute {
                        *cell.kernels.entry(row.kernel_row + 1).or_default() += stop - start;
                    }
                    start = stop;
                }
            }
        }
    }
    cells
}

#[test]
fn the_overview_of_a_file_is_what_its_samples_cover() {
    let report = synthetic(200_000, 100, 4);
    let overview = report.overview().unwrap();
    assert_eq!(overview.rows, 100);
    assert!((16..=512).contains(&overview.columns));
    let cells = cells(&report, overview);
    for (at, cell) in cells.iter().enumerate() {
        let most = cell.kinds.values().max();
        let kind = cell
            .kinds
            .iter()
            .find(|it| Some(it.1) == most)
            .map_or(255, |it| *it.0);
        assert_eq!(u16::from(overview.kinds[at]), kind, "kind of cell {at}");
        let compute = cell.kinds.get(&1).copied().unwrap_or(0);
        assert_eq!(
            u64::from(overview.busy[at]),
            compute * 255 / overview.cell_cycles
        );
        let majority = cell.kernels.iter().find(|it| 2 * it.1 > compute);
        match majority {
            Some((kernel, _)) => assert_eq!(overview.kernels[at], *kernel, "kernel of cell {at}"),
            None => assert!(
                overview.kernels[at] == 0 || cell.kernels.contains_key(&overview.kernels[at])
            ),
        }
    }
}
