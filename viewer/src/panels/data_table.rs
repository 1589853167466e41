//! A table of an answer: sorted by any column, narrowed by a text, copied whole. Rows do what their
//! answer says: bring cycles or a tile into view, or focus a kernel.

use std::sync::Arc;

use analytics::clock::ClockKind;
use analytics::text;
use analytics::timeline::CellKind;
use leptos::prelude::*;

use super::copy::CopyButton;
use crate::browser::{self, Text};
use crate::engine::list::{List, ListColumn, ListRow, Press};
use crate::engine::table::Cell;
use crate::state::actions::{App, use_app};
use crate::state::derived::{room, use_derived};
use crate::state::kind_choice::kind_called;
use crate::state::listed;
use crate::state::view::{Sort, Span, TileIds, ViewState};

/// Rows that are shown before somebody asks for all.
const ROWS_MAX: usize = 100;

/// Which table it is.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Name for tests, and for the table's place in the page.
    pub(crate) id: &'static str,
    /// What a screen reader calls it.
    pub(crate) label: &'static str,
    /// The panel's own table keeps its order in the link.
    pub(crate) is_main: bool,
}

/// Order and narrowing of one table.
#[derive(Clone, Copy)]
struct Shown {
    kind: Kind,
    list: Memo<Option<Arc<List>>>,
    own_order: RwSignal<Option<Sort>>,
    find: RwSignal<String>,
    is_whole: RwSignal<bool>,
}

impl Shown {
    fn order(self, app: App) -> Option<Sort> {
        if self.kind.is_main {
            app.view.with(|view| view.panels.order.clone())
        } else {
            self.own_order.get()
        }
    }

    fn press_heading(self, app: App, column: &str) {
        let next = listed::pressed(untrack(|| self.order(app)).as_ref(), column);
        if self.kind.is_main {
            app.change_view(|view| view.panels.order = next);
        } else {
            self.own_order.set(next);
        }
    }

    /// Positions of the rows in order.
    fn rows(self, app: App) -> Vec<usize> {
        let order = self.order(app);
        self.list.with(|list| match list {
            Some(list) => self
                .find
                .with(|find| listed::shown(list, order.as_ref(), find)),
            None => Vec::new(),
        })
    }
}

/// The table with its heading line.
#[component]
pub(super) fn DataTable(
    /// Which table it is.
    kind: Kind,
    /// What it shows.
    list: Memo<Option<Arc<List>>>,
    /// The clock of cycles in its rows.
    #[prop(into)]
    clock: Signal<ClockKind>,
    /// Called with the position of a pressed row, before the page follows.
    #[prop(optional, into)]
    on_press: Option<Callback<usize>>,
) -> impl IntoView {
    let app = use_app();
    let shown = Shown {
        kind,
        list,
        own_order: RwSignal::new(None),
        find: RwSignal::new(String::new()),
        is_whole: RwSignal::new(false),
    };
    let rows = Memo::new(move |_| shown.rows(app));
    // Words that were looked for in one sort of rows are in none of another.
    let sort =
        Memo::new(move |_| list.with(|it| Some(it.as_ref()?.columns.first()?.heading.clone())));
    Effect::new(move |before: Option<Option<String>>| {
        let sort = sort.get();
        if before.flatten().is_some_and(|before| Some(before) != sort) {
            shown.find.set(String::new());
        }
        sort
    });
    let columns = move || {
        list.with(|it| it.as_ref().map(|it| it.columns.clone()))
            .unwrap_or_default()
    };
    let heading = move |column| view! { <Heading shown column/> };
    let visible = move || {
        let limit = if shown.is_whole.get() {
            usize::MAX
        } else {
            ROWS_MAX
        };
        let list = list.get();
        let row = |&at: &usize| Some((at, list.as_ref()?.rows.get(at)?.clone()));
        rows.with(|rows| rows.iter().take(limit).filter_map(row).collect::<Vec<_>>())
    };
    let row = move |(at, row)| view! { <Row row at clock on_press/> };
    view! {
        <div class="data-table" data-testid=kind.id>
            <TableBar shown rows/>
            <div class="scroll" tabindex="0" role="region" aria-label=kind.label>
                <table>
                    <thead><tr>
                        {move || columns().into_iter().map(heading).collect_view()}
                    </tr></thead>
                    <tbody>{move || visible().into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
            <More shown rows/>
        </div>
    }
}

/// Finding and copying.
#[component]
fn TableBar(
    /// The table.
    shown: Shown,
    /// Positions of its rows.
    rows: Memo<Vec<usize>>,
) -> impl IntoView {
    let of = Signal::derive(move || rows.with(|_| ()));
    let copy = move |write: fn(&List, &[usize]) -> String| {
        Callback::new(move |()| {
            shown.list.with_untracked(|list| {
                let list = list.as_ref()?;
                Some(Text::Here(rows.with_untracked(|rows| write(list, rows))))
            })
        })
    };
    let all = move || {
        shown
            .list
            .with(|it| it.as_ref().map_or(0, |it| it.rows.len()))
    };
    let typed = move |event| shown.find.set(event_target_value(&event));
    let id = shown.kind.id;
    view! {
        <div class="table-bar">
            <label class="choice">"Find"
                <input type="text" class="find" data-find data-testid=format!("{id}-find")
                    prop:value=shown.find on:input=typed/>
            </label>
            <output class="range">
                {move || {
                    let (some, all) = (rows.with(Vec::len), all());
                    let noun = if all == 1 { "row" } else { "rows" };
                    let [shown, whole] = [some, all].map(|it| text::count(it as u64));
                    match some == all {
                        true => format!("{whole} {noun}"),
                        false => format!("{shown} of {whole} {noun}"),
                    }
                }}
            </output>
            <CopyButton id=format!("{id}-csv") label="Copy CSV"
                title="Copy these rows as comma-separated values" text=copy(List::csv) of/>
            <CopyButton id=format!("{id}-json") label="Copy JSON" title="Copy these rows as JSON"
                text=copy(List::json) of/>
        </div>
    }
}

#[component]
fn Heading(
    /// The table.
    shown: Shown,
    /// The column under the heading.
    column: ListColumn,
) -> impl IntoView {
    let app = use_app();
    let id = StoredValue::new(column.id);
    let sorted = move || match shown.order(app) {
        Some(order) if id.with_value(|id| *id == order.column) => match order.ascending {
            true => "ascending",
            false => "descending",
        },
        _ => "none",
    };
    // Words start at the left like their heading.
    let is_words = shown.list.with_untracked(|list| {
        let list = list.as_ref()?;
        let at = id.with_value(|id| list.columns.iter().position(|it| it.id == *id))?;
        Some(list.rows.iter().any(|it| it.cells[at].raw.starts_with('"')))
    });
    let is_words = is_words.unwrap_or_default();
    let press = move |_| shown.press_heading(app, &id.get_value());
    view! {
        <th scope="col" aria-sort=sorted data-column=id.get_value() class:words=is_words>
            <button type="button" title=column.meaning on:click=press>{column.heading}</button>
        </th>
    }
}

#[component]
fn Row(
    /// Its figures.
    row: ListRow,
    /// Its position in the answer.
    at: usize,
    /// The clock of its cycles.
    clock: Signal<ClockKind>,
    /// Told of a press before the page follows.
    on_press: Option<Callback<usize>>,
) -> impl IntoView {
    let app = use_app();
    let ListRow { cells, press, bar } = row;
    let can_press = press != Press::Nothing;
    let press = StoredValue::new(press);
    let is_focused = move || press.with_value(|press| is_focused(app, press));
    let pressed = move || {
        if let Some(on_press) = on_press {
            on_press.run(at);
        }
        follow(app, clock.get_untracked(), &press.get_value());
    };
    let name = cells.first().map(|it| it.text.clone()).unwrap_or_default();
    let label = name.clone();
    let cells = figures(cells, bar);
    view! {
        <tr data-testid="list-row" data-name=name class:focused=is_focused class:still=!can_press
            on:click=move |event| {
                // The button inside has its own click.
                if can_press && !browser::is_inside_button(&event) { pressed() }
            }>
            <th scope="row">
                <RowHeading label press can_press pressed=Callback::new(move |()| pressed())/>
            </th>
            {cells}
        </tr>
    }
}

/// Whether a row stands for the focused kernel.
pub(super) fn is_focused(app: App, press: &Press) -> bool {
    match press {
        Press::Kernel(kernel) => app.view.with(|view| view.kernel.as_ref() == Some(kernel)),
        _ => false,
    }
}

/// The name of a row; a button where pressing the row does something.
#[expect(
    clippy::needless_pass_by_value,
    reason = "components own what they show"
)]
#[component]
pub(super) fn RowHeading(
    /// The name.
    label: String,
    /// What pressing the row does.
    press: StoredValue<Press>,
    /// Whether it does anything.
    can_press: bool,
    /// Does it.
    pressed: Callback<()>,
) -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    if !can_press {
        return view! { <span class="row-label"><span>{breakable(&label)}</span></span> }
            .into_any();
    }
    let (is_kernel, title) = press.with_value(|press| match press {
        Press::Nothing | Press::Panel => (false, None),
        Press::Jump(..) => (false, Some("Bring these cycles into view")),
        Press::Tile(_) => (false, Some("Bring this tile into view")),
        Press::Kernel(_) => (
            true,
            Some("Focus this kernel in the timeline; again to clear"),
        ),
    });
    let colour = move || {
        let theme = app.theme.get();
        press.with_value(|press| match press {
            Press::Kernel(kernel) => Some(match kind_called(kernel) {
                Some(kind) => theme.palette().of_kind(CellKind::of(kind)).css(),
                None => derived.hues.with(|hues| hues.colour(kernel, theme).css()),
            }),
            _ => None,
        })
    };
    let is_pressed =
        move || is_kernel.then(|| press.with_value(|press| is_focused(app, press)).to_string());
    view! {
        <button type="button" class="row-button" title=title aria-pressed=is_pressed
            on:click=move |_| pressed.run(())>
            {is_kernel.then(|| view! { <i style:background-color=colour></i> })}
            <span>{breakable(&label)}</span>
        </button>
    }
    .into_any()
}

/// A long name that may go on in the next line after an underscore, not just anywhere.
fn breakable(name: &str) -> impl IntoView + use<> {
    let pieces = name.split_inclusive('_').map(str::to_owned);
    pieces.map(|piece| view! { {piece}<wbr/> }).collect_view()
}

/// The cells after the first one.
fn figures(cells: Vec<Cell>, bar: Option<(usize, f64)>) -> impl IntoView {
    let one = move |(column, cell): (usize, Cell)| {
        let bar = bar.filter(|it| it.0 == column);
        let fill = bar.map(|it| format!("{:.1}%", it.1 * 100.0));
        let is_less = cell.raw.starts_with('-');
        let is_more = cell.text.starts_with('+');
        let is_text = cell.raw.starts_with('"');
        let is_unknown = cell.raw == "null";
        view! {
            <td class:share=fill.is_some() class:less=is_less class:more=is_more class:unknown=is_unknown class:words=is_text
                style=("--fill", fill) data-raw=cell.raw>{cell.text}</td>
        }
    };
    cells
        .into_iter()
        .enumerate()
        .skip(1)
        .map(one)
        .collect_view()
}

/// The way to the rest of a long table.
#[component]
fn More(
    /// The table.
    shown: Shown,
    /// Positions of its rows.
    rows: Memo<Vec<usize>>,
) -> impl IntoView {
    let rest = move || rows.with(Vec::len).saturating_sub(ROWS_MAX);
    view! {
        <Show when=move || { rest() > 0 && !shown.is_whole.get() }>
            <button type="button" class="more" on:click=move |_| shown.is_whole.set(true)>
                {move || format!("Show {} more rows", rest())}
            </button>
        </Show>
    }
}

/// Does what pressing a row asks for.
pub(super) fn follow(app: App, clock: ClockKind, press: &Press) {
    match press {
        Press::Nothing | Press::Panel => {}
        Press::Jump(from, to) => jump(app, clock, *from, *to),
        Press::Kernel(kernel) => app.change_view(|view| view.toggle_kernel(kernel)),
        Press::Tile(tile) => show_tile(app, *tile),
    }
}

/// Brings a physical tile into view.
pub(super) fn show_tile(app: App, tile: u32) {
    let tiles = TileIds {
        first: tile,
        last: tile,
    };
    app.jump_view(|view| view.show_tiles(tiles));
}

/// Brings cycles into view with some of what is around them.
fn jump(app: App, clock: ClockKind, from: u64, to: u64) {
    let run = app
        .load
        .with_untracked(|load| load.summary().map_or(u64::MAX, |it| it.run(clock)))
        .max(untrack(|| room(app)));
    app.jump_view(|view| bring(view, clock, run, from, to));
}

/// Shows cycles of a run of `run` cycles with some of what is around them.
pub(super) fn bring(view: &mut ViewState, clock: ClockKind, run: u64, from: u64, to: u64) {
    let around = (to.saturating_sub(from) / 4).max(8);
    view.set_clock(clock);
    view.span = Some(Span {
        from: from.saturating_sub(around),
        to: to.saturating_add(around).min(run).max(1),
    });
}
