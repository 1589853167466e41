//! How fast the engine is in a browser: ten million synthetic samples decoded, and grouped by
//! kernel, by one WebAssembly thread of headless Chromium.
//!
//! `cargo bench -p e2e --bench wasm -- [SAMPLES]`. Medians of nine calls, by the page's own clock.
//! The module is `e2e/benches/engine`, compiled as the viewer is.
#![expect(clippy::print_stdout, reason = "a script that prints a table")]

use std::path::{Path, PathBuf};
use std::process::Command;

use analytics::text;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use e2e::stack::target_folder;
use e2e::tab::Tab;
use serde::Deserialize;

/// What the page measured.
#[derive(Deserialize)]
struct Figures {
    samples: u32,
    groups: u32,
    decode_ms: f64,
    by_kernel_ms: f64,
    memory_bytes: f64,
}

#[tokio::main]
async fn main() {
    let asked = std::env::args().find_map(|word| word.parse::<u32>().ok());
    let module = std::fs::read(module()).expect("cargo left the module");
    let script = SCRIPT
        .replace("SAMPLES", &asked.unwrap_or(10_000_000).to_string())
        .replace("MODULE", &STANDARD.encode(module));
    let tab = Tab::open(800, 600).await;
    let found: Figures = tab.eval(&script).await;
    let rate = f64::from(found.samples) / found.decode_ms / 1e3;
    println!(
        "{} samples in one WebAssembly thread",
        text::count(found.samples.into())
    );
    println!(
        "decode     {:>7.1} ms, {rate:.0} M samples/s",
        found.decode_ms
    );
    println!(
        "by kernel  {:>7.1} ms, {} groups with p50, p95 and unions",
        found.by_kernel_ms, found.groups
    );
    println!(
        "memory     {:>7.1} MiB",
        found.memory_bytes / f64::from(1 << 20)
    );
}

/// Compiles the module and says where it is.
fn module() -> PathBuf {
    let folder = target_folder("viewer-wasm");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let status = Command::new(env!("CARGO"))
        .current_dir(root)
        .env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+simd128")
        .args(["build", "--locked", "-p", "engine", "--profile", "viewer"])
        .args(["--target", "wasm32-unknown-unknown", "--target-dir"])
        .arg(&folder)
        .status();
    assert!(
        status.is_ok_and(|it| it.success()),
        "the module does not compile; its errors are above"
    );
    folder.join("wasm32-unknown-unknown/viewer/engine.wasm")
}

const SCRIPT: &str = "(async () => { \
    const bytes = Uint8Array.from(atob('MODULE'), (it) => it.charCodeAt(0)); \
    const { instance } = await WebAssembly.instantiate(bytes, {}); \
    const engine = instance.exports; \
    engine.prepare(SAMPLES); \
    const median = (work) => { const times = []; let result = 0; \
      for (let round = 0; round < 9; round += 1) { const start = performance.now(); \
        result = work(); times.push(performance.now() - start); } \
      times.sort((a, b) => a - b); return [result >>> 0, times[4]]; }; \
    const [samples, decode_ms] = median(engine.decode); \
    const [groups, by_kernel_ms] = median(engine.by_kernel); \
    return { samples, groups, decode_ms, by_kernel_ms, \
      memory_bytes: engine.memory.buffer.byteLength }; })()";
