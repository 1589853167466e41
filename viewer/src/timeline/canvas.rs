//! The browser's canvas as a [`Surface`]: the only file that touches its drawing context.

use wasm_bindgen::{Clamped, JsCast as _};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlImageElement, ImageData};

use super::layout::Size;
use super::scene::{Anchor, Bitmap, Colour, Rect};
use super::surface::Surface;

const FONT: &str = "11px ui-sans-serif, system-ui, sans-serif";

/// A canvas, and beside it one that keeps the newest bitmap for stretching.
pub(crate) struct CanvasSurface {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    kept: HtmlCanvasElement,
    kept_context: CanvasRenderingContext2d,
    kept_id: Option<u64>,
    size: Size,
    ratio: f64,
}

impl CanvasSurface {
    /// The surface of a canvas; `None` where the browser has no drawing context left.
    pub(crate) fn new(canvas: HtmlCanvasElement) -> Option<Self> {
        let kept = canvas
            .owner_document()?
            .create_element("canvas")
            .ok()?
            .dyn_into()
            .ok()?;
        let (context, kept_context) = (context(&canvas)?, context(&kept)?);
        let (kept_id, size, ratio) = (None, Size::default(), 1.0);
        Some(Self {
            canvas,
            context,
            kept,
            kept_context,
            kept_id,
            size,
            ratio,
        })
    }

    /// Uploads a bitmap, unless it is the one kept.
    fn keep(&mut self, bitmap: &Bitmap) -> bool {
        if self.kept_id == Some(bitmap.id) {
            return true;
        }
        let Some(pixels) = pixels(bitmap) else {
            return false;
        };
        self.kept.set_width(bitmap.columns);
        self.kept.set_height(bitmap.rows);
        self.kept_id = Some(bitmap.id);
        self.kept_context.put_image_data(&pixels, 0.0, 0.0).is_ok()
    }

    /// Whether each pixel of the bitmap is one pixel of the device.
    fn fits(&self, bitmap: &Bitmap, target: Rect) -> bool {
        device(target.width, self.ratio) == bitmap.columns
            && device(target.height, self.ratio) == bitmap.rows
            && (target.x * self.ratio).fract() == 0.0
            && (target.y * self.ratio).fract() == 0.0
    }
}

impl Surface for CanvasSurface {
    fn resize(&mut self, size: Size, ratio: f64) {
        if (self.size, self.ratio) != (size, ratio) {
            self.canvas.set_width(device(size.width, ratio));
            self.canvas.set_height(device(size.height, ratio));
            (self.size, self.ratio) = (size, ratio);
        }
    }

    fn finish(&mut self) {}

    fn clear(&mut self) {
        // Without a rotation or skew the call cannot fail.
        let _ = self
            .context
            .set_transform(self.ratio, 0.0, 0.0, self.ratio, 0.0, 0.0);
        self.context
            .clear_rect(0.0, 0.0, self.size.width, self.size.height);
        self.context.set_image_smoothing_enabled(false);
        self.context.set_font(FONT);
        self.context.set_text_baseline("middle");
    }

    fn fill(&mut self, rect: Rect, colour: Colour) {
        self.context.set_fill_style_str(&colour.css());
        self.context
            .fill_rect(rect.x, rect.y, rect.width, rect.height);
    }

    fn image(&mut self, bitmap: &Bitmap, target: Rect, clip: Rect) {
        if target == clip && self.fits(bitmap, target) {
            if let Some(pixels) = pixels(bitmap) {
                let (x, y) = (target.x * self.ratio, target.y * self.ratio);
                let _ = self.context.put_image_data(&pixels, x, y);
            }
            return;
        }
        let Some((source, visible)) = visible_part(bitmap, target, clip) else {
            return;
        };
        if self.keep(bitmap) {
            let drawn = self
                .context
                .draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                    &self.kept,
                    source.x,
                    source.y,
                    source.width,
                    source.height,
                    visible.x,
                    visible.y,
                    visible.width,
                    visible.height,
                );
            debug_assert!(drawn.is_ok(), "the kept canvas is never empty");
        }
    }

    fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, colour: Colour) {
        self.context.set_fill_style_str(&colour.css());
        self.context.set_text_align(match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "center",
            Anchor::End => "end",
        });
        let _ = self.context.fill_text(text, at.0, at.1);
    }
}

/// A picture as pixels, `ratio` of them for each CSS pixel.
pub(crate) fn rasterised(
    image: &HtmlImageElement,
    size: (u32, u32),
    ratio: f64,
) -> Option<HtmlCanvasElement> {
    let element = image.owner_document()?.create_element("canvas").ok()?;
    let canvas: HtmlCanvasElement = element.dyn_into().ok()?;
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    canvas.set_width(device(width, ratio));
    canvas.set_height(device(height, ratio));
    let context = context(&canvas)?;
    context.scale(ratio, ratio).ok()?;
    context
        .draw_image_with_html_image_element_and_dw_and_dh(image, 0.0, 0.0, width, height)
        .ok()?;
    Some(canvas)
}

/// The part of `target` inside `clip`, and the part of the bitmap that belongs there, in its
/// pixels.
fn visible_part(bitmap: &Bitmap, target: Rect, clip: Rect) -> Option<(Rect, Rect)> {
    let left = target.x.max(clip.x);
    let top = target.y.max(clip.y);
    let right = (target.x + target.width).min(clip.x + clip.width);
    let bottom = (target.y + target.height).min(clip.y + clip.height);
    if right <= left || bottom <= top || bitmap.columns == 0 || bitmap.rows == 0 {
        return None;
    }
    let visible = Rect {
        x: left,
        y: top,
        width: right - left,
        height: bottom - top,
    };
    let across = f64::from(bitmap.columns) / target.width;
    let along = f64::from(bitmap.rows) / target.height;
    let source = Rect {
        x: (left - target.x) * across,
        y: (top - target.y) * along,
        width: visible.width * across,
        height: visible.height * along,
    };
    Some((source, visible))
}

fn pixels(bitmap: &Bitmap) -> Option<ImageData> {
    let data = Clamped(bitmap.rgba.as_slice());
    ImageData::new_with_u8_clamped_array_and_sh(data, bitmap.columns, bitmap.rows).ok()
}

fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// A length in device pixels.
pub(crate) fn device(length: f64, ratio: f64) -> u32 {
    let whole = super::viewport::rounded(length * ratio);
    u32::try_from(whole).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap() -> Bitmap {
        Bitmap {
            id: 1,
            columns: 100,
            rows: 10,
            rgba: Vec::new(),
        }
    }

    #[test]
    fn a_zoomed_bitmap_shows_the_part_in_view() {
        let clip = Rect {
            x: 10.0,
            y: 0.0,
            width: 100.0,
            height: 50.0,
        };
        let target = Rect {
            x: -90.0,
            y: 0.0,
            width: 400.0,
            height: 50.0,
        };
        let (source, visible) = visible_part(&bitmap(), target, clip).expect("it is in view");
        assert_eq!(visible, clip);
        assert_eq!(
            source,
            Rect {
                x: 25.0,
                y: 0.0,
                width: 25.0,
                height: 10.0
            }
        );
    }

    #[test]
    fn what_is_out_of_view_is_not_drawn() {
        let clip = Rect {
            x: 0.0,
            y: 0.0,
            width: 10.0,
            height: 10.0,
        };
        let target = Rect { x: 11.0, ..clip };
        assert_eq!(visible_part(&bitmap(), target, clip), None);
    }
}
