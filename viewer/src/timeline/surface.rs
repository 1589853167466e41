//! What a painter can do: the seam between a [`Scene`](super::scene::Scene) and a canvas.

use super::layout::Size;
use super::scene::{Anchor, Bitmap, Colour, Rect};

/// Something to paint on, in CSS pixels.
pub(crate) trait Surface {
    /// Makes it `size` CSS pixels large with `ratio` device pixels each.
    fn resize(&mut self, size: Size, ratio: f64);
    /// Makes everything transparent.
    fn clear(&mut self);
    /// Fills a rectangle.
    fn fill(&mut self, rect: Rect, colour: Colour);
    /// Stretches `bitmap` over `target` without smoothing, visible inside `clip` only.
    fn image(&mut self, bitmap: &Bitmap, target: Rect, clip: Rect);
    /// Writes one line of text, vertically centred on the point.
    fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, colour: Colour);
    /// The picture is whole.
    fn finish(&mut self);
}

/// A surface that writes down what it was told, one line a call.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct RecordingSurface {
    /// The calls so far.
    pub(crate) log: String,
}

#[cfg(test)]
impl RecordingSurface {
    fn push(&mut self, line: &str) {
        self.log.push_str(line);
        self.log.push('\n');
    }
}

#[cfg(test)]
impl Surface for RecordingSurface {
    fn resize(&mut self, _size: Size, _ratio: f64) {}

    fn finish(&mut self) {}

    fn clear(&mut self) {
        self.push("clear");
    }

    fn fill(&mut self, rect: Rect, colour: Colour) {
        self.push(&format!("fill {} {}", show(rect), colour.css()));
    }

    fn image(&mut self, bitmap: &Bitmap, target: Rect, clip: Rect) {
        let Bitmap {
            id, columns, rows, ..
        } = bitmap;
        let (target, clip) = (show(target), show(clip));
        self.push(&format!(
            "image {id} {columns}x{rows} over {target} clip {clip}"
        ));
    }

    fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, colour: Colour) {
        let (x, y) = at;
        self.push(&format!(
            "text {x:.1},{y:.1} {anchor:?} {} {text:?}",
            colour.css()
        ));
    }
}

#[cfg(test)]
fn show(rect: Rect) -> String {
    format!(
        "{:.1},{:.1} {:.1}x{:.1}",
        rect.x, rect.y, rect.width, rect.height
    )
}
