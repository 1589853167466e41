//! Who sends to whom: bytes between tiles, from a package.

use std::sync::Arc;

use analytics::text;
use leptos::prelude::*;

use super::asked::{CopyAnswer, command_of_package};
use super::legend::{Entry, Swatches};
use super::tile_axis::is_foreign;
use crate::engine::command;
use crate::engine::memory::{MatrixAnswer, MatrixAsked};
use crate::engine::protocol::Request;
use crate::pictures::matrix;
use crate::state::actions::{App, use_app};
use crate::timeline::canvas::device;
use crate::timeline::component::next_id;
use crate::timeline::layout::Size;
use crate::timeline::pointer::place;
use crate::timeline::scene::{Bitmap, Colour};
use crate::timeline::stage::{Stage, keep_painted};

/// Most cells on a side.
const CELLS_MAX: u32 = 736;

/// The matrix, or how to get it.
#[component]
pub(super) fn Matrix() -> impl IntoView {
    let app = use_app();
    let has_package = Memo::new(move |_| app.panels.package.with(|it| it.ready().is_some()));
    view! {
        <h3>"Who sends to whom"</h3>
        <Show when=move || is_foreign(app)>
            <p class="note" role="status" data-testid="foreign-package">
                "The open profile was recorded from another package, of another workload, \
                 compiler, plan or flags: this is traffic of the package, not of the profile."
            </p>
        </Show>
        <Show when=move || has_package.get() fallback=|| view! {
            <p class="note" data-testid="matrix-hint">
                "A profile does not say which tile sends to which. Drop the .ipuexe that it was \
                 recorded from on this page to see it."
            </p>
        }>
            <Cells/>
        </Show>
    }
}

/// The matrix of the open package, as fine as there is room for.
fn asked(app: App, size: Size) -> Option<MatrixAsked> {
    let package = app.panels.package.with(|it| it.ready().map(|it| it.0))?;
    let Size { width, height } = size;
    let side = device(width.min(height), crate::browser::pixel_ratio());
    (width > 0.0).then_some(MatrixAsked {
        package,
        cells: side.min(CELLS_MAX),
    })
}

#[component]
fn Cells() -> impl IntoView {
    let app = use_app();
    let answer = app.panels.matrix;
    let Stage { host, canvas, size } = Stage::new();
    let pointed = RwSignal::new(None::<(u32, u32)>);
    let asked = Memo::new(move |_| asked(app, size.get()));
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Matrix(asked));
        }
    });
    let state = move || {
        let answered = answer.with(|it| it.as_ref().and_then(|it| it.asked));
        if answered.is_some() && answered == asked.get() {
            "ready"
        } else {
            "pending"
        }
    };
    let bitmap = Memo::new(move |_| -> Option<Arc<Bitmap>> {
        let palette = app.theme.get().palette();
        answer.with(|it| Some(Arc::new(matrix::bitmap(it.as_ref()?, palette, next_id()))))
    });
    let scene = move || {
        let palette = app.theme.get().palette();
        Some(matrix::scene(
            size.get(),
            &*answer.get()?,
            &bitmap.get()?,
            palette,
        ))
    };
    keep_painted(canvas, size, scene);
    let moved = move |event: web_sys::PointerEvent| {
        let cells = answer.with_untracked(|it| it.as_ref().map_or(0, |it| it.cells));
        pointed.set(matrix::cell_at(size.get_untracked(), cells, place(&event)));
    };
    let said = move || {
        let at = pointed.get();
        let cell = answer.with(|it| Some(cell_in_words(it.as_ref()?, at?)));
        cell.unwrap_or_else(|| {
            "rows send, columns receive, in the order of physical tiles; the scale is logarithmic"
                .to_owned()
        })
    };
    let label = move || answer.with(|it| in_words(it.as_deref()));
    let answered = move || answer.with(|it| it.as_ref().and_then(|it| it.asked));
    let question = Signal::derive(move || answered().map(Request::MatrixJson));
    let command = command_of_package(answered, command::matrix);
    view! {
        <div class="picture square" node_ref=host role="img" data-testid="matrix" data-state=state
            aria-label=label
            on:pointermove=moved on:pointerleave=move |_| pointed.set(None)>
            <canvas node_ref=canvas data-testid="matrix-canvas"></canvas>
        </div>
        <div class="controls">
            <output class="range said" data-testid="matrix-said">{said}</output>
            <CopyAnswer id="matrix" asked=question command/>
        </div>
        <Swatches id="matrix-scale" label="Colours of the matrix" entries=move || scale(app)/>
    }
}

/// Colours of the matrix and the bytes that they stand for.
fn scale(app: App) -> Vec<Entry> {
    let palette = app.theme.get().palette();
    let levels = app
        .panels
        .matrix
        .with(|it| it.as_ref().map(|it| matrix::levels(it, palette)));
    let entry =
        |(colour, bytes): (Colour, u64)| (colour.css(), format!("{} bytes", text::count(bytes)));
    levels.into_iter().flatten().map(entry).collect()
}

/// The matrix with its main figures.
fn in_words(answer: Option<&MatrixAnswer>) -> String {
    let main = answer.and_then(|it| {
        let (at, count) = matrix::fullest(it)?;
        let all = u64::from(it.cells) * u64::from(it.cells);
        Some(format!(
            "; most goes {}; {} of {} cells have a byte",
            cell_in_words(it, at),
            text::count(u64::from(count)),
            text::count(all)
        ))
    });
    format!(
        "Bytes between tiles: rows send, columns receive{}",
        main.unwrap_or_default()
    )
}

fn cell_in_words(answer: &MatrixAnswer, (row, column): (u32, u32)) -> String {
    let tiles = |cell: u32| match answer.tiles.get(cell as usize) {
        Some((first, last)) if first == last => format!("tile {first}"),
        Some((first, last)) => format!("tiles {first}–{last}"),
        None => String::new(),
    };
    let bytes = matrix::bytes_of(answer, row, column);
    let at_least = if bytes == u32::MAX { "at least " } else { "" };
    let bytes = text::count(u64::from(bytes));
    format!(
        "{} → {}: {at_least}{bytes} bytes",
        tiles(row),
        tiles(column)
    )
}
