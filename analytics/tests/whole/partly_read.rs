//! A file of which only a part is read answers what that part holds exactly, and the rest from what
//! the file says of itself.

use analytics::clock::ClockKind;
use analytics::format::{ByteRange, OpenMode, OpenStep, Opener, open_slice};
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{Filter, GroupBy, GroupKey, Query, query, query_summary};
use analytics::synth::{SynthOptions, generate_bytes};
use analytics::timeline::{
    CellChoice, CellKind, Viewport, chosen_raster, kind_shares, overview_raster, overview_shares,
    pages_needed, raster,
};

fn bytes() -> Vec<u8> {
    generate_bytes(&SynthOptions {
        samples: 1_500_000,
        tiles: 130,
        seed: 4,
        activities: false,
    })
    .unwrap()
}

fn partly_read(bytes: &[u8]) -> ProfileReport {
    let mut opener = Opener::new(bytes.len() as u64, OpenMode::Overview);
    loop {
        match opener.step().unwrap() {
            OpenStep::Ready(report) => return *report,
            OpenStep::Need(ranges) => {
                for range in ranges {
                    opener.supply(range, cut(bytes, range)).unwrap();
                }
            }
        }
    }
}

fn cut(bytes: &[u8], range: ByteRange) -> Vec<u8> {
    let at = |byte: u64| usize::try_from(byte).expect("a file in memory");
    bytes[at(range.start)..at(range.end)].to_vec()
}

fn supply(report: &mut ProfileReport, bytes: &[u8], ranges: &[ByteRange]) {
    for &range in ranges {
        report.supply_page(range, cut(bytes, range)).unwrap();
    }
}

#[test]
fn a_part_is_exact_as_soon_as_its_pages_are_here() {
    let bytes = bytes();
    let whole = open_slice(&bytes).unwrap();
    let mut report = partly_read(&bytes);
    let middle = whole.chunks().iter().map(|it| it.cycles.end).max().unwrap() / 2;
    let part = Viewport {
        clock: ClockKind::Cropped,
        cycles: middle..middle + 4_000,
        columns: 70,
        tiles: 60..70,
        rows: 10,
    };
    assert!(raster(&report, &part).unwrap().from_overview);
    let choice = CellChoice {
        focus: report.kernels().first().copied(),
        efficiency: true,
        ..CellChoice::default()
    };
    let early = chosen_raster(&report, &part, choice).unwrap();
    assert!(early.from_overview && early.focused.is_empty() && early.efficiency.is_empty());
    let needed = pages_needed(&report, part.clock, part.cycles.clone(), part.tiles.clone());
    assert!(
        !needed.is_empty() && needed.len() <= 4,
        "{} pages",
        needed.len()
    );
    supply(&mut report, &bytes, &needed);
    assert_eq!(
        raster(&report, &part).unwrap(),
        raster(&whole, &part).unwrap()
    );
    let (here, all) = report.page_bytes();
    assert_eq!(here, needed.iter().map(|it| it.len()).sum::<u64>());
    assert!(here < all / 10 && report.samples_here() < report.sample_count() / 10);
    report.forget_page(needed[0]);
    assert!(raster(&report, &part).unwrap().from_overview);
    assert_eq!(
        report.pages_missing().len(),
        whole.chunks().len() - needed.len() + 1
    );
}

#[test]
fn sums_of_the_file_are_those_of_its_samples() {
    let bytes = bytes();
    let (report, whole) = (partly_read(&bytes), open_slice(&bytes).unwrap());
    let rows = query(&whole, &Query::default()).unwrap();
    let row = rows.groups.iter().find_map(|it| match &it.key {
        GroupKey::Kernel(kernel) if !kernel.is_empty() => Some(kernel.clone()),
        _ => None,
    });
    let one = row.expect("something has a name");
    for (kind, kernel) in [
        (SampleKind::Compute, None),
        (SampleKind::Exchange, None),
        (SampleKind::Idle, None),
        (SampleKind::Compute, Some(one)),
    ] {
        let asked = Query {
            filter: Filter {
                kind: Some(kind),
                kernel,
                ..Filter::default()
            },
            limit: 0,
            ..Query::default()
        };
        let (told, exact) = (
            query_summary(&report, &asked).unwrap(),
            query(&whole, &asked).unwrap(),
        );
        assert_eq!(told.span, exact.span);
        assert_eq!(told.warnings, exact.warnings);
        assert_eq!(told.totals.work_cycles, exact.totals.work_cycles);
        assert_eq!(told.totals.useful(), exact.totals.useful());
        assert_eq!(told.groups.len(), exact.groups.len());
        for exact in &exact.groups {
            // The order may need figures that the summary lacks.
            let told = told.groups.iter().find(|it| it.key == exact.key).unwrap();
            let (a, b) = (&told.measures, &exact.measures);
            assert_eq!(told.name, exact.name);
            assert_eq!(
                (a.sample_count, a.p50, a.p95),
                (b.sample_count, b.p50, b.p95)
            );
            assert_eq!(
                (a.device_useful(), a.coverage()),
                (b.device_useful(), b.coverage())
            );
        }
    }
}

#[test]
fn what_a_summary_cannot_answer_is_not_answered() {
    let report = partly_read(&bytes());
    let compute = Filter {
        kind: Some(SampleKind::Compute),
        ..Filter::default()
    };
    let asked = Query {
        filter: compute.clone(),
        ..Query::default()
    };
    let by_tile = Query {
        group_by: GroupBy::Tile,
        ..asked.clone()
    };
    let shared = Query {
        clock: ClockKind::Shared,
        ..asked.clone()
    };
    let longest = Query {
        samples: 1,
        ..asked.clone()
    };
    let of_operation = Query {
        filter: Filter {
            operation_contains: Some("a".to_owned()),
            ..compute
        },
        ..asked.clone()
    };
    assert!(query_summary(&report, &asked).is_some());
    for asked in [Query::default(), by_tile, shared, longest, of_operation] {
        assert!(query_summary(&report, &asked).is_none(), "{asked:?}");
    }
}

#[test]
fn an_overview_shows_nearly_what_samples_show() {
    let bytes = bytes();
    let (report, whole) = (partly_read(&bytes), open_slice(&bytes).unwrap());
    let told = {
        let span = kind_shares(&whole, ClockKind::Cropped, 1).unwrap().span;
        overview_shares(&report, ClockKind::Cropped, span, 40).unwrap()
    };
    let exact = kind_shares(&whole, ClockKind::Cropped, 40).unwrap();
    let compute = CellKind::Compute as usize;
    for (told, exact) in told.shares.chunks(5).zip(exact.shares.chunks(5)) {
        // Compute is known to a cell of the overview, which the edges of a column cut.
        let apart = told[compute].abs_diff(exact[compute]);
        assert!(apart < u16::MAX / 16, "{told:?} for {exact:?}");
    }
    let view = Viewport {
        clock: ClockKind::Cropped,
        cycles: 0..exact.span,
        columns: 300,
        tiles: 0..130,
        rows: 50,
    };
    let (told, exact) = (
        overview_raster(&report, &view).unwrap(),
        raster(&whole, &view).unwrap(),
    );
    let same = told.kinds.iter().zip(&exact.kinds).filter(|(a, b)| a == b);
    let (same, all) = (same.count(), exact.kinds.len());
    assert!(
        same * 10 > all * 6,
        "{same} of {all} cells have the kind of their samples"
    );
}
