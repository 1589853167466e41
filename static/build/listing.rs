//! Writes the Rust source that embeds a folder.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes `FILES`, one entry for each file below `folder`, by path.
///
/// # Errors
/// Where the folder cannot be read or the source cannot be written.
pub(crate) fn write(folder: &Path, source: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = String::from("static FILES: &[File] = &[\n");
    list(folder, "", &mut text)?;
    text.push_str("];\n");
    fs::write(source, text)?;
    Ok(())
}

/// Walks subfolders too: wasm-bindgen may leave `snippets/`.
fn list(folder: &Path, prefix: &str, text: &mut String) -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|it| it.map(|it| it.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .and_then(|it| it.to_str())
            .ok_or("a file name is not UTF-8")?;
        let url = format!("{prefix}/{name}");
        if path.is_dir() {
            list(&path, &url, text)?;
            continue;
        }
        let mime = mime(&path)?;
        writeln!(text, "    ({url:?}, {mime:?}, include_bytes!({path:?})),")?;
    }
    Ok(())
}

fn mime(path: &Path) -> Result<&'static str, Box<dyn Error>> {
    match path.extension().and_then(|it| it.to_str()) {
        Some("html") => Ok("text/html; charset=utf-8"),
        Some("js") => Ok("text/javascript; charset=utf-8"),
        Some("css") => Ok("text/css; charset=utf-8"),
        Some("wasm") => Ok("application/wasm"),
        Some("svg") => Ok("image/svg+xml"),
        _ => Err(format!("no media type is known for {}", path.display()).into()),
    }
}
