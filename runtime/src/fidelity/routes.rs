//! The tile mapping, route vectors and the statistics of all routes.

use analytics::units::TileId;

use super::{Bound, Row};
use crate::machine::arch::TILES;
use crate::machine::topology::{Direction, Topology, pair_partner, route, row};

const VECTORS: &str = "published route vectors, which agree with encoded vendor rows";
const MAPPING: &str = "published check vectors of the logical to physical mapping";
const POPULATION: &str = "statistics of the published formulas over all ordered pairs";

/// Logical, physical.
pub(crate) const TILES_OF: &[(u16, u32)] = &[
    (0, 0),
    (1, 2),
    (2, 64),
    (3, 66),
    (46, 1409),
    (47, 1411),
    (90, 1),
    (92, 4),
    (100, 260),
    (274, 9),
    (736, 32),
    (781, 1442),
    (900, 613),
    (1286, 53),
    (1471, 63),
];

/// Logical source and destination, displacement, mux, events from departure to landing.
pub(crate) const ROUTES: &[(u16, u16, i32, i32, i32)] = &[
    (0, 0, 1, -29, 24),
    (0, 1, 2, -28, 25),
    (1, 0, 1, -29, 24),
    (0, 2, 1, -31, 24),
    (0, 3, 2, -30, 25),
    (2, 0, 1, -27, 26),
    (0, 46, 5, -69, 28),
    (0, 47, 4, -70, 27),
    (46, 0, -5, 19, 72),
    (0, 92, 7, -28, 25),
    (0, 274, 17, -23, 30),
    (0, 1286, 13, -23, 30),
    (0, 1471, 2, -28, 25),
    (1471, 0, 1, -13, 40),
    (32, 0, 1, 3, 56),
    (100, 736, 41, 1, 54),
    (736, 100, -41, 49, 110),
    (736, 900, -11, -34, 37),
    (900, 736, 11, -4, 49),
    (1286, 1471, -10, -14, 39),
    (735, 736, -1, -29, 24),
    (736, 736, -1, -29, 24),
    (500, 1000, 1, 1, 64),
    // A published table prints 42 events here, the negated S - T; mux and row give 53 - 43 + 2*20.
    (1000, 500, 1, -43, 50),
    (1401, 33, -4, -22, 63),
    (45, 1427, 2, -28, 69),
    (90, 136, 1, -78, 19),
    (781, 0, -47, 112, 165),
    (90, 92, 1, -34, 19),
    (781, 44, -47, 68, 165),
];

/// Flights by twenties of events, from zero.
pub(crate) const HISTOGRAM: [u32; 9] = [
    322, 267_076, 688_298, 706_238, 318_642, 131_330, 45_356, 9108, 414,
];

fn exact(
    name: String,
    unit: &'static str,
    (simulated, published): (f64, f64),
    provenance: &'static str,
) -> Row {
    Row {
        group: "routes",
        name,
        generation: None,
        unit,
        simulated,
        published,
        bound: Bound::Exact,
        provenance,
    }
}

pub(super) fn rows() -> Vec<Row> {
    let topology = Topology::first_tiles(TILES);
    let mut rows = Vec::new();
    for &(logical, physical) in TILES_OF {
        let found = topology.physical(TileId::new(logical)).get();
        let name = format!("physical tile of {logical}");
        rows.push(exact(name, "id", (found.into(), physical.into()), MAPPING));
    }
    for &(source, destination, displacement, mux, flight) in ROUTES {
        let (s, d) = (TileId::new(source), TileId::new(destination));
        let route = topology.route(s, d);
        let landing = flight_of(&topology, s, d);
        let figures = [
            ("displacement", route.displacement, displacement),
            ("select", route.mux, mux),
            ("flight", landing, flight),
        ];
        for (figure, found, published) in figures {
            let name = format!("{source} to {destination}, {figure}");
            rows.push(exact(
                name,
                "events",
                (found.into(), published.into()),
                VECTORS,
            ));
        }
    }
    rows.extend(population(&topology));
    rows
}

fn flight_of(topology: &Topology, source: TileId, destination: TileId) -> i32 {
    let delay = i32::try_from(topology.landing_delay(destination)).unwrap_or(i32::MAX);
    topology.route(source, destination).mux + 1 + delay
}

#[expect(clippy::cast_precision_loss, reason = "two million pairs")]
fn population(topology: &Topology) -> Vec<Row> {
    let tiles = || (0..TILES).map(TileId::new);
    let (mut muxes, mut flights) = (Vec::new(), Vec::new());
    let (mut sum, mut east, mut uneven, mut offsets) = (0.0, 0_u32, 0_u32, Vec::new());
    for source in tiles() {
        sum += f64::from(source.get()) * f64::from(topology.physical(source).get());
        for destination in tiles() {
            let (s, d) = (topology.physical(source), topology.physical(destination));
            let (one, other) = (route(s, d), route(s, pair_partner(d)));
            east += u32::from(one.direction == Direction::East);
            uneven += u32::from((one.mux - other.mux).abs() != 1);
            uneven += u32::from(one.direction != other.direction);
            let rows = i32::try_from(row(d)).unwrap_or(0) - i32::try_from(row(s)).unwrap_or(0);
            offsets.push(one.mux + 2 * rows);
            muxes.push(one.mux);
            flights.push(flight_of(topology, source, destination));
        }
    }
    muxes.sort_unstable();
    offsets.sort_unstable();
    flights.sort_unstable();
    let ends =
        |sorted: &[i32]| [sorted.first(), sorted.last()].map(|v| f64::from(*v.unwrap_or(&0)));
    let total = |values: &[i32]| values.iter().map(|&v| f64::from(v)).sum::<f64>();
    let count = muxes.len() as f64;
    let rounded = |value: f64, digits: i32| {
        let factor = 10_f64.powi(digits);
        (value * factor).round() / factor
    };
    let figures = [
        ("sum of logical times physical", (sum, 807_822_192.0)),
        ("smallest select", (ends(&muxes)[0], -78.0)),
        ("largest select", (ends(&muxes)[1], 112.0)),
        ("sum of selects", (total(&muxes), -21_396_992.0)),
        (
            "mean select, three digits",
            (rounded(total(&muxes) / count, 3), -9.875),
        ),
        ("median select", (f64::from(muxes[muxes.len() / 2]), -12.0)),
        ("shortest flight", (ends(&flights)[0], 19.0)),
        ("longest flight", (ends(&flights)[1], 165.0)),
        (
            "mean flight, one digit",
            (rounded(total(&flights) / count, 1), 65.1),
        ),
        ("smallest row-free select", (ends(&offsets)[0], -34.0)),
        ("largest row-free select", (ends(&offsets)[1], 68.0)),
        ("routes to the east", (f64::from(east), count / 2.0)),
        (
            "pairs whose members differ by more than one",
            (f64::from(uneven), 0.0),
        ),
    ];
    let mut rows: Vec<Row> = figures
        .into_iter()
        .map(|(name, both)| exact(format!("all pairs: {name}"), "events", both, POPULATION))
        .collect();
    for (bin, published) in (0..).zip(HISTOGRAM) {
        let (from, to) = (20 * bin, 20 * (bin + 1));
        let found = flights.partition_point(|&f| f < to) - flights.partition_point(|&f| f < from);
        let name = format!("all pairs: flights of {from}..{to} events");
        rows.push(exact(
            name,
            "pairs",
            (found as f64, published.into()),
            POPULATION,
        ));
    }
    rows
}
