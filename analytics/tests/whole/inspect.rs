//! The file figures of an exchange worked out by hand.

use analytics::format::{ProfileWriter, open_bytes};
use analytics::inspect::inspect;
use analytics::profile::{
    ActivityKind, ExchangeActivity, ProfileHeader, ProfileReport, SampleKind, StepDescriptor,
};
use analytics::report::{inspect_json, inspect_text};
use analytics::units::{PhysicalTile, RawCounter};
use expect_test::expect;

fn exchange(phase: u32, epoch: u32, horizon: u32) -> StepDescriptor {
    StepDescriptor {
        kind: SampleKind::Exchange,
        phase,
        epoch,
        operation: String::new(),
        kernel: String::new(),
        exchange_event_cycles: horizon,
        metadata: Vec::new(),
        estimate: None,
    }
}

/// Phase 7/0: tile 2 runs −20..50 with horizon 40, tile 3 runs 5..55; phase 7/1 has no horizon.
fn report() -> ProfileReport {
    let header = ProfileHeader {
        clock_hz: 1_500_000_000,
        ..ProfileHeader::default()
    };
    let mut writer = ProfileWriter::new(&header);
    let described = writer.step(&exchange(7, 0, 40));
    let unknown = writer.step(&exchange(7, 1, 0));
    let activity = |kind, start, end| ExchangeActivity {
        kind,
        start,
        end,
        fanout: 1,
        paired: false,
    };
    let sends = [
        activity(ActivityKind::Send, 0, 10),
        activity(ActivityKind::Receive, 5, 20),
    ];
    let waits = [activity(ActivityKind::PartnerBusy, 0, 10)];
    let counter = |at: i32| RawCounter::new(1_000u32.wrapping_add_signed(at));
    let mut sample = |tile, step, start, end, activities: &[ExchangeActivity]| {
        writer.sample(
            PhysicalTile::new(tile),
            counter(start),
            counter(end),
            step,
            activities,
        );
    };
    sample(2, described, -20, 50, &sends);
    sample(3, described, 5, 55, &waits);
    sample(2, unknown, 80, 100, &[]);
    open_bytes(writer.finish().expect("writes")).expect("opens")
}

#[test]
fn exchanges_are_measured_from_the_last_entry_and_scheduled_from_the_last_exit() {
    let inspection = inspect(&report()).expect("decodes");
    // The schedule runs 15..55: sends 15..25, receives 20..35; the visits end at 50 and 55.
    expect![[r#"
        clockHz=1500000000
        tiles=2
        samples=3
        exchangeSamples=3
        describedExchangeSamples=2
        sendIntervals=1
        receiveIntervals=1
        partnerBusyIntervals=1
        estimatedSendWorkCycles=10
        estimatedReceiveWorkCycles=15
        estimatedSimultaneousWorkCycles=5
        estimatedPartnerBusyWorkCycles=10
        estimatedExchangeIdleWorkCycles=65
        measuredExchangePhaseCycles=50
        scheduledExchangeEventCycles=40
        exchangeArrivalWaitCycles=25
        exchangePhaseBoundaryCycles=10
    "#]]
    .assert_eq(&inspect_text(&inspection));
}

/// Two tiles wait from 10 and from 30, are released at 60 and leave at 100 and 120.
#[test]
fn a_synchronization_of_the_same_phase_is_the_arrival() {
    let mut writer = ProfileWriter::new(&ProfileHeader::default());
    let wait = writer.step(&StepDescriptor {
        kind: SampleKind::Synchronization,
        ..exchange(7, 0, 0)
    });
    let visit = writer.step(&exchange(7, 0, 40));
    for (tile, arrival, exit) in [(2, 10, 100), (3, 30, 120)] {
        let tile = PhysicalTile::new(tile);
        let counter = RawCounter::new;
        writer.sample(tile, counter(arrival), counter(60), wait, &[]);
        writer.sample(tile, counter(60), counter(exit), visit, &[]);
    }
    let report = open_bytes(writer.finish().expect("writes")).expect("opens");
    let found = inspect(&report).expect("decodes");
    assert_eq!(found.arrival_wait_cycles, 20);
    assert_eq!(found.measured_exchange_cycles, 120 - 30);
    assert_eq!(found.boundary_cycles, 90 - 40);
}

#[test]
fn json_and_text_have_the_same_figures() {
    let inspection = inspect(&report()).expect("decodes");
    let json: serde_json::Value =
        serde_json::from_str(&inspect_json(&inspection)).expect("is JSON");
    for line in inspect_text(&inspection).lines() {
        let (key, value) = line.split_once('=').expect("key=value");
        assert_eq!(json[key].to_string(), value);
    }
    assert_eq!(json.as_object().expect("an object").len(), 19);
}
