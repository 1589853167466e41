//! What follows from the state: memos, no stored copies.

use std::sync::Arc;

use leptos::prelude::*;

use super::actions::App;
use super::load::LoadState;
use super::rows;
use super::view::{Grouping, KindFilter, Lower, Rows, Selection, Span, TileIds, ViewState};
use crate::engine::phases::PhaseBar;
use crate::engine::protocol::TableAsked;
use crate::engine::raster::RowsAnswer;
use crate::engine::summary::Summary;
use crate::theme::KernelHues;
use crate::timeline::colour::Ink;
use crate::timeline::viewport::Viewport;

/// The memos that components share.
#[derive(Clone, Copy)]
pub(crate) struct Derived {
    /// What is in view; `None` without a profile.
    pub(crate) viewport: Memo<Option<Viewport>>,
    /// Whether another profile is shown below the timeline.
    pub(crate) is_compared: Memo<bool>,
    /// What the timeline shows: [`Self::viewport`], or all groups where rows are groups.
    pub(crate) plot: Memo<Option<Viewport>>,
    /// The groups that rows stand for; `None` where they are tiles.
    pub(crate) groups: Memo<Option<Arc<RowsAnswer>>>,
    /// The phase that was pressed, while phases are shown.
    pub(crate) phase: Memo<Option<PhaseBar>>,
    /// What is selected, as a viewport that it would fill.
    pub(crate) selected: Memo<Option<Viewport>>,
    /// A hue for each kernel, of a compared profile too.
    pub(crate) hues: Memo<Arc<KernelHues>>,
    /// Colours of kinds and kernels, with the focus.
    pub(crate) ink: Memo<Arc<Ink>>,
    /// Which table is shown.
    pub(crate) table_asked: Memo<Option<TableAsked>>,
    /// Whether the table of the run shows every figure.
    pub(crate) all_figures: Memo<bool>,
    /// Positions of the rows as they are shown.
    pub(crate) order: Memo<Vec<usize>>,
}

impl Derived {
    /// The memos of `app`.
    pub(crate) fn new(app: App) -> Self {
        let viewport = Memo::new(move |_| {
            let room = room(app);
            app.load.with(|load| {
                load.summary()
                    .map(|it| app.view.with(|view| viewport(view, it, room)))
            })
        });
        let (groups, plot) = of_rows(app, viewport);
        let selected = Memo::new(move |_| {
            app.load.with(|load| {
                let summary = load.summary()?;
                app.view.with(|view| selected(view, summary))
            })
        });
        let phase = Memo::new(move |_| pressed_phase(app));
        let hues = Memo::new(move |_| Arc::new(hues(app)));
        let focus = Memo::new(move |_| app.view.with(|view| view.kernel.clone()));
        let colouring = Memo::new(move |_| app.view.with(|view| view.colour));
        let ink = Memo::new(move |_| {
            let summary = app.load.with(|load| load.summary().cloned());
            let summary = summary.unwrap_or_default();
            let names = [&summary.kernels[..], &summary.operations[..]];
            let (focus, theme) = (focus.get(), app.theme.get());
            let ink = hues.with(|hues| Ink::new(names, hues, theme, focus.as_deref()));
            Arc::new(ink.with_colouring(colouring.get()))
        });
        let table_asked = Memo::new(move |_| {
            let is_open = app.load.with(LoadState::has_profile);
            let asked = app.view.with(|it| TableAsked {
                by: it.by,
                key: match it.by {
                    Grouping::Metadata => it.panels.key.clone(),
                    _ => String::new(),
                },
                kind: it.kind,
                kernel: it.kernel.clone().filter(|_| it.kind == KindFilter::Focus),
                clock: it.clock,
            });
            is_open.then_some(asked)
        });
        let shown =
            Memo::new(move |_| app.view.with(|view| (view.sort.clone(), view.find.clone())));
        let order = Memo::new(move |_| {
            app.table.with(|table| match table {
                Some(table) => shown.with(|(sort, find)| rows::shown(table, sort, find)),
                None => Vec::new(),
            })
        });
        Self {
            viewport,
            is_compared: Memo::new(move |_| compared(app).is_some()),
            plot,
            groups,
            phase,
            selected,
            hues,
            ink,
            table_asked,
            all_figures: Memo::new(move |_| app.view.with(|view| view.panels.all_figures)),
            order,
        }
    }
}

/// The memos, from any component.
pub(crate) fn use_derived() -> Derived {
    expect_context::<Derived>()
}

/// A hue for each kernel of the open profile; what only a compared one has gets its own, too.
fn hues(app: App) -> KernelHues {
    let names = |it: &Arc<Summary>| -> Vec<String> {
        let names = it.kernels.iter();
        names.map(|(_, name)| name.clone()).collect()
    };
    let open = app.load.with(|load| load.summary().map(names));
    let other = app.panels.compared().as_ref().map(names);
    let (open, other) = (open.unwrap_or_default(), other.unwrap_or_default());
    KernelHues::new(open.iter().map(String::as_str)).and(other.iter().map(String::as_str))
}

/// The phase whose name the view holds.
fn pressed_phase(app: App) -> Option<PhaseBar> {
    let name = app.view.with(|view| {
        let name = view.panels.phase.clone();
        name.filter(|_| view.lower == Lower::Phases)
    })?;
    app.panels.phases.with(|answer| {
        let mut bars = answer.as_ref()?.bars.iter();
        bars.find(|bar| bar.name == name).cloned()
    })
}

/// The profile that is shown below the timeline, to compare.
fn compared(app: App) -> Option<Arc<Summary>> {
    let is_shown = app.view.with(|view| view.lower == Lower::Compare);
    app.panels.compared().filter(|_| is_shown)
}

/// Cycles of the open profile's timeline that a profile compared with it reaches to.
pub(crate) fn room(app: App) -> u64 {
    let Some(other) = compared(app) else { return 0 };
    app.view.with(|view| {
        let (here, there) = view.panels.aligned.unwrap_or_default();
        let run = other.run(view.clock);
        run.saturating_add(here).saturating_sub(there)
    })
}

/// What `view` shows of a profile, and of nothing up to cycle `room` where that is further.
pub(crate) fn viewport(view: &ViewState, summary: &Summary, room: u64) -> Viewport {
    let run = summary.run(view.clock).max(room);
    let whole = Viewport::whole(run, summary.tiles.count());
    let placed = match view.span {
        Some(span) => whole.with_span(span),
        None => whole,
    };
    let tiles = view
        .shown_tiles()
        .and_then(|ids| summary.tiles.positions(ids.first, ids.last));
    match tiles {
        Some(tiles) => placed.with_tiles(&tiles),
        None => placed,
    }
}

/// The groups that rows stand for, and what the timeline shows of them.
fn of_rows(
    app: App,
    viewport: Memo<Option<Viewport>>,
) -> (Memo<Option<Arc<RowsAnswer>>>, Memo<Option<Viewport>>) {
    let rows = Memo::new(move |_| app.view.with(|view| view.rows));
    let groups = Memo::new(move |_| {
        let rows = rows.get();
        app.rows.get().filter(|it| it.by == rows)
    });
    let plot = Memo::new(move |_| {
        let viewport = viewport.get()?;
        Some(match groups.get() {
            Some(groups) => of_groups(&viewport, groups.names.len()),
            None => viewport,
        })
    });
    (groups, plot)
}

/// The same cycles, with `count` groups for rows.
fn of_groups(viewport: &Viewport, count: usize) -> Viewport {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    Viewport::whole(viewport.run, count).with_span(viewport.span)
}

/// The part that `view` has selected, as far as the run goes.
pub(crate) fn selected(view: &ViewState, summary: &Summary) -> Option<Viewport> {
    let selection = view.selection?;
    let count = summary.tiles.count();
    let tiles = selection
        .tiles
        .and_then(|ids| summary.tiles.positions(ids.first, ids.last));
    let whole = Viewport::whole(summary.run(view.clock), count);
    Some(whole.part(selection.span, tiles.unwrap_or(0..count)))
}

/// Selects the part that a viewport shows, as far as the run goes.
pub(crate) fn select(view: &mut ViewState, part: &Viewport, summary: &Summary) {
    let run = summary.run(view.clock);
    if part.span.from >= run {
        view.selection = None;
        return;
    }
    let mut placed = ViewState {
        rows: view.rows,
        ..ViewState::default()
    };
    place(&mut placed, part, summary);
    view.selection = Some(Selection {
        span: Span {
            to: part.span.to.min(run),
            ..part.span
        },
        tiles: placed.tiles,
    });
}

/// Moves the tiles in view to where `tile` is one of them, unless it is already.
pub(crate) fn reveal(view: &mut ViewState, tile: u32, summary: &Summary) {
    let (Some(at), shown) = (
        summary.tiles.positions(tile, tile),
        viewport(view, summary, 0),
    ) else {
        return;
    };
    if shown.tiles.contains(&at.start) || view.rows != Rows::Tile {
        return;
    }
    let count = shown.tiles.end - shown.tiles.start;
    let start = at.start.saturating_sub(count / 2);
    let span = view.span;
    place(view, &shown.with_tiles(&(start..start + count)), summary);
    view.span = span;
}

/// Writes a viewport into the view: what is whole is left out. Groups are always all in view.
pub(crate) fn place(view: &mut ViewState, viewport: &Viewport, summary: &Summary) {
    let whole = Span {
        from: 0,
        to: viewport.run,
    };
    view.span = Some(viewport.span).filter(|span| *span != whole);
    if view.rows != Rows::Tile {
        return;
    }
    let id = |index: u32| summary.tiles.physical.get(index as usize).copied();
    view.tiles = match (id(viewport.tiles.start), id(viewport.tiles.end - 1)) {
        _ if viewport.tiles == (0..viewport.tile_count) => None,
        (Some(first), Some(last)) => Some(TileIds { first, last }),
        _ => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::summary::TileNames;

    fn summary() -> Summary {
        Summary {
            tiles: TileNames {
                physical: (0..100).map(|it| it * 2).collect(),
            },
            runs: [1_000, 1_100, 900],
            ..Summary::default()
        }
    }

    #[test]
    fn a_view_and_its_viewport_say_the_same() {
        let summary = summary();
        let view = ViewState {
            span: Some(Span { from: 100, to: 300 }),
            tiles: Some(TileIds {
                first: 20,
                last: 58,
            }),
            ..ViewState::default()
        };
        let shown = viewport(&view, &summary, 0);
        assert_eq!((shown.run, shown.tiles.clone()), (1_000, 10..30));
        let mut again = ViewState::default();
        place(&mut again, &shown, &summary);
        assert_eq!(again, view);
    }

    #[test]
    fn a_selected_part_is_found_again() {
        let summary = summary();
        let mut view = ViewState::default();
        let part = Viewport::whole(1_000, 100)
            .with_span(Span { from: 200, to: 260 })
            .with_tiles(&(10..20));
        select(&mut view, &part, &summary);
        assert_eq!(selected(&view, &summary), Some(part));
        assert!(
            viewport(&view, &summary, 0).is_whole(),
            "selecting does not move"
        );
        assert_eq!(selected(&ViewState::default(), &summary), None);
    }

    #[test]
    fn a_longer_profile_beside_makes_room_where_nothing_is_selected() {
        let summary = summary();
        let mut view = ViewState::default();
        let shown = viewport(&view, &summary, 2_500);
        assert_eq!((shown.run, shown.is_whole()), (2_500, true));
        assert_eq!(viewport(&view, &summary, 900).run, 1_000, "a shorter one");
        place(&mut view, &shown, &summary);
        assert_eq!(view, ViewState::default(), "both are whole");
        let beyond = |from, to| shown.with_span(Span { from, to });
        select(&mut view, &beyond(900, 1_800), &summary);
        let selected = view.selection.map(|it| it.span);
        let to_the_end = Span {
            from: 900,
            to: 1_000,
        };
        assert_eq!(selected, Some(to_the_end));
        select(&mut view, &beyond(1_000, 1_800), &summary);
        assert_eq!(view.selection, None);
    }

    #[test]
    fn a_tile_is_brought_among_those_in_view() {
        let summary = summary();
        let mut view = ViewState {
            tiles: Some(TileIds {
                first: 20,
                last: 58,
            }),
            ..ViewState::default()
        };
        let before = view.clone();
        reveal(&mut view, 40, &summary);
        reveal(&mut view, 41, &summary);
        assert_eq!(view, before, "one is in view, the other in no profile");
        reveal(&mut view, 160, &summary);
        let around = TileIds {
            first: 140,
            last: 178,
        };
        assert_eq!((view.tiles, view.span), (Some(around), None));
        reveal(&mut view, 0, &summary);
        assert_eq!(view.tiles.map(|it| it.first), Some(0));
        let mut all = ViewState::default();
        reveal(&mut all, 160, &summary);
        assert_eq!(all, ViewState::default());
    }

    #[test]
    fn the_whole_run_leaves_no_trace_in_the_view() {
        let summary = summary();
        let mut view = ViewState::default();
        let shown = viewport(&view, &summary, 0);
        place(&mut view, &shown, &summary);
        assert_eq!(view, ViewState::default());
    }

    #[test]
    fn a_link_to_another_profile_is_moved_inside() {
        let view = ViewState {
            span: Some(Span {
                from: 5_000,
                to: 9_000,
            }),
            tiles: Some(TileIds {
                first: 900,
                last: 950,
            }),
            ..ViewState::default()
        };
        assert!(viewport(&view, &summary(), 0).is_whole());
    }
}
