//! Logs on standard error: warnings in plain text, until a server asks for more.

use std::io::stderr;
use std::sync::OnceLock;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

type Sink = Box<dyn Layer<Registry> + Send + Sync>;

static SINK: OnceLock<reload::Handle<Sink, Registry>> = OnceLock::new();

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
    let (layer, handle) = reload::Layer::new(sink("warn", LogFormat::Text));
    let started = tracing_subscriber::registry().with(layer).try_init();
    if started.is_ok() {
        // Set once, since a second start of the log fails.
        let _first = SINK.set(handle);
    }
}

/// Changes level and look of the log that [`start`] started; `IPU_LOG` still has the last word.
pub fn set(level: &str, format: LogFormat) {
    if let Some(handle) = SINK.get() {
        // It fails only when the log is gone.
        let _changed = handle.reload(sink(level, format));
    }
}

fn sink(level: &str, format: LogFormat) -> Sink {
    let filter = EnvFilter::try_from_env("IPU_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    match format {
        LogFormat::Text => fmt::layer().with_writer(stderr).with_filter(filter).boxed(),
        LogFormat::Json => {
            let layer = fmt::layer().json().with_current_span(true);
            layer.with_writer(stderr).with_filter(filter).boxed()
        }
    }
}
