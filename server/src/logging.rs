//! Logs on standard error: warnings in plain text, until a server asks for more.

use std::io::stderr;
use std::sync::OnceLock;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layered, SubscriberExt as _};
use tracing_subscriber::reload::{Handle, Layer as Reload};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry, fmt};

type Lines = Box<dyn Layer<Registry> + Send + Sync>;
/// What the filter is put upon.
type Unfiltered = Layered<Reload<Lines, Registry>, Registry>;

/// Both can be changed. The filter is one of all lines: the filter of a single layer would be lost
/// with the layer that is replaced.
static LOG: OnceLock<(Handle<Lines, Registry>, Handle<Targets, Unfiltered>)> = OnceLock::new();

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// Starts the log of the process; `IPU_LOG` filters it, else warnings are shown.
pub fn start() {
    let (lines, lines_handle) = Reload::new(lines(LogFormat::Text));
    let (filter, filter_handle) = Reload::new(filter("warn"));
    let started = tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .try_init();
    if started.is_ok() {
        // Set once, since a second start of the log fails.
        let _first = LOG.set((lines_handle, filter_handle));
    }
}

/// Changes level and look of the log that [`start`] started; `IPU_LOG` still has the last word.
pub fn set(level: &str, format: LogFormat) {
    if let Some((lines_handle, filter_handle)) = LOG.get() {
        // They fail only when the log is gone.
        let _changed = lines_handle.reload(lines(format));
        let _changed = filter_handle.reload(filter(level));
    }
}

/// What `IPU_LOG` says, as `warn` or `info,server=debug`; else `level`.
fn filter(level: &str) -> Targets {
    let asked = std::env::var("IPU_LOG").ok();
    asked
        .and_then(|it| it.parse().ok())
        .or_else(|| level.parse().ok())
        .unwrap_or_default()
}

fn lines(format: LogFormat) -> Lines {
    let lines = fmt::layer().with_writer(stderr);
    match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().with_current_span(true).boxed(),
    }
}
