//! How long the page takes, what it reads and what it holds: synthetic profiles of 1,472 tiles in a
//! fresh browser each time.
//!
//! `cargo bench -p e2e --bench page -- [all | PART…]` with the parts `cold`, `1000000`,
//! `10000000`, `50000000` (any number of samples, dropped), `url` (50 M samples by byte ranges),
//! `row` (a row file of 200 MB), `frames` (pan and zoom at 10 M) and `wasm`. Each time is the
//! median of five rounds on the page's own clock, from the drop or the navigation to the frame that
//! shows the state; memory is the renderer's, from the system.
#![expect(clippy::print_stdout, reason = "a script that prints a table")]

#[path = "page/memory.rs"]
mod memory;

use std::fs;
use std::path::{Path, PathBuf};

use analytics::text;
use e2e::ranges::{Given, RangeHost};
use e2e::stack::{Stack, expect_output, target_folder};
use e2e::viewer::Viewer;

const ROUNDS: usize = 5;
/// Samples that are opened by ranges.
const BY_RANGES: u64 = 50_000_000;
/// Samples of the profile that is panned and zoomed.
const MOVED: u64 = 10_000_000;
/// Bytes of the row file, about.
const ROW_BYTES: u64 = 200_000_000;

/// Notes the frames at which the states were first seen, in milliseconds from `start`: a picture,
/// figures, everything exact.
const LOOK: &str = "const seen = [0, 0, 0]; \
    const state = (id) => document.querySelector(`[data-testid=${id}]`)?.dataset.state; \
    const note = (at, met, now) => { if (!seen[at] && met) seen[at] = now; }; \
    const look = () => { const now = performance.now() - start; \
    const [plot, table] = [state('timeline'), state('kernel-table')]; \
    note(0, plot === 'overview' || plot === 'drawn', now); \
    note(1, table === 'summed' || table === 'ready', now); \
    note(2, plot === 'drawn' && table === 'ready', now); \
    if (seen.slice(0, wanted).every((it) => it > 0)) done(seen); \
    else requestAnimationFrame(look); }; look();";

/// One opening.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Milliseconds to the first picture, to figures, to exact ones.
    seen: [f64; 3],
    /// Milliseconds from a move of the pointer to the sample under it.
    hover_ms: f64,
    resident_mib: f64,
    peak_mib: f64,
    given: Given,
}

#[tokio::main]
async fn main() {
    let mut parts: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| !it.starts_with('-'))
        .collect();
    if parts.is_empty() {
        parts = vec!["cold".to_owned(), "1000000".to_owned(), MOVED.to_string()];
    } else if parts == ["all"] {
        let all = [
            "wasm", "cold", "1000000", "10000000", "50000000", "url", "row", "frames",
        ];
        parts = all.map(str::to_owned).to_vec();
    }
    println!(
        "{:<22} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9}",
        "opened", "picture", "figures", "exact", "hover", "renderer", "peak"
    );
    for part in parts {
        match part.as_str() {
            "cold" => cold().await,
            "url" => by_ranges().await,
            "row" => row_file().await,
            "frames" => frames().await,
            "wasm" => wasm(),
            samples => dropped(samples).await,
        }
    }
}

async fn dropped(samples: &str) {
    let samples: u64 = samples.parse().expect("a part of the benchmark");
    let file = profile(samples);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(open(&file).await);
    }
    print(&format!("{} dropped", text::count(samples)), &rounds);
}

/// A synthetic profile, generated once for each revision of the format.
fn profile(samples: u64) -> PathBuf {
    let file = target_folder("e2e/bench").join(format!("{samples}-1.1.ipuprofile"));
    if !file.is_file() {
        let count = samples.to_string();
        let _said = expect_output(&["profile-synth", "--samples", &count, "-o", path(&file)]);
    }
    file
}

fn path(file: &Path) -> &str {
    file.to_str().expect("the path is UTF-8")
}

async fn open(file: &Path) -> Round {
    let stack = Stack::start().await;
    let viewer = Viewer::landing(&stack.url("/")).await;
    let watch = format!(
        "window.bench = new Promise((done) => addEventListener('drop', () => {{ \
         const start = performance.now(); const wanted = 3; {LOOK} }}, \
         {{ capture: true, once: true }})), 0"
    );
    let _ready: u32 = viewer.eval(&watch).await;
    viewer.drop_files(&[file]).await;
    let seen: [f64; 3] = viewer.eval("window.bench").await;
    let hover_ms = hover(&viewer).await;
    finish(viewer, seen, hover_ms, Given::default()).await
}

/// Milliseconds from a move of the pointer to the description of the sample under it.
async fn hover(viewer: &Viewer) -> f64 {
    let (x, y, width, height) = viewer.canvas().await;
    let (x, y) = (x + width * 0.6, y + height * 0.4);
    viewer
        .eval(&format!(
            "new Promise((done) => {{ const start = performance.now(); \
             document.querySelector('.plot').dispatchEvent(new PointerEvent('pointermove', \
             {{ clientX: {x}, clientY: {y}, bubbles: true }})); \
             const look = () => {{ if (document.querySelector('[data-testid=tooltip]')) \
             done(performance.now() - start); else requestAnimationFrame(look); }}; look(); }})"
        ))
        .await
}

async fn finish(mut viewer: Viewer, seen: [f64; 3], hover_ms: f64, given: Given) -> Round {
    let memory = memory::of_renderers(viewer.browser_process());
    viewer.assert_quiet().await;
    Round {
        seen,
        hover_ms,
        resident_mib: memory.resident_mib,
        peak_mib: memory.peak_mib,
        given,
    }
}

/// The landing page in a browser that has seen nothing.
async fn cold() {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let stack = Stack::start().await;
        let viewer = Viewer::blank().await;
        let watch = "window.bench = new Promise((done) => { const look = () => { \
            if (document.body?.dataset.state === 'empty') done(performance.now()); \
            else requestAnimationFrame(look); }; look(); })";
        viewer.on_new_page(watch).await;
        viewer.goto(&stack.url("/")).await;
        times.push(viewer.eval("window.bench").await);
    }
    println!("{:<22} {:>6.0} ms", "cold page, interactive", median(times));
}

/// Opens by an address, then zooms in and pans.
async fn by_ranges() {
    let file = profile(BY_RANGES);
    let mut rounds = Vec::new();
    let mut browsed = Vec::new();
    for _ in 0..ROUNDS {
        let (stack, host) = (Stack::start().await, RangeHost::start(file.clone()).await);
        let viewer = Viewer::blank().await;
        let watch = format!(
            "window.bench = new Promise((done) => {{ const start = 0; const wanted = 2; {LOOK} }})"
        );
        viewer.on_new_page(&watch).await;
        viewer
            .goto(&stack.url(&format!("/?url={}", host.url())))
            .await;
        let seen: [f64; 3] = viewer.eval("window.bench").await;
        let given = host.given();
        let hover_ms = hover(&viewer).await;
        let mut viewer = viewer;
        for _ in 0..12 {
            viewer.key("KeyW", "w").await;
        }
        viewer.drawn().await;
        for _ in 0..10 {
            viewer.key("KeyD", "d").await;
            viewer.drawn().await;
        }
        browsed.push(host.given());
        rounds.push(finish(viewer, seen, hover_ms, given).await);
    }
    print(&format!("{} by ranges", text::count(BY_RANGES)), &rounds);
    let last = browsed.last().copied().unwrap_or_default();
    println!(
        "    first picture: {} bytes in {} requests; after hover, zoom and pans: {} in {}",
        text::count(rounds[0].given.bytes),
        rounds[0].given.requests,
        text::count(last.bytes),
        last.requests
    );
}

async fn row_file() {
    let file = target_folder("e2e/bench").join("row.ipuprofile");
    if !file.is_file() {
        let convert = |samples: u64| {
            let from = profile(samples);
            let _said = expect_output(&[
                "profile-convert",
                path(&from),
                "--to",
                "row",
                "-o",
                path(&file),
            ]);
            fs::metadata(&file).expect("the file is there").len()
        };
        let trial = 100_000;
        let bytes = convert(trial);
        convert(trial * ROW_BYTES / bytes);
    }
    let bytes = fs::metadata(&file).expect("the file is there").len();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(open(&file).await);
    }
    print(&format!("row file, {} MB", bytes / 1_000_000), &rounds);
}

/// Pans and zooms by keys, as fast as the browser takes them.
async fn frames() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&profile(MOVED)).await;
    let (x, y, width, height) = viewer.canvas().await;
    viewer.hover(x + width * 0.4, y + height * 0.5).await;
    let _before: Vec<f64> = viewer.eval("[...ipuStack.frames()]").await;
    for (code, key) in [("KeyW", "w"), ("KeyD", "d"), ("KeyA", "a"), ("KeyS", "s")] {
        for _ in 0..40 {
            viewer.key(code, key).await;
        }
    }
    for step in 0..60 {
        let delta = if step < 30 { -60.0 } else { 60.0 };
        viewer
            .wheel(x + width * 0.4, y + height * 0.5, delta, true)
            .await;
    }
    viewer
        .drag((x + width * 0.7, y + 100.0), (x + width * 0.3, y + 120.0))
        .await;
    viewer.settled().await;
    let mut frames: Vec<f64> = viewer.eval("[...ipuStack.frames()]").await;
    frames.sort_by(f64::total_cmp);
    let at = |part: usize| frames[(frames.len() - 1) * part / 100];
    println!(
        "pan and zoom at {}: {} frames with work; median {:.1} ms, 95 % {:.1} ms, worst {:.1} ms",
        text::count(MOVED),
        frames.len(),
        at(50),
        at(95),
        at(100)
    );
}

/// What the page's program weighs on the way to a browser.
fn wasm() {
    for name in ["viewer_bg.wasm", "viewer.js"] {
        let is_it = |file: &&site::File| file.path.strip_prefix('/') == Some(name);
        let file = site::files().iter().find(is_it);
        let file = file.expect("the viewer is built");
        let packed = file.brotli.expect("brotli makes programs smaller");
        println!(
            "{name}: {} bytes, {} with brotli",
            text::count(file.bytes.len() as u64),
            text::count(packed.len() as u64)
        );
    }
}

fn print(name: &str, rounds: &[Round]) {
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
    println!(
        "{name:<22} {:>6.0} ms {:>6.0} ms {:>6.0} ms {:>4.0} ms {:>5.0} MiB {:>5.0} MiB",
        of(|it| it.seen[0]),
        of(|it| it.seen[1]),
        of(|it| it.seen[2]),
        of(|it| it.hover_ms),
        of(|it| it.resident_mib),
        of(|it| it.peak_mib),
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
