//! The chip as a map of change: which tiles compute more or less than in another profile.

use crate::engine::compare::TileChange;
use crate::theme::{Palette, diverging};
use crate::timeline::chip;
use crate::timeline::scene::Bitmap;

/// One pixel a tile; transparent without a tile.
pub(crate) fn bitmap(tiles: &[TileChange], palette: &Palette, id: u64) -> Bitmap {
    let colour = |it: &TileChange| (it.tile, diverging(it.share, palette.idle));
    chip::pixels(tiles.iter().map(colour), id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;

    #[test]
    fn slower_and_faster_tiles_differ_and_unchanged_ones_are_quiet() {
        let tile = |tile, share| TileChange {
            tile,
            change: 0,
            share,
        };
        let palette = Theme::Light.palette();
        let tiles = [tile(0, 1.0), tile(1, -1.0), tile(2, 0.0)];
        let bitmap = bitmap(&tiles, palette, 1);
        let pixel = |at: usize| &bitmap.rgba[at * 4..at * 4 + 3];
        let quiet = palette.idle;
        assert_eq!(pixel(2), [quiet.red, quiet.green, quiet.blue]);
        assert!(pixel(0)[0] > pixel(0)[2], "more is warm");
        assert!(pixel(1)[2] > pixel(1)[0], "less is cold");
        assert_eq!(bitmap.rgba[3 * 4 + 3], 0, "there is no tile 3");
    }
}
