//! Vector charts as pixels: SVG in, PNG out. Text is set in an embedded font, so that the picture
//! is the same on every machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::error::CliError;

/// Pixels of the picture for one of the chart.
const SCALE: f32 = 2.0;

/// Rasterises a chart at twice its size.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, CliError> {
    let failed = |error: &dyn std::fmt::Display| CliError::internal(error, "chart");
    let mut options = Options {
        font_family: "DejaVu Sans".to_owned(),
        ..Options::default()
    };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let size = size.ok_or_else(|| failed(&"its size is out of range"))?;
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| failed(&"its size is out of range"))?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixels.as_mut(),
    );
    pixels.encode_png().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20">"##;

    fn dark_pixels(body: &str) -> usize {
        let svg = format!(r##"{HEAD}<rect width="80" height="20" fill="#fff"/>{body}</svg>"##);
        let png = png(&svg).expect("rasterises");
        let pixels = Pixmap::decode_png(&png).expect("is a PNG");
        assert_eq!((pixels.width(), pixels.height()), (160, 40));
        pixels.pixels().iter().filter(|it| it.red() < 128).count()
    }

    #[test]
    fn text_is_drawn_without_any_font_of_the_system() {
        assert_eq!(dark_pixels(""), 0);
        let text = |text| format!(r##"<text x="4" y="15" font-family="sans-serif">{text}</text>"##);
        assert!(dark_pixels(&text("gemm")) > 50);
        // Characters of our figures: narrow space, at least, arrow, ellipsis.
        assert!(dark_pixels(&text("≥→…")) > 50);
    }
}
