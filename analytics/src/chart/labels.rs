//! Where names stand beside their points so that none covers another.

use plotters::style::text_anchor::HPos;

/// Height of a line of text, and the widest a character of it is on average, in pixels.
const LINE: i32 = 16;
const CHARACTER: i32 = 8;
/// Lines above or below its point that a name may stand.
const REACH: i32 = 8;

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Space {
    left: i32,
    right: i32,
    /// Its middle.
    row: i32,
}

impl Space {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && (self.row - other.row).abs() < LINE
    }
}

/// The space that names have taken between two rows of pixels.
#[derive(Debug)]
pub(super) struct Labels {
    rows: std::ops::RangeInclusive<i32>,
    taken: Vec<Space>,
}

impl Labels {
    /// No name yet; all will stand between the pixel rows `top` and `bottom`.
    pub(super) fn between(top: i32, bottom: i32) -> Self {
        Self {
            rows: top + LINE / 2..=bottom - LINE / 2,
            taken: Vec::new(),
        }
    }

    /// The pixel row of a name that has its end `anchor` at pixel `edge`, as near to `row` as there
    /// is space; `None` where there is none.
    pub(super) fn place(&mut self, name: &str, anchor: HPos, edge: i32, row: i32) -> Option<i32> {
        let left = match anchor {
            HPos::Left => edge,
            HPos::Center => edge - width(name) / 2,
            HPos::Right => edge - width(name),
        };
        let right = left + width(name);
        let lines = (0..=REACH).flat_map(|line| [row - line * LINE, row + line * LINE]);
        let mut spaces = lines.map(|row| Space { left, right, row });
        let free = spaces.find(|space| {
            self.rows.contains(&space.row) && !self.taken.iter().any(|it| it.meets(space))
        })?;
        self.taken.push(free);
        Some(free.row)
    }
}

/// What a name is at most wide, in pixels.
fn width(name: &str) -> i32 {
    // No name is drawn longer.
    let characters = i32::from(u8::try_from(name.chars().count()).unwrap_or(u8::MAX));
    characters * CHARACTER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_point_stand_below_each_other() {
        let mut labels = Labels::between(0, 400);
        let rows: Vec<_> = (0..4)
            .map(|_| labels.place("softmax", HPos::Left, 50, 200))
            .collect();
        assert_eq!(rows, [Some(200), Some(184), Some(216), Some(168)]);
        // A name elsewhere is not in their way.
        assert_eq!(labels.place("gelu", HPos::Left, 300, 200), Some(200));
        assert_eq!(labels.place("gelu", HPos::Right, 50, 200), Some(200));
    }

    #[test]
    fn a_name_without_space_is_left_out() {
        let mut labels = Labels::between(0, 3 * LINE);
        let placed = (0..9).filter_map(|_| labels.place("a", HPos::Left, 0, LINE / 2));
        assert_eq!(placed.collect::<Vec<_>>(), [8, 24, 40]);
    }
}
