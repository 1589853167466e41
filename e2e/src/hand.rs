//! Hands on a page beside clicks and strokes: fingers, a slow drag, typed text, keys that the
//! browser itself acts on.

use chromiumoxide::cdp::browser_protocol::input::{
    DispatchKeyEventParams, DispatchKeyEventType, DispatchMouseEventType, InsertTextParams,
};
use chromiumoxide::types::MethodId;
use chromiumoxide::{Command, Method};
use serde::Serialize;

use crate::tab::Tab;

/// A key that the browser acts on where the page leaves it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Scrolls to the right.
    ArrowRight,
    /// Submits a form.
    Enter,
}

impl Key {
    /// Name, number and text.
    const fn parts(self) -> (&'static str, i64, Option<&'static str>) {
        match self {
            Self::ArrowRight => ("ArrowRight", 39, None),
            Self::Enter => ("Enter", 13, Some("\r")),
        }
    }
}

/// Fingers on the page; the protocol library leaves out the list where it is empty, which the
/// browser refuses.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Touch {
    r#type: &'static str,
    touch_points: Vec<Point>,
}

#[derive(Debug, Serialize)]
struct Point {
    x: f64,
    y: f64,
    id: u32,
}

impl Method for Touch {
    fn identifier(&self) -> MethodId {
        "Input.dispatchTouchEvent".into()
    }
}

impl Command for Touch {
    type Response = serde_json::Value;
}

impl Tab {
    /// Presses the mouse at a place and keeps it down.
    pub async fn hold_at(&self, (x, y): (f64, f64)) {
        self.hover(x, y).await;
        self.mouse(DispatchMouseEventType::MousePressed, x, y, 1)
            .await;
    }

    /// Moves the mouse that is down.
    pub async fn drag_to(&self, (x, y): (f64, f64)) {
        self.mouse(DispatchMouseEventType::MouseMoved, x, y, 1)
            .await;
    }

    /// Lets go of the mouse.
    pub async fn release_at(&self, (x, y): (f64, f64)) {
        self.mouse(DispatchMouseEventType::MouseReleased, x, y, 1)
            .await;
    }

    /// Types a text into the element that has the focus.
    pub async fn type_text(&self, text: &str) {
        self.call(InsertTextParams::new(text)).await;
    }

    /// Presses and releases a key that the browser acts on.
    pub async fn strike(&self, key: Key) {
        let (name, number, text) = key.parts();
        for kind in [DispatchKeyEventType::KeyDown, DispatchKeyEventType::KeyUp] {
            let mut event = DispatchKeyEventParams::new(kind);
            event.code = Some(name.to_owned());
            event.key = Some(name.to_owned());
            event.windows_virtual_key_code = Some(number);
            event.text = text.map(str::to_owned);
            self.call(event).await;
        }
    }

    /// Puts two fingers down, moves them, and lifts them.
    pub async fn pinch(&self, from: [(f64, f64); 2], to: [(f64, f64); 2]) {
        let middle = |at: usize| {
            let ((a, b), (c, d)) = (from[at], to[at]);
            (f64::midpoint(a, c), f64::midpoint(b, d))
        };
        self.touch("touchStart", &from[..1]).await;
        self.touch("touchStart", &from).await;
        self.touch("touchMove", &[middle(0), middle(1)]).await;
        self.touch("touchMove", &to).await;
        self.touch("touchEnd", &[]).await;
    }

    /// Puts a finger down at a place and lifts it.
    ///
    /// # Panics
    /// Where the browser refuses.
    pub async fn tap(&self, place: (f64, f64)) {
        self.touch("touchStart", &[place]).await;
        self.touch("touchEnd", &[]).await;
    }

    async fn touch(&self, kind: &'static str, places: &[(f64, f64)]) {
        let points = (0..).zip(places);
        let touch_points = points.map(|(id, &(x, y))| Point { x, y, id }).collect();
        self.call(Touch {
            r#type: kind,
            touch_points,
        })
        .await;
    }
}
