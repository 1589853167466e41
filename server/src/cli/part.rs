//! Tiles and cycles in flags: `0-63,100` and `1000..2000` as values.

use std::path::Path;

use analytics::clock::Frame;
use analytics::profile::ProfileReport;
use analytics::timeline::DevicePart;
use analytics::units::PhysicalTile;

use super::args::PartArgs;
use super::query::clock;
use crate::error::CliError;
use crate::open;

/// The part that the flags name: without a range the whole run, without tiles all of them.
pub(super) fn part(
    args: &PartArgs,
    report: &ProfileReport,
    profile: &Path,
) -> Result<DevicePart, CliError> {
    let clock = clock(args.clock);
    let tiles = tiles(args, report)?;
    let (from, to) = match range(args)? {
        Some(range) => range,
        None => {
            let span = Frame::new(report, clock).span(report);
            let span = span.map_err(|error| open::refused(&error, profile))?;
            (0, span.get().max(1))
        }
    };
    Ok(DevicePart::new(report, clock, from..to, &tiles))
}

/// Tiles of a list; empty is all. A range stands for the profiled tiles in it, of which there must
/// be one, since profiled ids have gaps.
pub(super) fn tiles(
    args: &PartArgs,
    report: &ProfileReport,
) -> Result<Vec<PhysicalTile>, CliError> {
    let mut tiles = Vec::new();
    for item in args.tiles.iter().flat_map(|list| list.split(',')) {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let ends = (first.trim().parse::<u32>(), last.trim().parse::<u32>());
        let (Ok(first), Ok(last)) = ends else {
            let what = format!("{item:?} is no tile and no range of tiles");
            let hint = "give physical tiles such as 5, 0-63 or 0-63,100";
            return Err(CliError::user(what, "--tiles", hint));
        };
        let ids = report.tiles().iter().map(|entry| entry.tile);
        let before = tiles.len();
        tiles.extend(ids.filter(|tile| (first..=last).contains(&tile.get())));
        if tiles.len() == before {
            let what = format!("no tile of {item:?} was profiled");
            let hint = "profile-query --group-by tile --limit 0 lists the tiles";
            return Err(CliError::user(what, "--tiles", hint));
        }
    }
    Ok(tiles)
}

/// Cycles from the first to before the second.
pub(super) fn range(args: &PartArgs) -> Result<Option<(u64, u64)>, CliError> {
    let Some(text) = &args.range else {
        return Ok(None);
    };
    let ends = text.split_once("..").or_else(|| text.split_once('-'));
    let numbers = ends.and_then(|(first, end)| {
        Some((
            first.trim().parse::<u64>().ok()?,
            end.trim().parse::<u64>().ok()?,
        ))
    });
    match numbers {
        Some((first, end)) if first < end => Ok(Some((first, end))),
        _ => {
            let what = format!("{text:?} is no range of cycles");
            let hint = "give the first cycle and the end, such as 1000..2000";
            Err(CliError::user(what, "--range", hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use analytics::format::{ProfileWriter, open_bytes};
    use analytics::profile::ProfileHeader;

    use super::*;

    fn part(tiles: &[&str], range: Option<&str>) -> PartArgs {
        PartArgs {
            tiles: tiles.iter().map(|&it| it.to_owned()).collect(),
            range: range.map(str::to_owned),
            ..PartArgs::default()
        }
    }

    /// A profile of the tiles 1, 3, 7 and 9.
    fn report() -> ProfileReport {
        let mut writer = ProfileWriter::new(&ProfileHeader::default());
        for tile in [1, 3, 7, 9] {
            writer.begin_tile(PhysicalTile::new(tile));
        }
        open_bytes(writer.finish().expect("it is valid")).expect("it opens")
    }

    #[test]
    fn lists_of_tiles_are_read_and_ranges_skip_what_was_not_profiled() {
        let of = |list: &[&str]| {
            let found = tiles(&part(list, None), &report()).ok();
            found.map(|tiles| tiles.iter().map(|it| it.get()).collect::<Vec<u32>>())
        };
        assert_eq!(of(&[]), Some(vec![]));
        assert_eq!(of(&["1-4,7", "9"]), Some(vec![1, 3, 7, 9]));
        assert_eq!(of(&["0-4000000000"]), Some(vec![1, 3, 7, 9]));
        for wrong in ["", "x", "3-1", "1-", "2", "4-6"] {
            assert_eq!(of(&[wrong]), None, "{wrong:?}");
        }
    }

    #[test]
    fn ranges_of_cycles_are_read() {
        let of = |text| range(&part(&[], Some(text))).ok().flatten();
        assert_eq!(of("10..20"), Some((10, 20)));
        assert_eq!(of("10-20"), Some((10, 20)));
        for wrong in ["", "10", "20..10", "5..5", "a..b"] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }
}
