//! Paints a scene, shape by shape.

use super::scene::{Scene, Shape};
use super::surface::Surface;

/// Replaces what is on `surface` by `scene`.
pub(crate) fn paint(scene: &Scene, surface: &mut dyn Surface) {
    surface.clear();
    for shape in &scene.shapes {
        match shape {
            Shape::Fill(rect, colour) => surface.fill(*rect, *colour),
            Shape::Image {
                bitmap,
                target,
                clip,
            } => surface.image(bitmap, *target, *clip),
            Shape::Text {
                x,
                y,
                anchor,
                text,
                colour,
            } => {
                surface.text((*x, *y), *anchor, text, *colour);
            }
        }
    }
    surface.finish();
}
