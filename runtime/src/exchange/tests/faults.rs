//! For each rule of the exchange a phase that is legal but for that rule.

use analytics::units::TileId;

use super::assembler::{
    NEUTRAL, RETURN, Register, SYNC_INTERNAL, delay, delay_control, send, send_control, send_off,
    send_pair,
};
use super::scene::{ROW, Scene, load};
use crate::exchange::{PhaseContext, TimedRow, Untested, decode_row, resolve};
use crate::fault::{Fault, FaultRule};
use crate::machine::memory::TileMemory;
use crate::package::model::Address;

const SETZI_M0: u32 = 0x1900_0000;
const PUT_INCOMING_M0: u32 = 0x4300_80A4;
const PUT_OUTGOING_M0: u32 = 0x4300_80A7;

fn decode_at(address: Address, words: &[u32], bases: (u32, u32)) -> Result<TimedRow, Fault> {
    let mut memory = TileMemory::new();
    load(&mut memory, address, words);
    decode_row(TileId::new(3), &memory, address, bases.0, bases.1)
}

/// The rule that a row of these words breaks, with the event and the word it is at.
fn row_fault(words: &[u32]) -> (FaultRule, u32, u32) {
    let fault = decode_at(ROW, words, (0, 0x6_0000)).expect_err("the row breaks a rule");
    assert_eq!(fault.tile.get(), 3);
    let address = fault.address.expect("faults of a row name the word");
    (
        fault.rule,
        fault.event.expect("and the event"),
        (address - ROW) / 4,
    )
}

#[test]
fn rows_must_be_made_of_exchange_instructions() {
    let d = delay(5);
    assert_eq!(
        row_fault(&[d, 0, RETURN]),
        (FaultRule::UnknownInstruction, 5, 1)
    );
    // ld32: an instruction, but of no row.
    assert_eq!(
        row_fault(&[d, 0x01B8_F001, RETURN]),
        (FaultRule::UnknownInstruction, 5, 1)
    );
    // put DCOUNT.
    assert_eq!(
        row_fault(&[0x4380_80A6, RETURN]),
        (FaultRule::UnknownInstruction, 0, 0)
    );
}

#[test]
fn rows_must_be_aligned_loaded_executable_and_end() {
    let fault =
        |address, words: &[u32]| decode_at(address, words, (0, 0)).expect_err("refused").rule;
    assert_eq!(fault(ROW + 4, &[RETURN]), FaultRule::RowAlignment);
    assert_eq!(fault(0x8_0000, &[RETURN]), FaultRule::RowRegion);
    assert_eq!(fault(ROW, &[delay(3)]), FaultRule::RowRegion);
    assert_eq!(fault(0x7_FFF8, &[delay(3), delay(3)]), FaultRule::RowRegion);
    let memory = TileMemory::new();
    for address in [0, 0x4_BFF8, 0xE_8000, u32::MAX - 7] {
        let refused = decode_row(TileId::new(0), &memory, address, 0, 0).expect_err("refused");
        assert_eq!(refused.rule, FaultRule::RowRegion, "{address:#x}");
    }
    // A pair whose second word was never loaded.
    assert_eq!(
        fault(
            ROW,
            &[send_pair(1, 0, 0, (Register::Pointer, 0), (Register::Mux, 0))[0]]
        ),
        FaultRule::RowRegion
    );
}

#[test]
fn two_word_sends_must_be_aligned() {
    let [first, second] = send_pair(4, 0, 0, (Register::Pointer, 0), (Register::Mux, NEUTRAL));
    assert_eq!(
        row_fault(&[delay(2), first, second, RETURN]),
        (FaultRule::PairAlignment, 2, 1)
    );
    let row = decode_at(ROW, &[delay(2), delay(1), first, second, RETURN], (0, 0)).expect("legal");
    assert_eq!(row.horizon, 7);
}

#[test]
fn rows_synchronise_only_at_their_entry() {
    let row = decode_at(ROW, &[SYNC_INTERNAL, delay(2), RETURN], (0, 0)).expect("legal");
    assert!(row.entry_sync);
    let again = [SYNC_INTERNAL, SYNC_INTERNAL, RETURN];
    assert_eq!(row_fault(&again), (FaultRule::UnexpectedSync, 0, 1));
    assert_eq!(
        row_fault(&[delay(9), SYNC_INTERNAL, RETURN]),
        (FaultRule::UnexpectedSync, 9, 1)
    );
    // SYNC 2 and SANS 0.
    assert_eq!(
        row_fault(&[0x4180_0002, RETURN]),
        (FaultRule::UnexpectedSync, 0, 0)
    );
    assert_eq!(
        row_fault(&[0x40C0_0000, RETURN]),
        (FaultRule::UnexpectedSync, 0, 0)
    );
}

#[test]
fn sends_name_a_direction_and_keep_it() {
    for control in [0, 4] {
        assert_eq!(
            row_fault(&[send(1, 0, control), RETURN]),
            (FaultRule::SendControl, 0, 0)
        );
    }
    let changed = [send(64, 0, 1), send_off(6, 3), RETURN];
    assert_eq!(row_fault(&changed), (FaultRule::SendControl, 64, 1));
    let [first, second] = send_pair(4, 0, 4, (Register::Pointer, 0), (Register::Mux, NEUTRAL));
    assert_eq!(
        row_fault(&[first, second, RETURN]).0,
        FaultRule::SendControl
    );
}

#[test]
fn continuations_follow_a_send_without_a_gap_or_an_offset() {
    let rule = FaultRule::ContinuationWithoutStream;
    assert_eq!(row_fault(&[send_off(3, 1), RETURN]), (rule, 0, 0));
    assert_eq!(
        row_fault(&[send_control(3, Register::Pointer, 0), RETURN]),
        (rule, 0, 0)
    );
    let paused = [send(3, 0, 1), delay(1), send_off(3, 1), RETURN];
    assert_eq!(row_fault(&paused), (rule, 4, 2));
    let moved = [send(3, 0, 1), send_off(3, 1) | 1 << 3, RETURN];
    assert_eq!(row_fault(&moved), (FaultRule::SendOffset, 3, 1));
}

#[test]
fn sends_stay_in_sram_and_aligned() {
    let fault = |words: &[u32], base| decode_at(ROW, words, (0, base)).expect_err("refused").rule;
    assert_eq!(
        fault(&[send(2, 0, 1), RETURN], 0xE_7FFC),
        FaultRule::AddressRange
    );
    assert_eq!(
        fault(&[send(2, 0, 1), RETURN], 0x4_BFFC),
        FaultRule::AddressRange
    );
    assert_eq!(
        fault(&[send(1, 0, 1), send_off(4096, 1), RETURN], 0xE_7000),
        FaultRule::AddressRange
    );
    assert_eq!(
        fault(&[send(1, 0x3_FFFF, 7), RETURN], 0xFFFF_FFF8),
        FaultRule::AddressRange
    );
    assert_eq!(
        fault(&[send(2, 0, 5), RETURN], 0x6_0004),
        FaultRule::AddressAlignment
    );
    assert_eq!(fault(&[RETURN], 0x6_0002), FaultRule::AddressAlignment);
}

#[test]
fn controls_hold_known_values_and_merge_only_as_pointer_and_source() {
    let unknown = [delay_control(4, Register::Mux, 0x5C0), RETURN];
    assert_eq!(row_fault(&unknown).0, FaultRule::UnknownSource);
    let host = [delay_control(4, Register::MuxPair, 0x604), RETURN];
    assert_eq!(row_fault(&host).0, FaultRule::UnknownSource);
    let spare = [delay_control(4, Register::Format, 3), RETURN];
    assert_eq!(row_fault(&spare).0, FaultRule::FormatMismatch);
    for (pic, xpic) in [
        (Register::Format, Register::Mux),
        (Register::Pointer, Register::MuxPair),
        (Register::Format, Register::MuxPair),
    ] {
        let [first, second] = send_pair(4, 0, 0, (pic, 0), (xpic, NEUTRAL));
        let found = row_fault(&[first, second, RETURN]);
        assert_eq!(
            found,
            (FaultRule::PairedControlMerged, 0, 0),
            "{pic:?} {xpic:?}"
        );
    }
}

#[test]
fn rows_end_before_the_clock_does() {
    let words: Vec<_> = (0..5000).map(|_| delay(0x8_0000)).chain([RETURN]).collect();
    assert_eq!(row_fault(&words).0, FaultRule::RowLength);
}

#[test]
fn base_switches_take_their_events_and_need_a_known_register() {
    let words = [SETZI_M0 | 0x6_0000, PUT_OUTGOING_M0, send(2, 0, 1), RETURN];
    let row = decode_at(ROW, &words, (0, 0)).expect("legal");
    assert_eq!(
        (row.messages[0].event, row.messages[0].address, row.horizon),
        (14, 0x6_0000, 16)
    );
    let zero = [PUT_INCOMING_M0 | 15 << 20, RETURN];
    assert_eq!(
        decode_at(ROW, &zero, (0x9_0000, 0))
            .expect("legal")
            .base_switches[0]
            .base,
        0
    );
    assert_eq!(
        row_fault(&[PUT_INCOMING_M0, RETURN]).0,
        FaultRule::BaseSwitch
    );
    let odd = [SETZI_M0 | 0x6_0001, PUT_INCOMING_M0, RETURN];
    assert_eq!(row_fault(&odd).0, FaultRule::AddressAlignment);
}

/// One transfer of 40 words from tile 0 to tile 2, from event 100; tile 4 idles with a row.
fn one() -> Scene {
    let mut scene = Scene::new(8);
    scene.transfer(0, 100, 40, 0x6_0000, &[(2, 0x9_0000)]);
    scene.script(4).horizon = 20;
    scene
}

/// A paired transfer of 64 items from tile 0 to tiles 2 and 3, from event 31.
fn pair() -> Scene {
    let mut scene = Scene::new(8);
    scene.paired(0, 31, 128, 0x5_0000, &[(2, 0x6_0000), (3, 0x7_0000)]);
    scene
}

/// Breaks the scene and expects the rule on the tile.
#[track_caller]
fn refused(
    mut scene: Scene,
    rule: FaultRule,
    tile: u16,
    breaking: impl FnOnce(&mut Scene),
) -> Fault {
    scene.run().map(|_| ()).expect("legal before it is broken");
    breaking(&mut scene);
    let fault = scene.run().map(|_| ()).expect_err("a rule is broken");
    assert_eq!((fault.rule, fault.tile.get()), (rule, tile), "{fault}");
    fault
}

#[test]
fn controls_at_the_first_events_of_a_send_are_refused_unless_allowed() {
    let breaking = |scene: &mut Scene| {
        scene.transfer(4, 400, 20, 0x6_0000, &[(6, 0x9_0000)]);
        let mux = scene.topology.route(TileId::new(6), TileId::new(4)).mux;
        // Tile 4 selects tile 6 at the event at which it starts to send.
        let start = u32::try_from(400 - mux - 1).expect("positive");
        scene.transfer(6, start, 20, 0x6_0000, &[(4, 0x9_0000)]);
    };
    let fault = refused(one(), FaultRule::UntestedOnHardware, 4, breaking);
    assert_eq!((fault.event, fault.phase), (Some(400), Some(9)));
    let mut allowed = one();
    breaking(&mut allowed);
    allowed.context.untested = Untested::Allow;
    allowed
        .run()
        .map(|_| ())
        .expect("executed as the encodings say");
}

#[test]
fn rows_join_their_barrier_in_one_form() {
    let mut scene = one();
    scene.transfer(0, 200, 20, 0x6_1000, &[(4, 0x9_0000)]);
    let words = scene.words();
    let rows = scene
        .rows(&words, &scene.memories(&words))
        .expect("decodes");
    let joined = |tiles: &[usize]| {
        let mut rows = rows.clone();
        for &tile in tiles {
            rows[tile].as_mut().expect("a row").entry_sync = true;
        }
        let faults = resolve(scene.context, &rows, &scene.topology).err()?;
        let found = faults.iter().map(|it| (it.rule, it.tile.get()));
        Some(found.collect::<Vec<_>>())
    };
    let rule = FaultRule::BarrierMismatch;
    assert_eq!(joined(&[]), None);
    assert_eq!(joined(&[0, 2, 4]), None);
    // The fewer rows are at fault.
    assert_eq!(joined(&[2]), Some(vec![(rule, 2)]));
    assert_eq!(joined(&[0, 4]), Some(vec![(rule, 2)]));
}

#[test]
fn a_lent_lane_is_not_used() {
    refused(pair(), FaultRule::LaneConflict, 0, |scene| {
        scene.transfer(1, 60, 4, 0x6_0000, &[(4, 0x9_0000)]);
    });
}

#[test]
fn a_send_names_the_direction_of_its_receivers() {
    refused(one(), FaultRule::MissingDirection, 2, |scene| {
        scene.script(0).sent[0].control ^= 3
    });
    refused(pair(), FaultRule::MissingDirection, 2, |scene| {
        scene.script(0).sent[0].control ^= 3
    });
}

#[test]
fn a_selected_source_sends() {
    refused(one(), FaultRule::SilentSource, 2, |scene| {
        scene.set(2, Register::Mux, 0, 2)
    });
    let idle = |scene: &mut Scene| {
        let physical = scene.topology.physical(TileId::new(4)).get();
        scene.set(2, Register::Mux, 0, physical);
    };
    refused(one(), FaultRule::SilentSource, 2, idle);
}

#[test]
fn a_selected_source_is_in_the_program() {
    let far = |scene: &mut Scene| scene.set(2, Register::Mux, 0, 1400);
    refused(one(), FaultRule::UnknownSource, 2, far);
}

#[test]
fn a_message_is_selected_as_a_whole() {
    let rule = FaultRule::MuxWindow;
    let fault = refused(one(), rule, 2, |scene| scene.shift(2, Register::Mux, 0, 1));
    assert!(fault.detail.contains("40 items leave tile 0"), "{fault}");
    refused(one(), rule, 2, |scene| scene.shift(2, Register::Mux, 1, -1));
    refused(pair(), rule, 2, |scene| {
        scene.shift(2, Register::MuxPair, 1, -1)
    });
    // A window may stay open longer than the message lasts.
    let mut open = one();
    open.shift(2, Register::Mux, 1, 10);
    open.run().map(|_| ()).expect("legal");
}

#[test]
fn paired_messages_go_to_pairs_selected_by_the_early_member() {
    let rule = FaultRule::PairedReceivers;
    refused(pair(), rule, 3, |scene| {
        let at = scene.position(2, Register::MuxPair, 0);
        let mut writes = scene.script(2).writes.split_off(at);
        let neutral = writes
            .iter()
            .position(|w| w.value == NEUTRAL)
            .expect("a neutral write");
        let ends = writes.remove(neutral);
        let mut starts = writes.remove(0);
        // The register holds the source with the member's own pair bit folded in.
        starts.value ^= 2;
        scene.script(2).writes.extend(writes);
        scene.script(3).writes.extend([starts, ends]);
        scene.script(3).writes.sort_unstable();
    });
    refused(pair(), rule, 3, |scene| {
        scene.scripts.remove(&3);
    });
    let mut lone = pair();
    lone.topology = crate::machine::topology::Topology::from_mapping(&lone.topology.mapping()[..3])
        .expect("a mapping");
    lone.scripts.remove(&3);
    let fault = lone
        .run()
        .map(|_| ())
        .expect_err("tile 3 is not in the program");
    assert_eq!((fault.rule, fault.tile.get()), (rule, 2), "{fault}");
}

#[test]
fn a_pointer_is_written_before_the_first_landing_and_not_during_one() {
    let missing = |scene: &mut Scene| scene.remove(2, Register::Pointer, 0);
    refused(one(), FaultRule::PointerMissing, 2, missing);
    let late = |scene: &mut Scene| scene.shift(2, Register::Pointer, 0, 1);
    let fault = refused(one(), FaultRule::PointerMidPayload, 2, late);
    assert_eq!(fault.event, Some(scene_landing(&one()) + 1));
    // 64-bit items need their own pointer even where they carry on.
    let mut scene = pair();
    scene.paired(0, 400, 128, 0x5_0200, &[(2, 0x6_0200), (3, 0x7_0200)]);
    let carried = |scene: &mut Scene| scene.remove(3, Register::Pointer, 1);
    refused(scene, FaultRule::PointerMissing, 3, carried);
}

fn scene_landing(scene: &Scene) -> u32 {
    scene.run().expect("legal").outcome.landings[2][0].event
}

#[test]
fn one_item_lands_at_a_time() {
    let mut scene = Scene::new(8);
    scene.paired(4, 60, 16, 0x6_0000, &[(2, 0xA_0000), (3, 0xA_0000)]);
    let landing = scene.run().expect("legal before").outcome.landings[3][0];
    // Tile 2 selects for both, so that tile 3 is free to select an ordinary source.
    // An ordinary word is selected one event later than a 64-bit item that lands with it.
    let lands = landing.end() - 1;
    let mux = scene.topology.route(TileId::new(0), TileId::new(3)).mux;
    let delay = scene.topology.landing_delay(TileId::new(3));
    let start = u32::try_from(i64::from(lands - delay - 1) - i64::from(mux)).expect("positive");
    scene.transfer(0, start, 40, 0x6_0000, &[(3, 0x9_0000)]);
    let fault = scene.run().map(|_| ()).expect_err("two land at once");
    assert_eq!(
        (fault.rule, fault.tile.get(), fault.event),
        (FaultRule::LandingOverlap, 3, Some(lands)),
        "{fault}"
    );
}

#[test]
fn one_source_is_selected_at_a_time() {
    let mut scene = Scene::new(8);
    scene.transfer(0, 100, 40, 0x6_0000, &[(2, 0x9_0000)]);
    let lands = scene_landing(&scene);
    let mux = |tile| scene.topology.route(TileId::new(4), TileId::new(tile)).mux;
    let delay = scene.topology.landing_delay(TileId::new(2));
    let select = lands + 40 - 1 - delay;
    let start = u32::try_from(i64::from(select) - i64::from(mux(2).max(mux(3))));
    let start = start.expect("positive");
    scene.paired(4, start, 16, 0x6_0000, &[(2, 0xA_0000), (3, 0xA_0000)]);
    let fault = scene
        .run()
        .map(|_| ())
        .expect_err("two are selected at once");
    assert_eq!(
        (fault.rule, fault.tile.get(), fault.event),
        (FaultRule::MuxOverlap, 2, Some(select)),
        "{fault}"
    );
}

#[test]
fn the_format_fits_what_lands() {
    let rule = FaultRule::FormatMismatch;
    refused(pair(), rule, 3, |scene| {
        scene.set(3, Register::Format, 0, 2)
    });
    refused(pair(), rule, 3, |scene| {
        scene.shift(3, Register::Format, 0, 1)
    });
    refused(pair(), rule, 3, |scene| {
        scene.shift(3, Register::Format, 1, -1)
    });
    // An ordinary word lands when the next paired message has already switched the format.
    let lands = scene_landing(&one());
    let early = |scene: &mut Scene| {
        let write = |event, value| super::assembler::Write {
            event,
            register: Register::Format,
            value,
        };
        scene
            .script(2)
            .writes
            .extend([write(lands + 39, 1), write(lands + 50, 0)]);
        scene.script(2).writes.sort_unstable();
        scene.script(2).horizon += 30;
    };
    refused(one(), rule, 2, early);
    let width = |scene: &mut Scene| {
        let sent = &mut scene.script(0).sent[0];
        (sent.control, sent.address, sent.items) = (sent.control | 4, sent.address / 2, 40);
    };
    refused(one(), rule, 2, width);
    let width = |scene: &mut Scene| {
        let sent = &mut scene.script(0).sent[0];
        (sent.control, sent.address) = (sent.control & 3, sent.address * 2);
    };
    refused(pair(), rule, 2, width);
}

#[test]
fn rows_end_neutral_and_in_the_32_bit_format() {
    refused(one(), FaultRule::MuxNotNeutral, 2, |scene| {
        scene.remove(2, Register::Mux, 1)
    });
    refused(pair(), FaultRule::MuxNotNeutral, 2, |scene| {
        scene.remove(2, Register::MuxPair, 1)
    });
    refused(pair(), FaultRule::FormatNotZero, 3, |scene| {
        scene.remove(3, Register::Format, 1)
    });
}

#[test]
fn rows_last_until_everything_has_landed() {
    refused(one(), FaultRule::RowEndsEarly, 2, |scene| {
        scene.script(2).horizon -= 1
    });
    let mut short = Scene::new(8);
    short.transfer(2, 27, 3, 0x6_0000, &[(0, 0x9_0000)]);
    short.script(2).sent[0].event = 0;
    short.script(2).horizon = 3;
    let fault = short
        .run()
        .map(|_| ())
        .expect_err("a sender's row has six events");
    assert_eq!(
        (fault.rule, fault.tile.get()),
        (FaultRule::SilentSource, 0),
        "{fault}"
    );
    short.scripts.remove(&0);
    let fault = short
        .run()
        .map(|_| ())
        .expect_err("a sender's row has six events");
    assert_eq!(
        (fault.rule, fault.tile.get()),
        (FaultRule::RowEndsEarly, 2),
        "{fault}"
    );
}

#[test]
fn landings_stay_in_sram_and_aligned() {
    let beyond = |scene: &mut Scene| scene.set(2, Register::Pointer, 0, 0xE_7F80 / 4);
    refused(one(), FaultRule::AddressRange, 2, beyond);
    let odd = |scene: &mut Scene| scene.set(3, Register::Pointer, 0, 0x6_0004 / 4);
    refused(pair(), FaultRule::AddressAlignment, 3, odd);
}

#[test]
fn reads_and_landings_use_different_elements_while_both_last() {
    let mut scene = one();
    let lands = scene_landing(&scene);
    scene.transfer(2, lands + 10, 20, 0x8_8000, &[(6, 0x9_0000)]);
    let fault = refused(scene, FaultRule::ElementConflict, 2, |scene| {
        // 0x88000 and 0x90000 are neighbours; 0x90400 shares the landing's pair.
        scene.script(2).sent[0].address = 0x9_0400 / 4;
    });
    assert_eq!(fault.event, Some(lands + 10));
    let mut later = one();
    later.transfer(2, lands + 40, 20, 0x9_0400, &[(6, 0xA_0000)]);
    later
        .run()
        .map(|_| ())
        .expect("a read after the last landing is legal");
    let mut earlier = one();
    earlier.transfer(2, lands - 20, 20, 0x9_0400, &[(6, 0xA_0000)]);
    earlier
        .run()
        .map(|_| ())
        .expect("a read before the first landing is legal");
}

#[test]
fn a_row_shares_no_element_with_exchanged_data() {
    let rule = FaultRule::RowElementConflict;
    let landing = |scene: &mut Scene| scene.set(2, Register::Pointer, 0, 0x5_F000 / 4);
    refused(one(), rule, 2, landing);
    let source = |scene: &mut Scene| scene.script(0).sent[0].address = 0x5_F000 / 4;
    refused(one(), rule, 0, source);
    // The supervisor fetches 64 bytes past the row: a row that ends short of 0x60000 by less.
    let near = |scene: &mut Scene| {
        let words = u32::try_from(scene.words()[&0].len()).expect("short");
        scene.row_address = (0x6_0000 - 63 - 4 * words).next_multiple_of(8);
    };
    let fault = refused(one(), rule, 0, near);
    assert_eq!(fault.address, Some(0x6_0000));
    let mut far = one();
    let words = u32::try_from(far.words()[&0].len()).expect("short");
    far.row_address = (0x6_0000 - 64 - 4 * words) & !7;
    far.run().map(|_| ()).expect("64 bytes are enough");
}

#[test]
fn a_message_reaches_another_tile_than_its_own() {
    let mut own = Scene::new(8);
    own.transfer(0, 100, 40, 0x6_0000, &[(0, 0x9_0000)]);
    let fault = own.run().map(|_| ()).expect_err("source-only loopback");
    assert_eq!(
        (fault.rule, fault.tile.get()),
        (FaultRule::Loopback, 0),
        "{fault}"
    );
    let mut own = Scene::new(8);
    own.paired(0, 100, 40, 0x6_0000, &[(0, 0x9_0000), (1, 0x9_0000)]);
    let fault = own.run().map(|_| ()).expect_err("own pair only");
    assert_eq!(
        (fault.rule, fault.tile.get()),
        (FaultRule::Loopback, 0),
        "{fault}"
    );
}

#[test]
fn the_longest_row_lasts_as_declared() {
    let mut scene = one();
    let longest = scene.script(2).horizon;
    scene.context.declared_horizon = Some(longest);
    let fault = refused(scene, FaultRule::HorizonMismatch, 2, |scene| {
        scene.context.declared_horizon = Some(longest + 1);
    });
    assert_eq!(fault.event, Some(longest));
}

#[test]
fn bases_do_not_change_under_a_landing() {
    // The row of a receiver by hand: select, then a base switch, then the pointer.
    let scene = one();
    let words = scene.words();
    let memories = scene.memories(&words);
    let mut rows = scene.rows(&words, &memories).expect("decodes");
    let lands = scene_landing(&scene);
    let switch = |event: u32| crate::exchange::row::BaseSwitch {
        event,
        end: event + 13,
        base: 0x100,
    };
    let run = |rows: &[Option<TimedRow>]| resolve(PhaseContext::default(), rows, &scene.topology);
    let receiver = |rows: &mut Vec<Option<TimedRow>>, event| {
        rows[2].as_mut().expect("tile 2 receives").base_switches = vec![switch(event)];
    };
    receiver(&mut rows, lands + 5);
    assert_eq!(
        run(&rows)
            .expect_err("a switch during a landing")
            .first()
            .rule,
        FaultRule::BaseSwitch
    );
    receiver(&mut rows, lands - 5);
    assert_eq!(
        run(&rows)
            .expect_err("a switch into a landing")
            .first()
            .rule,
        FaultRule::BaseSwitch
    );
    receiver(&mut rows, lands - 13);
    let address = run(&rows)
        .expect("the pointer comes with the new base")
        .landings[2][0]
        .address;
    assert_eq!(address, 0x9_0100);
    receiver(&mut rows, lands + 40);
    assert_eq!(
        run(&rows).expect("after the landing").landings[2][0].address,
        0x9_0000
    );
}

#[test]
fn all_faults_of_a_phase_are_reported_whatever_the_thread_count() {
    let mut scene = Scene::new(64);
    for tile in 0..64 {
        scene.transfer_when_legal(tile, 100, 30, 0x6_0000, &[((tile + 9) % 64, 0x9_0000)]);
    }
    for tile in [50, 20, 41] {
        scene.script(tile).horizon -= 1;
    }
    scene.set(30, Register::Pointer, 0, 0x5_F000 / 4);
    let expected = [
        (FaultRule::RowEndsEarly, 20),
        (FaultRule::RowEndsEarly, 41),
        (FaultRule::RowEndsEarly, 50),
        (FaultRule::RowElementConflict, 30),
    ];
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let faults = pool
            .install(|| scene.run_words(&scene.words()).map(|_| ()))
            .expect_err("four rows break a rule");
        let found: Vec<_> = faults.iter().map(|it| (it.rule, it.tile.get())).collect();
        assert_eq!(found, expected, "{threads}");
        assert!(faults.iter().all(|fault| fault.phase == Some(9)));
    }
}
