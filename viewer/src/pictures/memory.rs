//! A tile's memory over the schedule: addresses down, items to the right, and the sum below.

use analytics::memory::{ELEMENT, ELEMENT_PAIR, INTERLEAVED, SRAM};
use analytics::text;

use crate::engine::memory::Block;
use crate::theme::{KernelHues, Theme, text_on};
use crate::timeline::layout::Size;
use crate::timeline::scene::{Anchor, Rect, Scene};
use crate::timeline::viewport::{rounded, to_float};

/// Width of the labels left of the picture.
const GUTTER: f64 = 64.0;
/// Height of the sums below it, and the gap above them.
const SUMS: f64 = 56.0;
const GAP: f64 = 10.0;
/// Height of the labels below all.
const RULER: f64 = 16.0;
/// Least size of a block that is named, in CSS pixels.
const NAMED: (f64, f64) = (70.0, 11.0);
/// Width of a character, about.
const CHARACTER: f64 = 6.2;

/// What the picture shows.
pub(crate) struct MemoryView<'a> {
    /// Size of the canvas.
    pub(crate) size: Size,
    /// Allocations of the tile.
    pub(crate) blocks: &'a [Block],
    /// Live bytes at each item.
    pub(crate) live: &'a [u64],
    /// The block under the pointer.
    pub(crate) pointed: Option<usize>,
    /// Colours in force.
    pub(crate) theme: Theme,
}

/// Where addresses × items are drawn.
fn map_rect(size: Size) -> Rect {
    Rect {
        x: GUTTER,
        y: 4.0,
        width: (size.width - GUTTER - 4.0).max(1.0),
        height: (size.height - SUMS - GAP - RULER - 4.0).max(1.0),
    }
}

fn place(map: Rect, items: usize, block: &Block) -> Rect {
    let across = map.width / to_float(items.max(1) as u64);
    let whole = f64::from(SRAM.end - SRAM.start);
    let y = |address: u32| {
        let inside = address.clamp(SRAM.start, SRAM.end) - SRAM.start;
        map.y + f64::from(inside) / whole * map.height
    };
    let (top, bottom) = (y(block.address), y(block.end));
    let left = map.x + f64::from(block.first) * across;
    let right = map.x + f64::from(block.after) * across;
    Rect {
        x: left,
        y: top,
        width: (right - left).max(1.0),
        height: (bottom - top).max(1.0),
    }
}

/// The block at a place: of several, the one drawn last.
pub(crate) fn block_at(
    size: Size,
    blocks: &[Block],
    items: usize,
    at: (f64, f64),
) -> Option<usize> {
    let map = map_rect(size);
    blocks
        .iter()
        .rposition(|block| place(map, items, block).contains(at.0, at.1))
}

/// The picture.
pub(crate) fn scene(view: &MemoryView<'_>) -> Scene {
    let palette = view.theme.palette();
    let mut scene = Scene::default();
    let map = map_rect(view.size);
    scene.fill(map, palette.idle);
    let names: Vec<&str> = view.blocks.iter().map(|it| it.label.as_str()).collect();
    let hues = KernelHues::new(names);
    for (at, block) in view.blocks.iter().enumerate() {
        let rect = place(map, view.live.len(), block);
        let colour = match view.pointed == Some(at) {
            true => palette.accent,
            false => hues.colour(&block.label, view.theme),
        };
        scene.fill(rect, colour);
        // A seam between neighbours of one colour.
        let seam = Rect {
            height: 0.5,
            ..rect
        };
        scene.fill(seam, palette.nothing);
        if rect.width >= NAMED.0 && rect.height >= NAMED.1 {
            let room = rounded((rect.width - 8.0) / CHARACTER);
            let room = usize::try_from(room).unwrap_or(0);
            let label: String = block.label.chars().take(room).collect();
            let middle = rect.y + rect.height / 2.0;
            scene.text(
                (rect.x + 4.0, middle),
                Anchor::Start,
                &label,
                text_on(colour),
            );
        }
    }
    address_axis(&mut scene, view, map);
    sums(&mut scene, view, map);
    scene
}

/// Elements of memory, with the line where interleaving begins.
fn address_axis(scene: &mut Scene, view: &MemoryView<'_>, map: Rect) {
    let palette = view.theme.palette();
    let whole = f64::from(SRAM.end - SRAM.start);
    let mut address = SRAM.start;
    let mut free_from = 0.0;
    while address < SRAM.end {
        let y = map.y + f64::from(address - SRAM.start) / whole * map.height;
        let is_border = address == INTERLEAVED;
        let line = Rect {
            x: map.x,
            y,
            width: map.width,
            height: if is_border { 1.5 } else { 0.5 },
        };
        let ink = if is_border {
            palette.text
        } else {
            palette.grid
        };
        scene.fill(line, ink.with_alpha(if is_border { 200 } else { 120 }));
        if y >= free_from || is_border {
            let label = format!("{address:#x}");
            let ink = if is_border {
                palette.text
            } else {
                palette.muted
            };
            scene.text((map.x - 6.0, y + 6.0), Anchor::End, &label, ink);
            free_from = y + 22.0;
        }
        address += if address < INTERLEAVED {
            ELEMENT
        } else {
            ELEMENT_PAIR
        };
    }
}

/// Live bytes below the map, as tall as the tile's memory.
fn sums(scene: &mut Scene, view: &MemoryView<'_>, map: Rect) {
    let palette = view.theme.palette();
    let frame = Rect {
        y: map.y + map.height + GAP,
        height: SUMS,
        ..map
    };
    scene.fill(frame, palette.idle);
    let count = view.live.len();
    let columns = usize::try_from(rounded(map.width))
        .unwrap_or(1)
        .clamp(1, count.max(1));
    let width = map.width / to_float(columns as u64);
    let whole = f64::from(SRAM.end - SRAM.start);
    for column in 0..columns {
        let items = column * count / columns..((column + 1) * count).div_ceil(columns);
        let Some(most) = view.live.get(items).and_then(|it| it.iter().max()) else {
            continue;
        };
        let height = (to_float(*most) / whole).min(1.0) * SUMS;
        let bar = Rect {
            x: map.x + width * to_float(column as u64),
            y: frame.y + SUMS - height,
            width,
            height,
        };
        scene.fill(bar, palette.accent.with_alpha(190));
    }
    scene.text(
        (map.x - 6.0, frame.y + 6.0),
        Anchor::End,
        "live",
        palette.muted,
    );
    let bottom = frame.y + SUMS + 9.0;
    scene.text((map.x, bottom), Anchor::Start, "item 0", palette.muted);
    let last = text::count(count as u64).to_string();
    scene.text(
        (map.x + map.width, bottom),
        Anchor::End,
        &last,
        palette.muted,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use expect_test::expect;

    fn block(address: u32, bytes: u32, first: u32, after: u32) -> Block {
        Block {
            address,
            end: address + bytes,
            first,
            after,
            label: "weights".to_owned(),
            said: String::new(),
        }
    }

    const SIZE: Size = Size {
        width: GUTTER + 104.0,
        height: 312.0 + SUMS + GAP + RULER + 4.0,
    };

    #[test]
    fn blocks_lie_at_their_addresses_and_items() {
        let blocks = [block(0x4_c000, 0x4000, 0, 4), block(0x8_0000, 0x8000, 1, 2)];
        let view = MemoryView {
            size: SIZE,
            blocks: &blocks,
            live: &[0x4000, 0xc000, 0x4000, 0x4000],
            pointed: None,
            theme: Theme::Light,
        };
        let mut surface = RecordingSurface::default();
        paint(&scene(&view), &mut surface);
        let log: Vec<&str> = surface.log.lines().take(8).collect();
        expect![[r##"
            clear
            fill 64.0,4.0 100.0x312.0 #f1f3f5ff
            fill 64.0,4.0 100.0x8.0 #b15aa1ff
            fill 64.0,4.0 100.0x0.5 #ffffffff
            fill 89.0,108.0 25.0x16.0 #b15aa1ff
            fill 89.0,108.0 25.0x0.5 #ffffffff
            fill 64.0,4.0 100.0x0.5 #d5dae078
            text 58.0,10.0 End #5c6873ff "0x4c000""##]]
        .assert_eq(&log.join("\n"));
    }

    #[test]
    fn the_block_under_the_pointer_is_found() {
        let blocks = [block(0x4_c000, 0x4000, 0, 4), block(0x8_0000, 0x8000, 1, 2)];
        let at = |x, y| block_at(SIZE, &blocks, 4, (x, y));
        assert_eq!(at(GUTTER + 5.0, 6.0), Some(0));
        assert_eq!(at(GUTTER + 30.0, 4.0 + 104.0 + 3.0), Some(1));
        assert_eq!(at(GUTTER + 80.0, 4.0 + 104.0 + 3.0), None);
        assert_eq!(at(3.0, 6.0), None);
    }
}
