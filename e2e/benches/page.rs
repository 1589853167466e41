//! How long the page takes: a synthetic profile dropped on it, to the first picture and to full
//! use.
//!
//! `cargo bench -p e2e --bench page -- [SAMPLES…]`, one million and ten million by default. Each
//! size is opened five times in a fresh browser; medians are printed. The clock is the page's own,
//! from the drop to the frame that shows the state.
#![expect(clippy::print_stdout, reason = "a script that prints a table")]

use std::fs;
use std::path::{Path, PathBuf};

use analytics::text;
use e2e::stack::{Stack, expect_output, target_folder};
use e2e::viewer::Viewer;

const ROUNDS: usize = 5;

/// Keeps the frames at which the states were first seen, in milliseconds from the drop.
const WATCH: &str = "window.bench = new Promise((done) => addEventListener('drop', () => { \
    const start = performance.now(); const seen = []; \
    const state = (id) => document.querySelector(`[data-testid=${id}]`)?.dataset.state; \
    const look = () => { const now = performance.now() - start; \
    if (seen.length === 0 && state('timeline') === 'drawn') seen.push(now); \
    if (seen.length === 1 && state('kernel-table') === 'ready') { seen.push(now); done(seen); } \
    else requestAnimationFrame(look); }; look(); }, { capture: true, once: true })), 0";

struct Round {
    picture_ms: f64,
    usable_ms: f64,
    resident_mib: f64,
}

#[tokio::main]
async fn main() {
    let asked: Vec<u64> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if asked.is_empty() {
        vec![1_000_000, 10_000_000]
    } else {
        asked
    };
    println!(
        "{:>12} {:>9} {:>11} {:>11} {:>12}",
        "samples", "bytes", "picture", "usable", "renderer"
    );
    for samples in sizes {
        let file = profile(samples);
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(open(&file).await);
        }
        let bytes = fs::metadata(&file).expect("the file is there").len();
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let per_sample = bytes as f64 / samples as f64;
        println!(
            "{:>12} {per_sample:>6.2} B/s {:>8.0} ms {:>8.0} ms {:>8.0} MiB",
            text::count(samples),
            median(rounds.iter().map(|round| round.picture_ms)),
            median(rounds.iter().map(|round| round.usable_ms)),
            median(rounds.iter().map(|round| round.resident_mib)),
        );
    }
}

/// A synthetic profile, generated once.
fn profile(samples: u64) -> PathBuf {
    let file = target_folder("e2e/bench").join(format!("{samples}.ipuprofile"));
    if !file.is_file() {
        let place = file.to_str().expect("the path is UTF-8");
        let count = samples.to_string();
        let _said = expect_output(&["profile-synth", "--samples", &count, "-o", place]);
    }
    file
}

async fn open(file: &Path) -> Round {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    let _ready: u32 = viewer.eval(WATCH).await;
    viewer.drop_files(&[file]).await;
    let (picture_ms, usable_ms): (f64, f64) = viewer.eval("window.bench").await;
    let resident_mib = resident_mib(viewer.browser_process());
    viewer.assert_quiet().await;
    Round {
        picture_ms,
        usable_ms,
        resident_mib,
    }
}

/// Resident memory of the largest renderer below a browser process, from `/proc`; 0 elsewhere.
fn resident_mib(browser: u32) -> f64 {
    let Ok(processes) = fs::read_dir("/proc") else {
        return 0.0;
    };
    let ids = processes.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let renderers = ids.filter(|&id| {
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        words.contains("--type=renderer") && is_below(id, browser)
    });
    renderers.filter_map(resident_kib).fold(0.0, f64::max) / 1024.0
}

fn is_below(mut id: u32, ancestor: u32) -> bool {
    while id > 1 {
        if id == ancestor {
            return true;
        }
        id = field(id, "PPid:")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
    }
    false
}

fn resident_kib(id: u32) -> Option<f64> {
    field(id, "VmRSS:")?.parse().ok()
}

/// A field of a process's status.
fn field(id: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next().map(str::to_owned)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
