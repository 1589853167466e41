//! Keys, wheel, drags and pinches → [`Move`]s of the viewport. Pure.
//!
//! A plain wheel is left to the page, which scrolls; with Ctrl or Shift it zooms time at the
//! pointer, with Alt it zooms tiles. W A S D are physical keys, whatever the layout of the
//! keyboard.

use super::scene::Rect;
use super::viewport::Viewport;
use crate::state::trail::Way;
use crate::state::view::Span;

/// Factor of one press of a zoom key.
const STEP: f64 = 1.35;
/// Part of the view that one press of a pan key moves by.
const PAN: f64 = 0.12;
/// Wheel pixels that zoom by a factor of *e*.
const WHEEL: f64 = 400.0;
/// Fingers are never closer than this, in CSS pixels: else a pinch would zoom without bounds.
const FINGERS: f64 = 24.0;
/// A drag shorter than this is a click, in CSS pixels.
const CLICK: f64 = 5.0;
/// A selection higher than this zooms tiles as well, in CSS pixels.
const TILES_TOO: f64 = 40.0;

/// A place inside the plot, as fractions of its width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct At {
    /// From the left.
    pub(crate) x: f64,
    /// From the top.
    pub(crate) y: f64,
}

/// A change of the viewport.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Move {
    /// Zooms time at a fraction of the width; below 1 is closer.
    ZoomTime(f64, f64),
    /// Zooms tiles at a fraction of the height; below 1 is closer.
    ZoomTiles(f64, f64),
    /// Moves by a part of the view; positive is later.
    PanTime(f64),
    /// Moves by a part of the view; positive is to larger tiles.
    PanTiles(f64),
    /// Shows the whole run of all tiles.
    Reset,
}

/// What a key asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum KeyAction {
    /// Moves the viewport.
    Go(Move),
    /// Undoes a move of the viewport, or does it again.
    Retrace(Way),
    /// Sets an end of the selection.
    Select(End),
    /// Opens or closes the help.
    Help,
    /// Goes to the field that finds rows of the table.
    Find,
    /// Reads the sample in the middle of the view, or no longer.
    Read,
    /// Closes the help, else clears the focus.
    Escape,
}

/// An end of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Its first cycle.
    First,
    /// Its last cycle.
    Last,
}

/// A key with what is held beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// The physical key.
    pub(crate) code: &'a str,
    /// What it types.
    pub(crate) key: &'a str,
    /// Whether Shift is held.
    pub(crate) shift: bool,
}

/// What a key pressed without Ctrl, Alt or Meta asks for; zooming keeps `at` where it is.
pub(crate) fn on_key(key: Key<'_>, at: At) -> Option<KeyAction> {
    let go = match (key.code, key.shift) {
        ("KeyW", false) => Move::ZoomTime(at.x, 1.0 / STEP),
        ("KeyS", false) => Move::ZoomTime(at.x, STEP),
        ("KeyW", true) => Move::ZoomTiles(at.y, 1.0 / STEP),
        ("KeyS", true) => Move::ZoomTiles(at.y, STEP),
        ("KeyA" | "ArrowLeft", _) => Move::PanTime(-PAN),
        ("KeyD" | "ArrowRight", _) => Move::PanTime(PAN),
        ("ArrowUp", true) => Move::PanTiles(-PAN),
        ("ArrowDown", true) => Move::PanTiles(PAN),
        ("BracketLeft", _) => return Some(KeyAction::Select(End::First)),
        ("BracketRight", _) => return Some(KeyAction::Select(End::Last)),
        ("KeyZ", false) => return Some(KeyAction::Retrace(Way::Back)),
        ("KeyZ", true) => return Some(KeyAction::Retrace(Way::Forward)),
        ("KeyI", false) => return Some(KeyAction::Read),
        _ => match key.key {
            "+" | "=" => Move::ZoomTime(at.x, 1.0 / STEP),
            "-" | "_" => Move::ZoomTime(at.x, STEP),
            "0" => Move::Reset,
            "?" => return Some(KeyAction::Help),
            "/" => return Some(KeyAction::Find),
            "Escape" => return Some(KeyAction::Escape),
            _ => return None,
        },
    };
    Some(KeyAction::Go(go))
}

/// The selection once `end` is at `cycle`, or without a cycle at the edge of the view. The other
/// end stays where it was; where the two would cross, or there is no selection, it is at the other
/// edge of the view.
pub(crate) fn selected(
    viewport: &Viewport,
    before: Option<&Viewport>,
    end: End,
    cycle: Option<u64>,
) -> Viewport {
    let view = viewport.span;
    let old = before.map_or(view, |it| it.span);
    let span = match end {
        End::First => {
            let from = cycle.unwrap_or(view.from);
            let to = if old.to > from { old.to } else { view.to };
            Span { from, to }
        }
        End::Last => {
            let to = cycle.map_or(view.to, |it| it.saturating_add(1));
            let from = if old.from < to { old.from } else { view.from };
            Span { from, to }
        }
    };
    let marked = before.unwrap_or(viewport);
    marked.part(span, marked.tiles.clone())
}

/// A turn of the wheel in pixels, with what is held beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wheel {
    /// To the right.
    pub(crate) x: f64,
    /// Down.
    pub(crate) y: f64,
    /// Whether Ctrl, Meta or Shift is held; pinching a touch pad holds Ctrl.
    pub(crate) time: bool,
    /// Whether Alt is held.
    pub(crate) tiles: bool,
}

/// What a turn of the wheel asks for; `None` leaves it to the page.
pub(crate) fn on_wheel(wheel: Wheel, at: At) -> Option<Move> {
    // With Shift held, browsers turn a vertical wheel into a horizontal one.
    let turn = if wheel.y == 0.0 { wheel.x } else { wheel.y };
    let factor = (turn.clamp(-WHEEL, WHEEL) / WHEEL).exp();
    if wheel.tiles {
        Some(Move::ZoomTiles(at.y, factor))
    } else if wheel.time {
        Some(Move::ZoomTime(at.x, factor))
    } else if wheel.x.abs() > wheel.y.abs() {
        Some(Move::PanTime(wheel.x / (2.0 * WHEEL)))
    } else {
        None
    }
}

/// The viewport after a move.
pub(crate) fn moved(viewport: &Viewport, by: &Move) -> Viewport {
    match *by {
        Move::ZoomTime(at, factor) => viewport.zoom_time(at, factor),
        Move::ZoomTiles(at, factor) => viewport.zoom_tiles(at, factor),
        Move::PanTime(part) => viewport.pan_time(part),
        Move::PanTiles(part) => viewport.step_tiles(part),
        Move::Reset => Viewport::whole(viewport.run, viewport.tile_count),
    }
}

/// A pointer held down on the plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drag {
    /// Where it went down, in CSS pixels of the canvas.
    start: (f64, f64),
    /// Where it is.
    now: (f64, f64),
    /// The viewport when it went down.
    viewport: Viewport,
    mode: DragMode,
}

/// What dragging does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DragMode {
    /// Moves the plot with the pointer.
    Pan,
    /// Draws a rectangle to zoom into.
    Zoom,
    /// Draws a rectangle to select.
    Select,
}

/// Where a drag begins, with what is held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grip {
    /// Whether it begins on the ruler above the plot.
    pub(crate) on_ruler: bool,
    /// Whether Shift is held.
    pub(crate) shift: bool,
    /// Whether Ctrl or Meta is held.
    pub(crate) control: bool,
}

/// What a drag does: on the ruler it selects.
pub(crate) const fn drag_mode(grip: Grip) -> DragMode {
    match (grip.on_ruler, grip.shift, grip.control) {
        (_, true, _) => DragMode::Zoom,
        (true, ..) | (.., true) => DragMode::Select,
        _ => DragMode::Pan,
    }
}

/// What letting go of a drag means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Released {
    /// It was a click.
    Click,
    /// The viewport is where it belongs already.
    Panned,
    /// This is to be in view.
    Zoom(Viewport),
    /// This is to be selected.
    Select(Viewport),
}

impl Drag {
    /// The pointer goes down.
    pub(crate) fn start(at: (f64, f64), viewport: Viewport, mode: DragMode) -> Self {
        Self {
            start: at,
            now: at,
            viewport,
            mode,
        }
    }

    /// The pointer moves; the viewport that a moved plot shows.
    pub(crate) fn moved_to(&mut self, at: (f64, f64), plot: Rect) -> Option<Viewport> {
        self.now = at;
        if self.mode != DragMode::Pan || self.is_click() {
            return None;
        }
        let right = (at.0 - self.start.0) / plot.width;
        let down = (at.1 - self.start.1) / plot.height;
        Some(self.viewport.pan_time(-right).pan_tiles(-down))
    }

    /// The rectangle drawn so far: all tiles, unless it is high enough to mean some.
    pub(crate) fn selection(&self, plot: Rect) -> Option<Rect> {
        if self.mode == DragMode::Pan || self.is_click() {
            return None;
        }
        let inside = |at: f64, from: f64, length: f64| at.clamp(from, from + length);
        let edges = |a: f64, b: f64, from: f64, length: f64| {
            let (a, b) = (inside(a, from, length), inside(b, from, length));
            (a.min(b), (a - b).abs())
        };
        let (x, width) = edges(self.start.0, self.now.0, plot.x, plot.width);
        let (y, height) = edges(self.start.1, self.now.1, plot.y, plot.height);
        if height < TILES_TOO {
            return Some(Rect {
                x,
                y: plot.y,
                width,
                height: plot.height,
            });
        }
        Some(Rect {
            x,
            y,
            width,
            height,
        })
    }

    /// The pointer goes up.
    pub(crate) fn released(&self, plot: Rect) -> Released {
        if self.is_click() {
            return Released::Click;
        }
        let Some(rect) = self.selection(plot) else {
            return Released::Panned;
        };
        let across = |x: f64| (x - plot.x) / plot.width;
        let along = |y: f64| (y - plot.y) / plot.height;
        let viewport = &self.viewport;
        let from = viewport.cycle_at(across(rect.x));
        let to = viewport
            .cycle_at(across(rect.x + rect.width))
            .saturating_add(1);
        let span = Span { from, to };
        let tiles = if rect.height >= plot.height {
            viewport.tiles.clone()
        } else {
            let first = viewport.tile_at(along(rect.y));
            let last = viewport.tile_at(along(rect.y + rect.height));
            first..last + 1
        };
        match self.mode {
            DragMode::Select => Released::Select(viewport.part(span, tiles)),
            DragMode::Zoom | DragMode::Pan => {
                Released::Zoom(viewport.with_span(span).with_tiles(&tiles))
            }
        }
    }

    /// Whether it is but a click so far.
    pub(crate) fn is_click(&self) -> bool {
        let far = |a: f64, b: f64| (a - b).abs() >= CLICK;
        !far(self.start.0, self.now.0) && !far(self.start.1, self.now.1)
    }
}

/// A finger on the plot: the browser's number of it, and where it is in CSS pixels.
type Finger = (i32, (f64, f64));

/// Fingers on the plot. Two of them pinch: what lies between them in time stays between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Touch {
    fingers: [Option<Finger>; 2],
    /// What was in view when the second one came, and how far apart they were around which place.
    begun: Option<(Viewport, f64, f64)>,
}

impl Touch {
    /// A finger goes down; a third one is left alone.
    pub(crate) fn down(&mut self, finger: Finger, viewport: &Viewport) {
        self.up(finger.0);
        if let Some(free) = self.fingers.iter_mut().find(|it| it.is_none()) {
            *free = Some(finger);
            self.begun = self.pair().map(|(apart, x)| (viewport.clone(), apart, x));
        }
    }

    /// A finger moves; what is in view then, where two of them pinch.
    pub(crate) fn moved(&mut self, finger: Finger, plot: Rect) -> Option<Viewport> {
        let mut known = self.fingers.iter_mut().flatten();
        *known.find(|it| it.0 == finger.0)? = finger;
        let ((now, x), (viewport, apart, from)) = (self.pair()?, self.begun.as_ref()?);
        let at = |x: f64| ((x - plot.x) / plot.width).clamp(0.0, 1.0);
        let zoomed = viewport.zoom_time(at(*from), apart / now);
        Some(zoomed.pan_time(at(*from) - at(x)))
    }

    /// A finger is gone.
    pub(crate) fn up(&mut self, number: i32) {
        for finger in &mut self.fingers {
            if finger.take_if(|it| it.0 == number).is_some() {
                self.begun = None;
            }
        }
    }

    /// Whether two fingers are down.
    pub(crate) fn is_pinching(&self) -> bool {
        self.begun.is_some()
    }

    /// How far apart two fingers are, and the place between them from the left.
    fn pair(&self) -> Option<(f64, f64)> {
        let [Some((_, a)), Some((_, b))] = self.fingers else {
            return None;
        };
        let (x, y) = (a.0 - b.0, a.1 - b.1);
        let apart = (x * x + y * y).sqrt().max(FINGERS);
        Some((apart, f64::midpoint(a.0, b.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Rect = Rect {
        x: 0.0,
        y: 0.0,
        width: 1_000.0,
        height: 400.0,
    };
    const CENTRE: At = At { x: 0.5, y: 0.5 };

    fn whole() -> Viewport {
        Viewport::whole(1_000_000, 1_472)
    }

    fn pressed(code: &str, key: &str, shift: bool) -> Option<KeyAction> {
        on_key(Key { code, key, shift }, CENTRE)
    }

    #[test]
    fn physical_keys_move_on_any_layout() {
        // On a French keyboard the key at W types z.
        let zoomed = Some(KeyAction::Go(Move::ZoomTime(0.5, 1.0 / STEP)));
        assert_eq!(pressed("KeyW", "z", false), zoomed);
        // And the key at Z types w there.
        let back = Some(KeyAction::Retrace(Way::Back));
        assert_eq!(pressed("KeyZ", "w", false), back);
        assert_eq!(
            pressed("Digit0", "0", false),
            Some(KeyAction::Go(Move::Reset))
        );
        assert_eq!(pressed("Slash", "?", true), Some(KeyAction::Help));
        assert_eq!(pressed("KeyQ", "q", false), None);
    }

    #[test]
    fn brackets_set_the_ends_of_the_selection() {
        assert_eq!(
            pressed("BracketLeft", "[", false),
            Some(KeyAction::Select(End::First))
        );
        let view = whole().with_span(Span {
            from: 1_000,
            to: 9_000,
        });
        let mut selection = None;
        let mut press = |end, cycle| {
            let part = selected(&view, selection.as_ref(), end, cycle);
            let span = (part.span.from, part.span.to);
            selection = Some(part);
            span
        };
        assert_eq!(press(End::First, Some(2_000)), (2_000, 9_000));
        assert_eq!(press(End::Last, Some(3_000)), (2_000, 3_001));
        assert_eq!(
            press(End::First, None),
            (1_000, 3_001),
            "the edge of the view"
        );
        assert_eq!(press(End::Last, None), (1_000, 9_000));
        assert_eq!(press(End::Last, Some(4_000)), (1_000, 4_001));
        assert_eq!(press(End::First, Some(5_000)), (5_000, 9_000), "they cross");
        assert_eq!(press(End::Last, Some(1_999)), (1_000, 2_000), "they cross");
    }

    #[test]
    fn a_selection_keeps_its_tiles_and_takes_those_in_view_at_first() {
        let view = whole().with_tiles(&(100..200));
        let first = selected(&view, None, End::Last, Some(500_000));
        assert_eq!(first.tiles, 100..200);
        let elsewhere = whole().with_tiles(&(900..950));
        let then = selected(&elsewhere, Some(&first), End::First, Some(10));
        assert_eq!((then.tiles, then.span.to), (100..200, 500_001));
    }

    #[test]
    fn two_fingers_zoom_time_between_them() {
        let mut touch = Touch::default();
        touch.down((7, (400.0, 100.0)), &whole());
        assert_eq!(touch.moved((7, (410.0, 100.0)), PLOT), None, "one finger");
        touch.down((9, (610.0, 100.0)), &whole());
        assert!(touch.is_pinching());
        touch.moved((7, (310.0, 100.0)), PLOT);
        let closer = touch.moved((9, (710.0, 100.0)), PLOT).expect("it pinches");
        assert_eq!(closer.span.len(), 500_000, "twice as far apart");
        assert_eq!(closer.tiles, 0..1_472);
        // What lay in the middle of the fingers still does.
        assert_eq!(closer.cycle_at(0.51), 510_000);
        let moved = touch.moved((9, (910.0, 100.0)), PLOT).expect("it pinches");
        assert_eq!(moved.cycle_at(0.61), 510_000, "and goes with them");
        touch.up(7);
        assert!(!touch.is_pinching());
        assert_eq!(touch.moved((9, (0.0, 0.0)), PLOT), None);
    }

    #[test]
    fn fingers_that_meet_do_not_zoom_without_bounds() {
        let mut touch = Touch::default();
        touch.down((1, (500.0, 100.0)), &whole());
        touch.down((2, (500.0, 100.0)), &whole());
        touch.down((3, (0.0, 0.0)), &whole());
        let closer = touch.moved((2, (548.0, 100.0)), PLOT).expect("it pinches");
        assert_eq!(closer.span.len(), 500_000);
        assert_eq!(touch.moved((3, (9.0, 9.0)), PLOT), None, "a third one");
    }

    #[test]
    fn zooming_in_and_out_by_keys_comes_back() {
        let go = |viewport: &Viewport, code: &str| match pressed(code, "", false) {
            Some(KeyAction::Go(by)) => moved(viewport, &by),
            other => panic!("{code} gave {other:?}"),
        };
        let closer = go(&whole(), "KeyW");
        assert!(closer.span.len() < whole().span.len());
        assert!(go(&closer, "KeyS").is_whole());
    }

    #[test]
    fn a_plain_wheel_is_left_to_the_page() {
        let wheel = Wheel {
            y: 100.0,
            ..Wheel::default()
        };
        assert_eq!(on_wheel(wheel, CENTRE), None);
        let sideways = Wheel {
            x: 80.0,
            ..Wheel::default()
        };
        assert_eq!(on_wheel(sideways, CENTRE), Some(Move::PanTime(0.1)));
        let Some(Move::ZoomTime(at, factor)) = on_wheel(
            Wheel {
                time: true,
                ..wheel
            },
            CENTRE,
        ) else {
            panic!("Ctrl and wheel zoom");
        };
        assert!(at == 0.5 && factor > 1.0);
        // Shift made it horizontal.
        let shifted = Wheel {
            x: -100.0,
            time: true,
            ..Wheel::default()
        };
        assert!(matches!(on_wheel(shifted, CENTRE), Some(Move::ZoomTime(_, it)) if it < 1.0));
    }

    #[test]
    fn dragging_moves_the_plot_with_the_pointer() {
        let start = whole().with_span(Span {
            from: 100_000,
            to: 200_000,
        });
        let mut drag = Drag::start((500.0, 100.0), start.clone(), DragMode::Pan);
        assert_eq!(drag.moved_to((502.0, 101.0), PLOT), None, "not far enough");
        let shown = drag.moved_to((600.0, 100.0), PLOT).expect("it moves");
        assert_eq!(
            shown.span,
            Span {
                from: 90_000,
                to: 190_000
            }
        );
        assert_eq!(drag.released(PLOT), Released::Panned);
    }

    #[test]
    fn the_ruler_and_control_select() {
        let mode = |on_ruler, shift, control| {
            drag_mode(Grip {
                on_ruler,
                shift,
                control,
            })
        };
        assert_eq!(mode(false, false, false), DragMode::Pan);
        assert_eq!(mode(true, false, false), DragMode::Select);
        assert_eq!(mode(false, false, true), DragMode::Select);
        assert_eq!(mode(true, true, false), DragMode::Zoom);
        let mut drag = Drag::start((100.0, -10.0), whole(), DragMode::Select);
        assert_eq!(drag.moved_to((300.0, -12.0), PLOT), None, "the plot stays");
        let Released::Select(part) = drag.released(PLOT) else {
            panic!("it selects")
        };
        assert_eq!((part.span.from, part.tiles), (100_000, 0..1_472));
    }

    #[test]
    fn a_selection_zooms_time_and_tiles_only_where_it_is_high() {
        let mut drag = Drag::start((100.0, 100.0), whole(), DragMode::Zoom);
        assert_eq!(drag.released(PLOT), Released::Click);
        drag.moved_to((300.0, 110.0), PLOT);
        assert_eq!(drag.selection(PLOT).map(|it| it.height), Some(400.0));
        let Released::Zoom(flat) = drag.released(PLOT) else {
            panic!("it zooms")
        };
        assert_eq!((flat.span.from, flat.tiles), (100_000, 0..1_472));
        drag.moved_to((-50.0, 300.0), PLOT);
        let Released::Zoom(high) = drag.released(PLOT) else {
            panic!("it zooms")
        };
        assert_eq!(
            high.span,
            Span {
                from: 0,
                to: 100_001
            }
        );
        assert_eq!(high.tiles, 368..1_105);
    }
}
