//! Files as browsers take them over the wire: bytes → gzip and brotli.
//!
//! A release build takes all the time that the best compression needs, which is seconds for the
//! WebAssembly; others take a level that costs next to nothing.

use std::env;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Window of brotli as a power of two, the largest that every browser takes.
const WINDOW_LOG: u32 = 22;

fn is_release() -> bool {
    env::var("PROFILE").is_ok_and(|it| it == "release")
}

/// `bytes` in gzip.
///
/// # Errors
/// None of memory, but those of the writer that it goes through.
pub(crate) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let level = match is_release() {
        true => Compression::best(),
        false => Compression::fast(),
    };
    let mut packed = GzEncoder::new(Vec::new(), level);
    packed.write_all(bytes)?;
    packed.finish()
}

/// `bytes` in brotli.
///
/// # Errors
/// None of memory, but those of the writer that it goes through.
pub(crate) fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let quality = if is_release() { 11 } else { 4 };
    let mut packed = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut packed, 1 << 16, quality, WINDOW_LOG);
    writer.write_all(bytes)?;
    drop(writer);
    Ok(packed)
}
