//! Units and ids: a quantity of one kind cannot be used where another is meant.
//!
//! Every type has a private field, a constructor that names its unit and `get`. Only arithmetic
//! that means something is offered: instants subtract to durations, durations add, work sums
//! exactly.

use std::fmt;
use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Sub};

/// Declares an additive quantity held in a `u64`.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The zero quantity.
            pub const ZERO: Self = Self(0);

            #[doc = concat!("A quantity of `value` ", $unit, ".")]
            #[must_use]
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            #[doc = concat!("The number of ", $unit, ".")]
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The difference, or zero where `other` is larger.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// The sum, or `None` where it leaves 64 bits.
            #[must_use]
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }

            /// The quantity taken `count` times, saturating at the largest value.
            #[must_use]
            pub const fn times(self, count: u64) -> Self {
                Self(self.0.saturating_mul(count))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, |total, item| total + item)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $unit), self.0)
            }
        }
    };
}

/// Declares an id: an index into the table of its own kind, nothing else.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $repr:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($repr);

        impl $name {
            /// The id with this number.
            #[must_use]
            pub const fn new(value: $repr) -> Self {
                Self(value)
            }

            /// The number of the id.
            #[must_use]
            pub const fn get(self) -> $repr {
                self.0
            }

            /// The id as a slice index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

quantity! {
    /// A duration in tile clock cycles.
    Cycles, "cycles"
}

impl Cycles {
    /// The part of `whole` that this is; `None` of nothing.
    #[must_use]
    pub fn share_of(self, whole: Self) -> Option<f64> {
        crate::aggregate::ratio(crate::aggregate::float(self.0), whole.0)
    }
}

quantity! {
    /// An amount of memory or of traffic.
    Bytes, "bytes"
}
quantity! {
    /// Floating-point operations; a multiply-add is two.
    Flops, "FLOP"
}
quantity! {
    /// Logical tensor elements, padding excluded.
    Elements, "elements"
}

id! {
    /// A tile by its position in the logical order, 0..1472. Programs are written for logical
    /// tiles.
    TileId, u16
}
id! {
    /// A tile by its physical id, 0..1472 on an IPU21. Profiles name physical tiles.
    PhysicalTile, u32
}
id! {
    /// A row of a profile's string table.
    StringId, u32
}
id! {
    /// A row of a profile's step table.
    StepId, u32
}
id! {
    /// A row of a profile's metadata-set table.
    MetadataSetId, u32
}

/// A reading of the free-running hardware cycle counter: its low 32 bits, which wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RawCounter(u32);

impl RawCounter {
    /// The counter as read.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(value)
    }

    /// The low 32 bits.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Cycles since `earlier`, correct across one wrap.
    #[must_use]
    pub const fn elapsed_since(self, earlier: Self) -> Cycles {
        Cycles::new(self.0.wrapping_sub(earlier.0) as u64)
    }

    /// The counter `cycles` later.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the hardware counter keeps the low bits"
    )]
    pub const fn after(self, cycles: Cycles) -> Self {
        Self(self.0.wrapping_add(cycles.get() as u32))
    }
}

/// A time base for [`CycleOffset`]; the three clocks are its only implementations.
pub trait Clock: Copy {
    /// The name printed beside every offset on this clock.
    const NAME: &'static str;
}

/// Each tile's first sample starts at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileClock;
/// One common origin: the earliest first sample of the device is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedClock;
/// The shared clock minus the initial-sync crop, saturating at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CroppedClock;

impl Clock for TileClock {
    const NAME: &'static str = "tile";
}
impl Clock for SharedClock {
    const NAME: &'static str = "shared";
}
impl Clock for CroppedClock {
    const NAME: &'static str = "cropped";
}

/// An instant in cycles on the clock `C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CycleOffset<C: Clock> {
    cycles: u64,
    clock: PhantomData<C>,
}

impl<C: Clock> CycleOffset<C> {
    /// The instant `cycles` after the origin of the clock.
    #[must_use]
    pub const fn new(cycles: u64) -> Self {
        Self {
            cycles,
            clock: PhantomData,
        }
    }

    /// Cycles since the origin of the clock.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.cycles
    }
}

impl<C: Clock> Add<Cycles> for CycleOffset<C> {
    type Output = Self;
    fn add(self, duration: Cycles) -> Self {
        Self::new(self.cycles + duration.get())
    }
}

impl<C: Clock> Sub for CycleOffset<C> {
    type Output = Cycles;
    /// The duration between two instants; zero where `earlier` is later.
    fn sub(self, earlier: Self) -> Cycles {
        Cycles::new(self.cycles.saturating_sub(earlier.cycles))
    }
}

impl<C: Clock> fmt::Display for CycleOffset<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cycles ({} clock)", self.cycles, C::NAME)
    }
}

/// Useful or physical work in exact multiples of 1/256 issue-cycle.
///
/// Every basis of the useful-work model is a multiple of 1/256 issue-cycle, so sums do not depend
/// on their order and need no rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Work(u64);

impl Work {
    /// No work.
    pub const ZERO: Self = Self(0);
    /// Fractions of one issue-cycle.
    pub const PER_CYCLE: u64 = 256;

    /// Work of `count` 256ths of an issue-cycle.
    #[must_use]
    pub const fn from_256ths(count: u64) -> Self {
        Self(count)
    }

    /// Work of whole issue-cycles, saturating at the largest value.
    #[must_use]
    pub const fn from_cycles(cycles: u64) -> Self {
        Self(cycles.saturating_mul(Self::PER_CYCLE))
    }

    /// The number of 256ths of an issue-cycle.
    #[must_use]
    pub const fn get_256ths(self) -> u64 {
        self.0
    }

    /// The work in issue-cycles, for display: exact up to 2^45 cycles.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "display only; sums stay integers"
    )]
    pub fn as_cycles(self) -> f64 {
        self.0 as f64 / Self::PER_CYCLE as f64
    }

    /// The work taken `count` times, saturating at the largest value.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// The sum, or `None` where it leaves 64 bits.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }
}

impl Add for Work {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, |total, item| total + item)
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} issue-cycles", self.as_cycles())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_subtract_across_the_wrap() {
        let start = RawCounter::new(0xFFFF_FFFB);
        let end = RawCounter::new(5);
        assert_eq!(end.elapsed_since(start), Cycles::new(10));
        assert_eq!(start.after(Cycles::new(10)), end);
    }

    #[test]
    fn work_sums_are_exact_in_256ths() {
        let third: Work = [Work::from_256ths(1); 3].into_iter().sum();
        assert_eq!(third.get_256ths(), 3);
        assert_eq!(Work::from_cycles(2).as_cycles(), 2.0);
    }

    #[test]
    fn instants_subtract_to_durations_and_name_their_clock() {
        let at = CycleOffset::<CroppedClock>::new(100) + Cycles::new(20);
        assert_eq!(at - CycleOffset::new(100), Cycles::new(20));
        assert_eq!(at.to_string(), "120 cycles (cropped clock)");
    }
}
