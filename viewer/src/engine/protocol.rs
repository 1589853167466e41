//! What the page and its worker say to each other.
//!
//! A message is packed bytes, without names of fields, and beside them the big columns as
//! transferable buffers. Both ends come from one build, so there is no version. Every answer is
//! sized by the view, never by the profile.

use analytics::clock::ClockKind;
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::cell::CellAsked;
use super::memory::{MatrixAnswer, MatrixAsked, MemoryAnswer, MemoryAsked, PackageSummary};
use super::panel::{PanelAnswer, PanelAsked};
use super::places::{ItemsAnswer, PlacesAsked, RulerAnswer};
use super::raster::{RasterAnswer, RasterAsked, RowsAnswer, StripAnswer, StripAsked};
use super::spent::{SpentAnswer, SpentAsked, Told};
use super::summary::Summary;
use super::table::TableAnswer;
use crate::state::view::{Grouping, KindFilter, Rows};

/// Where a profile comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    /// A file of this computer; the handle travels beside the message.
    File {
        /// Its name.
        name: String,
    },
    /// What a file of another form was converted to; the columnar bytes travel beside the message,
    /// and after them the file they were made from, where it is one of this computer.
    Converted {
        /// Name of the file.
        name: String,
        /// Its length in bytes.
        bytes: u64,
    },
    /// An address, fetched without credentials.
    Address {
        /// The absolute address.
        url: String,
    },
}

impl Source {
    /// What to call it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::File { name } | Self::Converted { name, .. } => name,
            Self::Address { url } => url,
        }
    }
}

/// A question of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Opens a profile and forgets the one before.
    Open(Source),
    /// The rows of the table.
    Table(TableAsked),
    /// The JSON behind the table, in the words of [`super::table::words`].
    Json(Vec<(String, String)>),
    /// What a part of the device spent.
    Spent(SpentAsked),
    /// What the selected part spent.
    Selected(SpentAsked),
    /// The groups that rows of the timeline can stand for.
    Rows(Rows),
    /// The phases in view.
    Ruler(PlacesAsked),
    /// The cells of the timeline.
    Raster(RasterAsked),
    /// Shares of the kinds over the whole run.
    Strip(StripAsked),
    /// The sample at a place.
    Hit(HitAsked),
    /// What a group of rows spent at a place.
    CellHit(CellAsked),
    /// An answer as the command line prints it, to a question in the words of
    /// [`analytics::query::Query::from_words`].
    Query(Vec<(String, String)>),
    /// SHA-256 of the open file.
    Hash,
    /// Reads every sample that is not here yet; has no answer of its own.
    ReadAll,
    /// Reads no more than what questions about a part need; has no answer of its own.
    ReadLess,
    /// What a panel below the timeline shows.
    Panel(PanelAsked),
    /// The JSON behind a panel.
    PanelJson(PanelAsked),
    /// The JSON of the boundaries at which tiles wait for each other.
    BarriersJson,
    /// The JSON behind the sums of a part.
    SpentJson(SpentAsked, Told),
    /// Opens a second profile beside the first one.
    OpenOther(Source),
    /// Opens a package, alone or beside a profile.
    OpenPackage(Source),
    /// The memory of a tile of the package.
    Memory(MemoryAsked),
    /// Who sends to whom, by the package.
    Matrix(MatrixAsked),
    /// The JSON behind the memory of a tile.
    MemoryJson(MemoryAsked),
    /// The JSON behind who sends to whom.
    MatrixJson(MatrixAsked),
    /// The cells of the second profile's timeline.
    OtherRaster(RasterAsked),
    /// The groups that rows of the second profile stand for.
    OtherRows(Rows),
    /// The sample at a place of the second profile.
    OtherHit(HitAsked),
    /// What a cell of a group of the second profile holds.
    OtherCellHit(CellAsked),
    /// The items of the schedule that a tile was in.
    Items(PlacesAsked),
    /// Runs what a page asks first, of no profile: see [`super::rehearsal`].
    Rehearse,
    /// Whose the sample or the cell is that was clicked: the question that it answers.
    Clicked(Box<Self>),
}

/// An answer of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// How far reading is; more answers follow.
    Progress(Progress),
    /// The profile is open. Without all samples here, another one may follow.
    Opened(Box<Summary>),
    /// The file has another form: this is to be opened instead. The columnar bytes travel beside
    /// the message.
    Converted {
        /// Length of the file in bytes.
        bytes: u64,
    },
    /// What is known before the samples are here; the exact answer follows.
    Early(Box<Self>),
    /// To [`Request::Table`].
    Table(TableAnswer),
    /// To [`Request::Json`] and its like: what the command line prints.
    Json(String),
    /// To [`Request::Spent`].
    Spent(SpentAnswer),
    /// To [`Request::Selected`].
    Selected(SpentAnswer),
    /// To [`Request::Rows`].
    Rows(RowsAnswer),
    /// To [`Request::Ruler`].
    Ruler(RulerAnswer),
    /// To [`Request::Raster`].
    Raster(RasterAnswer),
    /// To [`Request::Strip`].
    Strip(StripAnswer),
    /// To [`Request::Hit`] and [`Request::CellHit`]; `None` where nothing was recorded.
    Hit(Option<HitAnswer>),
    /// To [`Request::Query`]: JSON.
    Query(String),
    /// To [`Request::Hash`]: 64 lowercase hex digits.
    Hash(String),
    /// Samples could not be read; what is here stays.
    ReadingFailed(Failure),
    /// The worker itself is gone, with all that it held; said by the page's end.
    Lost(Failure),
    /// To [`Request::Panel`].
    Panel(Box<PanelAnswer>),
    /// To [`Request::OpenOther`].
    OtherOpened(Result<Box<Summary>, Failure>),
    /// To [`Request::OpenPackage`], and to [`Request::Open`] of a package.
    PackageOpened(Result<Box<PackageSummary>, Failure>),
    /// To [`Request::Memory`].
    Memory(Box<MemoryAnswer>),
    /// To [`Request::Matrix`].
    Matrix(MatrixAnswer),
    /// To [`Request::OtherRaster`].
    OtherRaster(RasterAnswer),
    /// To [`Request::OtherRows`].
    OtherRows(RowsAnswer),
    /// To [`Request::OtherHit`] and [`Request::OtherCellHit`].
    OtherHit(Option<HitAnswer>),
    /// To [`Request::Items`].
    Items(ItemsAnswer),
    /// The question has no answer.
    Failed(Failure),
    /// To [`Request::Rehearse`].
    Rehearsed,
    /// To [`Request::Clicked`]: the kernel; empty where there is none.
    Clicked(String),
}

/// What was read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Bytes read so far.
    pub(crate) done: u64,
    /// Bytes to be read in all; 0 is unknown.
    pub(crate) total: u64,
    /// Samples in what was read.
    pub(crate) samples: u64,
    /// Samples in all; 0 is unknown.
    pub(crate) samples_total: u64,
    /// Whether reading goes on until everything is here.
    pub(crate) goes_on: bool,
}

impl Progress {
    /// Whether nothing is missing.
    pub(crate) const fn is_whole(&self) -> bool {
        self.done >= self.total
    }

    /// Part of the bytes that was read, 0..=1.
    pub(crate) fn part(&self) -> f64 {
        let total = crate::timeline::viewport::to_float(self.total.max(1));
        (crate::timeline::viewport::to_float(self.done) / total).min(1.0)
    }

    /// In words, for people.
    pub(crate) fn text(&self) -> String {
        let count = analytics::text::count;
        let bytes = match self.total {
            0 => return "reading".to_owned(),
            total => format!("{} of {} bytes", count(self.done), count(total)),
        };
        match self.samples_total {
            0 => bytes,
            total => format!(
                "{} of {} samples, {bytes}",
                count(self.samples),
                count(total)
            ),
        }
    }
}

/// Which rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableAsked {
    /// What a row stands for.
    pub(crate) by: Grouping,
    /// Metadata name, where a row stands for one of its values.
    pub(crate) key: String,
    /// Which samples count.
    pub(crate) kind: KindFilter,
    /// The kernel that they are of; `None` is any.
    pub(crate) kernel: Option<String>,
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HitAsked {
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// Tile position.
    pub(crate) tile: u32,
    /// Cycle.
    pub(crate) at: u64,
}

/// A sample in words: a heading, then name and text pairs in reading order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HitAnswer {
    /// Kernel symbol; empty where the sample has none.
    pub(crate) kernel: String,
    /// What to call the sample: its kernel, else its operation, else its kind.
    pub(crate) heading: String,
    /// Kind of the sample.
    pub(crate) kind: String,
    /// First cycle on the clock in force.
    pub(crate) from: u64,
    /// One past the last cycle.
    pub(crate) to: u64,
    /// Figures and places.
    pub(crate) facts: Vec<Fact>,
    /// Metadata pairs in file order.
    pub(crate) metadata: Vec<(String, String)>,
}

/// One line of a description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    /// A stable name for tests and styles.
    pub(crate) id: String,
    /// What it is.
    pub(crate) label: String,
    /// What it is for this sample.
    pub(crate) text: String,
}

impl Fact {
    /// A fact.
    pub(crate) fn new(id: &str, label: &str, text: String) -> Self {
        Self {
            id: id.to_owned(),
            label: label.to_owned(),
            text,
        }
    }
}

/// A module for `serde(with)` of a type that travels by its name.
macro_rules! by_name {
    ($module:ident, $type:ty, $what:literal) => {
        pub(super) mod $module {
            use serde::de::{Deserialize, Deserializer, Error};
            use serde::ser::Serializer;

            pub(in crate::engine) fn serialize<S: Serializer>(
                it: &$type,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                to.serialize_str(it.name())
            }

            pub(in crate::engine) fn deserialize<'de, D: Deserializer<'de>>(
                from: D,
            ) -> Result<$type, D::Error> {
                let name = String::deserialize(from)?;
                let unknown = || D::Error::custom(format!(concat!("no ", $what, " {}"), name));
                <$type>::from_name(&name).ok_or_else(unknown)
            }
        }
    };
}

by_name!(clock_name, analytics::clock::ClockKind, "clock");
by_name!(chart_name, analytics::chart::Chart, "chart");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::view::Colouring;

    /// A test of the whole system packs these messages in a browser, by hand.
    #[test]
    fn variants_keep_their_numbers() {
        let number = |it: &Request| postcard::to_allocvec(it).unwrap()[0];
        let url = String::new();
        assert_eq!(number(&Request::Open(Source::Address { url })), 0);
        assert_eq!(number(&Request::Query(Vec::new())), 11);
        let number = |it: &Answer| postcard::to_allocvec(it).unwrap()[0];
        assert_eq!(number(&Answer::Progress(Progress::default())), 0);
        assert_eq!(number(&Answer::Converted { bytes: 0 }), 2);
        assert_eq!(number(&Answer::Query(String::new())), 13);
    }

    #[test]
    fn questions_and_answers_survive_the_way() {
        let asked = RasterAsked {
            clock: ClockKind::Shared,
            from: 1,
            to: u64::MAX,
            columns: 3,
            by: Rows::Tile,
            tile_from: 0,
            tile_to: 9,
            rows: 4,
            colour: Colouring::Efficiency,
            focus: Some(7),
        };
        let request = Request::Raster(asked);
        let bytes = postcard::to_allocvec(&request).unwrap();
        assert_eq!(postcard::from_bytes::<Request>(&bytes).unwrap(), request);
        let progress = Progress {
            done: u64::MAX - 1,
            total: u64::MAX,
            ..Progress::default()
        };
        let answer = Answer::Early(Box::new(Answer::Progress(progress)));
        let bytes = postcard::to_allocvec(&answer).unwrap();
        assert_eq!(postcard::from_bytes::<Answer>(&bytes).unwrap(), answer);
    }
}
