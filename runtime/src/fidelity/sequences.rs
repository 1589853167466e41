//! Published sequences of one receiver, whose events the machine has to agree to.
//!
//! The receivers' words spell the published events; the sources, which are not published, are
//! chosen so that their routes differ. What is reported as simulated is the event of the decoded
//! words, if the machine accepts the rows as they are and refuses them with this event one to the
//! side that loses items. Where it accepts them all the same, that event is reported, which is not
//! the published one.

use super::Row;
use super::exchange::{Meeting, REFUSED, decoded, events, outcome};
use crate::exchange::TimedRow;

const DECODED: &str = "decoded events of a vendor SDK program, whose data passed on hardware";
const PAIRED: &str = "published timed events of a 64-bit transfer, run on a C600";

/// Four messages of 52 words to logical tile 2, from 4, 6, 8 and 10.
pub(crate) const ORDINARY: Meeting = &[
    (
        2,
        &[
            0x6400_4080,
            0x640C_C0C0,
            0x600A_4000,
            0x640C_4100,
            0x600A_4100,
            0x640C_4140,
            0x600A_4200,
            0x640C_4640,
            0x600A_4300,
            0x40A0_0038,
            0x43A0_0000,
        ],
    ),
    (4, &[0x40A0_001B, 0x7E6C_0001, 0x43A0_0000]),
    (6, &[0x40A0_004D, 0x7E6C_0001, 0x43A0_0000]),
    (8, &[0x40A0_007F, 0x7E6C_0001, 0x43A0_0000]),
    (10, &[0x40A0_00B1, 0x7E6C_0001, 0x43A0_0000]),
];

/// Four abutting messages of 176 items of 64 bits to logical tiles 2 and 3, which hold one format
/// over all of them, from 4, 6, 8 and 10.
pub(crate) const ABUTTING: Meeting = &[
    (
        2,
        &[
            0x6400_2080,
            0x61A4_0001,
            0x600A_4000,
            0x641E_20C0,
            0x61B2_4200,
            0x641E_2100,
            0x61B2_4400,
            0x641E_2140,
            0x61B2_4600,
            0x641E_2640,
            0x61A4_0000,
            0x40A0_0006,
            0x43A0_0000,
        ],
    ),
    (
        3,
        &[
            0x61AC_0001,
            0x600A_4000,
            0x40A0_002F,
            0x63FA_4200,
            0x40A0_002F,
            0x63FA_4400,
            0x40A0_002F,
            0x63FA_4600,
            0x40A0_002D,
            0x63FC_0000,
            0x40A0_0006,
            0x43A0_0000,
        ],
    ),
    (4, &[0x40A0_001A, 0x7FE6_0005, 0x75E0_4005, 0x43A0_0000]),
    (6, &[0x40A0_00C8, 0x7FE6_0005, 0x75E0_4005, 0x43A0_0000]),
    (8, &[0x40A0_0176, 0x7FE6_0005, 0x75E0_4005, 0x43A0_0000]),
    (10, &[0x40A0_0224, 0x7FE6_0005, 0x75E0_4005, 0x43A0_0000]),
];

/// 64 items of 64 bits from logical tile 0 to tiles 2 and 3.
pub(crate) const PAIR: Meeting = &[
    (0, &[0x40A0_001E, 0x7FE5_0005, 0x43A0_0000]),
    (
        2,
        &[
            0x6400_2000,
            0x61A4_0001,
            0x6009_8000,
            0x6402_2640,
            0x61A4_0000,
            0x40A0_0006,
            0x43A0_0000,
        ],
    ),
    (
        3,
        &[
            0x61AC_0001,
            0x6009_8000,
            0x61EC_0000,
            0x40A0_0006,
            0x43A0_0000,
        ],
    ),
];

/// To which side an event loses items.
#[derive(Clone, Copy)]
enum Side {
    Later,
    Earlier,
}
use Side::{Earlier, Later};

/// What a figure is about.
#[derive(Clone, Copy)]
enum At {
    /// The control with this index.
    Control(usize),
    /// The departure of the first item.
    Start,
    /// The departure of the last item, and one.
    Sent,
    /// The end of the row.
    End,
}
use At::{Control, End, Sent, Start};

/// Tile, what happens, where it is in the tile's row, the losing side, the published event.
type Event = (u16, &'static str, At, Side, u64);

const ORDINARY_EVENTS: &[Event] = &[
    (2, "select 0", Control(0), Later, 2),
    (2, "select 1", Control(1), Later, 54),
    (2, "pointer 0", Control(2), Later, 56),
    (2, "select 2", Control(3), Later, 106),
    (2, "pointer 1", Control(4), Later, 108),
    (2, "select 3", Control(5), Later, 158),
    (2, "pointer 2", Control(6), Later, 160),
    (2, "pointer 3", Control(8), Later, 212),
];

const ABUTTING_EVENTS: &[Event] = &[
    (2, "select 0", Control(0), Later, 1),
    (2, "format on", Control(1), Later, 54),
    (2, "pointer 0", Control(2), Later, 56),
    (2, "select 1", Control(3), Later, 177),
    (2, "pointer 1", Control(4), Later, 232),
    (2, "select 2", Control(5), Later, 353),
    (2, "pointer 2", Control(6), Later, 408),
    (2, "select 3", Control(7), Later, 529),
    (2, "pointer 3", Control(8), Later, 584),
    (2, "neutral", Control(9), Earlier, 705),
    (2, "format off", Control(10), Earlier, 758),
];

const PAIR_EVENTS: &[Event] = &[
    (0, "first item", Start, Later, 31),
    (0, "end", Sent, Later, 95),
    (2, "select", Control(0), Later, 1),
    (2, "format on", Control(1), Later, 54),
    (2, "pointer", Control(2), Later, 56),
    (2, "neutral", Control(3), Earlier, 65),
    (2, "format off", Control(4), Earlier, 118),
    (2, "end", End, Earlier, 125),
    (3, "format on", Control(0), Later, 54),
    (3, "pointer", Control(1), Later, 56),
    (3, "format off", Control(2), Earlier, 118),
    (3, "end", End, Earlier, 125),
];

pub(super) fn rows() -> Vec<Row> {
    let sequences = [
        ("4 x 52 words", ORDINARY, ORDINARY_EVENTS, DECODED),
        ("4 x 176 pairs", ABUTTING, ABUTTING_EVENTS, DECODED),
        ("0 to 2 and 3, 64 pairs", PAIR, PAIR_EVENTS, PAIRED),
    ];
    let mut rows = Vec::new();
    for (sequence, meeting, published, provenance) in sequences {
        for event @ &(tile, what, _, _, expected) in published {
            let name = format!("{sequence}, tile {tile}, {what}");
            let both = (simulated(meeting, event).unwrap_or(REFUSED), expected);
            rows.push(events(name, both, provenance));
        }
    }
    rows
}

/// The event at which the machine has this happen; none if it refuses the rows.
fn simulated(meeting: Meeting, &(tile, _, at, side, _): &Event) -> Option<u64> {
    let mut rows = Vec::new();
    for &(of, words) in meeting {
        rows.push((of, decoded(words, 0, 0)?));
    }
    let own = rows.iter().position(|(known, _)| *known == tile)?;
    outcome(&rows)?;
    let event = event_of(&rows[own].1, at)?;
    shift(&mut rows[own].1, at, side);
    if outcome(&rows).is_none() {
        return Some(event);
    }
    event_of(&rows[own].1, at)
}

fn event_of(row: &TimedRow, at: At) -> Option<u64> {
    let event = match at {
        Control(index) => row.controls.get(index)?.event,
        Start => row.messages.first()?.event,
        Sent => row.messages.first()?.end(),
        End => row.horizon,
    };
    Some(event.into())
}

/// Moves what happens by one event.
fn shift(row: &mut TimedRow, at: At, side: Side) {
    let event = match at {
        Control(index) => row.controls.get_mut(index).map(|it| &mut it.event),
        Start | Sent => row.messages.first_mut().map(|it| &mut it.event),
        End => Some(&mut row.horizon),
    };
    if let Some(event) = event {
        *event = match side {
            Later => *event + 1,
            Earlier => *event - 1,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each published event, one off, gives a row beyond its bound.
    #[test]
    fn a_machine_that_agrees_to_another_event_shows_in_the_row() {
        for (meeting, published) in [
            (ORDINARY, ORDINARY_EVENTS),
            (ABUTTING, ABUTTING_EVENTS),
            (PAIR, PAIR_EVENTS),
        ] {
            for event @ &(_, what, _, _, expected) in published {
                assert_eq!(simulated(meeting, event), Some(expected), "{what}");
            }
        }
        // A pointer may stand early, so a later one is what the machine has to refuse.
        let lax = (2, "pointer", Control(2), Earlier, 56);
        assert_eq!(simulated(PAIR, &lax), Some(55));
        // Words that miss each other are refused.
        assert_eq!(simulated(&PAIR[..2], &PAIR_EVENTS[2]), None);
    }
}
