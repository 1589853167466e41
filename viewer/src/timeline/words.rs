//! Pictures in words, for those who do not see them: what is in view and what it was spent on, from
//! sums that are on the page already.

use analytics::text;
use analytics::timeline::CellKind;
use analytics::units::Cycles;
use leptos::prelude::*;

use super::viewport::{Viewport, rounded, to_float};
use crate::engine::list::{ListRow, Press, number};
use crate::engine::raster::StripAnswer;
use crate::engine::spent::{SHARE, SpentAnswer};
use crate::engine::table::{COLUMNS, Row, TableAnswer};
use crate::state::actions::App;
use crate::state::derived::Derived;
use crate::state::view::Span;

/// Kernels that are named.
const KERNELS: usize = 3;
/// Kinds in the order of reading.
const KINDS: [CellKind; 5] = [
    CellKind::Compute,
    CellKind::Exchange,
    CellKind::Synchronization,
    CellKind::Idle,
    CellKind::Unknown,
];

/// The timeline in words, as they change.
pub(super) fn description(app: App, derived: Derived) -> impl Fn() -> String {
    let largest = Memo::new(move |_| app.table.with(|it| largest(it.as_deref()?)));
    move || {
        let Some(viewport) = derived.viewport.get() else {
            return String::new();
        };
        let spent = app.spent.with(|it| {
            let of_view = it.as_ref().filter(|it| is_of(it, app, &viewport));
            of_view.map(|it| spent_in_words(it))
        });
        let content = spent.unwrap_or_else(|| {
            let clock = app.view.with(|view| view.clock);
            let kinds = app
                .strip
                .with(|it| kinds_in_words(it.as_ref()?.on(clock)?, viewport.span));
            let kinds = kinds.map(|it| format!(" Of these cycles on all tiles: {it}."));
            let kernel = largest
                .get()
                .map(|it| format!(" Of the run's kernels, {it}."));
            kinds.unwrap_or_default() + &kernel.unwrap_or_default()
        });
        extent(app, &viewport) + &content + " Figures are in the table below."
    }
}

/// What is in view.
fn extent(app: App, viewport: &Viewport) -> String {
    let (clock, focus) = app
        .view
        .with(|view| (view.clock.name(), view.kernel.clone()));
    let tiles = viewport.tiles.end - viewport.tiles.start;
    let focus = focus
        .map(|it| format!(", kernel {it} in focus"))
        .unwrap_or_default();
    format!(
        "Timeline of {tiles} tiles, cycles {} to {} of {} on the {clock} clock{focus}.",
        viewport.span.from, viewport.span.to, viewport.run
    )
}

/// Whether the sums are those of what is in view.
fn is_of(spent: &SpentAnswer, app: App, viewport: &Viewport) -> bool {
    let asked = &spent.asked;
    asked.clock == app.view.with(|view| view.clock)
        && (asked.from..asked.to) == (viewport.span.from..viewport.span.to)
        && (asked.tile_from..asked.tile_to) == viewport.tiles
}

/// What a part was spent on: its kinds, then its largest kernels.
fn spent_in_words(spent: &SpentAnswer) -> String {
    let is_kernel = |it: &&ListRow| matches!(it.press, Press::Kernel(_));
    let said = |row: &ListRow| {
        let what = if is_kernel(&row) { "kernel " } else { "" };
        format!("{what}{} {}", row.cells[0].text, row.cells[SHARE].text)
    };
    let rows = &spent.rows.rows;
    let kinds = rows.iter().filter(|it| !is_kernel(it));
    let kernels = rows.iter().filter(is_kernel).take(KERNELS);
    let said: Vec<String> = kinds.chain(kernels).map(said).collect();
    match said.is_empty() {
        true => " Nothing was recorded in view.".to_owned(),
        false => format!(" In view: {}.", said.join(", ")),
    }
}

/// Shares of the kinds over some cycles of all tiles; those without a share are left out.
pub(super) fn kinds_in_words(strip: &StripAnswer, span: Span) -> Option<String> {
    const WHOLE: f64 = 65_535.0;
    let at = |cycle: u64| to_float(cycle) / to_float(strip.run.max(1)) * f64::from(strip.columns);
    let columns = strip.shares.chunks_exact(CellKind::COUNT);
    let from = usize::try_from(rounded(at(span.from).floor())).unwrap_or(0);
    let to = usize::try_from(rounded(at(span.to).ceil())).unwrap_or(usize::MAX);
    let (mut sums, mut count) = ([0_u64; CellKind::COUNT], 0_u64);
    for column in columns.take(to).skip(from) {
        count += 1;
        for (sum, share) in sums.iter_mut().zip(column) {
            *sum += u64::from(*share);
        }
    }
    let shown = KINDS.into_iter().filter_map(|kind| {
        let sum = sums[kind as usize];
        let share = to_float(sum) / to_float(count) / WHOLE;
        (sum > 0).then(|| format!("{} {}", kind.name(), text::percent(Some(share))))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// The kernel of a table by kernel that took most, with its part; of one kernel there is no most.
fn largest(table: &TableAnswer) -> Option<String> {
    if table.asked.kernel.is_some() {
        return None;
    }
    let at = COLUMNS.iter().position(|it| it.id == "workCycles")?;
    let cycles = |row: &Row| number(&row.cells.get(at)?.raw);
    let mut most: Option<(&str, f64)> = None;
    for row in &table.rows {
        if let (Press::Kernel(kernel), Some(cycles)) = (&row.press, cycles(row))
            && most.is_none_or(|it| cycles > it.1)
        {
            most = Some((kernel, cycles));
        }
    }
    let (kernel, taken) = most?;
    let all = cycles(table.total.as_ref()?)?;
    let share = text::percent(Cycles::new(rounded(taken)).share_of(Cycles::new(rounded(all))));
    Some(format!(
        "{kernel} took most: {share} of the tile cycles in the table"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::list::List;
    use crate::engine::spent::SpentAsked;
    use crate::engine::table::Cell;
    use crate::state::view::Metric;
    use analytics::clock::ClockKind;

    #[test]
    fn the_strip_is_told_for_the_cycles_in_view() {
        // Exchange, compute, synchronization, idle, unknown; the second column is all compute.
        let strip = StripAnswer {
            clock: ClockKind::Cropped,
            columns: 2,
            run: 100,
            shares: vec![13_107, 26_214, 13_107, 0, 0, 0, 65_535, 0, 0, 0],
        };
        let said = |from, to| kinds_in_words(&strip, Span { from, to });
        let whole = "compute 70.0 %, exchange 10.0 %, synchronization 10.0 %";
        assert_eq!(said(0, 100).as_deref(), Some(whole));
        let first = "compute 40.0 %, exchange 20.0 %, synchronization 20.0 %";
        assert_eq!(said(0, 50).as_deref(), Some(first));
        assert_eq!(said(60, 61).as_deref(), Some("compute 100.0 %"));
        let nothing = StripAnswer {
            shares: vec![0; 10],
            ..strip
        };
        assert_eq!(kinds_in_words(&nothing, Span { from: 0, to: 100 }), None);
    }

    #[test]
    fn a_part_is_told_by_its_kinds_and_its_largest_kernels() {
        let mut rows = List::new(&[("name", "", ""), ("cycles", "", ""), ("share", "", "")]);
        let mut push = |name: &str, press, share| {
            let cells = vec![Cell::name(name), Cell::count(0), Cell::share(Some(share))];
            rows.push(press, cells);
        };
        push("compute", Press::Nothing, 0.43);
        push("exchange", Press::Nothing, 0.12);
        for name in ["a", "b", "c", "d"] {
            push(name, Press::Kernel(name.to_owned()), 0.09);
        }
        let spent = SpentAnswer {
            asked: SpentAsked {
                clock: ClockKind::Cropped,
                from: 0,
                to: 9,
                tile_from: 0,
                tile_to: 1,
                focus: None,
                metric: Metric::Compute,
            },
            rows,
            tiles: Vec::new(),
        };
        assert_eq!(
            spent_in_words(&spent),
            " In view: compute 43.0 %, exchange 12.0 %, kernel a 9.0 %, kernel b 9.0 %, \
             kernel c 9.0 %."
        );
    }

    #[test]
    fn the_kernel_that_took_most_is_named_with_its_part() {
        let row = |name: &str, kernel: Option<&str>, cycles: u32| Row {
            name: name.to_owned(),
            press: kernel.map_or(Press::Nothing, |it| Press::Kernel(it.to_owned())),
            cells: vec![
                Cell::name(name),
                Cell {
                    text: String::new(),
                    raw: cycles.to_string(),
                },
            ],
        };
        let table = |kernel| TableAnswer {
            rows: vec![row("add", kernel, 30), row("gemm", Some("gemm"), 60)],
            total: Some(row("All", None, 120)),
            ..TableAnswer::default()
        };
        let said = "gemm took most: 50.0 % of the tile cycles in the table";
        assert_eq!(largest(&table(Some("add"))).as_deref(), Some(said));
        let mut by_phase = table(None);
        by_phase.rows.pop();
        assert_eq!(largest(&by_phase), None, "rows are no kernels");
    }
}
