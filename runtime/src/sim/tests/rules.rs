//! Every rule of the machine by name: something that breaks it and nothing else, and the typed
//! fault that it gets.
//!
//! Most are the four-tile block with one more exchange, the probe, at phase 5.

use analytics::units::TileId;
use expect_test::expect;

use super::block::{LEFT, OUT, RIGHT, SCRATCH, add_exchange, add_row, package, send_word};
use crate::exchange::tests::assembler::{
    NEUTRAL, RETURN, Register, SYNC_INTERNAL, Write, delay, delay_control, send, send_off,
    send_pair,
};
use crate::exchange::tests::scene::Scene;
use crate::fault::{FaultRule, Faults};
use crate::package::{
    Allocation, MemoryClass, MemoryRange, Package, RowPatch, ScheduleItem, SourceStep,
};
use crate::sim::{RunError, RunOptions, run};

const FROM: u32 = 0x6_0000;
const TO: u32 = 0xB_0000;

/// The faults of the block after a change.
fn changed(change: impl FnOnce(&mut Package)) -> Faults {
    let mut package = package();
    change(&mut package);
    match run(&package, &RunOptions::default(), &mut |_| ()) {
        Err(RunError::Faults(faults)) => faults,
        other => panic!("the program breaks a rule, not {other:?}"),
    }
}

fn schedule_probe(package: &mut Package) {
    let exchange = u32::try_from(package.exchanges.len() - 1).unwrap();
    package.schedule.push(ScheduleItem::Exchange(exchange));
}

/// The faults of a probe; it is legal before it is broken.
fn probe(build: fn(&mut Scene), breaking: fn(&mut Scene)) -> Faults {
    let mut sound = package();
    add_exchange(&mut sound, "probe", build);
    schedule_probe(&mut sound);
    run(&sound, &RunOptions::default(), &mut |_| ()).expect("legal before it is broken");
    changed(|package| {
        add_exchange(package, "probe", |scene| {
            build(scene);
            breaking(scene);
        });
        schedule_probe(package);
    })
}

/// The faults of a probe in which tile 3 runs a row of these words.
fn words(words: &[u32]) -> Faults {
    changed(|package| {
        add_exchange(package, "probe", |scene| scene.script(0).horizon = 6);
        add_row(package, 3, words);
        schedule_probe(package);
    })
}

/// 40 words from tile 0 to tile 2.
fn one(scene: &mut Scene) {
    scene.transfer(0, 100, 40, FROM, &[(2, TO)]);
}

/// 64 items of 64 bits from tile 0 to tiles 2 and 3.
fn pair(scene: &mut Scene) {
    scene.paired(0, 40, 128, FROM, &[(2, TO), (3, TO)]);
}

fn nothing(scene: &mut Scene) {
    scene.script(1).horizon = 6;
}

fn format_write(event: u32, value: u32) -> Write {
    Write {
        event,
        register: Register::Format,
        value,
    }
}

/// The faults that stand for a rule.
fn broken(rule: FaultRule) -> Faults {
    let case = of_words(rule)
        .or_else(|| of_messages(rule))
        .or_else(|| of_rows(rule))
        .or_else(|| of_programs(rule));
    case.unwrap_or_else(|| panic!("{rule} has no case here that breaks it"))
}

/// Rules about the words of one row.
fn of_words(rule: FaultRule) -> Option<Faults> {
    use FaultRule as R;
    Some(match rule {
        R::UnknownInstruction => words(&[delay(5), 0, RETURN]),
        R::RowAlignment => changed(|p| p.tiles[3].rows[0].address += 4),
        R::RowRegion => words(&[delay(3)]),
        R::PairAlignment => {
            let [first, second] =
                send_pair(4, 0, 0, (Register::Pointer, 0), (Register::Mux, NEUTRAL));
            words(&[delay(2), first, second, RETURN])
        }
        R::RowLength => {
            let long = std::iter::repeat_n(delay(0x8_0000), 4100);
            words(&long.chain([RETURN]).collect::<Vec<_>>())
        }
        R::UnexpectedSync => words(&[delay(9), SYNC_INTERNAL, RETURN]),
        // The other row of the exchange leaves the barrier to its supervisor.
        R::BarrierMismatch => words(&[SYNC_INTERNAL, delay(6), RETURN]),
        R::SendControl => words(&[send(64, FROM / 4, 1), send_off(6, 3), RETURN]),
        R::ContinuationWithoutStream => {
            words(&[send(3, FROM / 4, 1), delay(1), send_off(3, 1), RETURN])
        }
        R::SendOffset => words(&[send(3, FROM / 4, 1), send_off(3, 1) | 1 << 3, RETURN]),
        R::AddressAlignment => probe(pair, |s| s.set(3, Register::Pointer, 0, TO / 4 + 1)),
        R::AddressRange => probe(one, |s| s.set(2, Register::Pointer, 0, 0xE_7F80 / 4)),
        // PUT INCOMING_BASE from m0, which the row has not set.
        R::BaseSwitch => words(&[0x4300_80A4, RETURN]),
        R::PairedControlMerged => {
            let [first, second] =
                send_pair(4, 0, 0, (Register::Format, 0), (Register::Mux, NEUTRAL));
            words(&[first, second, RETURN])
        }
        R::UnknownSource => words(&[delay_control(4, Register::Mux, 0x5C0), RETURN]),
        _ => return None,
    })
}

/// Rules about how a message comes to its receivers.
fn of_messages(rule: FaultRule) -> Option<Faults> {
    use FaultRule as R;
    Some(match rule {
        R::UntestedOnHardware => probe(one, |s| {
            // Tile 0 writes its pointer as its message starts.
            s.script(0).writes.push(Write {
                event: 100,
                register: Register::Pointer,
                value: 0,
            });
        }),
        R::LaneConflict => probe(pair, |s| s.transfer(1, 60, 4, FROM, &[(0, TO)])),
        R::MissingDirection => probe(one, |s| s.script(0).sent[0].control ^= 3),
        R::SilentSource => probe(one, |s| s.set(2, Register::Mux, 0, 2)),
        R::MuxWindow => probe(one, |s| s.shift(2, Register::Mux, 0, 1)),
        R::MuxOverlap => probe(
            |s| {
                pair(s);
                s.transfer(1, 400, 40, FROM, &[(2, TO + 0x8000)]);
            },
            // The last select stays open while the ordinary message passes.
            |s| s.shift(2, Register::MuxPair, 1, 345),
        ),
        R::PairedReceivers => probe(pair, |s| drop(s.scripts.remove(&3))),
        R::PointerMissing => probe(one, |s| s.remove(2, Register::Pointer, 0)),
        R::PointerMidPayload => probe(one, |s| s.shift(2, Register::Pointer, 0, 1)),
        R::LandingOverlap => landing_overlap(),
        R::FormatMismatch => probe(pair, |s| s.shift(3, Register::Format, 0, 1)),
        R::FormatHeld => probe(pair, |s| s.shift(3, Register::Format, 1, 1)),
        _ => return None,
    })
}

/// Rules about a row as a whole and about deliveries.
fn of_rows(rule: FaultRule) -> Option<Faults> {
    use FaultRule as R;
    Some(match rule {
        R::MuxNotNeutral => probe(one, |s| s.remove(2, Register::Mux, 1)),
        R::FormatNotZero => probe(nothing, |s| {
            s.script(1).writes.push(format_write(3, 1));
        }),
        R::RowEndsEarly => probe(one, |s| s.script(2).horizon -= 1),
        R::ElementConflict => probe(
            |s| {
                one(s);
                s.transfer(2, 130, 20, TO + 0x8000, &[(3, TO)]);
            },
            |s| s.script(2).sent[0].address = (TO + 0x400) / 4,
        ),
        R::RowElementConflict => probe(one, |s| s.set(2, Register::Pointer, 0, 0x5_3000 / 4)),
        R::Loopback => probe(nothing, |s| s.transfer(0, 100, 40, FROM, &[(0, TO)])),
        R::DeliveryMismatch => probe(one, |s| s.deliveries[0].destinations[0].1 += 4),
        R::DeliveryOrder => probe(
            |s| {
                one(s);
                s.transfer(2, 400, 40, TO, &[(3, TO)]);
            },
            |s| s.deliveries.reverse(),
        ),
        R::HorizonMismatch => changed(|p| p.exchanges[2].event_cycles += 1),
        _ => return None,
    })
}

/// Rules about a program's memory and its kernels.
fn of_programs(rule: FaultRule) -> Option<Faults> {
    use FaultRule as R;
    Some(match rule {
        R::OutsideBuffer => changed(|package| {
            package.allocations = buffers();
            // It is live no longer when the second part of the product lands.
            package.allocations.last_mut().unwrap().last = 3;
        }),
        R::UninitialisedRead => changed(|p| p.bindings[3].address = SCRATCH),
        R::OperandAlignment => changed(|p| p.tiles[2].calls[0].operands[1] += 16),
        R::OperandRange => changed(|p| {
            // The operand ends inside SRAM, what is read past it does not.
            p.tiles[2].calls[0].operands[1] = 0xE_7FC0;
        }),
        R::OperandRegion => changed(|p| p.tiles[2].calls[0].operands[2] = 0x6_0000),
        R::OperandElement => changed(|p| p.tiles[1].calls[1].operands[0] = LEFT + 0x400),
        R::OperandOverlap => changed(|p| p.tiles[1].calls[1].operands[0] = RIGHT + 0x40),
        R::CodeOverwrite => changed(|p| p.tiles[1].calls[0].operands[0] = 0x5_0000),
        _ => return None,
    })
}

fn buffer(tile: u16, address: u32, first: u32, last: u32) -> Allocation {
    Allocation {
        tile: TileId::new(tile),
        range: MemoryRange {
            address,
            bytes: 0x1000,
        },
        class: MemoryClass::Interleaved,
        label: "buffer".to_owned(),
        first,
        last,
    }
}

/// Buffers that all words of the block lie in, live as long as that is so.
fn buffers() -> Vec<Allocation> {
    vec![
        buffer(0, LEFT, 0, 0),
        buffer(1, LEFT, 0, 2),
        buffer(1, OUT, 2, 3),
        buffer(2, LEFT, 0, 2),
        buffer(2, OUT, 2, 4),
        buffer(3, OUT, 3, 4),
    ]
}

/// A word lands along with the last 64-bit item before it.
fn landing_overlap() -> Faults {
    probe(pair, |scene| {
        let route = |s, d| scene.topology.route(TileId::new(s), TileId::new(d)).mux;
        // Ordinary words are selected one event later than 64-bit items that land with them. Tile 2
        // selects for both, so that tile 3 is free to select.
        let select = 40 + route(0, 2).max(route(0, 3)) + 64;
        let start = u32::try_from(select - 1 - route(2, 3)).unwrap();
        scene.transfer(2, start, 8, FROM, &[(3, TO + 0x8000)]);
    })
}

/// What cannot but break along with a rule.
fn companion(rule: FaultRule) -> Option<FaultRule> {
    // The second landing has a pointer of its own, written while the first lands.
    (rule == FaultRule::LandingOverlap).then_some(FaultRule::PointerMidPayload)
}

#[test]
fn each_rule_is_broken_alone_and_told_with_its_place() {
    let mut found = String::new();
    for &rule in FaultRule::ALL {
        println!("{rule}");
        let faults = broken(rule);
        assert_eq!(faults.first().rule, rule, "{faults}");
        let mut further = faults.iter().map(|fault| fault.rule);
        assert!(
            further.all(|found| found == rule || Some(found) == companion(rule)),
            "{rule:?} stands alone: {faults}"
        );
        let fault = faults.first().to_string();
        let place = fault.split(": ").take(2).collect::<Vec<_>>().join(": ");
        found.push_str(&place);
        if faults.total() > 1 {
            found.push_str(&format!(" and {} more", faults.total() - 1));
        }
        found.push('\n');
    }
    expect![[r#"
        unknown-instruction: tile 3, phase 5, event 5, address 0x50c04
        row-alignment: tile 3, phase 3, event 0, address 0x50404
        row-region: tile 3, phase 5, event 3, address 0x50c04
        pair-alignment: tile 3, phase 5, event 2, address 0x50c04
        row-length: tile 3, phase 5, event 2146959360, address 0x54bfc
        unexpected-sync: tile 3, phase 5, event 9, address 0x50c04
        barrier-mismatch: tile 3, phase 5, event 0, address 0x50c00
        send-control: tile 3, phase 5, event 64, address 0x50c04
        continuation-without-stream: tile 3, phase 5, event 4, address 0x50c08
        send-offset: tile 3, phase 5, event 3, address 0x50c04
        address-alignment: tile 3, phase 5, event 65, address 0xb0004
        address-range: tile 2, phase 5, event 124, address 0xe7f80
        base-switch: tile 3, phase 5, event 0, address 0x50c00
        paired-control-merged: tile 3, phase 5, event 0, address 0x50c00
        untested-on-hardware: tile 0, phase 5, event 100
        lane-conflict: tile 0, phase 5, event 40, address 0x60000
        missing-direction: tile 2, phase 5, event 70
        silent-source: tile 2, phase 5, event 70
        unknown-source: tile 3, phase 5, event 4, address 0x50c00
        mux-window: tile 2, phase 5, event 71
        mux-overlap: tile 2, phase 5, event 370
        paired-receivers: tile 3, phase 5, event 65
        pointer-missing: tile 2, phase 5, event 124
        pointer-mid-payload: tile 2, phase 5, event 125
        landing-overlap: tile 3, phase 5, event 128 and 1 more
        format-mismatch: tile 3, phase 5, event 65
        format-held: tile 3, phase 5, event 128
        mux-not-neutral: tile 2, phase 5, event 70
        format-not-zero: tile 1, phase 5, event 3
        row-ends-early: tile 2, phase 5, event 168
        element-conflict: tile 2, phase 5, event 130, address 0xb0000
        row-element-conflict: tile 2, phase 5, event 124, address 0x53000
        loopback: tile 0, phase 5, event 100, address 0x60000
        delivery-mismatch: tile 2, phase 5, address 0xb0000
        delivery-order: tile 2, phase 5, address 0xb0000
        outside-buffer: tile 3, phase 4, event 87, address 0x80040
        uninitialised-read: tile 3, address 0xa0000
        operand-alignment: tile 2, phase 2, address 0x88010
        operand-range: tile 2, phase 2, address 0xe7fc0
        operand-region: tile 2, phase 2, address 0x60000
        operand-element: tile 1, phase 2, address 0x88400
        operand-overlap: tile 1, phase 2, address 0x90040
        code-overwrite: tile 1, phase 1, address 0x50000
        horizon-mismatch: tile 3, phase 4, event 108
    "#]]
    .assert_eq(&found);
}

/// Rule and place of the first fault.
fn told(faults: &Faults) -> String {
    let fault = faults.first().to_string();
    fault.split(": ").take(2).collect::<Vec<_>>().join(": ")
}

#[test]
fn words_outside_declared_buffers_are_told_for_sources_and_for_tiles_without_any() {
    let mut sound = package();
    sound.allocations = buffers();
    run(&sound, &RunOptions::default(), &mut |_| ()).expect("every word has its buffer");
    let declared = |change: fn(&mut Vec<Allocation>)| {
        told(&changed(|package| {
            package.allocations = buffers();
            change(&mut package.allocations);
        }))
    };
    // The source of the first exchange begins before its buffer.
    let source = declared(|buffers| buffers[0].range.address += 8);
    assert_eq!(
        source,
        "outside-buffer: tile 0, phase 0, event 60, address 0x88000"
    );
    let source = declared(|buffers| buffers[2].last = 2);
    assert_eq!(
        source,
        "outside-buffer: tile 1, phase 3, event 60, address 0x80000"
    );
    let bare = declared(|buffers| buffers.retain(|it| it.tile.get() != 3));
    assert_eq!(
        bare,
        "outside-buffer: tile 3, phase 3, event 85, address 0x80000"
    );
}

#[test]
fn a_kernel_that_reads_a_row_written_in_part_is_told() {
    // The host leaves out the last eight of 16 inner lanes.
    let faults = changed(|package| package.patterns[0].loops[1].count = 8);
    let expected = "uninitialised-read: tile 1, phase 2, address 0x88010";
    assert_eq!(told(&faults), expected, "{faults}");
    assert_eq!(faults.total(), 2, "tiles 1 and 2 multiply it: {faults}");
}

#[test]
fn receivers_of_a_delivery_are_distinct_and_at_least_one() {
    let faults = changed(|package| {
        let receivers = &mut package.exchanges[0].deliveries[0].destinations;
        receivers.push(receivers[0]);
    });
    let expected = "delivery-mismatch: tile 1, phase 0, address 0x88000";
    assert_eq!(told(&faults), expected, "{faults}");
    let mut nowhere = package();
    nowhere.exchanges[0].deliveries[0].destinations.clear();
    let error = run(&nowhere, &RunOptions::default(), &mut |_| ()).expect_err("no receiver");
    assert!(matches!(error, RunError::Package(_)), "{error}");
    assert!(error.to_string().contains("to 0 tiles"), "{error}");
}

/// Tile 2 sends 20 words while 40 land on it, in a Repeat of two iterations.
fn moving() -> Package {
    let mut package = package();
    add_exchange(&mut package, "probe", |scene| {
        one(scene);
        scene.transfer(2, 130, 20, TO + 0x8000, &[(3, TO)]);
    });
    schedule_probe(&mut package);
    let body = package.schedule.split_off(5);
    package
        .schedule
        .push(ScheduleItem::Repeat { count: 2, body });
    package
}

#[test]
fn elements_are_compared_where_an_iteration_has_moved_its_source_to() {
    run(&moving(), &RunOptions::default(), &mut |_| ()).expect("nothing moves");
    // From one iteration to the next the source goes from the element above the landing into its
    // own, behind what lands; the declared delivery goes with it.
    let step = -0x7000_i32;
    let mut package = moving();
    let segment = package.tiles[2].segments.len() - 1;
    let address = send_word(&package, 2, segment);
    package.tiles[2].row_patches.push(RowPatch {
        address,
        exchange: 3,
        step: ((step / 4) << 3).cast_unsigned(),
    });
    package.exchanges[3].source_steps.push(SourceStep {
        delivery: 1,
        bytes: step,
    });
    let error = run(&package, &RunOptions::default(), &mut |_| ()).expect_err("a rule is broken");
    let RunError::Faults(faults) = error else {
        panic!("{error}");
    };
    let expected = "element-conflict: tile 2, phase 5, event 130, address 0xb0000";
    assert_eq!(told(&faults), expected, "{faults}");
    assert_eq!(faults.total(), 1, "{faults}");
    // Once around, the same program is sound.
    let ScheduleItem::Repeat { count, .. } = &mut package.schedule[5] else {
        panic!("the probe is in the Repeat");
    };
    *count = 1;
    run(&package, &RunOptions::default(), &mut |_| ()).expect("the first iteration is legal");
}
