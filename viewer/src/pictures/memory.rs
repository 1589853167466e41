//! A tile's memory over the schedule: addresses down, items or cycles to the right, and the sum
//! below.

use analytics::memory::{ELEMENT, ELEMENT_PAIR, INTERLEAVED, SRAM};
use analytics::text;

use super::lifetimes::{Lifetimes, Stretch};
use crate::engine::memory::Block;
use crate::theme::{KernelHues, Theme, text_on};
use crate::timeline::cursor;
use crate::timeline::layout::{Size, plot_rect};
use crate::timeline::scene::{Anchor, Colour, Rect, Scene};
use crate::timeline::viewport::{Viewport, rounded, to_float};

/// Height above the picture, for the plate of the cursor.
const TOP: f64 = 20.0;
/// Height of the sums below it, and the gap above them.
const SUMS: f64 = 56.0;
const GAP: f64 = 10.0;
/// Height of the labels below all.
const RULER: f64 = 16.0;
/// Least size of a block that is named, in CSS pixels.
const NAMED: (f64, f64) = (70.0, 11.0);
/// How strong a block is where it is live at some time of a stretch only.
const PALE: u8 = 90;
/// Least distance of two labelled addresses.
const LABEL: f64 = 22.0;
/// Width of a character, about.
const CHARACTER: f64 = 6.2;

/// What the picture shows.
pub(crate) struct MemoryView<'a> {
    /// Size of the canvas.
    pub(crate) size: Size,
    /// Allocations of the tile.
    pub(crate) blocks: &'a [Block],
    /// When they are live.
    pub(crate) lifetimes: &'a Lifetimes,
    /// The block under the pointer.
    pub(crate) pointed: Option<usize>,
    /// The cycle under the pointer, here or in the timeline, and what the timeline shows.
    pub(crate) cursor: Option<(cursor::At, &'a Viewport)>,
    /// Colours in force.
    pub(crate) theme: Theme,
}

/// Where addresses × items or cycles are drawn: below the timeline's plot, cycle below cycle.
fn map_rect(size: Size) -> Rect {
    Rect {
        y: TOP,
        height: (size.height - SUMS - GAP - RULER - TOP).max(1.0),
        ..plot_rect(size)
    }
}

fn place(map: Rect, lifetimes: &Lifetimes, block: &Block, stretch: &Stretch) -> Rect {
    let whole = f64::from(SRAM.end - SRAM.start);
    let y = |address: u32| {
        let inside = address.clamp(SRAM.start, SRAM.end) - SRAM.start;
        map.y + f64::from(inside) / whole * map.height
    };
    let (top, bottom) = (y(block.address), y(block.end));
    let x = |at: u64| map.x + lifetimes.fraction(at) * map.width;
    let (left, right) = (x(stretch.at.start), x(stretch.at.end));
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
    lifetimes: &Lifetimes,
    at: (f64, f64),
) -> Option<usize> {
    let map = map_rect(size);
    let placed = blocks.iter().zip(&lifetimes.of_blocks);
    placed.enumerate().rev().find_map(|(index, (block, live))| {
        let is_here = |it: &Stretch| place(map, lifetimes, block, it).contains(at.0, at.1);
        live.iter().any(is_here).then_some(index)
    })
}

/// The picture.
pub(crate) fn scene(view: &MemoryView<'_>) -> Scene {
    let palette = view.theme.palette();
    let mut scene = Scene::default();
    let map = map_rect(view.size);
    scene.fill(map, palette.idle);
    let names: Vec<&str> = view.blocks.iter().map(|it| it.label.as_str()).collect();
    let hues = KernelHues::new(names);
    for (at, (block, live)) in view
        .blocks
        .iter()
        .zip(&view.lifetimes.of_blocks)
        .enumerate()
    {
        let colour = match view.pointed == Some(at) {
            true => palette.accent,
            false => hues.colour(&block.label, view.theme),
        };
        for stretch in live {
            let rect = place(map, view.lifetimes, block, stretch);
            fill_block(&mut scene, rect, colour, stretch.is_whole, palette.nothing);
            if rect.width >= NAMED.0 && rect.height >= NAMED.1 {
                let ink = match stretch.is_whole {
                    true => text_on(colour),
                    false => palette.text,
                };
                name_block(&mut scene, rect, ink, &block.label);
            }
        }
    }
    address_axis(&mut scene, view, map);
    let sums = sums(&mut scene, view, map);
    let all = Rect {
        height: sums.y + sums.height - map.y,
        ..map
    };
    if let Some((at, viewport)) = view.cursor {
        cursor::line(&mut scene, all, viewport, at, palette);
    }
    scene
}

fn fill_block(scene: &mut Scene, rect: Rect, colour: Colour, is_whole: bool, seam: Colour) {
    let ink = match is_whole {
        true => colour,
        false => colour.with_alpha(PALE),
    };
    scene.fill(rect, ink);
    // A seam between neighbours of one colour.
    let line = Rect {
        height: 0.5,
        ..rect
    };
    scene.fill(line, seam);
}

fn name_block(scene: &mut Scene, rect: Rect, ink: Colour, label: &str) {
    let room = rounded((rect.width - 8.0) / CHARACTER);
    let room = usize::try_from(room).unwrap_or(0);
    let label: String = label.chars().take(room).collect();
    let middle = rect.y + rect.height / 2.0;
    scene.text((rect.x + 4.0, middle), Anchor::Start, &label, ink);
}

/// Elements of memory, with the line where interleaving begins.
fn address_axis(scene: &mut Scene, view: &MemoryView<'_>, map: Rect) {
    let palette = view.theme.palette();
    let whole = f64::from(SRAM.end - SRAM.start);
    let y_of = |address: u32| map.y + f64::from(address - SRAM.start) / whole * map.height;
    let border = y_of(INTERLEAVED);
    let mut address = SRAM.start;
    let mut free_from = 0.0;
    scene.text((map.x - 6.0, TOP / 2.0), Anchor::End, "0x", palette.muted);
    while address < SRAM.end {
        let y = y_of(address);
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
        let is_free = y >= free_from && (is_border || !(border - LABEL..border).contains(&y));
        if is_free || is_border {
            let label = format!("{address:x}");
            let ink = if is_border {
                palette.text
            } else {
                palette.muted
            };
            scene.text((map.x - 6.0, y + 6.0), Anchor::End, &label, ink);
            free_from = y + LABEL;
        }
        address += if address < INTERLEAVED {
            ELEMENT
        } else {
            ELEMENT_PAIR
        };
    }
}

/// Live bytes below the map, as tall as the tile's memory; gives where they are.
fn sums(scene: &mut Scene, view: &MemoryView<'_>, map: Rect) -> Rect {
    let palette = view.theme.palette();
    let frame = Rect {
        y: map.y + map.height + GAP,
        height: SUMS,
        ..map
    };
    scene.fill(frame, palette.idle);
    let columns = usize::try_from(rounded(map.width)).unwrap_or(1).max(1);
    let width = map.width / to_float(columns as u64);
    let whole = f64::from(SRAM.end - SRAM.start);
    let mut start = 0;
    for bars in view.lifetimes.most_live(columns).chunk_by(PartialEq::eq) {
        let from = start;
        start += bars.len();
        let Some(bytes) = bars[0] else { continue };
        let height = (to_float(bytes) / whole).min(1.0) * SUMS;
        let bar = Rect {
            x: map.x + width * to_float(from as u64),
            y: frame.y + SUMS - height,
            width: width * to_float(bars.len() as u64),
            height,
        };
        scene.fill(bar, palette.accent.with_alpha(190));
    }
    let label = (map.x - 6.0, frame.y + 6.0);
    scene.text(label, Anchor::End, "live", palette.muted);
    let bottom = frame.y + SUMS + 9.0;
    let Lifetimes {
        whole, in_cycles, ..
    } = view.lifetimes;
    let first = match in_cycles {
        true => format!("cycle {}", text::count(whole.start)),
        false => format!("item {}", whole.start),
    };
    scene.text((map.x, bottom), Anchor::Start, &first, palette.muted);
    let last = text::count(whole.end);
    let right = (map.x + map.width, bottom);
    scene.text(right, Anchor::End, &last, palette.muted);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::view::Span;
    use crate::timeline::paint::paint;
    use crate::timeline::surface::RecordingSurface;
    use expect_test::{Expect, expect};

    fn block(address: u32, bytes: u32) -> Block {
        Block {
            address,
            end: address + bytes,
            first: 0,
            after: 4,
            label: "weights".to_owned(),
            said: String::new(),
        }
    }

    /// Two blocks; the second one is live in the second quarter, and at some time in the last one.
    fn placed() -> ([Block; 2], Lifetimes) {
        let blocks = [block(0x4_c000, 0x4000), block(0x8_0000, 0x8000)];
        let stretch = |at, is_whole| Stretch { at, is_whole };
        let lifetimes = Lifetimes {
            whole: 1_000..1_400,
            in_cycles: true,
            of_blocks: vec![
                vec![stretch(1_000..1_400, true)],
                vec![stretch(1_100..1_200, true), stretch(1_300..1_400, false)],
            ],
            live: vec![
                (1_000..1_100, 0x4000),
                (1_100..1_200, 0xc000),
                (1_300..1_400, 0x4000),
            ],
        };
        (blocks, lifetimes)
    }

    const GUTTER: f64 = 44.0;
    const SIZE: Size = Size {
        width: GUTTER + 100.0,
        height: TOP + 312.0 + SUMS + GAP + RULER,
    };

    fn check(log: &str, first: usize, count: usize, expected: &Expect) {
        let lines: Vec<&str> = log.lines().skip(first).take(count).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn blocks_lie_at_their_addresses_and_cycles() {
        let (blocks, lifetimes) = placed();
        let viewport = Viewport::whole(2_000, 4).with_span(Span {
            from: 1_000,
            to: 1_400,
        });
        let at = cursor::At {
            cycle: 1_200,
            clock_hz: 0,
        };
        let view = MemoryView {
            size: SIZE,
            blocks: &blocks,
            lifetimes: &lifetimes,
            pointed: None,
            cursor: Some((at, &viewport)),
            theme: Theme::Light,
        };
        let mut surface = RecordingSurface::default();
        paint(&scene(&view), &mut surface);
        let log = surface.log;
        check(
            &log,
            0,
            11,
            &expect![[r#"
            clear
            fill 44.0,20.0 100.0x312.0 #f1f3f5ff
            fill 44.0,20.0 100.0x8.0 #b15aa1ff
            fill 44.0,20.0 100.0x0.5 #ffffffff
            fill 69.0,124.0 25.0x16.0 #b15aa1ff
            fill 69.0,124.0 25.0x0.5 #ffffffff
            fill 119.0,124.0 25.0x16.0 #b15aa15a
            fill 119.0,124.0 25.0x0.5 #ffffffff
            text 38.0,10.0 End #5c6873ff "0x"
            fill 44.0,20.0 100.0x0.5 #d5dae078
            text 38.0,26.0 End #5c6873ff "4c000""#]],
        );
        let lines = log.lines().count();
        check(
            &log,
            lines - 10,
            10,
            &expect![[r#"
            fill 44.0,342.0 100.0x56.0 #f1f3f5ff
            fill 44.0,396.6 25.0x1.4 #0b5cadbe
            fill 69.0,393.7 25.0x4.3 #0b5cadbe
            fill 119.0,396.6 25.0x1.4 #0b5cadbe
            text 38.0,348.0 End #5c6873ff "live"
            text 44.0,407.0 Start #5c6873ff "cycle 1\u{202f}000"
            text 144.0,407.0 End #5c6873ff "1\u{202f}400"
            fill 94.0,20.0 1.0x378.0 #0b5cad96
            fill 71.5,0.0 45.0x16.0 #0b5cadff
            text 94.0,8.0 Middle #ffffffff "1\u{202f}200""#]],
        );
    }

    #[test]
    fn the_block_under_the_pointer_is_found() {
        let (blocks, lifetimes) = placed();
        let at = |x, y| block_at(SIZE, &blocks, &lifetimes, (x, y));
        assert_eq!(at(GUTTER + 5.0, TOP + 2.0), Some(0));
        assert_eq!(at(GUTTER + 30.0, TOP + 104.0 + 3.0), Some(1));
        assert_eq!(at(GUTTER + 60.0, TOP + 104.0 + 3.0), None);
        assert_eq!(at(GUTTER + 80.0, TOP + 104.0 + 3.0), Some(1));
        assert_eq!(at(3.0, TOP + 2.0), None);
    }
}
