//! Writes the Rust source that embeds a folder, compressed forms included.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::compress;

/// Writes `FILES`, one entry for each file below `folder`, by path. Compressed forms go to
/// `packed`.
///
/// # Errors
/// Where the folder cannot be read or the source cannot be written.
pub(crate) fn write(folder: &Path, packed: &Path, source: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = String::from("static FILES: &[File] = &[\n");
    list(folder, packed, "", &mut text)?;
    text.push_str("];\n");
    fs::write(source, text)?;
    Ok(())
}

/// Walks subfolders too: wasm-bindgen may leave `snippets/`.
fn list(
    folder: &Path,
    packed: &Path,
    prefix: &str,
    text: &mut String,
) -> Result<(), Box<dyn Error>> {
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
            list(&path, packed, &url, text)?;
            continue;
        }
        let mime = mime(&path)?;
        let bytes = fs::read(&path)?;
        let stem = packed.join(url.trim_start_matches('/').replace('/', "-"));
        let [gzip, brotli] = [
            ("gz", compress::gzip(&bytes)?),
            ("br", compress::brotli(&bytes)?),
        ]
        .map(|(end, packed)| keep(&bytes, &packed, &stem.with_added_extension(end)));
        let (gzip, brotli) = (gzip?, brotli?);
        writeln!(
            text,
            "    File {{ path: {url:?}, mime: {mime:?}, bytes: include_bytes!({path:?}), \
             gzip: {gzip}, brotli: {brotli} }},"
        )?;
    }
    Ok(())
}

/// Writes a compressed form, where it is worth it; the Rust expression that embeds it.
fn keep(bytes: &[u8], packed: &[u8], path: &Path) -> Result<String, Box<dyn Error>> {
    if packed.len() * 10 >= bytes.len() * 9 {
        return Ok("None".to_owned());
    }
    fs::write(path, packed)?;
    Ok(format!("Some(include_bytes!({path:?}))"))
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
