//! How much work the page does for each frame: a log for benchmarks and for `ipuStack.frames()`.
//!
//! Everything that runs on the main thread between two frames counts for the later one: input,
//! answers of the worker, layout and painting.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use js_sys::{Float64Array, Reflect};
use leptos::prelude::{request_animation_frame, window};
use wasm_bindgen::closure::Closure;

/// Frames that the log keeps.
const KEPT: usize = 4_096;

thread_local! {
    static LOG: RefCell<VecDeque<f64>> = const { RefCell::new(VecDeque::new()) };
    /// Work since the last frame, in milliseconds.
    static WORK: Cell<f64> = const { Cell::new(0.0) };
    static IS_MEASURING: Cell<bool> = const { Cell::new(false) };
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and counts its time for the next frame. Work inside other work counts once.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> T {
    if IS_MEASURING.replace(true) {
        return work();
    }
    let start = now();
    let done = work();
    WORK.set(WORK.get() + (now() - start));
    IS_MEASURING.set(false);
    if !IS_WAITING.replace(true) {
        request_animation_frame(after_frame);
    }
    done
}

/// Runs after the painters of this frame, which asked for it earlier or will run in the next one.
fn after_frame() {
    IS_WAITING.set(false);
    let work = WORK.replace(0.0);
    LOG.with_borrow_mut(|log| {
        if log.len() == KEPT {
            log.pop_front();
        }
        log.push_back(work);
    });
}

/// Milliseconds since the page began.
pub(crate) fn now() -> f64 {
    window().performance().map_or(0.0, |it| it.now())
}

/// Lets scripts read the log: `ipuStack.frames()` gives milliseconds of work for each frame that
/// had any, and empties it.
pub(crate) fn publish() {
    let frames = Closure::<dyn Fn() -> Float64Array>::new(|| {
        let log = LOG.with_borrow_mut(std::mem::take);
        Float64Array::from(&Vec::from(log)[..])
    });
    let shell = Reflect::get(&js_sys::global(), &"ipuStack".into());
    if let Ok(shell) = shell {
        let function = frames.into_js_value();
        // Without the shell there is no page to measure.
        let _ = Reflect::set(&shell, &"frames".into(), &function);
    }
}
