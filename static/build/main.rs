//! Binds the viewer's WebAssembly and lists every file of the site for embedding.
//!
//! The module of `viewer-module` → `OUT_DIR/site/*` (the module build that a server hands out),
//! `OUT_DIR/packed/*` (the same compressed), `OUT_DIR/offline/*` (the classic-script build for one
//! self-contained page), and `OUT_DIR/files.rs`, which embeds them. Where the module was skipped,
//! the shell is embedded without the viewer.

mod compress;
mod listing;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Hand-written files that a change of makes the build run again.
const SHELL: &str = "shell";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets the folder")?);
    let site = emptied(out.join("site"))?;
    let packed = emptied(out.join("packed"))?;
    let offline = emptied(out.join("offline"))?;
    copy_shell(&here.join(SHELL), &site)?;
    rerun_if_changed(&here.join(SHELL));
    rerun_if_changed(&here.join("offline"));
    rerun_if_changed(&here.join("build"));
    if let Some(module) = env::var_os("DEP_VIEWER_MODULE_PATH") {
        let module = PathBuf::from(module);
        rerun_if_changed(&module);
        bind(&module, &site, &offline)?;
    } else {
        for file in ["viewer.js", "viewer_bg.wasm"] {
            fs::write(site.join(file), b"")?;
            fs::write(offline.join(file), b"")?;
        }
    }
    listing::write(&site, &packed, &out.join("files.rs"))
}

/// An empty folder, so that no file of an earlier build is embedded.
fn emptied(folder: PathBuf) -> Result<PathBuf, Box<dyn Error>> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn copy_shell(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Writes the module build and the classic-script build; both drive the same WebAssembly bytes.
fn bind(wasm: &Path, site: &Path, offline: &Path) -> Result<(), Box<dyn Error>> {
    let bindgen = || {
        let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
        bindgen
            .input_path(wasm)
            .typescript(false)
            .remove_name_section(true)
            .remove_producers_section(true);
        bindgen
    };
    bindgen().web(true)?.generate(site)?;
    bindgen().no_modules(true)?.generate(offline)?;
    let same = fs::read(site.join("viewer_bg.wasm"))? == fs::read(offline.join("viewer_bg.wasm"))?;
    if !same {
        return Err("the two forms of the viewer no longer share one WebAssembly file".into());
    }
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "cargo reads a build script's standard output"
)]
fn rerun_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
