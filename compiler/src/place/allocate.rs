//! First fit for one tile: requests → addresses.
//!
//! Requests that only interleaved memory can hold are taken first, then the others, each by start
//! of life, large ones first. Standard requests try standard memory, then interleaved. A wish to
//! lie apart from an exchange partner is dropped where it cannot be met; a kernel's need to is not.

use std::cmp::Reverse;
use std::ops::Range;

use runtime::package::{Address, MemoryClass};

use super::arena::{Arena, element, next_element};

/// Alignment of every buffer: a unit of 16 F16 values.
pub(crate) const ALIGNMENT: u32 = 32;

/// What a buffer needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) bytes: u32,
    /// Bytes past the end that may be read.
    pub(crate) tail: u32,
    pub(crate) class: MemoryClass,
    /// First and last step, inclusive.
    pub(crate) lifetime: (u32, u32),
    /// Requests that must lie in other elements.
    pub(crate) apart: Vec<usize>,
    /// Requests that should lie in other elements.
    pub(crate) avoid: Vec<usize>,
}

/// The request that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) request: usize,
    /// Bytes of placed requests that are live with it.
    pub(crate) live: u64,
}

/// Addresses of all requests.
pub(crate) fn allocate(requests: &[Request], arena: &Arena) -> Result<Vec<Address>, Failure> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&index| {
        let request = &requests[index];
        let standard = arena.standard.end - arena.standard.start;
        let needs_interleaved =
            request.class == MemoryClass::Interleaved || request.bytes + request.tail > standard;
        let class = Reverse(needs_interleaved);
        (class, request.lifetime.0, Reverse(request.bytes), index)
    });
    let mut addresses: Vec<Option<Address>> = vec![None; requests.len()];
    for index in order {
        let request = &requests[index];
        let areas = match request.class {
            MemoryClass::Interleaved => vec![&arena.interleaved],
            MemoryClass::Standard => vec![&arena.standard, &arena.interleaved],
        };
        let tile = Tile {
            requests,
            addresses: &addresses,
        };
        let found = [true, false].iter().find_map(|&with_wishes| {
            areas
                .iter()
                .find_map(|area| tile.first_fit(index, area, with_wishes))
        });
        let live = tile.live_bytes(index);
        addresses[index] = Some(found.ok_or(Failure {
            request: index,
            live,
        })?);
    }
    Ok(addresses.into_iter().flatten().collect())
}

/// The requests of a tile and where the first ones lie.
struct Tile<'a> {
    requests: &'a [Request],
    addresses: &'a [Option<Address>],
}

impl Tile<'_> {
    fn placed_with(&self, index: usize) -> impl Iterator<Item = (usize, Address)> {
        let (first, last) = self.requests[index].lifetime;
        self.addresses
            .iter()
            .enumerate()
            .filter_map(move |(other, address)| {
                let life = self.requests[other].lifetime;
                address
                    .filter(|_| life.0 <= last && first <= life.1)
                    .map(|address| (other, address))
            })
    }

    fn live_bytes(&self, index: usize) -> u64 {
        self.placed_with(index)
            .map(|(other, _)| u64::from(self.requests[other].bytes))
            .sum()
    }

    /// The lowest legal address in an area.
    fn first_fit(&self, index: usize, area: &Range<Address>, with_wishes: bool) -> Option<Address> {
        let request = &self.requests[index];
        let placed: Vec<(Range<Address>, bool)> = self
            .placed_with(index)
            .map(|(other, address)| {
                // Either of a pair may ask for it, and either may be placed first.
                let asks = |pick: fn(&Request) -> &Vec<usize>| {
                    pick(request).contains(&other) || pick(&self.requests[other]).contains(&index)
                };
                let is_apart = asks(|it| &it.apart) || (with_wishes && asks(|it| &it.avoid));
                let reach = if is_apart {
                    self.requests[other].tail
                } else {
                    0
                };
                (
                    address..address + self.requests[other].bytes + reach,
                    is_apart,
                )
            })
            .collect();
        let mut address = area.start.next_multiple_of(ALIGNMENT);
        loop {
            let end = address.checked_add(request.bytes)?;
            if end.checked_add(request.tail)? > area.end {
                return None;
            }
            let blocked = placed
                .iter()
                .filter_map(|(range, is_apart)| {
                    let reach = if *is_apart { end + request.tail } else { end };
                    blocked_until(address..reach, range, *is_apart)
                })
                .max();
            match blocked {
                None => return Some(address),
                Some(free) => address = free.next_multiple_of(ALIGNMENT),
            }
        }
    }
}

/// The first address at which a range could start without touching a placed one, if it touches it.
fn blocked_until(
    range: Range<Address>,
    placed: &Range<Address>,
    is_apart: bool,
) -> Option<Address> {
    if is_apart {
        let shares = element(range.start) <= element(placed.end - 1)
            && element(placed.start) <= element(range.end - 1);
        shares.then(|| next_element(placed.end - 1))
    } else {
        (range.start < placed.end && placed.start < range.end).then_some(placed.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bytes: u32, class: MemoryClass, lifetime: (u32, u32)) -> Request {
        Request {
            bytes,
            tail: 0,
            class,
            lifetime,
            apart: Vec::new(),
            avoid: Vec::new(),
        }
    }

    #[test]
    fn dead_buffers_give_their_place_to_later_ones() {
        use MemoryClass::Interleaved;
        let requests = [
            request(0x60000, Interleaved, (0, 1)),
            request(0x60000, Interleaved, (2, 3)),
        ];
        let addresses = allocate(&requests, &Arena::with_rows(0)).unwrap();
        assert_eq!(addresses, [0x80000, 0x80000]);
        let both = [
            request(0x60000, Interleaved, (0, 2)),
            request(0x60000, Interleaved, (2, 3)),
        ];
        let failure = allocate(&both, &Arena::with_rows(0)).unwrap_err();
        assert_eq!(
            failure,
            Failure {
                request: 1,
                live: 0x60000
            }
        );
    }

    #[test]
    fn apart_means_another_element_and_counts_the_tail() {
        use MemoryClass::{Interleaved, Standard};
        let output = request(0x100, Interleaved, (0, 1));
        let mut left = request(0x18000 - 16, Standard, (0, 1));
        left.tail = 16;
        left.apart = vec![0];
        let addresses = allocate(&[output.clone(), left.clone()], &Arena::with_rows(0)).unwrap();
        assert_eq!(
            addresses,
            [0x80000, 0x68000],
            "fits standard memory with its tail"
        );
        left.bytes += 16;
        let addresses = allocate(&[output, left], &Arena::with_rows(0)).unwrap();
        assert_eq!(
            addresses,
            [0xa0000, 0x80000],
            "the tail would leave standard memory, so the large one comes first"
        );
    }

    #[test]
    fn wishes_give_way_to_need() {
        use MemoryClass::Interleaved;
        let mut requests: Vec<Request> = (0..14)
            .map(|_| request(0x3000, Interleaved, (0, 1)))
            .collect();
        for (index, request) in requests.iter_mut().enumerate() {
            request.avoid = (0..index).collect();
        }
        let addresses = allocate(&requests, &Arena::with_rows(0)).unwrap();
        assert_eq!(addresses[12], 0xe0000);
        assert_eq!(
            addresses[13], 0x83000,
            "beside the first, all elements being taken"
        );
    }
}
