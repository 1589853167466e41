//! The chip as a map of what its tiles compute more or less than in another profile.

use std::sync::Arc;

use analytics::text;
use leptos::prelude::*;

use super::asked::part;
use super::data_table::show_tile;
use super::legend::{Entry, swatch};
use crate::engine::compare::TileChange;
use crate::pictures::change;
use crate::state::actions::use_app;
use crate::theme::diverging;
use crate::timeline::chip;
use crate::timeline::component::next_id;
use crate::timeline::pointer::place;
use crate::timeline::scene::{Bitmap, Colour};
use crate::timeline::stage::{Stage, keep_painted};

/// The chip, coloured by what its tiles compute more or less.
#[component]
pub(super) fn ChangeMap() -> impl IntoView {
    let app = use_app();
    let Stage { host, canvas, size } = Stage::new();
    let pointed = RwSignal::new(None::<u32>);
    let tiles = part(app.panels.compare, |it| it.tiles.clone());
    let bitmap = Memo::new(move |_| -> Option<Arc<Bitmap>> {
        let palette = app.theme.get().palette();
        tiles.with(|it| Some(Arc::new(change::bitmap(it.as_ref()?, palette, next_id()))))
    });
    let scene = move || {
        let shown = app.view.with(|view| view.tiles);
        Some(chip::scene(
            size.get(),
            &bitmap.get()?,
            shown,
            app.theme.get().palette(),
        ))
    };
    keep_painted(canvas, size, scene);
    let moved = move |event: web_sys::PointerEvent| {
        let rows = bitmap.with_untracked(|it| it.as_ref().map_or(1, |it| it.rows));
        pointed.set(chip::tile_at(size.get_untracked(), rows, place(&event)));
    };
    let pressed = move |event: web_sys::MouseEvent| {
        let rows = bitmap.with_untracked(|it| it.as_ref().map_or(1, |it| it.rows));
        let tile = chip::tile_at(size.get_untracked(), rows, place(&event));
        if let Some(tile) = tile {
            show_tile(app, tile);
        }
    };
    let said = move || said(pointed.get(), &tiles.get().unwrap_or_default());
    let entries = move || {
        let quiet = app.theme.get().palette().idle;
        let largest = app
            .panels
            .compare
            .with(|it| it.as_ref().map_or(0, |it| it.largest));
        entries(largest, quiet)
    };
    view! {
        <div class="chip small" node_ref=host role="img" data-testid="change-map"
            aria-label="Map of the chip: change of compute cycles of each tile. The table of \
                        differences by tile has the same figures."
            on:pointermove=moved on:pointerleave=move |_| pointed.set(None) on:click=pressed>
            <canvas node_ref=canvas></canvas>
        </div>
        <ul class="legend" aria-label="Colours of the map of change">
            {move || entries().into_iter().map(swatch).collect_view()}
            <li><output class="range" data-testid="change-said">{said}</output></li>
        </ul>
    }
}

/// The tile under the pointer in words, else what the map is.
fn said(pointed: Option<u32>, tiles: &[TileChange]) -> String {
    let Some(tile) = pointed else {
        return "compute cycles of each tile: orange is more than before, blue is less; press one \
                to bring it into view"
            .to_owned();
    };
    let change = tiles.iter().find(|it| it.tile == tile).map(|it| it.change);
    match change {
        Some(change) => format!("tile {tile}: {} cycles", text::signed(change)),
        None => format!("tile {tile} computes in neither profile"),
    }
}

/// The colours with what they stand for.
fn entries(largest: u64, quiet: Colour) -> Vec<Entry> {
    let said = |share: f64| match share {
        0.0 => "no change".to_owned(),
        share => {
            let sign = if share < 0.0 { "-" } else { "+" };
            format!("{sign}{} cycles or more", text::count(largest))
        }
    };
    let shares = [-1.0, 0.0, 1.0].into_iter();
    let shares = shares.filter(|share| largest > 0 || *share == 0.0);
    shares
        .map(|it| (diverging(it, quiet).css(), said(it)))
        .collect()
}
