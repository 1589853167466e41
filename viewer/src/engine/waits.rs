//! Who made a tile wait: what a sample at an exchange boundary was spent on, and for whom.

use analytics::barriers::{Barrier, BarrierReport};
use analytics::profile::SampleKind;
use analytics::query::SampleDetail;
use analytics::text;
use analytics::units::Cycles;

use super::protocol::Fact;

/// Whether a sample may be a stay at a boundary.
pub(crate) fn is_stay(sample: &SampleDetail) -> bool {
    matches!(
        sample.kind,
        SampleKind::Synchronization | SampleKind::Exchange
    )
}

/// What is known of the waiting in a sample; nothing of one that is no stay at a boundary. Without
/// `waits` it is not known yet. `origin` is the zero of the sample's clock on the shared one.
pub(crate) fn facts(
    waits: Option<&BarrierReport>,
    sample: &SampleDetail,
    origin: u64,
) -> Vec<Fact> {
    let is_barrier = sample.kind == SampleKind::Synchronization;
    if !is_stay(sample) {
        return Vec::new();
    }
    let unknown = |text: &str| vec![Fact::new("waiting", WAITING, text.to_owned())];
    let Some(waits) = waits else {
        return match is_barrier {
            true => unknown("known when all samples are read"),
            false => Vec::new(),
        };
    };
    let Some(row) = waits.at(sample.phase, sample.epoch) else {
        return match is_barrier {
            true => unknown("no exchange follows: tiles do not meet here"),
            false => Vec::new(),
        };
    };
    let from = origin.saturating_add(sample.offset);
    let to = from.saturating_add(sample.duration.get());
    let waiting = row.waiting_within(from, to);
    // Existing files may have the wait inside the exchange; most exchanges have none.
    if !is_barrier && waiting == 0 {
        return Vec::new();
    }
    let cycles = |cycles: u64| {
        let cycles = Cycles::new(cycles);
        let time = text::time(cycles, waits.clock_hz);
        format!("{} cycles = {time}", text::cycles(cycles))
    };
    let mut facts = vec![Fact::new("waiting", WAITING, cycles(waiting))];
    if is_barrier {
        let cost = cycles(row.cost_within(from, to));
        facts.push(Fact::new("barrier", "Cost of the barrier", cost));
    }
    facts.push(Fact::new("culprit", "Slowest tile", slowest(row, sample)));
    facts.push(Fact::new("culpritKernel", "because of", kernel(row)));
    facts
}

const WAITING: &str = "Waiting for the slowest tile";

fn slowest(row: &Barrier, sample: &SampleDetail) -> String {
    let late = text::count(row.late_by);
    if row.last_tile == sample.tile {
        let waiting = text::count(row.waiting);
        return format!("this one, by {late} cycles: the others waited {waiting} tile-cycles");
    }
    format!("tile {}, by {late} cycles", row.last_tile)
}

/// What the slowest tile ran while the others waited for it.
fn kernel(row: &Barrier) -> String {
    let Some(work) = &row.late_work else {
        return "no kernel: it left the boundary before late".to_owned();
    };
    let name = match work.kernel.as_str() {
        "" => "a kernel without a name",
        name => name,
    };
    format!("{name}, {} cycles", text::count(work.cycles))
}

#[cfg(test)]
mod tests {
    use analytics::barriers::LateWork;
    use analytics::units::PhysicalTile;

    use super::*;

    fn waits() -> BarrierReport {
        let row = Barrier {
            epoch: 2,
            phase: 5,
            tiles: 3,
            first_entry: 1_100,
            last_entry: 1_160,
            last_exit: 1_400,
            last_tile: PhysicalTile::new(9),
            late_by: 40,
            late_tiles: 1,
            scheduled: None,
            waiting: 100,
            late_work: Some(LateWork {
                kernel: "gemm".to_owned(),
                operation: String::new(),
                cycles: 90,
            }),
        };
        BarrierReport {
            clock_hz: 1_000_000_000,
            barriers: vec![row],
            ..BarrierReport::default()
        }
    }

    /// A sample at the boundary, on a clock whose zero is cycle 1,000 of the shared one.
    fn sample(tile: u32, kind: SampleKind, offset: u64, cycles: u64) -> SampleDetail {
        SampleDetail {
            tile: PhysicalTile::new(tile),
            tile_index: 0,
            ordinal: 0,
            offset,
            duration: Cycles::new(cycles),
            cut: false,
            kind,
            phase: 5,
            epoch: 2,
            operation: String::new(),
            kernel: String::new(),
            event_cycles: 0,
            useful: None,
            physical: None,
            basis: String::new(),
            metadata: Vec::new(),
        }
    }

    fn said(waits: Option<&BarrierReport>, sample: &SampleDetail) -> Vec<String> {
        let facts = facts(waits, sample, 1_000).into_iter();
        facts.map(|it| format!("{}: {}", it.id, it.text)).collect()
    }

    #[test]
    fn a_synchronization_is_waiting_for_a_tile_and_the_cost_of_the_barrier() {
        let early = sample(3, SampleKind::Synchronization, 100, 198);
        assert_eq!(
            said(Some(&waits()), &early),
            [
                "waiting: 60 cycles = 0.060 µs",
                "barrier: 138 cycles = 0.138 µs",
                "culprit: tile 9, by 40 cycles",
                "culpritKernel: gemm, 90 cycles",
            ]
        );
        let last = sample(9, SampleKind::Synchronization, 160, 138);
        let said = said(Some(&waits()), &last);
        assert_eq!(said[0], "waiting: 0 cycles = 0.000 µs");
        let own = "culprit: this one, by 40 cycles: the others waited 100 tile-cycles";
        assert_eq!(said[2], own);
    }

    #[test]
    fn an_exchange_says_something_only_where_it_holds_the_wait() {
        let after = sample(3, SampleKind::Exchange, 298, 50);
        assert_eq!(said(Some(&waits()), &after), [""; 0]);
        let early = sample(3, SampleKind::Exchange, 100, 198);
        let said = said(Some(&waits()), &early);
        assert_eq!(said[0], "waiting: 60 cycles = 0.060 µs");
        assert_eq!(said.len(), 3, "the rest of it is exchange");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let stay = sample(3, SampleKind::Synchronization, 100, 198);
        assert_eq!(
            said(None, &stay),
            ["waiting: known when all samples are read"]
        );
        let mut elsewhere = sample(3, SampleKind::Synchronization, 100, 5);
        elsewhere.epoch = 3;
        let said = said(Some(&waits()), &elsewhere);
        assert_eq!(
            said,
            ["waiting: no exchange follows: tiles do not meet here"]
        );
        let work = sample(3, SampleKind::Compute, 100, 5);
        assert_eq!(facts(Some(&waits()), &work, 1_000), []);
    }
}
