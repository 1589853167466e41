//! Opening a page in the person's browser, where there is one.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Asks the desktop to open `url`; does nothing where there is no desktop or no opener.
pub(super) fn open(url: &str, environment: &(dyn Fn(&str) -> Option<OsString> + Sync)) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| environment(name).is_some());
    if !desktop && !cfg!(target_os = "macos") {
        return;
    }
    let started = Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        // The opener returns once it has handed the page over; nobody waits for it.
        Ok(_child) => {}
        Err(error) => tracing::info!(opener, %error, "no browser opened"),
    }
}
