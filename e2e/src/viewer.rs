//! The page object: the viewer by its states and test ids.
//!
//! Reads what the page shows; never computes what it should show.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::Deserialize;

use crate::tab::Tab;

/// All is loaded, tabulated and painted.
const SETTLED: &str = "document.body.dataset.state === 'ready' \
    && document.querySelector('[data-panel]')?.dataset.state === 'ready' \
    && document.querySelector('[data-testid=timeline]')?.dataset.state === 'drawn'";

/// A page with the viewer on it.
pub struct Viewer {
    tab: Tab,
}

/// A figure in the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Cell {
    /// The JSON value that it stands for.
    pub raw: String,
    /// What a person reads.
    pub text: String,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Whether it is in focus.
    pub pressed: bool,
    /// Its figures by column.
    pub cells: BTreeMap<String, Cell>,
}

/// Why a file was not opened.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Failure {
    /// Kind of the cause.
    pub cause: String,
    /// What a person reads.
    pub message: String,
}

impl Viewer {
    /// A page of the usual size on `url`; the caller waits for its state.
    pub async fn at(url: &str) -> Self {
        let viewer = Self {
            tab: Tab::open(1440, 900).await,
        };
        viewer.tab.resize(1440, 900, 1.0).await;
        viewer.goto(url).await;
        viewer
    }

    /// The landing page at `url`.
    pub async fn landing(url: &str) -> Self {
        let mut viewer = Self::at(url).await;
        viewer.wait("document.body.dataset.state === 'empty'").await;
        viewer
    }

    /// Drops a file and waits until it is loaded, tabulated and painted.
    pub async fn open_by_drop(&mut self, file: &Path) {
        self.drop_files(&[file]).await;
        self.settled().await;
    }

    /// Waits until the profile is loaded, tabulated and painted.
    pub async fn settled(&mut self) {
        self.wait(SETTLED).await;
    }

    /// Waits until opening has failed, and gives the reason.
    pub async fn failure(&mut self) -> Failure {
        self.wait("document.body.dataset.state === 'failed'").await;
        self.eval(
            "(() => { const it = document.querySelector('[data-testid=error-banner]'); \
             return { cause: it.dataset.cause, message: it.innerText }; })()",
        )
        .await
    }

    /// The rows of the table in order.
    pub async fn rows(&self) -> Vec<Row> {
        self.eval(
            "[...document.querySelectorAll('[data-testid=kernel-row]')].map((row) => ({ \
             name: row.dataset.name, \
             pressed: row.querySelector('button')?.getAttribute('aria-pressed') === 'true', \
             cells: Object.fromEntries([...row.querySelectorAll('[data-column]')].map((it) => \
             [it.dataset.column, { raw: it.dataset.raw, text: it.innerText.trim() }])) }))",
        )
        .await
    }

    /// Names of the rows in order.
    pub async fn row_names(&self) -> Vec<String> {
        self.rows().await.into_iter().map(|row| row.name).collect()
    }

    /// Names of the rows in focus.
    pub async fn focused(&self) -> Vec<String> {
        let rows = self.rows().await.into_iter().filter(|row| row.pressed);
        rows.map(|row| row.name).collect()
    }

    /// Presses the row of a kernel.
    pub async fn press_kernel(&mut self, kernel: &str) {
        let kernel = css_string(kernel);
        self.click(&format!(
            "[data-testid=kernel-row][data-name={kernel}] button"
        ))
        .await;
        self.settled().await;
    }

    /// Presses the control with a test id.
    pub async fn press(&mut self, id: &str) {
        self.click(&format!("[data-testid={id}]")).await;
        self.settled().await;
    }

    /// Picks an option of the choice with a test id.
    pub async fn choose(&mut self, id: &str, value: &str) {
        let picked: String = self
            .eval(&format!(
                "(() => {{ const it = document.querySelector('[data-testid={id}]'); \
                 it.value = '{value}'; \
                 it.dispatchEvent(new Event('change', {{ bubbles: true }})); \
                 return it.value; }})()"
            ))
            .await;
        assert_eq!(picked, value, "{id} has this option");
        self.settled().await;
    }

    /// Cycles in view, as the timeline announces them.
    pub async fn span(&self) -> String {
        self.eval("document.querySelector('[data-testid=timeline]').dataset.span")
            .await
    }

    /// What an element with a test id shows.
    pub async fn text(&self, id: &str) -> String {
        let selector = format!("document.querySelector('[data-testid={id}]')");
        self.eval(&format!("{selector}?.innerText ?? ''")).await
    }

    /// The address with its fragment.
    pub async fn address(&self) -> String {
        self.eval("location.href").await
    }

    /// The timeline's canvas as place and size in CSS pixels: x, y, width, height.
    pub async fn canvas(&self) -> (f64, f64, f64, f64) {
        self.eval(
            "(() => { const it = document.querySelector('[data-testid=timeline-base]'); \
             it.scrollIntoView({ block: 'nearest' }); const box = it.getBoundingClientRect(); \
             return [box.x, box.y, box.width, box.height]; })()",
        )
        .await
    }

    /// A hash of the timeline's pixels, to see whether it was painted anew.
    pub async fn pixels(&self) -> String {
        self.eval(
            "(async () => { const it = document.querySelector('[data-testid=timeline-base]'); \
             const copy = new OffscreenCanvas(it.width, it.height); \
             const ink = copy.getContext('2d', { willReadFrequently: true }); \
             ink.drawImage(it, 0, 0); \
             const data = ink.getImageData(0, 0, it.width, it.height).data; \
             const hash = await crypto.subtle.digest('SHA-256', data); \
             return [...new Uint8Array(hash)].map((it) => it.toString(16)).join(''); })()",
        )
        .await
    }
}

/// A quoted CSS string.
fn css_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Deref for Viewer {
    type Target = Tab;

    fn deref(&self) -> &Tab {
        &self.tab
    }
}

impl DerefMut for Viewer {
    fn deref_mut(&mut self) -> &mut Tab {
        &mut self.tab
    }
}
