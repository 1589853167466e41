//! Elements over a picture as a [`Surface`], for marks that are few and change often.
//!
//! A canvas of the timeline's size costs its pixels four times over, most of them transparent; an
//! element costs the pixels that it covers.

use wasm_bindgen::JsCast as _;
use web_sys::HtmlElement;

use super::layout::Size;
use super::scene::{Anchor, Bitmap, Colour, Rect};
use super::surface::Surface;

/// An element with elements in it, one for each shape. Those that a picture leaves over are hidden
/// and serve the next one.
pub(crate) struct ElementSurface {
    host: HtmlElement,
    marks: Vec<Mark>,
    used: usize,
}

/// One element, with what was last said to it.
struct Mark {
    element: HtmlElement,
    style: String,
    text: String,
}

impl ElementSurface {
    /// The surface of an element that nothing else puts elements into.
    pub(crate) const fn new(host: HtmlElement) -> Self {
        Self {
            host,
            marks: Vec::new(),
            used: 0,
        }
    }

    /// The next element shows `text` where `style` says.
    fn mark(&mut self, style: String, text: &str) {
        if self.used == self.marks.len() {
            let Some(mark) = self.appended() else { return };
            self.marks.push(mark);
        }
        self.marks[self.used].show(style, text);
        self.used += 1;
    }

    fn appended(&self) -> Option<Mark> {
        let element = self.host.owner_document()?.create_element("i").ok()?;
        self.host.append_child(&element).ok()?;
        Some(Mark {
            element: element.dyn_into().ok()?,
            style: String::new(),
            text: String::new(),
        })
    }
}

impl Mark {
    fn show(&mut self, style: String, text: &str) {
        if self.style != style {
            self.element.style().set_css_text(&style);
            self.style = style;
        }
        if self.text != text {
            self.element.set_text_content(Some(text));
            text.clone_into(&mut self.text);
        }
    }
}

impl Surface for ElementSurface {
    fn resize(&mut self, _size: Size, _ratio: f64) {}

    fn clear(&mut self) {
        self.used = 0;
    }

    fn fill(&mut self, rect: Rect, colour: Colour) {
        let Rect {
            x,
            y,
            width,
            height,
        } = rect;
        let colour = colour.css();
        let style =
            format!("left:{x}px;top:{y}px;width:{width}px;height:{height}px;background:{colour}");
        self.mark(style, "");
    }

    fn image(&mut self, _bitmap: &Bitmap, _target: Rect, _clip: Rect) {
        debug_assert!(false, "marks have no pixels of their own");
    }

    fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, colour: Colour) {
        let left = match anchor {
            Anchor::Start => "0",
            Anchor::Middle => "-50%",
            Anchor::End => "-100%",
        };
        let (x, y) = at;
        let colour = colour.css();
        let style = format!("left:{x}px;top:{y}px;color:{colour};transform:translate({left},-50%)");
        self.mark(style, text);
    }

    fn finish(&mut self) {
        for left_over in &mut self.marks[self.used..] {
            left_over.show("display:none".to_owned(), "");
        }
    }
}
