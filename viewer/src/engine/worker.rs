//! The worker's end: holds the profile and answers questions, one after the other.
//!
//! Opening and hashing wait for bytes, so other questions are answered in between; an opening that
//! a newer one overtook says nothing more.

use std::cell::RefCell;
use std::rc::Rc;

use analytics::format::{ByteRange, FileKind, OpenMode, OpenStep, Opener, sniff};
use analytics::profile::ProfileReport;
use js_sys::Array;
use sha2::{Digest as _, Sha256};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, DedicatedWorkerGlobalScope, MessageEvent};

use super::cause::{Cause, Failure};
use super::envelope;
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
}

struct Worker {
    scope: DedicatedWorkerGlobalScope,
    open: RefCell<Option<Rc<Open>>>,
    /// Id of the newest opening.
    newest: RefCell<u64>,
}

/// Serves questions until the page ends the worker.
pub(crate) fn run(scope: &DedicatedWorkerGlobalScope) {
    let worker = Rc::new(Worker {
        scope: scope.clone(),
        open: RefCell::new(None),
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
            Request::Table(asked) => self.answer(id, |it| super::answer::table(it, asked)),
            Request::Json(asked) => self.answer(id, |it| super::answer::json(it, asked)),
            Request::Spent(asked) => self.answer(id, |it| super::spent::spent(it, asked)),
            Request::Raster(asked) => self.answer(id, |it| super::answer::raster(it, asked)),
            Request::Strip(asked) => self.answer(id, |it| super::answer::strip(it, asked)),
            Request::Hit(asked) => self.answer(id, |it| super::answer::hit(it, asked)),
            Request::Query(words) => self.answer(id, |it| super::answer::query(it, &words)),
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
        let name = match &source {
            Source::File { name } => name.clone(),
            Source::Address { url } => url.clone(),
        };
        let opened = self.read(id, source, file).await;
        if *self.newest.borrow() != id {
            return;
        }
        let answer = opened.and_then(|open| {
            let summary = super::answer::summary(&open.report, &name, open.bytes)?;
            *self.open.borrow_mut() = Some(Rc::new(open));
            Ok(Answer::Opened(Box::new(summary)))
        });
        self.send(id, &answer.unwrap_or_else(Answer::Failed));
    }

    async fn read(&self, id: u64, source: Source, file: Option<Blob>) -> Result<Open, Failure> {
        let (input, bytes) = match (source, file) {
            (Source::Address { url }, _) => read::from_address(&url).await?,
            (Source::File { .. }, Some(file)) => {
                let bytes = read::length(&file);
                (Input::File(file), bytes)
            }
            (Source::File { .. }, None) => {
                return Err(Failure::new(Cause::Internal, "the file handle was lost"));
            }
        };
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

/// Refuses what would not fit, before it is read.
async fn check_length(input: &Input, bytes: u64) -> Result<(), Failure> {
    let prefix = input.read(ByteRange::new(0, bytes.min(64 * 1024))).await?;
    let is_row = sniff(&prefix) == FileKind::RowProfile;
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
