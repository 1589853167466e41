//! A picture as plain data, in CSS pixels from the canvas's upper left corner.

use std::sync::Arc;

/// A colour with 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour {
    /// Red.
    pub(crate) red: u8,
    /// Green.
    pub(crate) green: u8,
    /// Blue.
    pub(crate) blue: u8,
    /// Opacity; 255 is opaque.
    pub(crate) alpha: u8,
}

impl Colour {
    /// An opaque colour from `0xRRGGBB`.
    pub(crate) const fn rgb(hex: u32) -> Self {
        let [_, red, green, blue] = hex.to_be_bytes();
        Self {
            red,
            green,
            blue,
            alpha: 255,
        }
    }

    /// The same colour, `alpha` opaque.
    pub(crate) const fn with_alpha(self, alpha: u8) -> Self {
        Self { alpha, ..self }
    }

    /// As a bitmap holds it.
    pub(crate) const fn rgba(self) -> [u8; 4] {
        [self.red, self.green, self.blue, self.alpha]
    }

    /// As CSS writes it.
    pub(crate) fn css(self) -> String {
        let Self {
            red,
            green,
            blue,
            alpha,
        } = self;
        format!("#{red:02x}{green:02x}{blue:02x}{alpha:02x}")
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    /// Left edge.
    pub(crate) x: f64,
    /// Upper edge.
    pub(crate) y: f64,
    /// Width.
    pub(crate) width: f64,
    /// Height.
    pub(crate) height: f64,
}

impl Rect {
    /// Whether a point is inside; left and upper edges belong to the rectangle.
    pub(crate) fn contains(self, x: f64, y: f64) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }
}

/// Pixels to be stretched over a rectangle without smoothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bitmap {
    /// Tells bitmaps apart, so that a surface may keep what it uploaded.
    pub(crate) id: u64,
    /// Pixels in a row.
    pub(crate) columns: u32,
    /// Rows.
    pub(crate) rows: u32,
    /// Row-major, four bytes a pixel: red, green, blue, opacity.
    pub(crate) rgba: Vec<u8>,
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The text starts at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// One thing to paint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A filled rectangle.
    Fill(Rect, Colour),
    /// A bitmap over `target`; only what is inside `clip` is painted.
    Image {
        /// The pixels.
        bitmap: Arc<Bitmap>,
        /// Where the whole bitmap would go.
        target: Rect,
        /// What of it is visible.
        clip: Rect,
    },
    /// A text whose middle line is at `y`.
    Text {
        /// Horizontal position of the anchor.
        x: f64,
        /// Vertical middle.
        y: f64,
        /// Side of the point that the text is on.
        anchor: Anchor,
        /// What it says.
        text: String,
        /// Its colour.
        colour: Colour,
    },
}

/// A picture: shapes in painting order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scene {
    /// Later shapes cover earlier ones.
    pub(crate) shapes: Vec<Shape>,
}

impl Scene {
    pub(crate) fn fill(&mut self, rect: Rect, colour: Colour) {
        self.shapes.push(Shape::Fill(rect, colour));
    }

    pub(crate) fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, colour: Colour) {
        let text = text.to_owned();
        self.shapes.push(Shape::Text {
            x: at.0,
            y: at.1,
            anchor,
            text,
            colour,
        });
    }
}
