//! The worker's end: opens profiles, reads their samples, answers questions.
//!
//! A columnar file is open as soon as its tables and its overview are here; samples follow, those
//! that a question waits for first. Reading and hashing wait for bytes, so other questions are
//! answered in between; an opening that a newer one overtook says nothing more.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use analytics::format::{ByteRange, FileKind, OpenMode, sniff};
use analytics::memory::PackageMap;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, DedicatedWorkerGlobalScope, MessageEvent};

use super::answer;
use super::cause::{Cause, Failure};
use super::convert;
use super::envelope::{self, Packed};
use super::held::{Held, Picture, Shared, Waiting};
use super::hit;
use super::memory::{self, PackageSummary};
use super::needs::{self, PIECE};
use super::opening::{self, FILE_MAX, Unwrapped, input_of, lost, too_large, unwrapped};
use super::panel::Compared;
use super::protocol::{Answer, Progress, Request, Source};
use super::read::{self, Input};
use super::rehearsal;
use crate::timeline::viewport::rounded;

/// Files up to this size are read whole before they are shown: one read costs more than the bytes.
const SMALL: u64 = 2 * 1024 * 1024;
/// Milliseconds that the first exact table leaves the page for asking for a picture.
const PICTURE_WAIT: u32 = 250;
/// Longest file of an address that is read whole without being asked.
const ADDRESS_MAX: u64 = 32 * 1024 * 1024;

struct Worker {
    scope: DedicatedWorkerGlobalScope,
    held: RefCell<Option<Shared>>,
    /// The profile that the open one is compared with.
    other: RefCell<Option<Rc<Compared>>>,
    /// The open package.
    package: RefCell<Option<Rc<PackageMap>>>,
    /// Id of the newest opening.
    newest: RefCell<u64>,
    /// Ids of the newest openings of a second profile and of a package.
    newest_beside: Cell<[u64; 2]>,
}

/// What opening gave.
enum Opened {
    Profile(Box<Held>),
    Package(Box<PackageSummary>),
    /// Columnar bytes for another worker, and the length of the file they were made from.
    Converted(Vec<u8>, u64),
}

/// Serves questions until the page ends the worker.
pub(crate) fn run(scope: &DedicatedWorkerGlobalScope) {
    let worker = Rc::new(Worker {
        scope: scope.clone(),
        held: RefCell::new(None),
        other: RefCell::new(None),
        package: RefCell::new(None),
        newest: RefCell::new(0),
        newest_beside: Cell::default(),
    });
    let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let worker = Rc::clone(&worker);
        worker.take(&event.data().unchecked_into());
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
}

/// All pages are to be read from now on.
///
/// # Errors
/// Where they would not fit.
fn read_all(held: &Held) -> Result<(), Failure> {
    let bytes = held.progress().total;
    if bytes > 2 * FILE_MAX {
        return Err(too_large(bytes));
    }
    held.reads_all.set(true);
    Ok(())
}

impl Worker {
    fn take(self: Rc<Self>, message: &Array) {
        let (id, request) = match envelope::unpack(message) {
            Ok(unpacked) => unpacked,
            Err(failure) => return self.send(0, &Answer::Failed(failure)),
        };
        let files = [2, 3].map(|at| message.get(at));
        let request = match request {
            Request::Open(source) => return spawn_local(self.open(id, source, files)),
            Request::Rehearse => return self.rehearse(id),
            Request::OpenOther(source) => return spawn_local(self.open_other(id, source, files)),
            Request::OpenPackage(source) => {
                return spawn_local(self.open_package(id, source, files));
            }
            Request::Memory(asked) => {
                return self
                    .of_package(id, |it| Answer::Memory(Box::new(memory::memory(it, asked))));
            }
            Request::Matrix(asked) => {
                return self.of_package(id, |it| Answer::Matrix(memory::matrix(it, asked)));
            }
            Request::MemoryJson(asked) => {
                return self.of_package(id, |it| Answer::Json(memory::memory_json(it, asked)));
            }
            Request::MatrixJson(asked) => {
                return self.of_package(id, |it| Answer::Json(memory::matrix_json(it, asked)));
            }
            request => request,
        };
        let Some(held) = self.held.borrow().clone() else {
            let failure = Failure::new(Cause::Internal, "no profile is open in the worker");
            return self.send(id, &Answer::Failed(failure));
        };
        match request {
            Request::Hash => spawn_local(self.hash(id, held)),
            Request::ReadAll => match read_all(&held) {
                Ok(()) => self.feed(held),
                Err(failure) => self.send(id, &Answer::ReadingFailed(failure)),
            },
            Request::ReadLess => self.read_less(&held),
            request => self.answer(id, request, held),
        }
    }

    /// Answers are packed and not sent; one that fails is no matter, since nobody waits for it.
    fn rehearse(&self, id: u64) {
        for answer in rehearsal::rehearse().unwrap_or_default() {
            let _packed = envelope::pack(id, &answer);
        }
        self.send(id, &Answer::Rehearsed);
    }

    /// Answers at once where the samples are here; else says what is known and reads them.
    fn answer(self: Rc<Self>, id: u64, request: Request, held: Shared) {
        held.note(&request);
        let missing = held.missing(&request);
        let is_here = missing.is_empty();
        let is_later = is_here && held.comes_later(&request);
        let early = if is_here && !is_later {
            // Who made a tile wait takes a pass over all samples, once: the rest is said before.
            hit::before_waits(&held.sources(&held.report.borrow(), None), &request)
        } else {
            answer::early(&held.report.borrow(), &request)
        };
        let has_early = early.is_some();
        if let Some(early) = early {
            self.send(id, &Answer::Early(Box::new(early)));
        }
        if is_here && !(is_later && has_early) {
            return self.send(id, &self.exact(&held, request));
        }
        let is_small = needs::is_small(&request, &missing);
        if !has_early
            && !is_small
            && let Err(failure) = read_all(&held)
        {
            return self.send(id, &Answer::Failed(failure));
        }
        held.wait(Waiting {
            id,
            request,
            has_early,
            drives: !has_early || is_small,
        });
        if is_here {
            spawn_local(self.answer_later(held));
        } else {
            self.feed(held);
        }
    }

    /// Gives the exact answers to the first questions. Until the picture is asked for, it is waited
    /// for: to lay itself out takes the page longer than to ask for the table.
    async fn answer_later(self: Rc<Self>, held: Shared) {
        let is_asked = held.picture.get() != Picture::Unasked;
        TimeoutFuture::new(if is_asked { 0 } else { PICTURE_WAIT }).await;
        self.answer_ripe(&held).await;
    }

    /// Answers what waits for nothing more, and lets other questions in between.
    async fn answer_ripe(&self, held: &Held) {
        while *self.newest.borrow() == held.id
            && let Some(ripe) = held.ripest()
        {
            self.send(ripe.id, &self.exact(held, ripe.request));
            TimeoutFuture::new(0).await;
        }
    }

    fn send(&self, id: u64, answer: &Answer) {
        self.post(&envelope::pack_answer(id, answer));
    }

    fn post(&self, packed: &Packed) {
        // Posting fails only when the page is gone.
        let _ = self
            .scope
            .post_message_with_transfer(&packed.message, &packed.transfer);
    }

    async fn open(self: Rc<Self>, id: u64, source: Source, files: [JsValue; 2]) {
        *self.newest.borrow_mut() = id;
        *self.held.borrow_mut() = None;
        let opened = self.begin(id, source, files).await;
        if *self.newest.borrow() != id {
            return;
        }
        match opened {
            Ok(Opened::Package(package)) => {
                self.send(id, &Answer::PackageOpened(Ok(package)));
            }
            Ok(Opened::Converted(columnar, bytes)) => {
                self.post(&envelope::pack_converted(id, &columnar, bytes));
            }
            Ok(Opened::Profile(held)) => {
                let held = Rc::new(*held);
                *self.held.borrow_mut() = Some(Rc::clone(&held));
                self.tell_open(&held);
                self.feed(held);
            }
            Err(failure) => self.send(id, &Answer::Failed(failure)),
        }
    }

    fn tell_open(&self, held: &Held) {
        let summary = answer::summary(&held.report.borrow(), &held.name, held.bytes);
        let answer = summary.map(|it| Answer::Opened(Box::new(it)));
        self.send(held.id, &answer.unwrap_or_else(Answer::Failed));
        if !held.progress().is_whole() {
            self.send(held.id, &Answer::Progress(held.progress()));
        }
    }

    async fn begin(
        &self,
        id: u64,
        source: Source,
        [file, original]: [JsValue; 2],
    ) -> Result<Opened, Failure> {
        if let Source::Converted { name, bytes } = source {
            let columnar = file.dyn_into::<Uint8Array>().map_err(|_other| lost())?;
            let columnar = read::taken(&columnar);
            let length = columnar.len() as u64;
            let input = Input::Whole(columnar.into());
            let mut held = self.read(id, &name, input, length).await?;
            held.bytes = bytes;
            held.original = original.dyn_into::<Blob>().ok();
            return Ok(Opened::Profile(Box::new(held)));
        }
        let name = source.name().to_owned();
        let (input, length) = input_of(source, file).await?;
        if length == 0 {
            return Err(Failure::new(
                Cause::UnknownType,
                "the file is empty: record or copy it again",
            ));
        }
        let Unwrapped {
            input,
            bytes,
            prefix,
            original,
        } = unwrapped(input, length).await?;
        if sniff(&prefix) == FileKind::Package {
            let (map, summary) = self.read_package(&input, bytes, &name).await?;
            *self.package.borrow_mut() = Some(Rc::new(map));
            return Ok(Opened::Package(Box::new(summary)));
        }
        if convert::is_row(&prefix, bytes)? {
            let mut told = |done| self.tell(id, done, bytes);
            let columnar = convert::columnar(&input, bytes, &mut told).await?;
            return Ok(Opened::Converted(columnar, length));
        }
        let mut held = self.read(id, &name, input, bytes).await?;
        held.bytes = length;
        held.original = original;
        Ok(Opened::Profile(Box::new(held)))
    }

    /// The exact answer, with what it cost.
    fn exact(&self, held: &Held, request: Request) -> Answer {
        if let Request::Raster(asked) = &request
            && let Some(kept) = held.kept_raster(asked)
        {
            return Answer::Raster(kept);
        }
        let start = js_sys::Date::now();
        let other = self.other.borrow().clone();
        let report = held.report.borrow();
        let sources = held.sources(&report, other.as_deref());
        let answer = answer::exact(&sources, request, &held.groups);
        let mut answer = answer.unwrap_or_else(Answer::Failed);
        if let Answer::Raster(raster) = &mut answer {
            let cost = rounded(js_sys::Date::now() - start);
            raster.cost = u32::try_from(cost).unwrap_or(u32::MAX);
            held.keep_raster(raster);
            held.picture.set(Picture::Exact);
        }
        answer
    }

    fn of_package(&self, id: u64, ask: impl FnOnce(&PackageMap) -> Answer) {
        let package = self.package.borrow().clone();
        let answer = match &package {
            Some(package) => ask(package),
            None => {
                let message = "no package is open in the worker";
                Answer::Failed(Failure::new(Cause::Internal, message))
            }
        };
        self.send(id, &answer);
    }

    /// Takes note of the newest opening of a second profile (0) or of a package (1).
    fn begin_beside(&self, which: usize, id: u64) {
        let mut newest = self.newest_beside.get();
        newest[which] = id;
        self.newest_beside.set(newest);
    }

    async fn open_package(self: Rc<Self>, id: u64, source: Source, [file, _]: [JsValue; 2]) {
        let name = source.name().to_owned();
        self.begin_beside(1, id);
        *self.package.borrow_mut() = None;
        let opened = async {
            let (input, bytes) = input_of(source, file).await?;
            let Unwrapped { input, bytes, .. } = unwrapped(input, bytes).await?;
            self.read_package(&input, bytes, &name).await
        };
        let opened = opened.await;
        // Another one was asked for while this one was read.
        if self.newest_beside.get()[1] != id {
            return;
        }
        let opened = opened.map(|(map, summary)| {
            *self.package.borrow_mut() = Some(Rc::new(map));
            Box::new(summary)
        });
        self.send(id, &Answer::PackageOpened(opened));
    }

    async fn read_package(
        &self,
        input: &Input,
        bytes: u64,
        name: &str,
    ) -> Result<(PackageMap, PackageSummary), Failure> {
        if bytes > FILE_MAX {
            let message = format!("the package has {bytes} bytes, over {FILE_MAX}");
            return Err(Failure::new(Cause::TooLarge, message));
        }
        let content = input.read(ByteRange::new(0, bytes)).await?;
        let map = PackageMap::read(&content)?;
        let summary = memory::summary(&map, name, bytes);
        Ok((map, summary))
    }

    async fn open_other(self: Rc<Self>, id: u64, source: Source, [file, _]: [JsValue; 2]) {
        let name = source.name().to_owned();
        self.begin_beside(0, id);
        *self.other.borrow_mut() = None;
        let opened = match input_of(source, file).await {
            Ok((input, bytes)) => opening::read_whole(input, bytes)
                .await
                .map(|it| (it, bytes)),
            Err(failure) => Err(failure),
        };
        if self.newest_beside.get()[0] != id {
            return;
        }
        let opened = opened.and_then(|(report, bytes)| {
            let summary = answer::summary(&report, &name, bytes)?;
            *self.other.borrow_mut() = Some(Rc::new(Compared::new(report)));
            Ok(Box::new(summary))
        });
        self.send(id, &Answer::OtherOpened(opened));
    }

    /// Reads a columnar file as far as it takes to show it.
    async fn read(&self, id: u64, name: &str, input: Input, bytes: u64) -> Result<Held, Failure> {
        let is_here = matches!(input, Input::Whole(_)) || bytes <= SMALL;
        let mode = if is_here {
            OpenMode::Everything
        } else {
            OpenMode::Overview
        };
        let told = |done, asked| self.tell(id, done, asked);
        let report = opening::opened(&input, bytes, mode, told).await?;
        let most = match &input {
            Input::Ranges { .. } => ADDRESS_MAX,
            Input::File(_) | Input::Whole(_) => FILE_MAX,
        };
        opening::check_size(&report, bytes)?;
        let held = Held::new(id, name.to_owned(), report, input);
        held.reads_all.set(bytes <= most);
        Ok(held)
    }

    /// Tells how far an opening is.
    fn tell(&self, id: u64, done: u64, total: u64) {
        if *self.newest.borrow() == id && total > PIECE {
            let progress = Progress {
                done,
                total,
                goes_on: true,
                ..Progress::default()
            };
            self.send(id, &Answer::Progress(progress));
        }
    }

    /// Reads on, unless a task does already.
    fn feed(self: Rc<Self>, held: Shared) {
        if !held.is_reading.replace(true) {
            spawn_local(async move {
                self.read_on(&held).await;
                held.is_reading.set(false);
            });
        }
    }

    async fn read_on(&self, held: &Held) {
        let mut told = false;
        while let Some(piece) = held.next_piece() {
            let bytes = held.input.read(piece.bytes).await;
            if *self.newest.borrow() != held.id {
                return;
            }
            let supplied = bytes.and_then(|bytes| held.supply(&piece, &bytes));
            if let Err(failure) = supplied {
                held.reads_all.set(false);
                return self.fail(held, &failure);
            }
            let progress = held.progress();
            if progress.is_whole() && !told {
                told = true;
                self.tell_open(held);
            } else if !progress.is_whole() {
                self.send(held.id, &Answer::Progress(progress));
            }
            self.answer_ripe(held).await;
        }
        self.send(held.id, &Answer::Progress(held.progress()));
    }

    /// Every question that waits has failed; without one, the profile has.
    fn fail(&self, held: &Held, failure: &Failure) {
        let waiting = held.give_up_waiting(true);
        self.send(held.id, &Answer::Progress(held.progress()));
        self.send(held.id, &Answer::ReadingFailed(failure.clone()));
        for it in waiting {
            self.send(it.id, &Answer::Failed(failure.clone()));
        }
    }

    fn read_less(&self, held: &Held) {
        held.reads_all.set(false);
        let waiting = held.give_up_waiting(false);
        self.send(held.id, &Answer::Progress(held.progress()));
        let message = "reading was stopped before the samples were here; read all samples, then \
                       ask again";
        for it in waiting {
            let failure = Failure::new(Cause::Stopped, message);
            self.send(it.id, &Answer::Failed(failure));
        }
    }

    async fn hash(self: Rc<Self>, id: u64, held: Shared) {
        let hashed = match &held.original {
            Some(file) => opening::hash(&Input::File(file.clone()), read::length(file)).await,
            None => opening::hash(&held.input, held.bytes).await,
        };
        self.send(id, &hashed.map_or_else(Answer::Failed, Answer::Hash));
    }
}

/// The scope of a worker, where this module was loaded in one.
pub(crate) fn scope() -> Option<DedicatedWorkerGlobalScope> {
    let global: JsValue = js_sys::global().into();
    global.dyn_into().ok()
}
