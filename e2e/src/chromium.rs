//! A headless Chromium: a process with a private profile → a DevTools address.
//!
//! The binary is `$CHROMIUM`, else the first of the usual names on the path. It is killed when the
//! value is dropped, and its standard error is drained all its life, since a full pipe would stop
//! it.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// How long a start may take.
const START: Duration = Duration::from_secs(30);

/// Names under which systems install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

const FLAGS: [&str; 14] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
];

/// A running browser.
#[derive(Debug)]
pub struct Chromium {
    child: Child,
    address: String,
    _profile: TempDir,
}

impl Chromium {
    /// Starts a browser whose window is `width` by `height` CSS pixels.
    ///
    /// # Panics
    /// Where there is none, or it does not start.
    #[must_use]
    pub fn launch(width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the browser's profile");
        let mut child = Command::new(binary())
            .args(FLAGS)
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Chromium starts; set CHROMIUM to its path");
        let errors = child.stderr.take().expect("standard error was piped");
        let address = address_in(errors);
        let Some(address) = address else {
            let _ended = child.kill().and_then(|()| child.wait());
            panic!("Chromium gave no DevTools address within {START:?}");
        };
        Self {
            child,
            address,
            _profile: profile,
        }
    }

    /// Address of the DevTools socket, `ws://…`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Id of the browser's process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The browser to start.
fn binary() -> PathBuf {
    if let Some(path) = env::var_os("CHROMIUM") {
        return path.into();
    }
    let folders: Vec<_> = env::var_os("PATH")
        .iter()
        .flat_map(env::split_paths)
        .collect();
    let candidates = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |it| it.join(name)));
    let found = candidates.into_iter().find(|path| path.is_file());
    found.expect("Chromium is installed, or CHROMIUM names it")
}

/// Reads the address that the browser prints once it listens, then drains the rest on a thread.
fn address_in(errors: ChildStderr) -> Option<String> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if let Some(address) = line.trim().strip_prefix("DevTools listening on ") {
                // The launcher may have given up; the pipe is drained all the same.
                let _heard = tell.send(address.to_owned());
            }
        }
    });
    told.recv_timeout(START).ok()
}
