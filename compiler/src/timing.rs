//! The named stages and how long each took. Times go to the report, never into the package.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::options::{Progress, ProgressSink};

/// The parts of the pipeline in order, each with the stage that it belongs to. Stages have the
/// names of the published compiler's where it has them, so that times can be compared: its
/// screening expands, resolves, maps and schedules; storage is placed once here.
pub const STAGES: [(&str, &str); 9] = [
    ("plan", "mid planning"),
    ("expand", "finalist screening + scheduling"),
    ("place", "final storage placement"),
    ("transfers", "finalist screening + scheduling"),
    ("schedule", "finalist screening + scheduling"),
    ("map", "finalist screening + scheduling"),
    ("encode", "final exchange lowering"),
    ("verify", "independent checks"),
    ("lower", "package"),
];

/// Counts the units of a part as they are done, from any thread.
pub(crate) struct Meter<'a> {
    stage: &'static str,
    sink: ProgressSink<'a>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Meter<'_> {
    /// Says how many units there are.
    pub(crate) fn expect(&self, units: usize) {
        self.total.store(units as u64, Ordering::Relaxed);
        self.tell(0);
    }

    /// One more unit is done. What is started anew is not counted again past the end.
    pub(crate) fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell(done.min(self.total.load(Ordering::Relaxed)));
    }

    /// All is done.
    fn finish(&self) {
        self.total.fetch_max(1, Ordering::Relaxed);
        self.tell(self.total.load(Ordering::Relaxed));
    }

    fn tell(&self, done: u64) {
        (self.sink)(Progress {
            stage: self.stage,
            done,
            total: self.total.load(Ordering::Relaxed),
        });
    }
}

/// Wall time of each part that ran, in order; a part that ran twice is listed twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Name of the part and its wall time.
    pub parts: Vec<(&'static str, Duration)>,
    /// Most bytes that this process had in memory so far; `None` where the system does not say.
    pub rss_peak: Option<u64>,
}

impl Timings {
    /// Runs a part, announces it, ends its count and keeps its wall time.
    pub(crate) fn stage<T>(
        &mut self,
        part: &'static str,
        sink: ProgressSink<'_>,
        run: impl FnOnce(&Meter<'_>) -> T,
    ) -> T {
        let stage = STAGES.iter().find(|(known, _)| *known == part);
        debug_assert!(stage.is_some(), "part {part} is not declared");
        let meter = Meter {
            stage: stage.map_or(part, |(_, stage)| stage),
            sink,
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        };
        meter.tell(0);
        let start = Instant::now();
        let result = run(&meter);
        self.parts.push((part, start.elapsed()));
        meter.finish();
        result
    }

    /// Wall time of a part, all its runs together.
    #[must_use]
    pub fn of(&self, part: &str) -> Duration {
        let runs = self.parts.iter().filter(|(name, _)| *name == part);
        runs.map(|(_, time)| *time).sum()
    }

    /// The stages that ran, in order of their first part, each with its parts.
    fn stages(&self) -> Vec<(&'static str, Vec<(&'static str, Duration)>)> {
        let mut stages: Vec<(&'static str, Vec<_>)> = Vec::new();
        for (part, stage) in STAGES {
            if !self.parts.iter().any(|(name, _)| *name == part) {
                continue;
            }
            let known = stages.iter().position(|(name, _)| *name == stage);
            let at = known.unwrap_or_else(|| {
                stages.push((stage, Vec::new()));
                stages.len() - 1
            });
            stages[at].1.push((part, self.of(part)));
        }
        stages
    }

    /// One line a stage, its parts below it where there are several, for people.
    #[must_use]
    pub fn text(&self) -> String {
        let line =
            |name: &str, time: Duration| format!("{name:<32} {:>9.3} s\n", time.as_secs_f64());
        let mut text = String::new();
        for (stage, parts) in self.stages() {
            text += &line(stage, parts.iter().map(|(_, time)| *time).sum());
            for (part, time) in parts.iter().filter(|_| parts.len() > 1) {
                text += &line(&format!("  {part}"), *time);
            }
        }
        text += &line("total", self.total());
        if let Some(bytes) = self.rss_peak {
            #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
            let megabytes = bytes as f64 / 1e6;
            text += &format!("{:<32} {megabytes:>9.1} MB\n", "peak of resident memory");
        }
        text
    }

    /// Stages with their seconds and parts, the total, and the peak of resident memory, as JSON.
    pub(crate) fn value(&self) -> serde_json::Value {
        let part = |(name, time): &(&str, Duration)| {
            let seconds = time.as_secs_f64();
            serde_json::json!({ "part": name, "seconds": seconds })
        };
        let stages = self.stages().into_iter().map(|(stage, parts)| {
            let seconds: Duration = parts.iter().map(|(_, time)| *time).sum();
            let parts: Vec<_> = parts.iter().map(part).collect();
            let seconds = seconds.as_secs_f64();
            serde_json::json!({ "stage": stage, "seconds": seconds, "parts": parts })
        });
        let stages: Vec<_> = stages.collect();
        let mut all = serde_json::json!({
            "stages": stages,
            "totalSeconds": self.total().as_secs_f64(),
        });
        if let Some(bytes) = self.rss_peak {
            all["rssPeakBytes"] = bytes.into();
        }
        all
    }

    /// Sum over the parts.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.parts.iter().map(|(_, time)| *time).sum()
    }
}

/// Most bytes that this process had in memory so far, where Linux says so.
pub(crate) fn rss_peak() -> Option<u64> {
    high_water(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The line `VmHWM: N kB` of a process status.
fn high_water(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_published_stages() {
        let parts = STAGES.map(|(part, _)| (part, Duration::from_millis(250)));
        let twice = [("schedule", Duration::from_millis(500))];
        let timings = Timings {
            parts: parts.into_iter().chain(twice).collect(),
            rss_peak: Some(2_000_000),
        };
        let text = "\
mid planning                         0.250 s
finalist screening + scheduling      1.500 s
  expand                             0.250 s
  transfers                          0.250 s
  schedule                           0.750 s
  map                                0.250 s
final storage placement              0.250 s
final exchange lowering              0.250 s
independent checks                   0.250 s
package                              0.250 s
total                                2.750 s
peak of resident memory                2.0 MB
";
        assert_eq!(timings.text(), text);
        let json = timings.value();
        assert_eq!(json["rssPeakBytes"], 2_000_000);
        assert_eq!(json["totalSeconds"], 2.75);
        assert_eq!(
            json["stages"][1]["stage"],
            "finalist screening + scheduling"
        );
        assert_eq!(json["stages"][1]["parts"][2]["seconds"], 0.75);
        let unknown = Timings::default().value();
        assert!(unknown.get("rssPeakBytes").is_none(), "{unknown}");
    }

    #[test]
    fn the_peak_of_resident_memory_is_read_where_the_system_says_it() {
        let status = "Name:\tx\nVmPeak:\t  9000 kB\nVmHWM:\t    1500 kB\nVmRSS:\t 10 kB\n";
        assert_eq!(high_water(status), Some(1500 * 1024));
        assert_eq!(high_water("Name:\tx\nVmHWM:\t many kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(rss_peak().is_some_and(|bytes| bytes > 1 << 20));
        }
    }
}
