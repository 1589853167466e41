//! Progress bars on standard error: only for a person, only when a stage takes over half a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a command works in silence.
const SILENCE: Duration = Duration::from_millis(500);

/// The progress of one command.
pub(super) struct Progress {
    bar: ProgressBar,
    started: Instant,
    interactive: bool,
    shown: bool,
}

impl Progress {
    /// Progress that is drawn if `interactive`, and never otherwise.
    pub(super) fn new(interactive: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self {
            bar,
            started: Instant::now(),
            interactive,
            shown: false,
        }
    }

    /// Names the stage in work, with `done` of `total` steps; `total` 0 is unknown.
    pub(super) fn stage(&mut self, name: &str, done: u64, total: u64) {
        if !self.interactive || self.started.elapsed() < SILENCE {
            return;
        }
        if !self.shown {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let template = if total == 0 {
            "{spinner} {msg}"
        } else {
            "{msg:24} {wide_bar} {percent}%"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_length(total);
        self.bar.set_message(name.to_owned());
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
