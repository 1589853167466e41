//! Time of one tile by place, as a list: for plans with too many places for a [`super::grid`].

/// Cycles in a place; longer times take several visits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) place: u32,
    pub(crate) cycles: u32,
}

/// The visits of one tile.
#[derive(Debug, Default)]
pub(crate) struct Visits(Vec<Visit>);

impl Visits {
    /// Adds `cycles`, not zero.
    #[inline]
    pub(crate) fn add(&mut self, place: u32, cycles: u32) {
        if let Some(last) = self.0.last_mut()
            && last.place == place
            && let Some(sum) = last.cycles.checked_add(cycles)
        {
            last.cycles = sum;
        } else {
            self.0.push(Visit { place, cycles });
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Sums up the visits of each place; `sum` has a zero for every place before and after.
    pub(crate) fn sum_up(&mut self, sum: &mut [u64]) {
        let visits = std::mem::take(&mut self.0);
        Self(visits).drain(sum, |place, cycles| self.add_long(place, cycles));
    }

    /// Calls `each` once for every place with the cycles spent there, and forgets them.
    pub(crate) fn drain(&mut self, sum: &mut [u64], mut each: impl FnMut(u32, u64)) {
        for visit in &self.0 {
            sum[visit.place as usize] += u64::from(visit.cycles);
        }
        for visit in self.0.drain(..) {
            let cycles = std::mem::take(&mut sum[visit.place as usize]);
            if cycles > 0 {
                each(visit.place, cycles);
            }
        }
    }

    /// Adds any number of cycles.
    fn add_long(&mut self, place: u32, mut cycles: u64) {
        while cycles > 0 {
            let some = u32::try_from(cycles).unwrap_or(u32::MAX);
            self.0.push(Visit {
                place,
                cycles: some,
            });
            cycles -= u64::from(some);
        }
    }
}
