//! Progress bars on standard error: only for a person, only when a command takes over half a
//! second.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a command works in silence.
const SILENCE: Duration = Duration::from_millis(500);
/// How often the bar is drawn where nothing is told.
const TICK: Duration = Duration::from_millis(100);

/// The progress of one command; it may be told from any thread.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Shows the bar when the silence ends, whatever is in work then; ends when the sender is gone.
    curtain: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Progress that is drawn if `interactive`, and never otherwise.
    pub(super) fn new(interactive: bool) -> Self {
        if interactive {
            Self::drawn_on(ProgressDrawTarget::stderr, SILENCE)
        } else {
            Self {
                bar: bar(),
                curtain: None,
            }
        }
    }

    fn drawn_on(
        target: impl FnOnce() -> ProgressDrawTarget + Send + 'static,
        silence: Duration,
    ) -> Self {
        let bar = bar();
        let (sender, gone) = mpsc::channel();
        let shown = bar.clone();
        let thread = std::thread::spawn(move || {
            if gone.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(target());
                shown.enable_steady_tick(TICK);
            }
        });
        Self {
            bar,
            curtain: Some((sender, thread)),
        }
    }

    /// Names the stage in work, with `done` of `total` steps; `total` 0 is unknown.
    pub(super) fn stage(&self, name: &str, done: u64, total: u64) {
        if self.curtain.is_none() {
            return;
        }
        self.bar.set_length(total.max(1));
        self.bar.set_message(name.to_owned());
        self.bar.set_position(done);
    }
}

/// A bar that is not drawn yet.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{spinner} {msg:12} {wide_bar} {percent:>3}%");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.curtain.take() {
            drop(sender);
            // A thread that panicked has drawn nothing that is left to clear.
            let _ended = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc::Receiver;

    use indicatif::TermLike;

    use super::*;

    /// A terminal that hands on what is written.
    #[derive(Debug)]
    struct Terminal(Sender<String>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _lines: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _lines: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _columns: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _columns: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.send(text.to_owned()).map_err(io::Error::other)
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn drawn(silence: Duration) -> (Progress, Receiver<String>) {
        let (sender, written) = mpsc::channel();
        let target = || ProgressDrawTarget::term_like(Box::new(Terminal(sender)));
        (Progress::drawn_on(target, silence), written)
    }

    /// Waits for a line with both texts.
    fn wait_for(written: &Receiver<String>, parts: [&str; 2]) {
        loop {
            let text = written.recv_timeout(Duration::from_secs(20));
            let text = text.unwrap_or_else(|error| panic!("no line with {parts:?}: {error}"));
            if parts.iter().all(|part| text.contains(part)) {
                return;
            }
        }
    }

    #[test]
    fn a_stage_that_began_in_the_silence_is_drawn_after_it_and_moves() {
        let (progress, written) = drawn(Duration::from_millis(20));
        progress.stage("mid planning", 1, 4);
        wait_for(&written, ["mid planning", "25%"]);
        progress.stage("mid planning", 3, 4);
        wait_for(&written, ["mid planning", "75%"]);
    }

    #[test]
    fn a_command_that_ends_in_the_silence_draws_nothing() {
        let (progress, written) = drawn(Duration::from_secs(3600));
        progress.stage("mid planning", 1, 4);
        drop(progress);
        assert!(written.recv().is_err(), "nothing was written");
    }
}
