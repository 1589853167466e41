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

/// What was drawn on a canvas since the page began, or on elements since they were first asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Drawn {
    /// Calls that drew something.
    pub calls: u32,
    /// Texts of the newest picture.
    pub texts: Vec<String>,
}

/// Keeps count of what every canvas of a page is told to draw, and of what changes in an element of
/// marks.
const WATCH: &str = "(() => { const canvases = new WeakMap(); \
    const of = (it) => canvases.get(it) ?? \
    canvases.set(it, { calls: 0, texts: [] }).get(it); \
    const ink = CanvasRenderingContext2D.prototype; \
    for (const name of ['clearRect', 'fillRect', 'fillText', 'drawImage', 'putImageData']) { \
    const draw = ink[name]; ink[name] = function (...words) { const it = of(this.canvas); \
    it.calls += 1; if (name === 'clearRect') it.texts = []; \
    if (name === 'fillText') it.texts.push(words[0]); return draw.apply(this, words); }; } \
    const changes = (it) => { if (!canvases.has(it)) new MutationObserver((list) => { \
    of(it).calls += list.length; }).observe(it, { attributes: true, childList: true, \
    subtree: true }); return of(it); }; \
    const shown = (it) => [...it.children].filter((mark) => mark.style.display !== 'none' && \
    mark.textContent).map((mark) => mark.textContent); \
    window.drawnOn = (selector) => { const it = document.querySelector(selector); \
    return it instanceof HTMLCanvasElement ? of(it) : \
    { calls: changes(it).calls, texts: shown(it) }; }; })()";

impl Viewer {
    /// A page of the usual size on `url` that keeps count of what is drawn, for [`Self::drawn_on`].
    pub async fn watched(url: &str) -> Self {
        let viewer = Self::blank().await;
        viewer.on_new_page(WATCH).await;
        viewer.goto(url).await;
        viewer
    }

    /// What was drawn on the canvas that a selector finds.
    pub async fn drawn_on(&self, selector: &str) -> Drawn {
        self.eval(&format!("window.drawnOn('{selector}')")).await
    }

    /// A page of the usual size on `url`; the caller waits for its state.
    pub async fn at(url: &str) -> Self {
        let viewer = Self::blank().await;
        viewer.goto(url).await;
        viewer
    }

    /// An empty page of the usual size.
    pub async fn blank() -> Self {
        let viewer = Self {
            tab: Tab::open(1440, 900).await,
        };
        viewer.tab.resize(1440, 900, 1.0).await;
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

    /// Waits until the timeline shows its samples.
    pub async fn drawn(&mut self) {
        self.wait("document.querySelector('[data-testid=timeline]')?.dataset.state === 'drawn'")
            .await;
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
        self.click(&row_button(kernel)).await;
        self.settled().await;
    }

    /// Presses the row of a name, which brings something else into view.
    pub async fn press_to_move(&mut self, name: &str) {
        let before = self.address().await;
        self.click(&row_button(name)).await;
        let before = serde_json::Value::from(before);
        self.wait(&format!("location.href !== {before}")).await;
        self.settled().await;
    }

    /// What the button of a row says that it does; empty where there is none.
    pub async fn row_title(&self, name: &str) -> String {
        let selector = serde_json::Value::from(row_button(name));
        self.eval(&format!("document.querySelector({selector})?.title ?? ''"))
            .await
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

    /// Texts of the rows of a panel's table, by the columns' names.
    pub async fn list(&self, id: &str) -> Vec<BTreeMap<String, Cell>> {
        self.eval(&format!(
            "(() => {{ const table = document.querySelector('[data-testid={id}]'); \
             const names = [...table.querySelectorAll('thead th')].map((it) => it.dataset.column); \
             return [...table.querySelectorAll('tbody tr')].map((row) => \
             Object.fromEntries([...row.children].map((it, at) => [names[at], \
             {{ raw: it.dataset.raw ?? '', text: it.innerText.trim() }}]))); }})()"
        ))
        .await
    }

    /// Pixels of a canvas that differ from its most frequent colour, and how many there are.
    pub async fn ink(&self, id: &str) -> (u32, u32) {
        self.eval(&format!(
            "(() => {{ const it = document.querySelector('[data-testid={id}] canvas'); \
             const copy = new OffscreenCanvas(it.width, it.height); \
             const ink = copy.getContext('2d', {{ willReadFrequently: true }}); \
             ink.drawImage(it, 0, 0); \
             const pixels = ink.getImageData(0, 0, it.width, it.height).data; \
             const data = new Uint32Array(pixels.buffer); \
             const counts = new Map(); \
             for (const pixel of data) counts.set(pixel, (counts.get(pixel) ?? 0) + 1); \
             return [data.length - Math.max(...counts.values()), data.length]; }})()"
        ))
        .await
    }

    /// Keeps what the page puts on the clipboard from now on, in `window.copied`, newest last.
    pub async fn watch_clipboard(&self) {
        let _: bool = self
            .eval(
                "(() => { window.copied = []; navigator.clipboard.writeText = (text) => { \
                 window.copied.push(text); return Promise.resolve(); }; \
                 navigator.clipboard.write = async ([item]) => { \
                 const blob = await item.getType('text/plain'); \
                 window.copied.push(await blob.text()); }; return true; })()",
            )
            .await;
    }

    /// The newest text on the clipboard, once there is one more than `before`.
    pub async fn copied(&mut self, before: usize) -> String {
        self.wait(&format!("window.copied.length > {before}")).await;
        self.eval("window.copied.at(-1)").await
    }

    /// Keeps what the page offers to save as name and text or length.
    pub async fn watch_saving(&self) {
        let _: bool = self
            .eval(
                "(() => { window.saved = []; const blobs = new Map(); \
                 const create = URL.createObjectURL; \
                 URL.createObjectURL = (blob) => { const url = create.call(URL, blob); \
                 blobs.set(url, blob); return url; }; \
                 HTMLAnchorElement.prototype.click = async function () { \
                 const name = this.download; const blob = blobs.get(this.href); \
                 const text = blob.type === 'image/png' ? `${blob.size}` : await blob.text(); \
                 window.saved.push({ name, type: blob.type, text }); }; \
                 return true; })()",
            )
            .await;
    }

    /// What was saved under a name: its media type and its text, or the length of a picture.
    pub async fn saved(&mut self, name: &str) -> (String, String) {
        self.wait(&format!("window.saved.some((it) => it.name === '{name}')"))
            .await;
        self.eval(&format!(
            "(() => {{ const it = window.saved.find((it) => it.name === '{name}'); \
             return [it.type, it.text]; }})()"
        ))
        .await
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

    /// A hash of the timeline's pixels, with its ruler, to see whether it was painted anew.
    pub async fn pixels(&self) -> String {
        self.eval(
            "(async () => { const frame = () => new Promise(requestAnimationFrame); \
             const ruler = document.querySelector('[data-testid=timeline]').dataset; \
             for (let left = 600; ruler.ruler !== 'ready' && left > 0; left--) await frame(); \
             await frame(); await frame(); \
             const it = document.querySelector('[data-testid=timeline-base]'); \
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

/// The button in a row of the table.
fn row_button(name: &str) -> String {
    let name = css_string(name);
    format!("[data-testid=kernel-row][data-name={name}] button")
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
