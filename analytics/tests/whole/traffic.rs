//! Exchange ports, worked by hand: where transfers are placed, what they move, who is busiest.

use crate::support::step;
use analytics::clock::ClockKind;
use analytics::format::{ProfileWriter, open_bytes};
use analytics::profile::{
    ActivityKind, ExchangeActivity, ProfileHeader, ProfileReport, SampleKind, StepDescriptor,
};
use analytics::synth::{SynthOptions, generate_bytes};
use analytics::timeline::{DevicePart, pages_needed};
use analytics::traffic::{Exchanges, LanesAsked, Role, lanes, totals, traffic_in};
use analytics::units::{PhysicalTile, RawCounter};

fn activity(kind: ActivityKind, start: u32, end: u32, paired: bool) -> ExchangeActivity {
    ExchangeActivity {
        kind,
        start,
        end,
        fanout: 1,
        paired,
    }
}

/// Tiles 2 and 5 compute until 100 and 120, then exchange until 220 and 200 with a schedule of 50
/// events: events begin at cycle 170.
fn report() -> ProfileReport {
    let mut writer = ProfileWriter::new(&ProfileHeader::default());
    let compute = writer.step(&step(SampleKind::Compute, "k", 0, 0));
    let exchange = writer.step(&StepDescriptor {
        exchange_event_cycles: 50,
        ..step(SampleKind::Exchange, "", 1, 0)
    });
    let send = [
        activity(ActivityKind::Send, 0, 10, false),
        activity(ActivityKind::Send, 20, 30, true),
    ];
    let receive = [
        activity(ActivityKind::Receive, 5, 15, false),
        activity(ActivityKind::PartnerBusy, 20, 30, true),
        activity(ActivityKind::Receive, 25, 45, true),
    ];
    let tiles = [(2, 100, 220, &send[..]), (5, 120, 200, &receive[..])];
    for (tile, until, exit, activities) in tiles {
        let tile = PhysicalTile::new(tile);
        writer.begin_tile(tile);
        writer.sample(
            tile,
            RawCounter::new(0),
            RawCounter::new(until),
            compute,
            &[],
        );
        writer.sample(
            tile,
            RawCounter::new(until),
            RawCounter::new(exit),
            exchange,
            activities,
        );
    }
    open_bytes(writer.finish().expect("it is valid")).expect("it opens")
}

#[test]
fn bytes_are_events_times_four_and_eight_over_a_lent_lane() {
    let report = report();
    let exchanges = Exchanges::find(&report).expect("decodes");
    let found = totals(&report, &exchanges, ClockKind::Shared).expect("decodes");
    let [exchange] = &found.exchanges[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (exchange.first_entry, exchange.start, exchange.end),
        (100, 120, 220)
    );
    assert_eq!(
        (exchange.sent, exchange.received),
        (10 * 4 + 10 * 8, 10 * 4 + 20 * 8)
    );
    assert_eq!(
        (exchange.senders, exchange.receivers, exchange.horizon),
        (1, 1, 50)
    );
    assert_eq!(exchange.hottest, Some((PhysicalTile::new(5), 200)));
    assert_eq!(exchange.bytes_per_cycle(), Some(2.0));
    assert_eq!((found.samples, found.described), (2, 2));
    assert_eq!(found.tiles[0].events, [20, 0, 0]);
    assert_eq!(found.tiles[1].events, [0, 30, 10]);
    assert_eq!(found.tiles[1].bytes, [0, 200, 80]);
}

#[test]
fn transfers_lie_where_the_schedule_ends_with_the_exchange() {
    let report = report();
    let exchanges = Exchanges::find(&report).expect("decodes");
    let asked = LanesAsked {
        clock: ClockKind::Shared,
        cycles: 160..220,
        columns: 6,
        tiles: 0..2,
        rows: 2,
    };
    let found = lanes(&report, &exchanges, &asked).expect("decodes");
    // Events begin at 170; tile 5 leaves at 200, so what is scheduled later is not placed.
    assert_eq!(
        found.roles[Role::Send as usize][..6],
        [0, 255, 0, 255, 0, 0]
    );
    assert_eq!(
        found.roles[Role::Receive as usize][6..],
        [0, 128, 128, 128, 0, 0]
    );
    assert_eq!(
        found.roles[Role::PartnerBusy as usize][6..],
        [0, 0, 0, 255, 0, 0]
    );
    assert_eq!(found.exchange[..6], [255; 6]);
    assert_eq!(found.exchange[6..], [255, 255, 255, 255, 0, 0]);
    assert_eq!(found.tiles[0].cycles, [20, 0, 0]);
    assert_eq!(found.tiles[0].bytes, [120, 0, 0]);
    assert_eq!(found.tiles[1].cycles, [0, 15, 10]);
}

#[test]
fn a_part_counts_as_far_as_it_goes() {
    let report = report();
    let exchanges = Exchanges::find(&report).expect("decodes");
    let asked = LanesAsked {
        clock: ClockKind::Shared,
        cycles: 175..195,
        columns: 4,
        tiles: 0..1,
        rows: 9,
    };
    let found = lanes(&report, &exchanges, &asked).expect("decodes");
    assert_eq!(
        (found.rows, found.tiles.len()),
        (1, 1),
        "rows are no more than tiles"
    );
    assert_eq!(found.tiles[0].cycles, [10, 0, 0]);
    assert_eq!(found.roles[Role::Send as usize], [255, 0, 0, 255]);
}

#[test]
fn the_ports_of_a_part_are_listed_by_landed_bytes() {
    let report = report();
    let exchanges = Exchanges::find(&report).expect("decodes");
    let part = DevicePart::new(&report, ClockKind::Shared, 175..195, &[]);
    let found = traffic_in(&report, &exchanges, &part).expect("decodes");
    let [first, second] = &found.tiles[..] else {
        panic!("{found:?}");
    };
    assert_eq!((first.tile.get(), second.tile.get()), (5, 2));
    // Events 5 to 25 of the schedule: 5 plain ones and 5 over the lent lane are sent.
    assert_eq!((first.cycles, second.cycles), ([0, 10, 5], [10, 0, 0]));
    assert_eq!((first.bytes, second.bytes), ([0, 40, 40], [60, 0, 0]));
    assert_eq!(
        (found.bytes(Role::Send), found.cycles(Role::Receive)),
        (60, 10)
    );
    let apart = [PhysicalTile::new(2)];
    let part = DevicePart::new(&report, ClockKind::Shared, 0..170, &apart);
    let found = traffic_in(&report, &exchanges, &part).expect("decodes");
    assert_eq!(found.tiles, [], "nothing moves before the first event");
}

#[test]
fn a_part_is_answered_from_the_chunks_that_it_touches() {
    let options = SynthOptions {
        samples: 400_000,
        tiles: 130,
        seed: 3,
        activities: true,
    };
    let mut report = open_bytes(generate_bytes(&options).expect("valid")).expect("it opens");
    let exchanges = Exchanges::find(&report).expect("decodes");
    for clock in [ClockKind::Cropped, ClockKind::Tile] {
        let asked = LanesAsked {
            clock,
            cycles: 300_000..420_000,
            columns: 40,
            tiles: 10..70,
            rows: 20,
        };
        let whole = lanes(&report, &exchanges, &asked).expect("decodes");
        assert!(whole.roles[Role::Send as usize].iter().any(|&it| it > 0));
        let mut others = report.chunks().to_vec();
        let forgotten = others.len();
        for chunk in &others {
            report.forget_page(chunk.bytes);
        }
        let needed = pages_needed(&report, clock, asked.cycles.clone(), asked.tiles.clone());
        others.retain(|it| needed.contains(&it.bytes));
        assert!(
            others.len() < forgotten / 3,
            "{} of {forgotten}",
            others.len()
        );
        let bytes = generate_bytes(&options).expect("valid");
        let at = |byte: u64| usize::try_from(byte).expect("small");
        let mut give = |range: analytics::format::ByteRange| {
            let page = bytes[at(range.start)..at(range.end)].to_vec();
            report.supply_page(range, page).expect("its page");
        };
        needed.into_iter().for_each(&mut give);
        let mut part = report.clone();
        assert_eq!(lanes(&part, &exchanges, &asked).expect("decodes"), whole);
        part.forget_page(others[0].bytes);
        assert!(lanes(&part, &exchanges, &asked).is_err(), "it was needed");
        for range in report.pages_missing() {
            let page = bytes[at(range.start)..at(range.end)].to_vec();
            report.supply_page(range, page).expect("its page");
        }
    }
}
