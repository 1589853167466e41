//! What a row of a timeline stands for where it is no tile: a row or column of the chip, a cohort
//! of tiles that ran the same program, an operation.

use std::collections::BTreeMap;

use crate::format::DecodeError;
use crate::order;
use crate::profile::ProfileReport;
use crate::query::GroupKey;

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowsBy {
    /// One tile.
    #[default]
    Tile,
    /// The tiles of one row of the chip: bits 10:6 of the physical id.
    ChipRow,
    /// The tiles of one column of the chip: bits 5:2 of the physical id.
    ChipColumn,
    /// The tiles that ran the same kernels of the same operations in the same order.
    Cohort,
    /// The samples of one operation on all tiles.
    Operation,
}

/// Groups of one profile at most; what is left over shares the last one.
const GROUPS_MAX: usize = 64;

/// The rows of a grouped timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowGroups {
    /// Name of each, from the top.
    pub names: Vec<String>,
    /// Tiles of each; all tiles for an operation.
    pub tiles: Vec<u32>,
    pub(super) member: Member,
}

/// How a sample finds its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Member {
    /// By position of its tile.
    OfTile(Vec<u32>),
    /// By operation row of its step.
    OfOperation(Vec<u32>),
}

impl Default for Member {
    fn default() -> Self {
        Self::OfTile(Vec::new())
    }
}

impl RowGroups {
    /// The positions between the first and the last tile of a group.
    pub(super) fn extent(&self, group: u32, report: &ProfileReport) -> std::ops::Range<u32> {
        let all = 0..u32::try_from(report.tiles().len()).unwrap_or(u32::MAX);
        let Member::OfTile(of) = &self.member else {
            return all;
        };
        let mut members = all.zip(of).filter(|(_, it)| **it == group).map(|it| it.0);
        let first = members.next().unwrap_or(0);
        first..members.next_back().unwrap_or(first).saturating_add(1)
    }

    /// The groups of a profile, or `None` for [`RowsBy::Tile`], whose rows are tiles.
    ///
    /// # Errors
    /// For cohorts, which are found in the samples: where a chunk cannot be decoded.
    pub fn new(report: &ProfileReport, by: RowsBy) -> Result<Option<Self>, DecodeError> {
        Ok(match by {
            RowsBy::Tile => None,
            RowsBy::ChipRow => Some(of_chip(report, "row", |id| id >> 6)),
            RowsBy::ChipColumn => Some(of_chip(report, "column", |id| id >> 2 & 15)),
            RowsBy::Cohort => Some(cohorts(report)?),
            RowsBy::Operation => Some(operations(report)),
        })
    }
}

/// Groups of tiles by a number in their physical id, ascending.
fn of_chip(report: &ProfileReport, what: &str, number: impl Fn(u32) -> u32) -> RowGroups {
    let numbers: Vec<u32> = report
        .tiles()
        .iter()
        .map(|it| number(it.tile.get()))
        .collect();
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for number in &numbers {
        *counts.entry(*number).or_default() += 1;
    }
    let at = order::map(counts.keys().copied().zip(0..));
    RowGroups {
        names: counts.keys().map(|it| format!("{what} {it}")).collect(),
        tiles: counts.values().copied().collect(),
        member: Member::OfTile(numbers.iter().map(|it| at[it]).collect()),
    }
}

fn operations(report: &ProfileReport) -> RowGroups {
    let tiles = u32::try_from(report.tiles().len()).unwrap_or(u32::MAX);
    let name = |&id| GroupKey::Operation(report.string(id).to_owned()).name();
    let mut names: Vec<String> = report.operations().iter().map(name).collect();
    let last = GROUPS_MAX - 1;
    let member = (0..names.len()).map(|at| u32::try_from(at.min(last)).unwrap_or(0));
    let member = member.collect();
    if names.len() > GROUPS_MAX {
        names.truncate(last);
        names.push("other operations".to_owned());
    }
    RowGroups {
        tiles: vec![tiles; names.len()],
        names,
        member: Member::OfOperation(member),
    }
}

/// What one tile ran, folded into a number, and how much of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Program {
    hash: u64,
    samples: u64,
}

impl Program {
    /// Adds a sample: FNV-1a over what it ran.
    fn add(&mut self, word: u64) {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        if self.samples == 0 {
            self.hash = OFFSET;
        }
        for byte in word.to_le_bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        self.samples += 1;
    }
}

fn cohorts(report: &ProfileReport) -> Result<RowGroups, DecodeError> {
    let words: Vec<u64> = report
        .steps()
        .iter()
        .map(|step| {
            let kind = u64::from(step.kind.to_wire());
            kind | u64::from(step.kernel_row) << 16 | u64::from(step.operation_row) << 40
        })
        .collect();
    let mut programs = vec![Program::default(); report.tiles().len()];
    report.visit_samples(|sample| {
        programs[sample.tile as usize].add(words[sample.step as usize]);
    })?;
    let mut found: BTreeMap<Program, (u32, u32)> = BTreeMap::new();
    for (tile, program) in (0u32..).zip(&programs) {
        found.entry(*program).or_insert((0, tile)).0 += 1;
    }
    // The largest first; of equals the one with the first tile.
    let mut ranked: Vec<(Program, u32, u32)> = found
        .iter()
        .map(|(it, &(count, first))| (*it, count, first))
        .collect();
    order::by_key(&mut ranked, |&(_, count, first)| {
        (std::cmp::Reverse(count), first)
    });
    let last = GROUPS_MAX - 1;
    let ranks = ranked.iter().enumerate();
    let rank = order::map(
        ranks.map(|(at, (program, ..))| (*program, u32::try_from(at.min(last)).unwrap_or(0))),
    );
    let mut tiles: Vec<u32> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for &(_, count, first) in ranked.iter().take(last) {
        let first = report.tiles()[first as usize].tile;
        tiles.push(count);
        names.push(format!("like tile {first}"));
    }
    let rest: u32 = ranked.iter().skip(last).map(|(_, count, _)| count).sum();
    match ranked.get(last) {
        Some(&(.., first)) if ranked.len() == GROUPS_MAX => {
            let first = report.tiles()[first as usize].tile;
            names.push(format!("like tile {first}"));
            tiles.push(rest);
        }
        Some(_) => {
            names.push("other tiles".to_owned());
            tiles.push(rest);
        }
        None => {}
    }
    Ok(RowGroups {
        names,
        tiles,
        member: Member::OfTile(programs.iter().map(|it| rank[it]).collect()),
    })
}
