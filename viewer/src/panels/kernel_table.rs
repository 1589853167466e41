//! The table: every figure of the query, sorted by any column. Every row is always there, but for
//! what Find leaves out, or where the kernel in focus alone was asked for.

use std::sync::Arc;

use leptos::prelude::*;

use super::copy::CopyButton;
use super::data_table::{RowHeading, follow, is_focused};
use super::menu::Menu;
use crate::browser::{self, Text};
use crate::engine::list::{Press, number};
use crate::engine::protocol::Request;
use crate::engine::table::{self, COLUMNS, Column, Row, TableAnswer};
use crate::state::actions::{App, use_app};
use crate::state::derived::use_derived;
use crate::state::view::{Grouping, KindFilter};

/// Before a metadata name in the menu.
const METADATA: &str = "key=";

/// Figures whose share is drawn behind them.
const BARS: [&str; 4] = [
    "usefulUtilization",
    "workCycleFraction",
    "workLaneOccupancy",
    "deviceUsefulUtilization",
];

/// The table with its controls.
#[component]
pub(crate) fn KernelTable() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    Effect::new(move |_| {
        if let Some(asked) = derived.table_asked.get() {
            app.ask(Request::Table(asked));
        }
    });
    let notes = move || {
        let note = |it| view! { <p class="note">{it}</p> };
        let said = app.table.with(|it| it.as_ref().map(|it| said(it)));
        said.unwrap_or_default()
            .into_iter()
            .map(note)
            .collect_view()
    };
    let state = move || {
        let asked = derived.table_asked.get();
        app.table.with(|table| match table {
            Some(table) if asked.as_ref() != Some(&table.asked) => "pending",
            Some(table) if table.is_from_file => "summed",
            Some(_) => "ready",
            None => "pending",
        })
    };
    let heading = |column| view! { <Heading column/> };
    view! {
        <section class="figures" data-testid="kernel-table" data-panel data-state=state>
            <TableControls/>
            {notes}
            <div class="scroll" tabindex="0" role="region" aria-label="Figures">
                <table>
                    <thead><tr>
                        {move || columns(derived.all_figures.get()).map(heading).collect_view()}
                    </tr></thead>
                    <tbody><Rows/></tbody>
                    <tfoot><Total/></tfoot>
                </table>
            </div>
        </section>
    }
}

/// What a reader should know first.
fn said(table: &TableAnswer) -> Vec<String> {
    let lack = table.asked.kind.lack(table.asked.kernel.as_deref());
    let warnings = table.warnings.iter().cloned();
    lack.map(str::to_owned)
        .into_iter()
        .chain(warnings)
        .collect()
}

/// The columns that are shown.
fn columns(all: bool) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(move |it| all || it.is_usual)
}

#[component]
fn TableControls() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let sort = move || app.view.with(|view| view.sort.clone());
    let words = Memo::new(move |_| Some(table::words(&derived.table_asked.get()?, &sort())));
    let command = Memo::new(move |_| {
        let disk = app.on_disk()?;
        let command = table::to_command(&words.get()?, &disk.file);
        Some(disk.command(&command))
    });
    let json = move |()| {
        let request = Request::Json(words.get_untracked()?);
        Some(Text::Promised(app.ask_json(request)))
    };
    let of = Signal::derive(move || command.with(|_| ()));
    view! {
        <div class="controls">
            <h2>"Where the cycles went"</h2>
            <Choices/>
            <Find/>
            <AllFigures/>
            <span class="hint">"the whole run, whatever is in view"</span>
            <CopyButton id="copy-command" label="Copy as command"
                title="Copy the command that prints the same figures as JSON: every row, whatever \
                       Find keeps, in the command's order of the same column"
                text=Callback::new(move |()| command.get_untracked().map(Text::Here)) of/>
            <CopyButton id="copy-json" label="Copy JSON"
                title="Copy the figures as the JSON that profile-query prints, every row of it"
                text=Callback::new(json) of/>
        </div>
    }
}

/// What a row stands for, and which samples count.
#[component]
fn Choices() -> impl IntoView {
    let group = |app: App, value: &str| {
        app.change_view(|view| match value.strip_prefix(METADATA) {
            Some(key) => {
                view.by = Grouping::Metadata;
                key.clone_into(&mut view.panels.key);
            }
            None => {
                view.by = Grouping::from_name(value).unwrap_or_default();
                view.panels.key.clear();
            }
        });
    };
    let plain = Grouping::ALL
        .into_iter()
        .filter(|it| *it != Grouping::Metadata);
    view! {
        <Menu id="group-by" label="by" items=plain.map(|it| (it.name(), it.name())).collect()
            chosen=|view| view.by.name() choose=group>
            <MetadataNames/>
        </Menu>
        <Menu id="kind" label="of"
            items=KindFilter::ALL.map(|it| (it.name(), it.label())).to_vec()
            chosen=|view| view.kind.name()
            choose=|app, name| app.change_view(|view| {
                view.kind = KindFilter::from_name(name).unwrap_or_default();
            })/>
    }
}

/// Shows every figure of the query, or the usual ones.
#[component]
fn AllFigures() -> impl IntoView {
    let app = use_app();
    let is_on = move || app.view.with(|view| view.panels.all_figures);
    let press = move |_| {
        app.change_view(|view| view.panels.all_figures = !view.panels.all_figures);
    };
    view! {
        <button type="button" class="quiet" data-testid="all-figures"
            aria-pressed=move || is_on().to_string()
            title="Every figure of the query, or the usual ones" on:click=press>
            "All figures"
        </button>
    }
}

/// The names of metadata that rows can stand for.
#[component]
fn MetadataNames() -> impl IntoView {
    let app = use_app();
    let names = move || {
        let summary = app.load.with(|load| load.summary().cloned());
        summary
            .map(|it| it.metadata_names.clone())
            .unwrap_or_default()
    };
    let option = move |name: String| {
        let value = format!("{METADATA}{name}");
        let label = name.clone();
        let is_chosen = move || {
            app.view
                .with(|view| view.by == Grouping::Metadata && view.panels.key == name)
        };
        view! { <option value=value prop:selected=is_chosen>{label}</option> }
    };
    view! {
        <Show when=move || !names().is_empty()>
            <optgroup label="metadata">
                {move || names().into_iter().map(option).collect_view()}
            </optgroup>
        </Show>
    }
}

/// Keeps the rows whose name holds a text; the total of the query stays what it is.
#[component]
fn Find() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let typed = move |event| app.change_view(|view| view.find = event_target_value(&event));
    let is_narrowed = move || app.view.with(|view| !view.find.is_empty());
    let counts = move || {
        let all = app
            .table
            .with(|it| it.as_ref().map_or(0, |it| it.rows.len()));
        format!("{} of {all} rows", derived.order.with(Vec::len))
    };
    view! {
        <label class="choice" title="Show the rows whose name holds this text (/)">
            "Find"
            <input type="text" class="find" data-find data-testid="find" on:input=typed
                prop:value=move || app.view.with(|view| view.find.clone())/>
        </label>
        <Show when=is_narrowed>
            <output class="range" data-testid="found">{counts}</output>
        </Show>
    }
}

#[component]
fn Heading(
    /// The column under the heading.
    column: &'static Column,
) -> impl IntoView {
    let app = use_app();
    let sorted = move || {
        app.view.with(
            |view| match (view.sort.column == column.id, view.sort.ascending) {
                (false, _) => "none",
                (true, true) => "ascending",
                (true, false) => "descending",
            },
        )
    };
    let heading = move || match column.id {
        // Of the rows that are there, until those of another grouping are.
        "name" => app.table.with(|table| match table {
            Some(table) if !table.asked.key.is_empty() => table.asked.key.clone(),
            Some(table) => table.asked.by.heading().to_owned(),
            None => app.view.with(|view| view.by.heading().to_owned()),
        }),
        _ => column.heading.to_owned(),
    };
    let press = move |_| app.change_view(|view| view.sort = view.sort.pressed(column.id));
    view! {
        <th scope="col" aria-sort=sorted data-column=column.id>
            <button type="button" title=column.meaning on:click=press
                data-testid=format!("sort-{}", column.id)>{heading}</button>
        </th>
    }
}

/// All rows in order. A focus changes an attribute of a row; which rows there are is the answer's.
#[component]
fn Rows() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let rows = move || {
        let Some(table) = app.table.get() else {
            return Vec::new();
        };
        derived.order.with(|order| {
            let row = |&at: &usize| table.rows.get(at).cloned().map(Arc::new);
            order.iter().filter_map(row).collect::<Vec<_>>()
        })
    };
    // A row with other figures is another row; sorting moves rows as they are.
    let key = |row: &Arc<Row>| {
        let figures = row.cells.iter().map(|it| it.raw.clone());
        let does = match row.press {
            Press::Kernel(_) => "focus",
            _ => "",
        };
        let key = figures.chain(std::iter::once(does.to_owned()));
        key.collect::<Vec<String>>()
    };
    let children = |row| view! { <TableRow row/> };
    view! { <For each=rows key children/> }
}

/// All samples that count together, whatever rows Find keeps.
#[component]
fn Total() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let total = move || app.table.with(|it| it.as_ref()?.total.clone());
    let row = move |row: Row| {
        view! {
            <tr data-testid="kernel-total">
                <th scope="row">{row.name}</th>
                {cells_view(derived.all_figures.get(), &row.cells)}
            </tr>
        }
    };
    view! { {move || total().map(row)} }
}

#[component]
fn TableRow(
    /// The group of the row.
    row: Arc<Row>,
) -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let press = StoredValue::new(row.press.clone());
    let is_focused = Memo::new(move |_| press.with_value(|press| is_focused(app, press)));
    let pressed = move || {
        let clock = app.table.with_untracked(|it| {
            it.as_ref()
                .map_or_else(Default::default, |it| it.asked.clock)
        });
        follow(app, clock, &press.get_value());
    };
    let can_press = row.press != Press::Nothing;
    let name = row.name.clone();
    let label = name.clone();
    let name_raw = row.cells.first().map(|it| it.raw.clone());
    let figures = StoredValue::new(row.cells.clone());
    let cells = move || figures.with_value(|cells| cells_view(derived.all_figures.get(), cells));
    view! {
        <tr data-testid="kernel-row" data-name=name class:focused=is_focused class:still=!can_press
            on:click=move |event| {
                // The button inside has its own click.
                if can_press && !browser::is_inside_button(&event) { pressed() }
            }>
            <th scope="row" data-column="name" data-raw=name_raw>
                <RowHeading label press can_press pressed=Callback::new(move |()| pressed())/>
            </th>
            {cells}
        </tr>
    }
}

/// The cells of the columns that are shown.
fn cells_view(all: bool, cells: &[table::Cell]) -> impl IntoView + use<> {
    let shown = COLUMNS.iter().zip(cells).skip(1);
    let shown = shown.filter(|(column, _)| all || column.is_usual);
    shown
        .map(|(column, cell)| cell_view(column, cell))
        .collect_view()
}

fn cell_view(column: &'static Column, cell: &table::Cell) -> impl IntoView + use<> {
    let share = BARS
        .contains(&column.id)
        .then(|| number(&cell.raw))
        .flatten();
    let fill = share.map(|it| format!("{:.1}%", it.clamp(0.0, 1.0) * 100.0));
    let is_unknown = cell.raw == "null";
    view! {
        <td data-testid=format!("cell-{}", column.id) data-column=column.id
            data-raw=cell.raw.clone() class:share=fill.is_some() class:unknown=is_unknown
            style=("--fill", fill)>
            {cell.text.clone()}
        </td>
    }
}
