//! The page's end: starts a worker, sends questions by [`Lanes`], hands answers on.
//!
//! Each profile gets a worker of its own, because the memory of a WebAssembly module never shrinks.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function, Reflect, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Blob, MessageEvent, Worker};

use super::cause::{Cause, Failure};
use super::envelope;
use super::lanes::{Lane, Lanes, Numbered, Which};
use super::protocol::{Answer, Request, Source};
use super::read::describe;
use crate::timeline::frames;

type OnAnswer = Rc<dyn Fn(Answer)>;

/// A handle to the worker of the open profile.
#[derive(Clone)]
pub(crate) struct WorkerClient {
    inner: Rc<Inner>,
}

struct Inner {
    worker: RefCell<Option<Started>>,
    /// Name and handle of the file that is being opened.
    opening: RefCell<(String, Option<Blob>)>,
    lanes: RefCell<Lanes>,
    on_answer: RefCell<Option<OnAnswer>>,
}

struct Started {
    worker: Worker,
    /// Whether it was given a profile already.
    used: bool,
    /// Kept alive as long as the worker may call them.
    _callbacks: [Closure<dyn Fn(MessageEvent)>; 2],
}

impl WorkerClient {
    /// A client that starts its first worker at once, so that it is ready when a file comes.
    pub(crate) fn start() -> Self {
        let inner = Rc::new(Inner {
            worker: RefCell::new(None),
            opening: RefCell::default(),
            lanes: RefCell::new(Lanes::default()),
            on_answer: RefCell::new(None),
        });
        let client = Self { inner };
        // A failure is reported when a profile is to be opened.
        let _ = client.renew();
        client
    }

    /// Who takes the answers.
    pub(crate) fn set_on_answer(&self, on_answer: impl Fn(Answer) + 'static) {
        *self.inner.on_answer.borrow_mut() = Some(Rc::new(on_answer));
    }

    /// Opens a profile in a worker that holds no other; `file` comes with [`Source::File`].
    pub(crate) fn open(&self, source: Source, file: Option<&Blob>) {
        *self.inner.opening.borrow_mut() = (source.name().to_owned(), file.cloned());
        let files: Vec<JsValue> = file.into_iter().map(JsValue::from).collect();
        self.open_with(source, &files);
    }

    /// Forgets the profile, and stops opening one: a new worker waits.
    pub(crate) fn close(&self) {
        *self.inner.lanes.borrow_mut() = Lanes::default();
        // A failure is reported when a profile is to be opened.
        let _ = self.renew();
    }

    /// Name and handle of the file that was opened; the handle is missing of an address.
    pub(crate) fn opened(&self) -> (String, Option<Blob>) {
        self.inner.opening.borrow().clone()
    }

    /// Ends the worker for good.
    pub(crate) fn end(&self) {
        if let Some(old) = self.inner.worker.borrow_mut().take() {
            old.worker.terminate();
        }
    }

    /// Opens what a worker converted a file to, in another worker.
    fn open_converted(&self, columnar: &JsValue, bytes: u64) {
        let (name, file) = self.inner.opening.borrow().clone();
        let source = Source::Converted { name, bytes };
        let mut files = vec![columnar.clone()];
        files.extend(file.map(JsValue::from));
        self.open_with(source, &files);
    }

    fn open_with(&self, source: Source, files: &[JsValue]) {
        let is_fresh = self
            .inner
            .worker
            .borrow()
            .as_ref()
            .is_some_and(|it| !it.used);
        if !is_fresh && let Err(failure) = self.renew() {
            return self.hand_on(Answer::Failed(failure));
        }
        if let Some(started) = self.inner.worker.borrow_mut().as_mut() {
            started.used = true;
        }
        let numbered = self.inner.lanes.borrow_mut().ask(Request::Open(source));
        if let Some(numbered) = numbered {
            self.post(&numbered, files);
        }
    }

    /// Opens a second profile beside the first one, in the same worker.
    pub(crate) fn open_other(&self, source: Source, file: Option<&Blob>) {
        self.open_beside(Request::OpenOther(source), file);
    }

    /// Opens a package beside the profile, in the same worker.
    pub(crate) fn open_package(&self, source: Source, file: Option<&Blob>) {
        self.open_beside(Request::OpenPackage(source), file);
    }

    fn open_beside(&self, request: Request, file: Option<&Blob>) {
        let numbered = self.inner.lanes.borrow_mut().ask_now(request);
        let files: Vec<JsValue> = file.into_iter().map(JsValue::from).collect();
        self.post(&numbered, &files);
    }

    /// Asks about the open profile.
    pub(crate) fn ask(&self, request: Request) {
        let numbered = self.inner.lanes.borrow_mut().ask(request);
        if let Some(numbered) = numbered {
            self.post(&numbered, &[]);
        }
    }

    /// Nobody wants what was asked in a lane any more.
    pub(crate) fn void(&self, lane: Lane) {
        self.inner.lanes.borrow_mut().void(lane);
    }

    /// Whether the last answer of a lane is still to come.
    pub(crate) fn waits(&self, lane: Lane) -> bool {
        self.inner.lanes.borrow().waits(lane)
    }

    fn post(&self, numbered: &Numbered, files: &[JsValue]) {
        let packed = envelope::pack(numbered.id, &numbered.request);
        for file in files {
            packed.message.push(file);
        }
        let posted = self.inner.worker.borrow().as_ref().map(|started| {
            let worker = &started.worker;
            worker.post_message_with_transfer(&packed.message, &whole_bytes(files))
        });
        if let Some(Err(error)) = posted {
            self.lost(&describe(&error));
        }
    }

    /// Replaces the worker by a new one.
    fn renew(&self) -> Result<(), Failure> {
        self.end();
        let worker = start_worker()?;
        let client = Rc::downgrade(&self.inner);
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(inner) = client.upgrade() {
                frames::measured(|| Self { inner }.take(&event.data()));
            }
        });
        let client = Rc::downgrade(&self.inner);
        let on_error = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(inner) = client.upgrade() {
                let message = Reflect::get(&event, &"message".into()).ok();
                let message = message.and_then(|it| it.as_string()).unwrap_or_default();
                Self { inner }.lost(&message);
            }
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let _callbacks = [on_message, on_error];
        *self.inner.worker.borrow_mut() = Some(Started {
            worker,
            used: false,
            _callbacks,
        });
        Ok(())
    }

    fn take(&self, data: &JsValue) {
        if let Some(message) = data.dyn_ref::<Array>() {
            match envelope::unpack_answer(message) {
                Ok((id, Answer::Converted { bytes })) => {
                    let answered = self.inner.lanes.borrow_mut().answered(id, Which::Last);
                    if answered.is_some() {
                        self.open_converted(&message.get(2), bytes);
                    }
                }
                Ok((id, answer)) => self.answered(id, answer),
                Err(failure) => self.hand_on(Answer::Failed(failure)),
            }
            return;
        }
        let fatal = Reflect::get(data, &"fatal".into())
            .ok()
            .and_then(|it| it.as_string());
        self.lost(&fatal.unwrap_or_default());
    }

    fn answered(&self, id: u64, answer: Answer) {
        let which = which(&answer);
        let answered = self.inner.lanes.borrow_mut().answered(id, which);
        let Some(answered) = answered else { return };
        if let Some(next) = answered.next {
            self.post(&next, &[]);
        }
        if answered.counts {
            self.hand_on(match answer {
                Answer::Early(answer) => *answer,
                answer => answer,
            });
        }
    }

    /// The worker is gone: most likely it ran out of memory.
    fn lost(&self, message: &str) {
        self.end();
        *self.inner.lanes.borrow_mut() = Lanes::default();
        let message = format!(
            "the worker that holds the profile stopped ({message}); it may have run out of memory"
        );
        self.hand_on(Answer::Lost(Failure::new(Cause::Internal, message)));
    }

    fn hand_on(&self, answer: Answer) {
        let on_answer = self.inner.on_answer.borrow().clone();
        if let Some(on_answer) = on_answer {
            on_answer(answer);
        }
    }
}

/// Memory that goes along instead of being copied.
fn whole_bytes(files: &[JsValue]) -> Array {
    let bytes = files.iter().filter_map(|it| it.dyn_ref::<Uint8Array>());
    bytes.map(Uint8Array::buffer).collect()
}

/// What an answer is to its question. A partial profile is opened again when it is whole.
fn which(answer: &Answer) -> Which {
    match answer {
        Answer::Progress(_) | Answer::ReadingFailed(_) => Which::Progress,
        Answer::Opened(summary) if summary.is_partial => Which::Progress,
        Answer::Early(_) => Which::Early,
        _ => Which::Last,
    }
}

/// The page's shell knows how to start a worker, from a server or from one file.
fn start_worker() -> Result<Worker, Failure> {
    let refused = |error: JsValue| {
        let what = describe(&error);
        Failure::new(
            Cause::Internal,
            format!("the browser refused to start a worker: {what}"),
        )
    };
    let shell = Reflect::get(&js_sys::global(), &"ipuStack".into()).map_err(refused)?;
    let start = Reflect::get(&shell, &"startWorker".into()).map_err(refused)?;
    let start: Function = start.dyn_into().map_err(refused)?;
    start
        .call0(&shell)
        .map_err(refused)?
        .dyn_into()
        .map_err(refused)
}
