//! Exchange ports over the part in view: a picture of tiles × time, and the busiest tiles.

use analytics::clock::ClockKind;
use analytics::report::exchange_json;
use analytics::text;
use analytics::timeline::DevicePart;
use analytics::traffic::{LanesAsked, Role, TileTraffic, lanes, totals, traffic_in};
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::panel::Sources;
use super::protocol::{Fact, clock_name};

/// Which part, and how finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PortsAsked {
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// First cycle.
    pub(crate) from: u64,
    /// One past the last cycle.
    pub(crate) to: u64,
    /// Columns of cells.
    pub(crate) columns: u32,
    /// First tile position.
    pub(crate) tile_from: u32,
    /// One past the last tile position.
    pub(crate) tile_to: u32,
    /// Rows of cells, at most.
    pub(crate) rows: u32,
}

/// What the ports did. The planes travel as buffers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PortsAnswer {
    /// What was asked.
    pub(crate) asked: Option<PortsAsked>,
    /// Columns of cells.
    pub(crate) columns: u32,
    /// Rows of cells.
    pub(crate) rows: u32,
    /// Sums over the part.
    pub(crate) facts: Vec<Fact>,
    /// Row-major shares of each cell in 1/255: send, receive, lane lent, inside an exchange.
    #[serde(skip)]
    pub(crate) planes: [Vec<u8>; PLANES],
}

impl PortsAnswer {
    /// The part that it shows of a timeline on `clock`: on another one it shows other cycles.
    pub(crate) fn on(&self, clock: ClockKind) -> Option<PortsAsked> {
        self.asked.filter(|it| it.clock == clock)
    }
}

/// Planes of the picture.
pub(crate) const PLANES: usize = 4;

/// The answer from a report in memory.
pub(crate) fn ports(sources: &Sources<'_>, asked: PortsAsked) -> Result<PortsAnswer, Failure> {
    let part = LanesAsked {
        clock: asked.clock,
        cycles: asked.from..asked.to,
        columns: asked.columns,
        tiles: asked.tile_from..asked.tile_to,
        rows: asked.rows,
    };
    let found = lanes(sources.report, &*sources.exchanges()?, &part)?;
    let [send, receive, lent] = found.roles;
    Ok(PortsAnswer {
        asked: Some(asked),
        columns: found.columns,
        rows: found.rows,
        facts: facts(&found.tiles),
        planes: [send, receive, lent, found.exchange],
    })
}

/// What `profile-exchange --json --limit 0` prints with the part in its flags.
pub(crate) fn ports_json(sources: &Sources<'_>, asked: PortsAsked) -> Result<String, Failure> {
    let (report, exchanges) = (sources.report, sources.exchanges()?);
    let tiles = asked.tile_from..asked.tile_to;
    let part = DevicePart::neighbours(report, asked.clock, asked.from..asked.to, tiles);
    let found = totals(report, &exchanges, asked.clock)?;
    let part = traffic_in(report, &exchanges, &part)?;
    Ok(exchange_json(&found, Some(&part), 0))
}

fn facts(tiles: &[TileTraffic]) -> Vec<Fact> {
    let bytes = |role: Role| tiles.iter().map(|it| it.bytes[role as usize]).sum::<u64>();
    let hottest = |role: Role| {
        let most = tiles.iter().max_by_key(|it| {
            let bytes = it.bytes[role as usize];
            (bytes, std::cmp::Reverse(it.tile))
        });
        most.filter(|it| it.bytes[role as usize] > 0)
    };
    let mut facts = Vec::with_capacity(4);
    for (role, id, label) in [
        (Role::Send, "sent", "Sent in view"),
        (Role::Receive, "landed", "Landed in view"),
    ] {
        let most = match hottest(role) {
            Some(it) => format!(
                ", most by tile {}: {}",
                it.tile,
                text::count(it.bytes[role as usize])
            ),
            None => String::new(),
        };
        let text = format!("{} bytes{most}", text::count(bytes(role)));
        facts.push(Fact::new(id, label, text));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_another_clock_have_no_place_in_a_view() {
        let asked = PortsAsked {
            clock: ClockKind::Cropped,
            from: 10,
            to: 20,
            columns: 1,
            tile_from: 0,
            tile_to: 1,
            rows: 1,
        };
        let answer = PortsAnswer {
            asked: Some(asked),
            ..PortsAnswer::default()
        };
        assert_eq!(answer.on(ClockKind::Cropped), Some(asked));
        assert_eq!(answer.on(ClockKind::Shared), None);
        assert_eq!(PortsAnswer::default().on(ClockKind::Cropped), None);
    }
}
