//! Rows against the vendor assembler's words, and the limits of alignment.

use super::super::super::message::Width;
use super::*;
use proptest::prelude::*;

fn control(event: u32, source: Option<u16>, pointer: Option<u32>) -> Control {
    let pointer = pointer.map(|word| 4 * word);
    Control {
        event,
        source,
        pointer,
        paired: None,
    }
}

fn words(sends: &[TimedSend], controls: &[Control], horizon: u32) -> Vec<u32> {
    let timeline = Timeline {
        sends: sends.to_vec(),
        controls: controls.to_vec(),
        horizon,
    };
    encode(&timeline).expect("it has an encoding").0
}

fn send(event: u32, words: u32, control: u8) -> TimedSend {
    TimedSend {
        event,
        items: words,
        width: Width::Word,
        address: 0,
        control,
        step: 0,
    }
}

#[test]
fn a_receive_row_is_the_vendor_assemblers_word_for_word() {
    let controls = [
        control(1, Some(0x82), None),
        control(53, Some(0xC0), Some(0x14048)),
        control(105, Some(0xC2), Some(0x15000)),
        control(157, Some(0x100), Some(0x16000)),
        control(209, Some(0x640), Some(0x17000)),
    ];
    let expected = [
        0x6400_0082,
        0x40A0_0032,
        0xF660_0000,
        0x0301_4048,
        0xF660_0000,
        0x0309_5000,
        0xF660_0000,
        0x0401_6000,
        0xF720_0000,
        0x1901_7000,
        0x43A0_0000,
    ];
    assert_eq!(words(&[], &controls, 266), expected);
}

#[test]
fn stand_alone_rows_are_the_published_ones_without_their_entry() {
    let sender =
        |event, items, direction, horizon| words(&[send(event, items, direction)], &[], horizon);
    assert_eq!(
        sender(135, 3, 1, 138),
        [0x40A0_0086, 0x7840_0001, 0x43A0_0000]
    );
    assert_eq!(
        sender(63, 52, 2, 115),
        [0x40A0_003E, 0x7E60_0002, 0x43A0_0000]
    );
    let two = [0x40A0_007D, 0x7FE0_0002, 0x7000_0002, 0x43A0_0000];
    assert_eq!(sender(126, 65, 2, 191), two);
    let long = [0x40A0_006C, 0x7FE0_0001, 0x766F_C001, 0x43A0_0000];
    assert_eq!(sender(109, 4148, 1, 4257), long);

    let neutral = Some(0x640);
    let receiver = |source, off, pointer, horizon| {
        let mut controls = [
            control(113, Some(source), None),
            control(off, neutral, None),
            control(pointer, None, Some(0)),
        ];
        controls.sort_by_key(|control| control.event);
        words(&[], &controls, horizon)
    };
    let three = [
        0x641C_0000,
        0x6400_8640,
        0x6180_0000,
        0x40A0_0007,
        0x43A0_0000,
    ];
    assert_eq!(receiver(0, 116, 165, 173), three);
    let fifty_two = [
        0x641C_0020,
        0x61D8_0000,
        0x6400_0640,
        0x40A0_0038,
        0x43A0_0000,
    ];
    assert_eq!(receiver(32, 174, 173, 231), fifty_two);
    let longest = [
        0x641C_0400,
        0x6198_0000,
        0x67FF_C640,
        0x40A0_0038,
        0x43A0_0000,
    ];
    assert_eq!(receiver(1024, 4261, 165, 4318), longest);
}

#[test]
fn controls_ride_the_send_that_is_going_on() {
    let controls = [
        control(12, Some(7), None),
        control(20, None, Some(0x18000)),
        control(110, Some(0x640), None),
    ];
    let expected = [
        word::delay(10),
        word::send(1, 0, 3),
        word::send_control(8, Write::Source(7)),
        word::send_control(64, Write::Pointer(0x18000)),
        word::send_off(26, 3),
        word::send_control(1, Write::Source(0x640)),
        RETURN,
    ];
    assert_eq!(words(&[send(10, 100, 3)], &controls, 110), expected);
}

const RETURN: u32 = word::RETURN;

#[test]
fn a_two_word_send_inside_a_message_names_its_own_first_word() {
    let both = [control(15, Some(7), Some(0x18000))];
    let pair = word::send_pair(6, 4, 1, 7, 0x18000);
    let expected = [
        word::delay(10),
        // Cut in two for alignment.
        word::send(1, 0, 1),
        word::send_off(3, 1),
        pair[0],
        pair[1],
        RETURN,
    ];
    let rows = words(&[send(10, 10, 1)], &both, 20);
    assert_eq!(rows[..2], [word::delay(10), word::send(4, 0, 1)]);
    assert_eq!(rows[2..4], pair);
    let at_once = words(&[send(0, 10, 1)], &[control(5, Some(7), Some(0x18000))], 10);
    assert_eq!(at_once[..], expected[1..]);
}

#[test]
fn two_word_waits_without_room_for_a_cut_before_them_are_refused() {
    let timeline = |single: u32| Timeline {
        sends: Vec::new(),
        controls: vec![
            control(10, Some(1), Some(0x18000)),
            control(single, None, Some(0x18001)),
            control(12, Some(2), Some(0x18002)),
        ],
        horizon: 80,
    };
    let alignable = |timeline: &Timeline| {
        let nothing = Timeline::default();
        Row::default().align(&nothing, timeline)
    };
    assert_eq!(alignable(&timeline(11)), Err(Unalignable { event: 12 }));
    let mut roomy = timeline(11);
    roomy.controls[2].event = 13;
    assert_eq!(alignable(&roomy), Ok(()));
}

/// Sends and controls that keep the scheduler's rules, from gaps and lengths.
fn timeline(parts: &[(u32, u32, u8)]) -> Timeline {
    let mut timeline = Timeline::default();
    let mut at = 1;
    for &(gap, words, kind) in parts {
        at += gap;
        let pointer = 0x1_8000 + at;
        let one = control(
            at,
            (kind & 1 == 0).then_some(7),
            (kind & 3 != 0).then_some(pointer),
        );
        match kind % 8 {
            0..4 => timeline.controls.push(one),
            4..6 => {
                timeline.sends.push(send(at, words, 1 + kind % 2));
                at += words;
            }
            _ => {
                timeline.sends.push(send(at, words + 4, 3));
                timeline
                    .controls
                    .push(control(at + 3, Some(9), (kind == 7).then_some(pointer)));
                at += words + 4;
            }
        }
        at += 1;
    }
    timeline.horizon = at + 60;
    timeline
}

fn full(timeline: &Timeline) -> Result<Vec<u32>, Unalignable> {
    encode(timeline).map(|(words, _)| words)
}

fn any_parts() -> impl Strategy<Value = Vec<(u32, u32, u8)>> {
    prop::collection::vec((0_u32..3, 1_u32..200, 0_u8..8), 1..40)
}

proptest! {
    #[test]
    fn going_on_from_a_checkpoint_gives_the_full_row_or_its_error(
        parts in any_parts(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any_parts()), 1..6),
    ) {
        let mut row = Row::default();
        let mut before = Timeline::default();
        let mut parts = parts;
        for (at, other) in edits {
            let now = timeline(&parts);
            let result = row.encode(&now, Unchanged::between(&before, &now));
            prop_assert_eq!(result.map(|()| row.words().0), full(&now));
            let at = at.index(parts.len());
            parts.splice(at..(at + 2).min(parts.len()), other.into_iter().take(3));
            before = now;
        }
    }

    #[test]
    fn controls_that_move_alone_are_seen(
        parts in any_parts(),
        which: prop::sample::Index,
        later in 1_u32..4,
    ) {
        let before = timeline(&parts);
        prop_assume!(!before.controls.is_empty());
        let mut row = Row::default();
        let first = row.encode(&before, Unchanged::default());
        prop_assert_eq!(first.map(|()| row.words().0), full(&before));
        let mut now = before.clone();
        let which = which.index(now.controls.len());
        now.controls.truncate(which);
        now.horizon += later;
        let result = row.encode(&now, Unchanged::between(&before, &now));
        prop_assert_eq!(result.map(|()| row.words().0), full(&now));
    }
}
