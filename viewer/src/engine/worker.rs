//! The worker's end: holds the profile and answers questions, one after the other.
//!
//! Opening and hashing wait for bytes, so other questions are answered in between; an opening that
//! a newer one overtook says nothing more.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use analytics::format::{ByteRange, FileKind, OpenMode, OpenStep, Opener, sniff};
use analytics::memory::PackageMap;
use analytics::profile::ProfileReport;
use analytics::traffic::Exchanges;
use js_sys::Array;
use sha2::{Digest as _, Sha256};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, DedicatedWorkerGlobalScope, MessageEvent};

use super::cause::{Cause, Failure};
use super::envelope;
use super::memory::{self, PackageSummary};
use super::panel::{self, Sources};
use super::protocol::{Answer, Progress, Request, Source};
use super::read::{self, Input};

/// Bytes read at a time: progress is shown and questions are answered between two reads.
const PIECE: u64 = 8 * 1024 * 1024;
/// Longest file that is read into memory here; WebAssembly ends at 4 GiB.
const LENGTH_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Longest row file: its decoded form comes on top.
const ROW_LENGTH_MAX: u64 = 1024 * 1024 * 1024;

/// The open profile.
struct Open {
    report: ProfileReport,
    input: Input,
    bytes: u64,
    /// Where its exchanges are, once a panel asked.
    exchanges: OnceCell<Rc<Exchanges>>,
}

struct Worker {
    scope: DedicatedWorkerGlobalScope,
    open: RefCell<Option<Rc<Open>>>,
    /// The profile that the open one is compared with.
    other: RefCell<Option<Rc<Open>>>,
    /// The open package.
    package: RefCell<Option<Rc<PackageMap>>>,
    /// Id of the newest opening.
    newest: RefCell<u64>,
}

/// Serves questions until the page ends the worker.
pub(crate) fn run(scope: &DedicatedWorkerGlobalScope) {
    let worker = Rc::new(Worker {
        scope: scope.clone(),
        open: RefCell::new(None),
        other: RefCell::new(None),
        package: RefCell::new(None),
        newest: RefCell::new(0),
    });
    let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let worker = Rc::clone(&worker);
        worker.take(&event.data().unchecked_into());
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
}

impl Worker {
    fn take(self: Rc<Self>, message: &Array) {
        let (id, request) = match envelope::unpack(message) {
            Ok(unpacked) => unpacked,
            Err(failure) => return self.send(0, &Answer::Failed(failure)),
        };
        match request {
            Request::Open(source) => {
                let file = message.get(2).dyn_into::<Blob>().ok();
                spawn_local(self.open(id, source, file));
            }
            Request::Hash => spawn_local(self.hash(id)),
            Request::Table(asked) => self.answer(id, |it| super::answer::table(it, &asked)),
            Request::Json(asked) => self.answer(id, |it| super::answer::json(it, &asked)),
            Request::Spent(asked) => self.answer(id, |it| super::spent::spent(it, asked)),
            Request::Raster(asked) => self.answer(id, |it| super::answer::raster(it, asked)),
            Request::Strip(asked) => self.answer(id, |it| super::answer::strip(it, asked)),
            Request::Hit(asked) => self.answer(id, |it| super::answer::hit(it, asked)),
            Request::Query(words) => self.answer(id, |it| super::answer::query(it, &words)),
            Request::Panel(asked) => self.panel(id, |it| panel::answer(it, &asked)),
            Request::PanelJson(asked) => self.panel(id, |it| panel::json(it, &asked)),
            Request::OpenOther(source) => {
                let file = message.get(2).dyn_into::<Blob>().ok();
                spawn_local(self.open_other(id, source, file));
            }
            Request::OpenPackage(source) => {
                let file = message.get(2).dyn_into::<Blob>().ok();
                spawn_local(self.open_package(id, source, file));
            }
            Request::Memory(asked) => {
                self.of_package(id, |it| Answer::Memory(Box::new(memory::memory(it, asked))))
            }
            Request::Matrix(asked) => {
                self.of_package(id, |it| Answer::Matrix(memory::matrix(it, asked)));
            }
            Request::OtherRaster(asked) => self.panel(id, |it| {
                let answer = super::answer::raster(it.other()?, asked)?;
                Ok(match answer {
                    Answer::Raster(raster) => Answer::OtherRaster(raster),
                    answer => answer,
                })
            }),
        }
    }

    fn answer(&self, id: u64, ask: impl FnOnce(&ProfileReport) -> Result<Answer, Failure>) {
        let open = self.open.borrow().clone();
        let answer = match open {
            Some(open) => ask(&open.report),
            None => Err(Failure::new(
                Cause::Internal,
                "no profile is open in the worker",
            )),
        };
        self.send(id, &answer.unwrap_or_else(Answer::Failed));
    }

    fn panel(&self, id: u64, ask: impl FnOnce(&Sources<'_>) -> Result<Answer, Failure>) {
        let open = self.open.borrow().clone();
        let other = self.other.borrow().clone();
        let answer = match &open {
            Some(open) => ask(&Sources {
                report: &open.report,
                other: other.as_ref().map(|it| &it.report),
                exchanges: &open.exchanges,
            }),
            None => Err(Failure::new(
                Cause::Internal,
                "no profile is open in the worker",
            )),
        };
        self.send(id, &answer.unwrap_or_else(Answer::Failed));
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

    async fn open_package(self: Rc<Self>, id: u64, source: Source, file: Option<Blob>) {
        let name = name_of(&source);
        *self.package.borrow_mut() = None;
        let opened = match input(source, file).await {
            Ok((input, bytes)) => self.read_package(&input, bytes, &name).await,
            Err(failure) => Err(failure),
        };
        self.send(id, &Answer::PackageOpened(opened));
    }

    async fn read_package(
        &self,
        input: &Input,
        bytes: u64,
        name: &str,
    ) -> Result<Box<PackageSummary>, Failure> {
        if bytes > LENGTH_MAX {
            let message = format!("the package has {bytes} bytes, over {LENGTH_MAX}");
            return Err(Failure::new(Cause::TooLarge, message));
        }
        let content = input.read(ByteRange::new(0, bytes)).await?;
        let map = PackageMap::read(&content)?;
        let summary = memory::summary(&map, name, bytes);
        *self.package.borrow_mut() = Some(Rc::new(map));
        Ok(Box::new(summary))
    }

    async fn open_other(self: Rc<Self>, id: u64, source: Source, file: Option<Blob>) {
        let name = name_of(&source);
        *self.other.borrow_mut() = None;
        let opened = match input(source, file).await {
            Ok((input, bytes)) => self.read(id, input, bytes).await,
            Err(failure) => Err(failure),
        };
        let opened = opened.and_then(|open| {
            let summary = super::answer::summary(&open.report, &name, open.bytes)?;
            *self.other.borrow_mut() = Some(Rc::new(open));
            Ok(Box::new(summary))
        });
        self.send(id, &Answer::OtherOpened(opened));
    }

    fn send(&self, id: u64, answer: &Answer) {
        let packed = envelope::pack_answer(id, answer);
        // Posting fails only when the page is gone.
        let _ = self
            .scope
            .post_message_with_transfer(&packed.message, &packed.transfer);
    }

    async fn open(self: Rc<Self>, id: u64, source: Source, file: Option<Blob>) {
        *self.newest.borrow_mut() = id;
        *self.open.borrow_mut() = None;
        let name = name_of(&source);
        let answer = self.opened(id, &name, source, file).await;
        if *self.newest.borrow() == id {
            self.send(id, &answer.unwrap_or_else(Answer::Failed));
        }
    }

    /// Opens a profile, or a package where the file is one.
    async fn opened(
        &self,
        id: u64,
        name: &str,
        source: Source,
        file: Option<Blob>,
    ) -> Result<Answer, Failure> {
        let (input, bytes) = input(source, file).await?;
        if kind(&input, bytes).await? == FileKind::Package {
            let package = self.read_package(&input, bytes, name).await?;
            return Ok(Answer::PackageOpened(Ok(package)));
        }
        let open = self.read(id, input, bytes).await?;
        let summary = super::answer::summary(&open.report, name, open.bytes)?;
        if *self.newest.borrow() == id {
            *self.open.borrow_mut() = Some(Rc::new(open));
        }
        Ok(Answer::Opened(Box::new(summary)))
    }

    async fn read(&self, id: u64, input: Input, bytes: u64) -> Result<Open, Failure> {
        check_length(&input, bytes).await?;
        let mut opener = Opener::new(bytes, OpenMode::Everything);
        let mut progress = Progress {
            done: 0,
            total: bytes,
        };
        loop {
            match opener.step()? {
                OpenStep::Ready(report) => {
                    return Ok(Open {
                        report: *report,
                        input,
                        bytes,
                        exchanges: OnceCell::new(),
                    });
                }
                OpenStep::Need(ranges) => {
                    for piece in ranges.into_iter().flat_map(pieces) {
                        opener.supply(piece, input.read(piece).await?)?;
                        progress.done += piece.len();
                        self.report(id, progress);
                    }
                }
            }
        }
    }

    fn report(&self, id: u64, progress: Progress) {
        if *self.newest.borrow() == id && progress.total > PIECE {
            self.send(id, &Answer::Progress(progress));
        }
    }

    async fn hash(self: Rc<Self>, id: u64) {
        let open = self.open.borrow().clone();
        let answer = match open {
            Some(open) => hash(&open.input, open.bytes).await.map(Answer::Hash),
            None => Err(Failure::new(
                Cause::Internal,
                "no profile is open in the worker",
            )),
        };
        self.send(id, &answer.unwrap_or_else(Answer::Failed));
    }
}

/// What to call a source.
fn name_of(source: &Source) -> String {
    match source {
        Source::File { name } => name.clone(),
        Source::Address { url } => url.clone(),
    }
}

/// Where the bytes are, and how many.
async fn input(source: Source, file: Option<Blob>) -> Result<(Input, u64), Failure> {
    match (source, file) {
        (Source::Address { url }, _) => read::from_address(&url).await,
        (Source::File { .. }, Some(file)) => {
            let bytes = read::length(&file);
            Ok((Input::File(file), bytes))
        }
        (Source::File { .. }, None) => {
            Err(Failure::new(Cause::Internal, "the file handle was lost"))
        }
    }
}

/// What kind of file it is, by its first bytes.
async fn kind(input: &Input, bytes: u64) -> Result<FileKind, Failure> {
    let prefix = input.read(ByteRange::new(0, bytes.min(64 * 1024))).await?;
    Ok(sniff(&prefix))
}

/// Refuses what would not fit, before it is read.
async fn check_length(input: &Input, bytes: u64) -> Result<(), Failure> {
    let is_row = kind(input, bytes).await? == FileKind::RowProfile;
    if is_row && bytes > ROW_LENGTH_MAX {
        let message = format!(
            "this row profile has {bytes} bytes, over {ROW_LENGTH_MAX}; make it smaller with \
             `ipu-stack profile-convert`, then open the result"
        );
        return Err(Failure::new(Cause::TooLarge, message));
    }
    if bytes > LENGTH_MAX {
        let message = format!(
            "the file has {bytes} bytes, over {LENGTH_MAX}; ask it on the command line with \
             `ipu-stack profile-query`"
        );
        return Err(Failure::new(Cause::TooLarge, message));
    }
    Ok(())
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

async fn hash(input: &Input, bytes: u64) -> Result<String, Failure> {
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

/// The scope of a worker, where this module was loaded in one.
pub(crate) fn scope() -> Option<DedicatedWorkerGlobalScope> {
    let global: JsValue = js_sys::global().into();
    global.dyn_into().ok()
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
