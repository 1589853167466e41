//! Files of another form: what they are, and how they become columnar bytes.
//!
//! This happens in a worker that ends with it, because the memory of a WebAssembly module never
//! shrinks: the row form of a profile is a hundred times as large as the columnar one.

use std::io::Read as _;

use analytics::format::{ByteRange, FileKind, row, sniff};
use bytes::Bytes;
use js_sys::{Array, Function, Reflect, Uint8Array};
use ruzstd::decoding::StreamingDecoder;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ReadableWritablePair, Response};

use super::cause::{Cause, Failure};
use super::needs::PIECE;
use super::read::{self, Input, describe};

/// Longest row file: it is read into memory whole, which ends at 4 GiB.
const ROW_LENGTH_MAX: u64 = 1024 * 1024 * 1024;
/// Bytes that tell what a file is.
const PREFIX: u64 = 64 * 1024;
/// Bytes unpacked at a time.
const BLOCK: usize = 4 * 1024 * 1024;

/// What a file is wrapped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878.
    Zstd,
}

impl Wrap {
    /// What the first bytes of a file say.
    pub(crate) fn of(prefix: &[u8]) -> Option<Self> {
        match prefix {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// The first bytes of a file of `bytes` bytes.
///
/// # Errors
/// Where they cannot be read.
pub(crate) async fn prefix(input: &Input, bytes: u64) -> Result<Bytes, Failure> {
    input.read(ByteRange::new(0, bytes.min(PREFIX))).await
}

/// What is inside a wrapped file.
///
/// # Errors
/// Where the file cannot be read, or is damaged.
pub(crate) async fn unwrapped(input: &Input, bytes: u64, wrap: Wrap) -> Result<Blob, Failure> {
    match wrap {
        Wrap::Gzip => gunzipped(&input.blob(bytes).await?).await,
        Wrap::Zstd => unpacked(&whole(input, bytes, &mut |_| ()).await?),
    }
}

/// The browser unpacks outside of this module's memory.
async fn gunzipped(blob: &Blob) -> Result<Blob, Failure> {
    let damaged = |error: JsValue| {
        let what = describe(&error);
        let message = format!("the gzip file cannot be unpacked: {what}; compress it again");
        Failure::new(Cause::Corrupt, message)
    };
    let class = Reflect::get(&js_sys::global(), &"DecompressionStream".into());
    let Some(class) = class.ok().and_then(|it| it.dyn_into::<Function>().ok()) else {
        let message = "this browser cannot unpack gzip files; run `gzip -d`, then open the result";
        return Err(Failure::new(Cause::Unreadable, message));
    };
    let unpack = Reflect::construct(&class, &Array::of1(&"gzip".into())).map_err(damaged)?;
    let pair: &ReadableWritablePair = unpack.unchecked_ref();
    let stream = blob.stream().pipe_through(pair);
    let response = Response::new_with_opt_readable_stream(Some(&stream)).map_err(damaged)?;
    let blob = JsFuture::from(response.blob().map_err(damaged)?).await;
    Ok(blob.map_err(damaged)?.unchecked_into())
}

fn unpacked(packed: &[u8]) -> Result<Blob, Failure> {
    let damaged = |what: String| {
        let message = format!("the zstd file cannot be unpacked: {what}; compress it again");
        Failure::new(Cause::Corrupt, message)
    };
    let mut from = packed;
    let parts = Array::new();
    let mut block = vec![0; BLOCK];
    while !from.is_empty() {
        let mut frame =
            StreamingDecoder::new(&mut from).map_err(|error| damaged(error.to_string()))?;
        loop {
            let read = frame.read(&mut block);
            let read = read.map_err(|error| damaged(error.to_string()))?;
            if read == 0 {
                break;
            }
            parts.push(&Uint8Array::from(&block[..read]));
        }
    }
    Blob::new_with_u8_array_sequence(&parts).map_err(|error| damaged(describe(&error)))
}

/// Whether a file that starts like this is a row profile.
///
/// # Errors
/// Where it is one that does not fit.
pub(crate) fn is_row(prefix: &[u8], bytes: u64) -> Result<bool, Failure> {
    let is_row = sniff(prefix) == FileKind::RowProfile;
    if is_row && bytes > ROW_LENGTH_MAX {
        let message = format!(
            "this row profile has {bytes} bytes, over {ROW_LENGTH_MAX}; make it smaller with \
             `ipu-stack profile-convert`, then open the result"
        );
        return Err(Failure::new(Cause::TooLarge, message));
    }
    Ok(is_row)
}

/// The columnar bytes of a row profile; `told` hears how many bytes were read.
///
/// # Errors
/// Where it cannot be read, or is damaged.
pub(crate) async fn columnar(
    input: &Input,
    bytes: u64,
    told: &mut dyn FnMut(u64),
) -> Result<Vec<u8>, Failure> {
    let file = whole(input, bytes, told).await?;
    Ok(row::to_columnar(&file)?)
}

/// A whole file in one buffer.
async fn whole(input: &Input, bytes: u64, told: &mut dyn FnMut(u64)) -> Result<Vec<u8>, Failure> {
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut file = Vec::new();
    if file.try_reserve_exact(length).is_err() {
        let message = format!("the file has {bytes} bytes, more than this browser tab has left");
        return Err(Failure::new(Cause::TooLarge, message));
    }
    let mut at = 0;
    while at < bytes {
        let piece = ByteRange::new(at, bytes.min(at + PIECE));
        read::append(input, piece, &mut file).await?;
        at = piece.end;
        told(at);
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_are_known_by_their_first_bytes() {
        assert_eq!(Wrap::of(&[0x1f, 0x8b, 8, 0]), Some(Wrap::Gzip));
        assert_eq!(Wrap::of(&[0x28, 0xb5, 0x2f, 0xfd, 4]), Some(Wrap::Zstd));
        assert_eq!(Wrap::of(b"IPUPROF2"), None);
        assert_eq!(Wrap::of(&[]), None);
    }
}
