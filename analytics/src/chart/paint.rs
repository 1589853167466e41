//! What the charts share: text styles, pixels from figures, mixed colours.

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, RGBColor, TextStyle};

/// Size of text in pixels.
const FONT_SIZE: i32 = 13;

/// Text of a colour at an anchor.
pub(super) fn style(colour: &RGBColor, horizontal: HPos, vertical: VPos) -> TextStyle<'_> {
    TextStyle::from(("sans-serif", FONT_SIZE).into_font())
        .color(colour)
        .pos(Pos::new(horizontal, vertical))
}

/// The nearest pixel.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float-to-int cast saturates"
)]
pub(super) fn pixel(value: f64) -> i32 {
    value.round() as i32
}

/// A size in pixels as a coordinate.
pub(super) fn coordinate(size: u32) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// A colour between two: `share` 0 is the first, 1 the second.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float-to-int cast saturates"
)]
pub(super) fn mix(from: RGBColor, to: RGBColor, share: f64) -> RGBColor {
    let share = share.clamp(0.0, 1.0);
    let channel = |from: u8, to: u8| {
        (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8
    };
    RGBColor(
        channel(from.0, to.0),
        channel(from.1, to.1),
        channel(from.2, to.2),
    )
}
