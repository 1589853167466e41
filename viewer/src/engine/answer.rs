//! Answers from a report in memory to the questions of timeline and table; each panel's are in a
//! module of its own.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::rc::Rc;

use analytics::clock::{ClockKind, Frame, initial_sync_crop};
use analytics::format::DecodeError;
use analytics::order;
use analytics::profile::{Condition, ProfileReport, SampleKind};
use analytics::query::{self, Filter, Query, SampleDetail};
use analytics::report::query_json;
use analytics::timeline::{self, CellChoice, CellNames, KindShares, Raster, RowGroups, Viewport};
use analytics::units::{MetadataSetId, StringId};

use super::cause::{Cause, Failure};
use super::hit::{clicked, describe, hit};
use super::panel::{self, Compared, Sources};
use super::places::{Items, ItemsAnswer, RulerAnswer};
use super::protocol::{Answer, Request, TableAsked};
use super::raster::{RasterAnswer, RasterAsked, RowsAnswer, StripAnswer, StripAsked};
use super::summary::{RunFault, Summary, TileNames};
use super::table::{self, TableAnswer};
use crate::state::view::{Colouring, Rows};

/// What is true of `report`, which was read from `bytes` bytes under the name `name`.
///
/// On the tile clock the run may be longer than it is until all samples are here.
///
/// # Errors
/// Where its last samples cannot be decoded.
pub(crate) fn summary(report: &ProfileReport, name: &str, bytes: u64) -> Result<Summary, Failure> {
    let header = report.header();
    let run = |clock| run(report, clock);
    let shared = run(ClockKind::Shared)?;
    Ok(Summary {
        name: name.to_owned(),
        bytes,
        tiles: TileNames {
            physical: report.tiles().iter().map(|it| it.tile.get()).collect(),
        },
        samples: report.sample_count(),
        clock_hz: header.clock_hz,
        runs: [run(ClockKind::Cropped)?, shared, run(ClockKind::Tile)?],
        crop: initial_sync_crop(report).get(),
        granularity: header.granularity.name().to_owned(),
        target: header.target.clone(),
        simulated: header.simulated,
        truncated_at: match report.condition() {
            Condition::Truncated { at } => Some(at),
            _ => None,
        },
        fault: report.ending().map(|it| RunFault {
            rule: it.rule.clone(),
            message: it.message.clone(),
            tile: it.tile.get(),
            count: it.count,
        }),
        wrapped: report.tiles().iter().any(|tile| {
            let first = u64::from(tile.first_counter.get());
            first + shared.saturating_sub(tile.first_start) > u64::from(u32::MAX)
        }),
        is_partial: !report.pages_missing().is_empty(),
        covered: covered(report),
        row_version: header.row_schema_version,
        provenance: header.provenance.clone(),
        kernels: kernels(report),
        operations: operations(report),
        metadata_names: metadata_names(report),
    })
}

/// Cycles of computes with a work estimate, and of all, on the cropped clock: the file's own sums,
/// else once its samples are here and can be decoded.
fn covered(report: &ProfileReport) -> Option<[u64; 2]> {
    if let Some(summary) = report.summary() {
        let computes = summary.rows.iter();
        let computes = computes.filter(|it| it.kind == SampleKind::Compute);
        return Some(computes.fold([0, 0], |[covered, all], it| {
            let covered = it.covered_cycles.get().saturating_add(covered);
            [covered, it.work_cycles.get().saturating_add(all)]
        }));
    }
    let filter = Filter {
        kind: Some(SampleKind::Compute),
        ..Filter::default()
    };
    let question = Query {
        filter,
        samples: 0,
        ..Query::default()
    };
    let all = query::query(report, &question).ok()?.totals;
    Some([all.estimated_cycles.get(), all.work_cycles.get()])
}

/// Length of the run on a clock. The end of the tile clock is in the samples; without them, the
/// shared clock bounds it.
///
/// # Errors
/// Where the last samples cannot be decoded.
pub(crate) fn run(report: &ProfileReport, clock: ClockKind) -> Result<u64, Failure> {
    match Frame::new(report, clock).span(report) {
        Ok(span) => Ok(span.get()),
        Err(DecodeError::PageMissing { .. }) => run(report, ClockKind::Shared),
        Err(error) => Err(error.into()),
    }
}

/// Kernels that compute: most tile cycles of the run first, as far as the file has sums; the others
/// in order of first use.
fn kernels(report: &ProfileReport) -> Vec<(u32, String)> {
    let steps = report.steps().iter();
    let computing = steps.filter(|step| step.kind == SampleKind::Compute);
    let computing = order::set(computing.map(|step| step.kernel));
    let sums = report.summary().map_or(&[][..], |it| &it.rows);
    let sums = sums.iter().filter(|row| row.kind == SampleKind::Compute);
    let cycles = order::map(sums.map(|row| (row.kernel, row.work_cycles)));
    let kernels = report.kernels().iter().copied();
    let mut kernels: Vec<StringId> = kernels.filter(|id| computing.contains(id)).collect();
    order::by_key(&mut kernels, |id| Reverse(cycles.get(id).copied()));
    let named = kernels.into_iter();
    let named = named.map(|id| (id.get(), report.string(id).to_owned()));
    named.filter(|(_, name)| !name.is_empty()).collect()
}

fn operations(report: &ProfileReport) -> Vec<(u32, String)> {
    let ids = report.operations().iter();
    let named = ids.map(|&id| (id.get(), report.string(id).to_owned()));
    named.filter(|(_, name)| !name.is_empty()).collect()
}

/// Names of metadata that samples have; the first ones by name where there are very many.
fn metadata_names(report: &ProfileReport) -> Vec<String> {
    const NAMES_MAX: usize = 200;
    let sets = u32::try_from(report.metadata_set_count()).unwrap_or(u32::MAX);
    let pairs = (0..sets).flat_map(|set| report.metadata_ids(MetadataSetId::new(set)));
    let names = order::set(pairs.map(|&(name, _)| name));
    let names = names.into_iter().map(|name| report.string(name).to_owned());
    let names = order::set(names.filter(|name| !name.is_empty()));
    names.into_iter().take(NAMES_MAX).collect()
}

/// The rows of the table.
pub(crate) fn table(report: &ProfileReport, asked: &TableAsked) -> Result<Answer, Failure> {
    let result = query::query(report, &table::to_query(asked))?;
    Ok(Answer::Table(TableAnswer {
        asked: asked.clone(),
        ..table::rows(&result)
    }))
}

/// The answer to a question in words, as the command line prints it.
pub(crate) fn query(report: &ProfileReport, words: &[(String, String)]) -> Result<String, Failure> {
    let words = words
        .iter()
        .map(|(word, value)| (word.as_str(), value.as_str()));
    let result = query::query(report, &Query::from_words(words)?)?;
    Ok(query_json(&result))
}

/// The exact answer to a question whose samples are here.
///
/// # Errors
/// Where samples cannot be decoded, or the question cannot be asked.
pub(crate) fn exact(
    sources: &Sources<'_>,
    request: Request,
    groups: &Groups,
) -> Result<Answer, Failure> {
    let report = sources.report;
    match request {
        Request::Table(asked) => table(report, &asked),
        Request::Json(words) => query(report, &words).map(Answer::Json),
        Request::Panel(asked) => panel::answer(sources, &asked),
        Request::PanelJson(asked) => panel::json(sources, &asked),
        Request::BarriersJson => super::phases::barriers_json(report).map(Answer::Json),
        Request::OtherRaster(_)
        | Request::OtherRows(_)
        | Request::OtherHit(_)
        | Request::OtherCellHit(_) => of_other(sources.compared()?, &request),
        Request::Spent(asked) => super::spent::spent(report, asked).map(Answer::Spent),
        Request::Selected(asked) => super::spent::spent(report, asked).map(Answer::Selected),
        Request::SpentJson(asked, told) => {
            super::spent::spent_json(report, asked, told).map(Answer::Json)
        }
        Request::Ruler(asked) => super::places::phases(report, asked).map(Answer::Ruler),
        Request::Items(asked) => Ok(Answer::Items(super::places::items(report, asked))),
        Request::Rows(by) => Ok(Answer::Rows(groups.rows(report, by)?)),
        Request::Raster(asked) => raster(report, asked, groups),
        Request::Strip(asked) => strip(report, asked),
        Request::Hit(asked) => hit(sources, asked),
        Request::Clicked(on) => clicked(sources, *on, groups),
        Request::CellHit(asked) => {
            let groups = groups.get(report, asked.by)?;
            super::cell::cell(report, asked, groups.as_deref()).map(Answer::Hit)
        }
        Request::Query(words) => query(report, &words).map(Answer::Query),
        Request::Open(_)
        | Request::OpenOther(_)
        | Request::OpenPackage(_)
        | Request::Memory(_)
        | Request::Matrix(_)
        | Request::MemoryJson(_)
        | Request::MatrixJson(_)
        | Request::Hash
        | Request::ReadAll
        | Request::ReadLess
        | Request::Rehearse => {
            let message = "the worker asked the engine what only the worker does";
            Err(Failure::new(Cause::Internal, message))
        }
    }
}

/// What the file itself says before samples are read: its overview and its sums.
pub(crate) fn early(report: &ProfileReport, request: &Request) -> Option<Answer> {
    match request {
        // One tile of a large profile is spread over its whole file.
        Request::Ruler(asked) => Some(Answer::Ruler(RulerAnswer {
            asked: *asked,
            phases: None,
        })),
        Request::Items(asked) => Some(Answer::Items(ItemsAnswer {
            asked: *asked,
            found: Items::Unread,
        })),
        // A pointer that passes over groups must not have a whole file read.
        Request::CellHit(_) => Some(Answer::Hit(None)),
        Request::Raster(asked) if asked.by == Rows::Tile => {
            let cells = timeline::overview_raster(report, &viewport(*asked))?;
            Some(Answer::Raster(raster_answer(*asked, cells)))
        }
        Request::Strip(asked) => {
            let run = run(report, asked.clock).ok()?;
            let shares = timeline::overview_shares(report, asked.clock, run, asked.columns)?;
            Some(Answer::Strip(strip_answer(asked.clock, shares)))
        }
        Request::Table(asked) => {
            let result = query::query_summary(report, &table::to_query(asked))?;
            Some(Answer::Table(TableAnswer {
                asked: asked.clone(),
                ..table::rows_from_file(&result)
            }))
        }
        _ => None,
    }
}

/// The groups that were asked for last: finding cohorts reads every sample.
#[derive(Default)]
pub(crate) struct Groups {
    kept: RefCell<Option<(Rows, Rc<RowGroups>)>>,
}

impl Groups {
    /// The groups of `by`; `None` where rows are tiles.
    fn get(&self, report: &ProfileReport, by: Rows) -> Result<Option<Rc<RowGroups>>, Failure> {
        let kept = self.kept.borrow().clone();
        if let Some((_, groups)) = kept.filter(|(of, _)| *of == by) {
            return Ok(Some(groups));
        }
        let found = RowGroups::new(report, by.to_engine())?.map(Rc::new);
        if let Some(groups) = &found {
            *self.kept.borrow_mut() = Some((by, Rc::clone(groups)));
        }
        Ok(found)
    }

    fn rows(&self, report: &ProfileReport, by: Rows) -> Result<RowsAnswer, Failure> {
        let groups = self.get(report, by)?.unwrap_or_default();
        Ok(RowsAnswer {
            by,
            names: groups.names.clone(),
            tiles: groups.tiles.clone(),
        })
    }
}

/// The cells of the timeline.
pub(crate) fn raster(
    report: &ProfileReport,
    asked: RasterAsked,
    groups: &Groups,
) -> Result<Answer, Failure> {
    let choice = CellChoice {
        names: match asked.colour {
            Colouring::Operation => CellNames::Operation,
            _ => CellNames::Kernel,
        },
        focus: asked.focus.map(StringId::new),
        efficiency: asked.colour == Colouring::Efficiency,
        occupancy: asked.colour == Colouring::Occupancy,
    };
    let viewport = viewport(asked);
    let raster = match groups.get(report, asked.by)? {
        Some(groups) => timeline::grouped_raster(report, &viewport, choice, &groups)?,
        None => timeline::chosen_raster(report, &viewport, choice)?,
    };
    Ok(Answer::Raster(raster_answer(asked, raster)))
}

fn viewport(asked: RasterAsked) -> Viewport {
    Viewport {
        clock: asked.clock,
        cycles: asked.from..asked.to,
        columns: asked.columns,
        tiles: asked.tile_from..asked.tile_to,
        rows: asked.rows,
    }
}

fn raster_answer(asked: RasterAsked, raster: Raster) -> RasterAnswer {
    RasterAnswer {
        asked,
        columns: raster.columns,
        rows: raster.rows,
        from_overview: raster.from_overview,
        cost: 0,
        kinds: raster.kinds,
        kernels: raster.kernels,
        busy: raster.busy,
        focused: raster.focused,
        efficiency: raster.efficiency,
    }
}

/// The shares of the kinds over the run.
pub(crate) fn strip(report: &ProfileReport, asked: StripAsked) -> Result<Answer, Failure> {
    let shares = timeline::kind_shares(report, asked.clock, asked.columns)?;
    Ok(Answer::Strip(strip_answer(asked.clock, shares)))
}

fn strip_answer(clock: ClockKind, shares: KindShares) -> StripAnswer {
    StripAnswer {
        clock,
        columns: shares.columns,
        run: shares.span,
        shares: shares.shares,
    }
}

/// What the timeline of the second profile asks.
fn of_other(other: &Compared, request: &Request) -> Result<Answer, Failure> {
    let Compared { report, groups, .. } = other;
    match *request {
        Request::OtherRows(by) => Ok(Answer::OtherRows(groups.rows(report, by)?)),
        Request::OtherRaster(asked) => Ok(match raster(report, asked, groups)? {
            Answer::Raster(raster) => Answer::OtherRaster(raster),
            answer => answer,
        }),
        Request::OtherCellHit(asked) => {
            let groups = groups.get(report, asked.by)?;
            super::cell::cell(report, asked, groups.as_deref()).map(Answer::OtherHit)
        }
        // Who made its tile wait is not looked for.
        Request::OtherHit(asked) => {
            let sample = timeline::hit(report, asked.clock, asked.tile, asked.at)?;
            let clock_hz = report.header().clock_hz;
            let told = |it: &SampleDetail| describe(it, asked.clock, clock_hz, Vec::new());
            Ok(Answer::OtherHit(sample.as_ref().map(told)))
        }
        _ => {
            let message = "a question about the open profile was asked of the second one";
            Err(Failure::new(Cause::Internal, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use analytics::format::open_bytes;
    use analytics::query::SortKey;
    use analytics::synth::{SynthOptions, generate_bytes};

    use super::*;

    #[test]
    fn kernels_come_by_their_tile_cycles() {
        let options = SynthOptions {
            samples: 4_000,
            tiles: 40,
            ..SynthOptions::default()
        };
        let report = open_bytes(generate_bytes(&options).expect("valid")).expect("it opens");
        let question = Query {
            filter: Filter {
                kind: Some(SampleKind::Compute),
                ..Filter::default()
            },
            sort_by: SortKey::WorkCycles,
            limit: 0,
            ..Query::default()
        };
        let found = query::query(&report, &question).expect("decodes");
        let expected: Vec<&str> = found.groups.iter().map(|it| it.name.as_str()).collect();
        let kernels = kernels(&report);
        let names: Vec<&str> = kernels.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(names, expected);
        let ids = kernels.iter().map(|it| it.0);
        assert!(!ids.is_sorted(), "another order than that of first use");
    }
}
