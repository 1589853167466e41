//! Logs on standard error: warnings in plain text, until a server asks for more.
//!
//! Names of artifacts, publications and uploads are rights to read or to write, and libraries log
//! them with their addresses. So every line passes [`redacted`]: a name becomes a short mark, the
//! same for the same name as long as the process lives.

use std::io::{self, Write, stderr};
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
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
    let lines = fmt::layer().with_writer(Redacting);
    match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().with_current_span(true).boxed(),
    }
}

/// Writes lines without names.
struct Redacting;

impl<'a> MakeWriter<'a> for Redacting {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Redacting {
    /// Takes a whole line at a time, as the log hands them over.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        stderr().write_all(&redacted(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

/// Hex digits from which on a word is a name that must not be told.
const NAME_DIGITS: usize = 32;
/// What stands before the id of a request, which a proxy may have made as long as a name.
const KEPT_AFTER: [&[u8]; 2] = [b"request_id=\"", b"\"request_id\":\""];

/// The line with a mark in place of every name.
fn redacted(line: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|it| it.is_ascii_hexdigit()).count();
        let (word, after) = rest.split_at(digits.max(1));
        let is_kept = KEPT_AFTER.iter().any(|it| written.ends_with(it));
        if digits < NAME_DIGITS || is_kept {
            written.extend_from_slice(word);
        } else {
            written.extend_from_slice(mark(word).as_bytes());
        }
        rest = after;
    }
    written
}

/// Stands for a name; nobody who guesses the name can tell, since a drawn number is in it.
fn mark(name: &[u8]) -> String {
    static DRAWN: OnceLock<[u8; 16]> = OnceLock::new();
    let drawn = DRAWN.get_or_init(|| {
        let mut bytes = [0; 16];
        // Without random bytes nothing else that this program needs them for works either.
        let _none = getrandom::fill(&mut bytes);
        bytes
    });
    let digest = Sha256::new()
        .chain_update(drawn)
        .chain_update(name)
        .finalize();
    let digits: String = digest
        .iter()
        .take(4)
        .map(|it| format!("{it:02x}"))
        .collect();
    format!("~{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        String::from_utf8(redacted(text.as_bytes())).expect("UTF-8")
    }

    #[test]
    fn names_become_marks_and_everything_else_stays() {
        let id = "0123456789abcdef".repeat(2);
        let other = id.replace('0', "1");
        for plain in [
            String::new(),
            "swept 0123456789abcdef of /var/lib/ipu-stack, ü".to_owned(),
            format!("request{{request_id=\"{id}\"}}: answered"),
            format!("{{\"span\":{{\"request_id\":\"{id}\"}}}}"),
        ] {
            assert_eq!(line(&plain), plain);
        }
        let told = |id: &str| line(&format!("no /x/publications/{id} here"));
        assert_eq!(told(&id), told(&id));
        assert_ne!(told(&id), told(&other));
        assert!(!told(&id).contains(&id[..8]), "{}", told(&id));
        assert!(told(&id).starts_with("no /x/publications/~") && told(&id).ends_with(" here"));
        let both = line(&format!("{id}{id}-{other}"));
        assert!(!both.contains(&id) && !both.contains(&other), "{both}");
    }
}
