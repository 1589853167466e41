//! One page of a browser over the DevTools protocol.
//!
//! Every call has a time limit. Console errors and warnings, uncaught exceptions and failed loads
//! are kept from the first navigation on; [`Tab::assert_quiet`] fails on any.

use std::path::Path;
use std::time::Duration;

use chromiumoxide::browser::Browser;
use chromiumoxide::cdp::browser_protocol::dom::{
    GetDocumentParams, QuerySelectorParams, SetFileInputFilesParams,
};
use chromiumoxide::cdp::browser_protocol::emulation::{
    MediaFeature, SetDeviceMetricsOverrideParams, SetEmulatedMediaParams,
};
use chromiumoxide::cdp::browser_protocol::input::{
    DispatchDragEventParams, DispatchDragEventType, DispatchKeyEventParams, DispatchKeyEventType,
    DispatchMouseEventParams, DispatchMouseEventType, DragData, DragDataItem, MouseButton,
};
use chromiumoxide::cdp::browser_protocol::log::{EventEntryAdded, LogEntryLevel};
use chromiumoxide::cdp::browser_protocol::network;
use chromiumoxide::cdp::browser_protocol::page::{
    AddScriptToEvaluateOnNewDocumentParams, NavigateParams, Viewport,
};
use chromiumoxide::cdp::js_protocol::runtime::{
    ConsoleApiCalledType, EvaluateParams, EventConsoleApiCalled, EventExceptionThrown,
};
use chromiumoxide::handler::HandlerConfig;
use chromiumoxide::listeners::EventStream;
use chromiumoxide::page::ScreenshotParams;
use chromiumoxide::{Command, Page};
use futures::{FutureExt as _, StreamExt as _};
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::chromium::Chromium;

/// Limit of one protocol call.
const CALL: Duration = Duration::from_secs(30);
/// Limit of waiting for a state of the page.
const WAIT: Duration = Duration::from_secs(60);

/// A colour scheme that the page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// `prefers-color-scheme: light`.
    Light,
    /// `prefers-color-scheme: dark`.
    Dark,
}

/// A page in a browser of its own.
pub struct Tab {
    page: Page,
    console: EventStream<EventConsoleApiCalled>,
    exceptions: EventStream<EventExceptionThrown>,
    log: EventStream<EventEntryAdded>,
    problems: Vec<String>,
    handler: JoinHandle<()>,
    _browser: Browser,
    chromium: Chromium,
}

/// The driver listens to the network, and a browser that is listened to keeps what it loads: memory
/// that a page alone does not take.
async fn keep_no_answers(page: &Page) {
    let listen = network::EnableParams::builder()
        .max_total_buffer_size(0)
        .max_resource_buffer_size(0);
    let listening = page.execute(listen.build()).await;
    listening.expect("the network is listened to");
}

impl Tab {
    /// An empty page, `width` by `height` CSS pixels.
    ///
    /// # Panics
    /// Where the browser does not start or answer.
    pub async fn open(width: u32, height: u32) -> Self {
        let chromium = Chromium::launch(width, height);
        let config = HandlerConfig {
            viewport: None,
            request_timeout: CALL,
            ..HandlerConfig::default()
        };
        let connected = Browser::connect_with_config(chromium.address(), config);
        let (browser, mut handler) = timeout(CALL, connected)
            .await
            .expect("in time")
            .expect("the browser answers");
        let handler = tokio::spawn(async move { while handler.next().await.is_some() {} });
        let page = timeout(CALL, browser.new_page("about:blank"));
        let page = page.await.expect("in time").expect("a page opens");
        page.enable_log().await.expect("the log is on");
        keep_no_answers(&page).await;
        let console = page.event_listener().await.expect("a listener");
        let exceptions = page.event_listener().await.expect("a listener");
        let log = page.event_listener().await.expect("a listener");
        let problems = Vec::new();
        let _browser = browser;
        Self {
            page,
            console,
            exceptions,
            log,
            problems,
            handler,
            _browser,
            chromium,
        }
    }

    /// Id of the browser's process.
    #[must_use]
    pub fn browser_process(&self) -> u32 {
        self.chromium.process()
    }

    /// Sends a command.
    pub(crate) async fn call<C: Command>(&self, command: C) -> C::Response {
        let name = command.identifier();
        let answer = timeout(CALL, self.page.execute(command)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{name} did not end within {CALL:?}"));
        answer
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .result
    }

    /// Goes to an address; the caller waits for the state it needs.
    pub async fn goto(&self, url: &str) {
        let answer = self.call(NavigateParams::new(url)).await;
        assert!(
            answer.error_text.is_none(),
            "{url}: {:?}",
            answer.error_text
        );
    }

    /// Evaluates a script in every page from now on, before the page's own.
    pub async fn on_new_page(&self, script: &str) {
        self.call(AddScriptToEvaluateOnNewDocumentParams::new(script))
            .await;
    }

    /// Loads the page anew.
    pub async fn reload(&self) {
        let reloaded = timeout(CALL, self.page.reload()).await.expect("in time");
        reloaded.expect("the page reloads");
    }

    /// Evaluates an expression; a promise is awaited.
    ///
    /// # Panics
    /// Where the expression throws, or its value is no `T`.
    pub async fn eval<T: DeserializeOwned>(&self, expression: &str) -> T {
        self.try_eval(expression)
            .await
            .unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    async fn try_eval<T: DeserializeOwned>(&self, expression: &str) -> Result<T, String> {
        let params = EvaluateParams::builder()
            .expression(expression)
            .await_promise(true)
            .return_by_value(true)
            .build()?;
        let answer = timeout(WAIT + CALL, self.page.execute(params)).await;
        let answer = answer.map_err(|late| late.to_string())?;
        let answer = answer.map_err(|error| error.to_string())?.result;
        if let Some(thrown) = answer.exception_details {
            let text = thrown
                .exception
                .and_then(|it| it.description)
                .unwrap_or(thrown.text);
            return Err(text);
        }
        let value = answer.result.value.unwrap_or(serde_json::Value::Null);
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Waits until an expression is true, looking once a frame.
    ///
    /// # Panics
    /// After a minute, with the state that the page is in.
    pub async fn wait(&mut self, condition: &str) {
        let limit = WAIT.as_millis();
        let script = format!(
            "new Promise((done) => {{ const end = performance.now() + {limit}; \
             const look = () => {{ let met = false; try {{ met = !!({condition}); }} catch {{}} \
             if (met || performance.now() > end) done(met); else requestAnimationFrame(look); }}; \
             look(); }})"
        );
        let waited = timeout(WAIT, async {
            // A navigation ends the promise with the old page; the new one is asked again.
            loop {
                if let Ok(met) = self.try_eval::<bool>(&script).await {
                    return met;
                }
            }
        });
        if waited.await == Ok(true) {
            return;
        }
        let state: Result<String, _> = self
            .try_eval(
                "document.body.dataset.state + ' ' + \
                 [...document.querySelectorAll('[data-state]')] \
                 .map(({ dataset: it }) => `${it.testid}: ${it.state}`).join(', ') + '\\n' + \
                 document.body.innerText",
            )
            .await;
        self.collect_problems();
        panic!(
            "waited for {condition}; the page shows {state:?} and logged {:?}",
            self.problems
        );
    }

    /// Presses and releases the mouse on the middle of an element.
    pub async fn click(&self, selector: &str) {
        let (x, y) = self.middle(selector).await;
        self.click_at(x, y).await;
    }

    /// Presses and releases the mouse at a place in CSS pixels.
    pub async fn click_at(&self, x: f64, y: f64) {
        self.mouse(DispatchMouseEventType::MouseMoved, x, y, 0)
            .await;
        self.mouse(DispatchMouseEventType::MousePressed, x, y, 1)
            .await;
        self.mouse(DispatchMouseEventType::MouseReleased, x, y, 1)
            .await;
    }

    /// Moves the mouse to a place.
    pub async fn hover(&self, x: f64, y: f64) {
        self.mouse(DispatchMouseEventType::MouseMoved, x, y, 0)
            .await;
    }

    /// Drags from one place to another.
    pub async fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.mouse(DispatchMouseEventType::MouseMoved, from.0, from.1, 0)
            .await;
        self.mouse(DispatchMouseEventType::MousePressed, from.0, from.1, 1)
            .await;
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        self.mouse(DispatchMouseEventType::MouseMoved, middle.0, middle.1, 1)
            .await;
        self.mouse(DispatchMouseEventType::MouseMoved, to.0, to.1, 1)
            .await;
        self.mouse(DispatchMouseEventType::MouseReleased, to.0, to.1, 1)
            .await;
    }

    pub(crate) async fn mouse(&self, kind: DispatchMouseEventType, x: f64, y: f64, clicks: i64) {
        let mut event = DispatchMouseEventParams::new(kind, x, y);
        if clicks > 0 {
            event.button = Some(MouseButton::Left);
            event.buttons = Some(1);
            event.click_count = Some(clicks);
        }
        self.call(event).await;
    }

    /// Turns the wheel at a place; `control` holds the Control key.
    pub async fn wheel(&self, x: f64, y: f64, delta: f64, control: bool) {
        let mut event = DispatchMouseEventParams::new(DispatchMouseEventType::MouseWheel, x, y);
        event.delta_x = Some(0.0);
        event.delta_y = Some(delta);
        event.modifiers = Some(if control { 2 } else { 0 });
        self.call(event).await;
    }

    /// Presses and releases a key by its physical code, such as `KeyW`, and its text, such as `w`.
    pub async fn key(&self, code: &str, key: &str) {
        for kind in [DispatchKeyEventType::KeyDown, DispatchKeyEventType::KeyUp] {
            let mut event = DispatchKeyEventParams::new(kind);
            event.code = Some(code.to_owned());
            event.key = Some(key.to_owned());
            self.call(event).await;
        }
    }

    /// Presses and releases Tab: the focus goes on.
    pub async fn press_tab(&self) {
        self.press_code("Tab", 9, None).await;
    }

    /// Presses and releases Enter on what has the focus.
    pub async fn press_enter(&self) {
        self.press_code("Enter", 13, Some("\r")).await;
    }

    /// A key that does what browsers do by themselves; they know it by its number.
    async fn press_code(&self, name: &str, number: i64, text: Option<&str>) {
        for kind in [DispatchKeyEventType::KeyDown, DispatchKeyEventType::KeyUp] {
            let is_down = kind == DispatchKeyEventType::KeyDown;
            let mut event = DispatchKeyEventParams::new(kind);
            event.code = Some(name.to_owned());
            event.key = Some(name.to_owned());
            event.windows_virtual_key_code = Some(number);
            event.text = text.filter(|_| is_down).map(str::to_owned);
            self.call(event).await;
        }
    }

    /// Drops files on the middle of the page.
    pub async fn drop_files(&self, files: &[&Path]) {
        let (width, height): (f64, f64) = self.eval("[innerWidth, innerHeight]").await;
        let mut data = DragData::new(vec![DragDataItem::new("text/plain", "")], 1);
        data.files = Some(
            files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
        );
        for kind in [
            DispatchDragEventType::DragEnter,
            DispatchDragEventType::DragOver,
            DispatchDragEventType::Drop,
        ] {
            let (x, y) = (width / 2.0, height / 2.0);
            self.call(DispatchDragEventParams::new(kind, x, y, data.clone()))
                .await;
        }
    }

    /// Chooses files in a file input.
    pub async fn choose_files(&self, selector: &str, files: &[&Path]) {
        let root = self.call(GetDocumentParams::default()).await.root.node_id;
        let node = self
            .call(QuerySelectorParams::new(root, selector))
            .await
            .node_id;
        let files = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let mut choice = SetFileInputFilesParams::new(files);
        choice.node_id = Some(node);
        self.call(choice).await;
    }

    /// The middle of an element in CSS pixels, after it was scrolled into view.
    pub async fn middle(&self, selector: &str) -> (f64, f64) {
        let selector = serde_json::Value::from(selector);
        let script = format!(
            "(() => {{ const it = document.querySelector({selector}); \
             if (!it) throw new Error('there is no ' + {selector}); \
             it.scrollIntoView({{ block: 'nearest' }}); const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        self.eval(&script).await
    }

    /// Sets the size of the page in CSS pixels and its device pixels a CSS pixel.
    pub async fn resize(&self, width: i64, height: i64, scale: f64) {
        self.call(SetDeviceMetricsOverrideParams::new(
            width, height, scale, false,
        ))
        .await;
    }

    /// Asks the page for a colour scheme.
    pub async fn theme(&self, theme: Theme) {
        let value = match theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        let feature = MediaFeature::new("prefers-color-scheme", value);
        self.call(
            SetEmulatedMediaParams::builder()
                .features([feature])
                .build(),
        )
        .await;
    }

    /// Writes what the page shows as a PNG.
    pub async fn photograph(&self, path: &Path) {
        let taken = timeout(CALL, self.page.screenshot(ScreenshotParams::default())).await;
        let picture = taken.expect("in time").expect("a picture");
        std::fs::write(path, picture).expect("the picture is written");
    }

    /// Writes the whole of an element as a PNG, whatever part of it is in view.
    pub async fn photograph_whole(&self, selector: &str, path: &Path) {
        let [x, y, width, height]: [f64; 4] = self
            .eval(&format!(
                "(() => {{ const it = document.querySelector('{selector}') \
                 .getBoundingClientRect(); \
                 return [it.x + scrollX, it.y + scrollY, it.width, it.height]; }})()"
            ))
            .await;
        let clip = Viewport::builder()
            .x(x)
            .y(y)
            .width(width)
            .height(height)
            .scale(1.0);
        let parameters = ScreenshotParams::builder()
            .clip(clip.build().expect("all is given"))
            .capture_beyond_viewport(true)
            .build();
        let taken = timeout(CALL, self.page.screenshot(parameters)).await;
        let picture = taken.expect("in time").expect("a picture");
        std::fs::write(path, picture).expect("the picture is written");
    }

    /// Fails on every console error or warning, uncaught exception and failed load so far.
    pub async fn assert_quiet(&mut self) {
        // Events come in order, so all that happened before this answer are here after it.
        let _here: u32 = self.eval("1").await;
        self.collect_problems();
        assert!(
            self.problems.is_empty(),
            "the page logged {:#?}",
            self.problems
        );
    }

    /// What was logged so far and should not have been.
    pub async fn problems(&mut self) -> &[String] {
        let _here: u32 = self.eval("1").await;
        self.collect_problems();
        &self.problems
    }

    fn collect_problems(&mut self) {
        while let Some(Some(event)) = self.console.next().now_or_never() {
            use ConsoleApiCalledType::{Assert, Error, Warning};
            if matches!(event.r#type, Error | Warning | Assert) {
                let said = event.args.iter().map(|it| {
                    it.description
                        .clone()
                        .unwrap_or_else(|| format!("{:?}", it.value))
                });
                self.problems
                    .push(format!("console: {}", said.collect::<Vec<_>>().join(" ")));
            }
        }
        while let Some(Some(event)) = self.exceptions.next().now_or_never() {
            let details = &event.exception_details;
            let thrown = details
                .exception
                .as_ref()
                .and_then(|it| it.description.clone());
            self.problems
                .push(format!("uncaught: {} {thrown:?}", details.text));
        }
        while let Some(Some(event)) = self.log.next().now_or_never() {
            let entry = &event.entry;
            if matches!(entry.level, LogEntryLevel::Error | LogEntryLevel::Warning) {
                self.problems
                    .push(format!("log: {} {:?}", entry.text, entry.url));
            }
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.handler.abort();
    }
}
