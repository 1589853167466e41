//! The cargo run inside the cargo run: `viewer` for wasm32, once for all outer profiles.
//!
//! Sources of `viewer` and its path dependencies → `<target>/viewer-wasm`; cargo hands the path of
//! the module to the build script of `site`, or none where the build is skipped.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "viewer";
/// Vector instructions, which every browser has since 2023: unpacking and summing are loops over
/// lanes. And one type for views of all shapes, which is a twentieth less to download; cargo parts
/// flags by the unit separator.
const FLAGS: &str = "-Ctarget-feature=+simd128\x1f--cfg=erase_components";

fn main() -> Result<(), Box<dyn Error>> {
    say("rerun-if-changed=build");
    say("rerun-if-env-changed=VIEWER_SKIP_BUILD");
    if skipped() {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets the folder")?);
    let root = here.ancestors().nth(2);
    let built = build_viewer(root.ok_or("the package lives inside the workspace")?, &out)?;
    for source in &built.sources {
        say(&format!("rerun-if-changed={}", source.display()));
    }
    say(&format!("metadata=path={}", built.wasm.display()));
    Ok(())
}

/// Clippy and editors want no WebAssembly. Clippy's wrapper is part of the hash that names its
/// `OUT_DIR`, so a build that was skipped there never stands for a real one.
fn skipped() -> bool {
    let clippy = env::var("RUSTC_WORKSPACE_WRAPPER").is_ok_and(|it| it.contains("clippy-driver"));
    clippy || env::var_os("VIEWER_SKIP_BUILD").is_some_and(|it| it != OsStr::new("0"))
}

#[expect(
    clippy::print_stdout,
    reason = "cargo reads a build script's standard output"
)]
fn say(instruction: &str) {
    println!("cargo::{instruction}");
}

/// What the inner build left.
struct Built {
    /// The WebAssembly module before binding.
    wasm: PathBuf,
    /// Every file whose change makes it stale.
    sources: Vec<PathBuf>,
}

/// Builds `viewer` into `<target>/viewer-wasm`, apart from the outer target folder and its lock.
///
/// # Errors
/// Where cargo cannot be started or the viewer does not compile.
fn build_viewer(root: &Path, out: &Path) -> Result<Built, Box<dyn Error>> {
    ensure_target()?;
    // <target>/<profile>/build/<package>-<hash>/out
    let target = out
        .ancestors()
        .nth(4)
        .ok_or("OUT_DIR is not below a target folder")?;
    let folder = target.join("viewer-wasm");
    let mut cargo = Command::new(env::var_os("CARGO").ok_or("cargo sets CARGO")?);
    cargo
        .current_dir(root)
        .args(["build", "--locked", "-p", "viewer", "--target", TARGET]);
    cargo
        .args(["--profile", PROFILE, "--target-dir"])
        .arg(&folder);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if belongs_to_outer_build(&name) {
            cargo.env_remove(name);
        }
    }
    // Flags of a `[build]` table are meant for the host; these override them.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS);
    if !cargo.status()?.success() {
        return Err("the viewer does not compile for wasm32; its errors are above".into());
    }
    let built = folder.join(TARGET).join(PROFILE);
    let mut sources = dependencies(&fs::read_to_string(built.join("viewer.d"))?);
    for manifest in [
        "Cargo.toml",
        "Cargo.lock",
        "viewer/Cargo.toml",
        "analytics/Cargo.toml",
    ] {
        sources.push(root.join(manifest));
    }
    Ok(Built {
        wasm: built.join("viewer.wasm"),
        sources,
    })
}

/// Whether a variable describes the outer build and would mislead the inner one. What locates and
/// configures cargo itself stays, and so does the job server.
fn belongs_to_outer_build(name: &str) -> bool {
    const KEPT: [&str; 4] = [
        "CARGO_HOME",
        "CARGO_MAKEFLAGS",
        "CARGO_TERM_COLOR",
        "CARGO_BUILD_JOBS",
    ];
    const KEPT_PREFIXES: [&str; 3] = ["CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTRIES_"];
    const DROPPED: [&str; 20] = [
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "RUSTC",
        "RUSTDOC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_LINKER",
        "RUST_RECURSION_COUNT",
        "CLIPPY_ARGS",
        "CLIPPY_TERMINAL_WIDTH",
        "TARGET",
        "HOST",
        "OPT_LEVEL",
        "PROFILE",
        "DEBUG",
        "NUM_JOBS",
        "OUT_DIR",
        "MAKEFLAGS",
        "LLVM_PROFILE_FILE",
        "RUSTC_BOOTSTRAP",
    ];
    if KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|it| name.starts_with(it)) {
        return false;
    }
    name.starts_with("CARGO") || name.starts_with("DEP_") || DROPPED.contains(&name)
}

/// The prerequisites of a make-style dependency file, where a space inside a path is `\ `.
fn dependencies(text: &str) -> Vec<PathBuf> {
    let Some((_, list)) = text.lines().next().unwrap_or_default().split_once(": ") else {
        return Vec::new();
    };
    let marked = list.replace("\\ ", "\0");
    marked
        .split_whitespace()
        .map(|it| PathBuf::from(it.replace('\0', " ")))
        .collect()
}

/// `rust-toolchain.toml` brings the target only where rustup may install by itself.
fn ensure_target() -> Result<(), Box<dyn Error>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libdir = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    if Path::new(String::from_utf8_lossy(&libdir.stdout).trim()).is_dir() {
        return Ok(());
    }
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .status();
    if added.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(format!("no standard library for {TARGET}; run: rustup target add {TARGET}").into())
}
