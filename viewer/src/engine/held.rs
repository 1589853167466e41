//! The open profile in the worker: its pages, the questions that wait for them, and what to read
//! next.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use analytics::barriers::BarrierReport;
use analytics::format::ByteRange;
use analytics::profile::ProfileReport;
use analytics::traffic::Exchanges;
use bytes::Bytes;
use web_sys::Blob;

use super::answer::Groups;
use super::cause::Failure;
use super::lanes::Lane;
use super::needs::{self, Needs, Piece};
use super::panel::{Compared, Sources};
use super::protocol::{Progress, Request};
use super::raster::{RasterAnswer, RasterAsked};
use super::read::Input;

/// Pages kept of a file that is not read whole: 96 MiB.
const KEPT_MAX: u64 = 96 * 1024 * 1024;

/// Milliseconds of work from which on cells are kept.
const DEAR: u32 = 20;
/// Samples of a profile from which on the first answers about all of them keep the page waiting.
const MANY: u64 = 2_000_000;
/// Cells that are kept: six to eight bytes a device pixel of the timeline each.
const RASTERS_MAX: usize = 4;

/// The open profile.
pub(crate) struct Held {
    /// Id of its opening.
    pub(crate) id: u64,
    /// What it is called.
    pub(crate) name: String,
    /// Tables, and the pages that are here.
    pub(crate) report: RefCell<ProfileReport>,
    /// Where its exchanges are, once a panel asked.
    pub(crate) exchanges: OnceCell<Rc<Exchanges>>,
    /// Where its tiles wait for each other, once the pointer was at a boundary.
    pub(crate) waits: OnceCell<Rc<BarrierReport>>,
    /// Groups of its tiles and samples.
    pub(crate) groups: Groups,
    /// Where the others come from.
    pub(crate) input: Input,
    /// The file of this computer that it was converted from.
    pub(crate) original: Option<Blob>,
    /// Length of the file in bytes.
    pub(crate) bytes: u64,
    /// Whether everything is to be read, asked for or not.
    pub(crate) reads_all: Cell<bool>,
    /// Whether a task is reading.
    pub(crate) is_reading: Cell<bool>,
    /// How far the first picture is.
    pub(crate) picture: Cell<Picture>,
    waiting: RefCell<Vec<Waiting>>,
    /// Pages in the order they came, while not everything is to be read.
    order: RefCell<VecDeque<ByteRange>>,
    /// Cells that took long, the newest last: way back and forward lead to them.
    rasters: RefCell<VecDeque<RasterAnswer>>,
}

/// How far the first picture of a profile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Picture {
    /// Nobody asked for it.
    Unasked,
    /// It was asked for.
    Asked,
    /// It was given of all samples.
    Exact,
}

/// A question whose exact answer comes later.
pub(crate) struct Waiting {
    /// Its number.
    pub(crate) id: u64,
    /// What was asked.
    pub(crate) request: Request,
    /// Whether it has an early answer, with which it may be left.
    pub(crate) has_early: bool,
    /// Whether its pages are read for its sake.
    pub(crate) drives: bool,
}

impl Held {
    /// A profile whose missing pages `input` has.
    pub(crate) fn new(id: u64, name: String, report: ProfileReport, input: Input) -> Self {
        Self {
            id,
            name,
            report: RefCell::new(report),
            exchanges: OnceCell::new(),
            waits: OnceCell::new(),
            groups: Groups::default(),
            input,
            original: None,
            bytes: 0,
            reads_all: Cell::new(false),
            is_reading: Cell::new(false),
            picture: Cell::new(Picture::Unasked),
            waiting: RefCell::default(),
            order: RefCell::default(),
            rasters: RefCell::default(),
        }
    }

    /// What questions are answered from.
    pub(crate) fn sources<'a>(
        &'a self,
        report: &'a ProfileReport,
        other: Option<&'a Compared>,
    ) -> Sources<'a> {
        Sources {
            report,
            other,
            exchanges: &self.exchanges,
            waits: &self.waits,
        }
    }

    /// How far reading is.
    pub(crate) fn progress(&self) -> Progress {
        let report = self.report.borrow();
        let (done, total) = report.page_bytes();
        Progress {
            done,
            total,
            samples: report.samples_here(),
            samples_total: report.sample_count(),
            goes_on: self.reads_all.get(),
        }
    }

    /// Pages that `request` needs and that are not here. A question of its lane that waits is void.
    pub(crate) fn missing(&self, request: &Request) -> Vec<ByteRange> {
        let lane = Lane::of(request);
        self.waiting
            .borrow_mut()
            .retain(|it| Lane::of(&it.request) != lane);
        Needs::of(request).missing(&self.report.borrow())
    }

    /// Keeps a question for later; the pages of one that drives are read first.
    pub(crate) fn wait(&self, question: Waiting) {
        self.waiting.borrow_mut().push(question);
    }

    /// What to read next; `None` where nobody needs more.
    pub(crate) fn next_piece(&self) -> Option<Piece> {
        let report = self.report.borrow();
        let waiting = self.waiting.borrow();
        let driving = waiting.iter().filter(|it| it.drives);
        let wanted = driving.map(|it| Needs::of(&it.request).missing(&report));
        let most = match self.reads_all.get() {
            true => needs::PIECE,
            false => needs::PIECE_OF_PART,
        };
        let asked = wanted
            .into_iter()
            .find_map(|it| needs::first_piece(&it, most));
        asked.or_else(|| {
            let all = self.reads_all.get().then(|| report.pages_missing());
            needs::first_piece(&all.unwrap_or_default(), most)
        })
    }

    /// Cells that were asked for before and took long.
    pub(crate) fn kept_raster(&self, asked: &RasterAsked) -> Option<RasterAnswer> {
        let rasters = self.rasters.borrow();
        rasters.iter().find(|it| it.asked == *asked).cloned()
    }

    /// Keeps exact cells that took long, instead of the oldest ones.
    pub(crate) fn keep_raster(&self, raster: &RasterAnswer) {
        let mut rasters = self.rasters.borrow_mut();
        if raster.cost >= DEAR && !raster.from_overview {
            if rasters.len() == RASTERS_MAX {
                rasters.pop_front();
            }
            rasters.push_back(raster.clone());
        }
    }

    /// Takes the bytes of a piece.
    ///
    /// # Errors
    /// Where they are not what was written.
    pub(crate) fn supply(&self, piece: &Piece, bytes: &Bytes) -> Result<(), Failure> {
        let at = |byte: u64| usize::try_from(byte - piece.bytes.start).unwrap_or(usize::MAX);
        let mut report = self.report.borrow_mut();
        for &page in &piece.pages {
            report.supply_page(page, bytes.slice(at(page.start)..at(page.end)))?;
        }
        if !self.reads_all.get() {
            self.give_up_oldest(&mut report, &piece.pages);
        }
        Ok(())
    }

    /// Bounds what a profile that is not read whole takes.
    fn give_up_oldest(&self, report: &mut ProfileReport, newest: &[ByteRange]) {
        let mut order = self.order.borrow_mut();
        order.extend(newest);
        let mut kept: u64 = order.iter().map(|page| page.len()).sum();
        while kept > KEPT_MAX && order.len() > newest.len() {
            if let Some(oldest) = order.pop_front() {
                kept -= oldest.len();
                report.forget_page(oldest);
            }
        }
    }

    /// Takes note of a question: the first exact answers wait for the picture to be asked for.
    pub(crate) fn note(&self, request: &Request) {
        if matches!(request, Request::Raster(_)) {
            self.picture.set(self.picture.get().max(Picture::Asked));
        }
    }

    /// Whether a question is one of the first about many samples: the exact answer would keep those
    /// after it waiting, so an early one goes ahead.
    pub(crate) fn comes_later(&self, request: &Request) -> bool {
        let is_one = matches!(
            request,
            Request::Raster(_) | Request::Table(_) | Request::Strip(_)
        );
        is_one && self.picture.get() != Picture::Exact && self.report.borrow().sample_count() > MANY
    }

    /// Takes away a question that waits for nothing more: a picture before all others, else the one
    /// that was asked first.
    pub(crate) fn ripest(&self) -> Option<Waiting> {
        let report = self.report.borrow();
        let mut waiting = self.waiting.borrow_mut();
        let is_ripe = |it: &Waiting| Needs::of(&it.request).missing(&report).is_empty();
        let is_picture = |it: &Waiting| matches!(it.request, Request::Raster(_)) && is_ripe(it);
        let at = waiting.iter().position(is_picture);
        let at = at.or_else(|| waiting.iter().position(is_ripe))?;
        Some(waiting.remove(at))
    }

    /// Takes away the questions that wait for reading, which will not go on. Those with an early
    /// answer stay, unless `with_early`: they may be answered yet.
    pub(crate) fn give_up_waiting(&self, with_early: bool) -> Vec<Waiting> {
        self.take_waiting(|it| with_early || !it.has_early)
    }

    fn take_waiting(&self, is_taken: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let mut waiting = self.waiting.borrow_mut();
        let (taken, stay) = std::mem::take(&mut *waiting)
            .into_iter()
            .partition(|it| is_taken(it));
        *waiting = stay;
        taken
    }
}

/// A profile that several tasks share.
pub(crate) type Shared = Rc<Held>;

#[cfg(test)]
mod tests {
    use analytics::clock::ClockKind;
    use analytics::format::{OpenMode, OpenStep, Opener, ProfileWriter};
    use analytics::profile::{
        ActivityKind, ExchangeActivity, ProfileHeader, SampleKind, StepDescriptor,
    };
    use analytics::units::{PhysicalTile, RawCounter};

    use super::*;
    use crate::state::view::{Colouring, Rows};

    fn raster(from: u64, cost: u32) -> RasterAnswer {
        RasterAnswer {
            asked: RasterAsked {
                clock: ClockKind::Shared,
                from,
                to: from + 9,
                columns: 1,
                by: Rows::Tile,
                tile_from: 0,
                tile_to: 1,
                rows: 1,
                colour: Colouring::Kernel,
                focus: None,
            },
            columns: 1,
            rows: 1,
            from_overview: false,
            cost,
            kinds: vec![1],
            kernels: vec![7],
            busy: vec![9],
            focused: vec![0],
            efficiency: vec![0],
        }
    }

    /// Bytes of a profile whose pages of samples and of transfers take turns in the file.
    fn with_transfers() -> Vec<u8> {
        let mut writer = ProfileWriter::new(&ProfileHeader::default());
        let step = writer.step(&StepDescriptor {
            kind: SampleKind::Exchange,
            phase: 0,
            epoch: 0,
            operation: String::new(),
            kernel: String::new(),
            exchange_event_cycles: 0,
            metadata: Vec::new(),
            estimate: None,
        });
        let transfer = ExchangeActivity {
            kind: ActivityKind::Send,
            start: 1,
            end: 9,
            fanout: 1,
            paired: false,
        };
        for tile in 0..200 {
            for at in (0..40_000).step_by(10) {
                let (start, end) = (RawCounter::new(at), RawCounter::new(at + 10));
                writer.sample(PhysicalTile::new(tile), start, end, step, &[transfer]);
            }
        }
        writer.finish().expect("a valid profile")
    }

    #[test]
    fn every_page_comes_piece_by_piece_whatever_the_order_of_pages() {
        let bytes = Bytes::from(with_transfers());
        let mut opener = Opener::new(bytes.len() as u64, OpenMode::Overview);
        let part = |range: ByteRange| {
            let at = |byte| usize::try_from(byte).expect("a short file");
            bytes.slice(at(range.start)..at(range.end))
        };
        let report = loop {
            match opener.step().expect("a valid profile") {
                OpenStep::Ready(report) => break *report,
                OpenStep::Need(ranges) => {
                    for range in ranges {
                        opener.supply(range, part(range)).expect("it was asked for");
                    }
                }
            }
        };
        let pages = report.pages_missing();
        assert!(pages.len() > 8, "{} pages", pages.len());
        assert!(
            pages.is_sorted_by_key(|it| it.start),
            "in the order of the file"
        );
        let held = Held::new(1, String::new(), report, Input::Whole(Bytes::new()));
        held.reads_all.set(true);
        while let Some(piece) = held.next_piece() {
            held.supply(&piece, &part(piece.bytes))
                .expect("its pages are in it");
        }
        assert_eq!(held.report.borrow().pages_missing(), []);
        assert!(held.progress().is_whole());
    }

    #[test]
    fn dear_cells_are_kept_and_the_oldest_give_way() {
        let report = ProfileReport::default();
        let held = Held::new(1, String::new(), report, Input::Whole(Bytes::new()));
        held.keep_raster(&raster(0, DEAR - 1));
        assert_eq!(held.kept_raster(&raster(0, 0).asked), None, "it was cheap");
        let coarse = RasterAnswer {
            from_overview: true,
            ..raster(0, DEAR)
        };
        held.keep_raster(&coarse);
        assert_eq!(held.kept_raster(&coarse.asked), None, "finer ones follow");
        for from in 0..=RASTERS_MAX as u64 {
            held.keep_raster(&raster(from, DEAR));
        }
        assert_eq!(held.kept_raster(&raster(0, 0).asked), None);
        let newest = raster(RASTERS_MAX as u64, DEAR);
        assert_eq!(held.kept_raster(&newest.asked), Some(newest));
    }
}
