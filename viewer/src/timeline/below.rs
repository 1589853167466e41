//! Where a compared profile lies below the open one. Pure.
//!
//! Two cycles that are aligned lie over each other, so one of the two begins later than the other.
//! The viewport of the one below counts from the first cycle of whichever begins first; the
//! compared profile begins `lead` cycles later.

use std::ops::Range;

use analytics::text;

use super::viewport::Viewport;
use crate::state::panels::Aligned;
use crate::state::view::Span;

/// What is in view of the compared profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Below {
    /// As many cycles as above, and its rows.
    pub(crate) viewport: Viewport,
    /// Cycles of the viewport before its first.
    pub(crate) lead: u64,
    /// Its cycles before the first of the one above.
    ahead: u64,
    /// Whether it has any of the rows in view.
    pub(crate) has_rows: bool,
}

impl Below {
    /// A profile of `run` cycles and `rows` rows below what `above` shows; `shown` are its rows in
    /// view, `None` where it has none of them.
    pub(crate) fn new(
        above: &Viewport,
        (here, there): Aligned,
        (run, rows): (u64, u32),
        shown: Option<&Range<u32>>,
    ) -> Self {
        let (lead, ahead) = (here.saturating_sub(there), there.saturating_sub(here));
        let from = above.span.from.saturating_add(ahead);
        let to = from.saturating_add(above.span.len());
        // Beyond its own end it shows nothing, at the scale of the one above.
        let whole = Viewport::whole(run.saturating_add(lead).max(to), rows);
        let placed = whole.with_span(Span { from, to });
        Self {
            viewport: match shown {
                Some(shown) => placed.with_tiles(shown),
                None => placed,
            },
            lead,
            ahead,
            has_rows: shown.is_some(),
        }
    }

    /// Its cycles in view.
    pub(crate) fn cycles(&self) -> Range<u64> {
        let Span { from, to } = self.viewport.span;
        from.saturating_sub(self.lead)..to.saturating_sub(self.lead)
    }

    /// Its cycles in view as text; before its first they are negative.
    pub(crate) fn span_text(&self) -> String {
        let own = |cycle: u64| i128::from(cycle) - i128::from(self.lead);
        let Span { from, to } = self.viewport.span;
        format!("{}-{}", own(from), own(to))
    }

    /// Its cycle at a cycle of the viewport; `None` before it begins.
    pub(crate) const fn own(&self, cycle: u64) -> Option<u64> {
        cycle.checked_sub(self.lead)
    }

    /// The cycle of the open profile above a cycle of the viewport.
    pub(crate) const fn above(&self, cycle: u64) -> u64 {
        cycle.saturating_sub(self.ahead)
    }

    /// The cycle of the viewport below a cycle of the open profile, where it is in view.
    pub(crate) fn at(&self, above: u64) -> Option<u64> {
        let cycle = above.saturating_add(self.ahead);
        let Span { from, to } = self.viewport.span;
        (from..to).contains(&cycle).then_some(cycle)
    }
}

/// What is not seen of the compared profile, and what a drag over it does.
pub(crate) fn hint((here, there): Aligned, has_same_rows: bool) -> String {
    let part = match has_same_rows {
        true => "part",
        false => "cycles",
    };
    let drag = format!("a drag selects the same {part} of the open profile");
    match there.saturating_sub(here) {
        0 => drag,
        ahead => {
            let ahead = text::count(ahead);
            format!("its first {ahead} cycles lie before the open profile begins; {drag}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_said() {
        let drag = "a drag selects the same part of the open profile";
        assert_eq!(hint((7, 7), true), drag);
        assert_eq!(hint((7, 3), true), drag, "it begins later");
        let ahead = "its first 40 cycles lie before the open profile begins; a drag selects the \
            same cycles of the open profile";
        assert_eq!(hint((0, 40), false), ahead);
    }

    fn below(from: u64, to: u64, aligned: Aligned) -> Below {
        let above = Viewport::whole(1_000, 4).with_span(Span { from, to });
        Below::new(&above, aligned, (600, 8), Some(&(2..6)))
    }

    #[test]
    fn equal_cycles_lie_over_each_other_at_first() {
        let it = below(100, 300, (0, 0));
        assert_eq!((it.cycles(), it.lead), (100..300, 0));
        assert_eq!(it.viewport.tiles, 2..6);
        assert_eq!(
            (it.own(150), it.above(150), it.at(150)),
            (Some(150), 150, Some(150))
        );
        assert_eq!(it.at(300), None, "out of view");
    }

    #[test]
    fn one_that_begins_later_has_nothing_before() {
        // Cycle 40 below cycle 240: it begins below cycle 200.
        let it = below(100, 300, (240, 40));
        assert_eq!((it.cycles(), it.lead), (0..100, 200));
        assert_eq!(it.span_text(), "-100-100");
        assert_eq!(it.own(150), None);
        let at = it.at(240).expect("it is in view");
        assert_eq!((it.own(at), it.above(at)), (Some(40), 240));
        assert_eq!(below(0, 150, (240, 40)).cycles(), 0..0);
    }

    #[test]
    fn one_that_begins_earlier_is_ahead() {
        let it = below(100, 300, (40, 240));
        assert_eq!((it.cycles(), it.lead), (300..500, 0));
        let at = it.at(140).expect("it is in view");
        assert_eq!((it.own(at), it.above(at)), (Some(340), 140));
    }

    #[test]
    fn rows_that_it_does_not_have_are_none() {
        let above = Viewport::whole(1_000, 4);
        let it = Below::new(&above, (0, 0), (600, 8), None);
        assert!(!it.has_rows);
        assert_eq!(it.viewport.span, above.span, "longer than its own run");
    }
}
