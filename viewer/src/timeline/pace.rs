//! When to ask for finer cells while the view moves. Pure.
//!
//! Cheap answers are asked for at every move, so that the picture stays sharp. Dear ones wait for
//! the view to rest: until then earlier pictures are stretched, and nothing is decoded.

/// Milliseconds of work for an answer up to which moving does not wait.
const CHEAP: u32 = 30;
/// Milliseconds for which the view rests before a dear answer is asked for.
pub(crate) const REST: u32 = 90;

/// What to do about a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Ask at once.
    Ask,
    /// Ask when the view has rested.
    Wait,
}

/// What to do when the view has changed. `cost` is the work for the last exact answer in
/// milliseconds, `None` before the first; `part` is how many times as many cycles × tiles as that
/// answer was about are in view.
pub(crate) fn step(cost: Option<u32>, part: f64) -> Step {
    let expected = cost.map(|cost| f64::from(cost) * part.clamp(0.0, 4.0));
    match expected {
        Some(expected) if expected > f64::from(CHEAP) => Step::Wait,
        _ => Step::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dear_answers_wait_for_rest() {
        assert_eq!(step(None, 1.0), Step::Ask);
        assert_eq!(step(Some(CHEAP), 1.0), Step::Ask);
        assert_eq!(step(Some(300), 1.0), Step::Wait);
        assert_eq!(step(Some(300), 0.05), Step::Ask, "a twentieth costs little");
        assert_eq!(
            step(Some(20), 3.0),
            Step::Wait,
            "three times as much is dear"
        );
    }
}
