//! Progress bars on standard error: only for a person, only when a command takes over half a
//! second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a command works in silence.
const SILENCE: Duration = Duration::from_millis(500);

/// The progress of one command; it may be told from any thread.
pub(super) struct Progress {
    bar: ProgressBar,
    started: Instant,
    interactive: bool,
    shown: AtomicBool,
}

impl Progress {
    /// Progress that is drawn if `interactive`, and never otherwise.
    pub(super) fn new(interactive: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} {msg:12} {wide_bar} {percent:>3}%");
        let bar = match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self {
            bar,
            started: Instant::now(),
            interactive,
            shown: AtomicBool::new(false),
        }
    }

    /// Names the stage in work, with `done` of `total` steps; `total` 0 is unknown.
    pub(super) fn stage(&self, name: &str, done: u64, total: u64) {
        if !self.interactive || self.started.elapsed() < SILENCE {
            return;
        }
        if !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(total.max(1));
        self.bar.set_message(name.to_owned());
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
