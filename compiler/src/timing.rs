//! The named stages and how long each took. Times go to the report, never into the package.

use std::time::{Duration, Instant};

use crate::options::{Progress, ProgressSink};

/// The stages in order; progress, timings and errors use these names.
pub const STAGES: [&str; 9] = [
    "plan",
    "expand",
    "place",
    "transfers",
    "schedule",
    "map",
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

    /// One line a stage, for people.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |(stage, time): &(&str, Duration)| {
            format!("{stage:<10} {:>9.3} s\n", time.as_secs_f64())
        };
        let lines: String = self.stages.iter().map(line).collect();
        let total = self.total().as_secs_f64();
        format!("{lines}{:<10} {total:>9.3} s\n", "total")
    }

    /// Stages with their seconds, and the total, as JSON.
    pub(crate) fn value(&self) -> serde_json::Value {
        let stage = |(stage, time): &(&str, Duration)| {
            let seconds = time.as_secs_f64();
            serde_json::json!({ "stage": stage, "seconds": seconds })
        };
        let stages: Vec<_> = self.stages.iter().map(stage).collect();
        let total = self.total().as_secs_f64();
        serde_json::json!({ "stages": stages, "totalSeconds": total })
    }

    /// Sum over the stages.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }
}
