//! The named stages and how long each took. Times go to the report, never into the package.

use std::time::{Duration, Instant};

use crate::options::{Progress, ProgressSink};

/// The stages in order; progress, timings and errors use these names.
pub const STAGES: [&str; 8] = [
    "plan",
    "expand",
    "place",
    "transfers",
    "schedule",
    "encode",
    "verify",
    "lower",
];

/// Wall time of each stage that ran, in order; a stage that ran twice is listed twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Stage name and wall time.
    pub stages: Vec<(&'static str, Duration)>,
}

impl Timings {
    /// Runs a stage, announces it and keeps its wall time.
    pub(crate) fn stage<T>(
        &mut self,
        name: &'static str,
        progress: ProgressSink<'_>,
        run: impl FnOnce() -> T,
    ) -> T {
        debug_assert!(STAGES.contains(&name), "stage {name} is not declared");
        progress(Progress {
            stage: name,
            done: 0,
            total: 0,
        });
        let start = Instant::now();
        let result = run();
        self.stages.push((name, start.elapsed()));
        result
    }

    /// Sum over the stages.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }
}
