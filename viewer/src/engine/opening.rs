//! A source's bytes: where they are, out of their wrapping, and read into a report.

use analytics::format::{ByteRange, OpenMode, OpenStep, Opener, open_bytes};
use analytics::profile::ProfileReport;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::Blob;

use super::cause::{Cause, Failure};
use super::convert::{self, Wrap};
use super::needs::PIECE;
use super::protocol::Source;
use super::read::{self, Input};

/// Longest file that is read into memory here without being asked; WebAssembly ends at 4 GiB.
pub(super) const FILE_MAX: u64 = 1024 * 1024 * 1024;

/// Where the bytes are, and how many; `file` comes with a file of this computer.
pub(super) async fn input_of(source: Source, file: JsValue) -> Result<(Input, u64), Failure> {
    match source {
        Source::Address { url } => read::from_address(&url).await,
        Source::File { .. } | Source::Converted { .. } => {
            let file = file.dyn_into::<Blob>().map_err(|_other| lost())?;
            let bytes = read::length(&file);
            Ok((Input::File(file), bytes))
        }
    }
}

/// The page sent no file with its question.
pub(super) fn lost() -> Failure {
    Failure::new(Cause::Internal, "the file handle was lost")
}

/// What a file turned out to be, out of its wrapping.
pub(super) struct Unwrapped {
    /// Where its bytes are.
    pub(super) input: Input,
    /// How many.
    pub(super) bytes: u64,
    /// The first of them.
    pub(super) prefix: Bytes,
    /// The file of this computer that it was wrapped in.
    pub(super) original: Option<Blob>,
}

/// Takes a file out of its wrapping, where it has one.
pub(super) async fn unwrapped(input: Input, bytes: u64) -> Result<Unwrapped, Failure> {
    let prefix = convert::prefix(&input, bytes).await?;
    let Some(wrap) = Wrap::of(&prefix) else {
        return Ok(Unwrapped {
            input,
            bytes,
            prefix,
            original: None,
        });
    };
    let inside = convert::unwrapped(&input, bytes, wrap).await?;
    let original = match input {
        Input::File(file) => Some(file),
        Input::Ranges { .. } | Input::Whole(_) => None,
    };
    let bytes = read::length(&inside);
    let input = Input::File(inside);
    let prefix = convert::prefix(&input, bytes).await?;
    Ok(Unwrapped {
        input,
        bytes,
        prefix,
        original,
    })
}

/// A profile of any form with all its samples.
pub(super) async fn read_whole(input: Input, bytes: u64) -> Result<ProfileReport, Failure> {
    let Unwrapped {
        input,
        bytes,
        prefix,
        ..
    } = unwrapped(input, bytes).await?;
    if bytes > FILE_MAX {
        return Err(too_large(bytes));
    }
    if convert::is_row(&prefix, bytes)? {
        let columnar = convert::columnar(&input, bytes, &mut |_| ()).await?;
        return Ok(open_bytes(columnar)?);
    }
    opened(&input, bytes, OpenMode::Everything, |_, _| ()).await
}

/// A columnar file, read as far as `mode` asks; `told` hears the bytes that are here and all that
/// are wanted.
pub(super) async fn opened(
    input: &Input,
    bytes: u64,
    mode: OpenMode,
    told: impl Fn(u64, u64),
) -> Result<ProfileReport, Failure> {
    let mut opener = Opener::new(bytes, mode);
    loop {
        match opener.step()? {
            OpenStep::Ready(report) => return Ok(*report),
            OpenStep::Need(ranges) => {
                let wanted: u64 = ranges.iter().map(|it| it.len()).sum();
                // A file without its end is read from its beginning, whatever its length.
                if wanted > 2 * FILE_MAX {
                    return Err(too_large(wanted));
                }
                for piece in ranges.into_iter().flat_map(pieces) {
                    let (done, asked) = opener.progress();
                    told(done, asked);
                    opener.supply(piece, input.read(piece).await?)?;
                }
            }
        }
    }
}

/// Refuses what would not fit and cannot be shown in parts.
pub(super) fn check_size(report: &ProfileReport, bytes: u64) -> Result<(), Failure> {
    if bytes <= 2 * FILE_MAX || report.overview().is_some() {
        return Ok(());
    }
    Err(too_large(bytes))
}

/// So many bytes would have to be in memory at once.
pub(super) fn too_large(bytes: u64) -> Failure {
    let message = format!(
        "{bytes} bytes would have to be here at once, more than this page holds; ask the file on \
         the command line with `ipu-stack profile-query`"
    );
    Failure::new(Cause::TooLarge, message)
}

/// Consecutive parts of a range, each at most [`PIECE`] long.
fn pieces(range: ByteRange) -> impl Iterator<Item = ByteRange> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let piece = ByteRange::new(at, range.end.min(at.saturating_add(PIECE)));
        at = piece.end;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) async fn hash(input: &Input, bytes: u64) -> Result<String, Failure> {
    let mut hasher = Sha256::new();
    for piece in pieces(ByteRange::new(0, bytes)) {
        hasher.update(input.read(piece).await?);
    }
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_range_once() {
        let range = ByteRange::new(5, 2 * PIECE + 6);
        let lengths: Vec<u64> = pieces(range).map(ByteRange::len).collect();
        assert_eq!(lengths, [PIECE, PIECE, 1]);
        assert_eq!(pieces(range).last().map(|it| it.end), Some(range.end));
        assert_eq!(pieces(ByteRange::new(3, 3)).count(), 0);
    }
}
