//! Published vectors and population figures of the mapping and the routes.

use super::*;
use crate::fidelity::routes::{HISTOGRAM, ROUTES, TILES_OF};

fn physical(logical: u16) -> u32 {
    default_physical(TileId::new(logical)).get()
}

#[test]
fn logical_order_snakes_through_the_columns() {
    for &(logical, expected) in TILES_OF {
        assert_eq!(physical(logical), expected, "logical {logical}");
    }
    let sum: u64 = (0..TILES)
        .map(|l| u64::from(l) * u64::from(physical(l)))
        .sum();
    assert_eq!(sum, 807_822_192);
}

#[test]
fn the_mapping_is_a_permutation_and_pairs_are_logical_neighbours() {
    let topology = Topology::first_tiles(TILES);
    assert_eq!(
        Topology::from_mapping(topology.mapping()),
        Ok(topology.clone())
    );
    for l in (0..TILES).map(TileId::new) {
        assert_eq!(topology.logical(topology.physical(l)), Some(l));
        assert_eq!(topology.partner(l), Some(TileId::new(l.get() ^ 1)));
    }
}

#[test]
fn mappings_with_a_fault_name_it() {
    let p = PhysicalTile::new;
    assert_eq!(
        Topology::from_mapping(&[p(5), p(7), p(5)]),
        Err(MappingError::Duplicate {
            first: 0,
            second: 2,
            physical: 5
        })
    );
    assert_eq!(
        Topology::from_mapping(&[p(1472)]),
        Err(MappingError::OutOfRange {
            logical: 0,
            physical: 1472
        })
    );
}

fn landing(source: PhysicalTile, destination: PhysicalTile) -> i32 {
    let delay = i32::try_from(landing_delay(destination)).expect("delays are short");
    route(source, destination).mux + 1 + delay
}

#[test]
fn routes_match_the_published_table() {
    let topology = Topology::first_tiles(TILES);
    for &(s, d, displacement, mux, flight) in ROUTES {
        let route = topology.route(TileId::new(s), TileId::new(d));
        let direction = if displacement < 1 {
            Direction::West
        } else {
            Direction::East
        };
        assert_eq!(
            route,
            Route {
                direction,
                mux,
                displacement
            },
            "{s} to {d}"
        );
        let (s, d) = (
            topology.physical(TileId::new(s)),
            topology.physical(TileId::new(d)),
        );
        assert_eq!(landing(s, d), flight, "{s} to {d}");
    }
}

#[test]
fn routes_match_the_figures_of_the_whole_population() {
    let mut muxes = Vec::with_capacity(usize::from(TILES).pow(2));
    let mut histogram = [0_u32; 9];
    let mut flight_sum = 0_i64;
    let mut east = 0_u32;
    let (mut g_min, mut g_max) = (i32::MAX, i32::MIN);
    for s in (0..u32::from(TILES)).map(PhysicalTile::new) {
        for d in (0..u32::from(TILES)).map(PhysicalTile::new) {
            let r = route(s, d);
            let twin = route(s, pair_partner(d));
            assert_eq!(
                (r.mux - twin.mux).abs(),
                1,
                "pair members differ by one event: {s} to {d}"
            );
            assert_eq!(
                r.direction, twin.direction,
                "pair members share a direction: {s} to {d}"
            );
            let flight = landing(s, d);
            histogram[usize::try_from(flight / 20).expect("flights are positive")] += 1;
            flight_sum += i64::from(flight);
            east += u32::from(r.direction == Direction::East);
            let g = r.mux + 2 * i32::try_from(row(d)).expect("small")
                - 2 * i32::try_from(row(s)).expect("small");
            (g_min, g_max) = (g_min.min(g), g_max.max(g));
            muxes.push(r.mux);
        }
    }
    muxes.sort_unstable();
    let sum: i64 = muxes.iter().map(|&m| i64::from(m)).sum();
    assert_eq!((muxes[0], muxes[muxes.len() - 1]), (-78, 112));
    assert_eq!(muxes[muxes.len() / 2], -12);
    assert_eq!(sum, -21_396_992);
    assert_eq!(histogram, HISTOGRAM);
    assert_eq!(
        east * 2,
        u32::from(TILES).pow(2),
        "exactly half of the pairs go east"
    );
    assert_eq!((g_min, g_max), (-34, 68));
    let pairs = i64::from(TILES) * i64::from(TILES);
    assert_eq!(
        (flight_sum * 10 + pairs / 2) / pairs,
        651,
        "mean flight is 65.1 events"
    );
}
