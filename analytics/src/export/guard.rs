//! Whether the tools that read a format survive the output: counts in, a refusal out.

use super::select::Selected;
use super::{ExportError, ExportFormat, ExportOptions};

/// Longest string of the engines that parse JSON in one piece.
const JSON_BYTES_MAX: u64 = 512 << 20;
/// Half of what Perfetto's 32-bit build holds, since it takes about twice the file.
const PERFETTO_BYTES_MAX: u64 = 2 << 30;
/// Threads that Firefox Profiler lists without hanging.
const FIREFOX_TILES_MAX: u64 = 256;

/// Estimated bytes of a slice, and the limit of the format. Tables have none.
const fn costs(format: ExportFormat) -> Option<(u64, u64)> {
    match format {
        ExportFormat::Parquet | ExportFormat::Arrow | ExportFormat::Csv => None,
        ExportFormat::Perfetto => Some((64, PERFETTO_BYTES_MAX)),
        ExportFormat::ChromeJson => Some((190, JSON_BYTES_MAX)),
        ExportFormat::Speedscope => Some((80, JSON_BYTES_MAX)),
        ExportFormat::Firefox => Some((170, JSON_BYTES_MAX)),
    }
}

pub(super) fn check(
    format: ExportFormat,
    options: &ExportOptions,
    selected: &Selected<'_>,
    samples: u64,
) -> Result<(), ExportError> {
    let tiles = selected.tile_count();
    if format == ExportFormat::Firefox && tiles > FIREFOX_TILES_MAX {
        return Err(ExportError::TooManyTiles {
            tiles,
            limit: FIREFOX_TILES_MAX,
            format: format.name(),
        });
    }
    let Some((each, usual)) = costs(format) else {
        return Ok(());
    };
    let limit = options.max_bytes.unwrap_or(usual);
    let estimate = samples.saturating_mul(each);
    if estimate > limit {
        return Err(ExportError::TooLarge {
            samples,
            estimate,
            limit,
            format: format.name(),
        });
    }
    Ok(())
}
