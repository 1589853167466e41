//! The profile in one line of figures, and what to know before trusting them.

use analytics::clock::ClockKind;
use analytics::text;
use analytics::units::Cycles;
use leptos::prelude::*;

use crate::engine::summary::{RunFault, Summary};
use crate::state::actions::{App, use_app};

/// Figures and badges of the open profile.
#[component]
pub(crate) fn SummaryPanel() -> impl IntoView {
    let app = use_app();
    let clock = Memo::new(move |_| app.view.with(|view| view.clock));
    let figures = move || {
        let clock = clock.get();
        let summary = app.load.with(|load| load.summary().cloned());
        summary.map(|it| figures(&it, clock)).unwrap_or_default()
    };
    let badges = badges_of(app, clock);
    view! {
        <section class="summary" data-testid="summary" aria-label="Summary">
            <dl>
                {move || figures().into_iter().map(|figure| view! {
                    <div>
                        <dt>{figure.label}</dt>
                        <dd data-testid=format!("summary-{}", figure.id)>{figure.text}</dd>
                    </div>
                }).collect_view()}
            </dl>
            <ul class="badges" aria-label="What to know">
                {move || badges().into_iter().map(badge_view).collect_view()}
            </ul>
        </section>
        <Provenance/>
    }
}

/// The badges in force. What is open of them stays open until they change: memos keep out what does
/// not matter to them.
fn badges_of(app: App, clock: Memo<ClockKind>) -> impl Fn() -> Vec<Badge> {
    let is_overview = Memo::new(move |_| {
        app.raster
            .with(|it| it.as_ref().is_some_and(|it| it.from_overview))
    });
    move || {
        let summary = app.load.with(|load| load.summary().cloned());
        summary
            .map(|it| badges(&it, clock.get(), is_overview.get()))
            .unwrap_or_default()
    }
}

/// A badge, which opens to what it means: a tooltip is only for those with a mouse.
fn badge_view(badge: Badge) -> impl IntoView {
    let id = badge.id;
    view! {
        <li class="badge" class:warn=badge.warns>
            <details name="badge">
                <summary data-testid=format!("badge-{id}") title=badge.meaning.clone()>
                    {badge.text}
                </summary>
                <p data-testid=format!("meaning-{id}")>{badge.meaning}</p>
            </details>
        </li>
    }
}

/// Where the profile comes from, folded away.
#[component]
fn Provenance() -> impl IntoView {
    let app = use_app();
    let pairs = move || {
        let summary = app.load.with(|load| load.summary().cloned());
        summary.map(|it| it.provenance.clone()).unwrap_or_default()
    };
    view! {
        <Show when=move || !pairs().is_empty()>
            <details class="provenance" data-testid="provenance">
                <summary>"Provenance"</summary>
                <dl>
                    {move || pairs().into_iter().map(|(name, value)| view! {
                        <div><dt>{name}</dt><dd>{value}</dd></div>
                    }).collect_view()}
                </dl>
            </details>
        </Show>
    }
}

struct Figure {
    id: &'static str,
    label: String,
    text: String,
}

struct Badge {
    id: &'static str,
    text: String,
    meaning: String,
    warns: bool,
}

fn figures(summary: &Summary, clock: ClockKind) -> Vec<Figure> {
    let figure = |id, label: &str, text| Figure {
        id,
        label: label.to_owned(),
        text,
    };
    let run = Cycles::new(summary.run(clock));
    let mut figures = vec![
        figure(
            "tiles",
            "Tiles",
            text::count(u64::from(summary.tiles.count())),
        ),
        figure("samples", "Samples", text::count(summary.samples)),
        figure(
            "span",
            &format!("Span, {} clock", clock.name()),
            format!("{} cycles", text::cycles(run)),
        ),
        figure("time", "Time", text::time(run, summary.clock_hz)),
        figure("clock", "Tile clock", hertz(summary.clock_hz)),
        figure("granularity", "Granularity", summary.granularity.clone()),
        figure(
            "bytes",
            "File",
            format!("{} bytes", text::count(summary.bytes)),
        ),
    ];
    if let Some([covered, all]) = summary.covered {
        let coverage = Cycles::new(covered).share_of(Cycles::new(all));
        let coverage = text::percent(coverage);
        figures.insert(5, figure("coverage", "Coverage", coverage));
    }
    figures
}

fn hertz(clock_hz: u64) -> String {
    if clock_hz == 0 {
        return text::CLOCK_UNKNOWN.to_owned();
    }
    let gigahertz = crate::timeline::viewport::to_float(clock_hz) / 1e9;
    format!("{} GHz", text::decimal(gigahertz, 3))
}

impl Badge {
    fn new(id: &'static str, text: impl Into<String>, meaning: &str) -> Self {
        let (text, meaning) = (text.into(), meaning.to_owned());
        Self {
            id,
            text,
            meaning,
            warns: false,
        }
    }

    fn warning(self) -> Self {
        Self {
            warns: true,
            ..self
        }
    }
}

fn badges(summary: &Summary, clock: ClockKind, is_overview: bool) -> Vec<Badge> {
    let mut badges = vec![origin(summary.simulated)];
    badges.extend(summary.fault.as_ref().map(fault));
    if !summary.target.is_empty() {
        let target = summary.target.as_str();
        badges.push(Badge::new("target", target, "The machine of the profile"));
    }
    if summary.row_version > 0 {
        let text = format!("row format {}", summary.row_version);
        badges.push(Badge::new(
            "row-format",
            text,
            "Converted from the row format while opening",
        ));
    }
    if clock == ClockKind::Cropped && summary.crop > 0 {
        let text = format!("cropped by {}", text::count(summary.crop));
        badges.push(Badge::new(
            "cropped",
            text,
            "Cycles before the last tile began are cut off",
        ));
    }
    if summary.wrapped {
        let meaning = "A 32-bit cycle counter passed its end during the run; it is unwrapped here";
        badges.push(Badge::new("wrapped", "counter wraps", meaning));
    }
    if summary.is_partial {
        let meaning = "Samples are still to be read: pictures are the file's overview, figures by \
                       kernel are its own sums; what you zoom into is read as you go";
        badges.push(Badge::new("partly-read", "partly read", meaning));
    }
    if let Some(at) = summary.truncated_at {
        let text = format!("truncated at byte {}", text::count(at));
        let meaning = "The file has no end: what was written before is shown, the rest is missing";
        badges.push(Badge::new("truncated", text, meaning).warning());
    }
    badges.extend(missing_tiles(summary));
    if is_overview {
        let meaning = "The picture is the file's own overview, coarser than the screen; zooming in \
                       or reading the whole file makes it exact";
        badges.push(Badge::new("sampled-overview", "sampled overview", meaning).warning());
    }
    badges.extend(coverage(summary));
    badges
}

fn coverage(summary: &Summary) -> Option<Badge> {
    let [covered, all] = summary.covered?;
    if covered == all {
        return None;
    }
    let badge = if covered > 0 {
        Badge::new(
            "partial-coverage",
            "partial coverage",
            "Some computes have no work estimate; ≥ marks lower bounds",
        )
    } else {
        Badge::new(
            "no-estimates",
            "no estimates",
            "No compute has a work estimate: cycles are measured, efficiencies are unavailable, \
             not zero",
        )
    };
    Some(badge.warning())
}

/// The fault that ended the run: it is named, with all that is known of it at hand.
fn fault(it: &RunFault) -> Badge {
    let more = match it.count {
        0 | 1 => String::new(),
        count => format!(" and {} more", text::count(u64::from(count - 1))),
    };
    let text = format!("fault: {} on tile {}{more}", it.rule, it.tile);
    let meaning = format!(
        "The run ended here, before its program did; what is shown is what ran until then. {} \
         (physical tile {})",
        it.message, it.tile
    );
    Badge::new("fault", text, &meaning).warning()
}

/// Tiles of the machines that profiles name.
const MACHINES: [(&str, u32); 1] = [("ipu21", 1_472)];

fn missing_tiles(summary: &Summary) -> Option<Badge> {
    let machine = MACHINES.iter().find(|it| it.0 == summary.target)?;
    let (found, all) = (summary.tiles.count(), machine.1);
    let text = format!(
        "{} of {} tiles",
        text::count(found.into()),
        text::count(all.into())
    );
    let meaning = "Not every tile of the machine was profiled; figures of the device count the \
                   profiled ones";
    (found < all).then(|| Badge::new("missing-tiles", text, meaning).warning())
}

fn origin(simulated: Option<bool>) -> Badge {
    match simulated {
        Some(true) => Badge::new(
            "simulated",
            "simulated",
            "The counters come from the cycle-level simulator, not from hardware",
        ),
        Some(false) => Badge::new("hardware", "hardware", "Read from a device"),
        None => Badge::new(
            "origin-unknown",
            "origin unknown",
            "The file does not say whether a device or a simulator made it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(summary: &Summary, clock: ClockKind) -> Vec<&'static str> {
        badges(summary, clock, false)
            .into_iter()
            .map(|badge| badge.id)
            .collect()
    }

    #[test]
    fn badges_tell_what_is_unusual() {
        let usual = Summary {
            simulated: Some(true),
            ..Summary::default()
        };
        assert_eq!(ids(&usual, ClockKind::Cropped), ["simulated"]);
        let unusual = Summary {
            crop: 9,
            wrapped: true,
            truncated_at: Some(7),
            row_version: 5,
            ..Summary::default()
        };
        assert_eq!(
            ids(&unusual, ClockKind::Cropped),
            [
                "origin-unknown",
                "row-format",
                "cropped",
                "wrapped",
                "truncated"
            ]
        );
        let broken = Summary {
            fault: Some(RunFault {
                rule: "mux-window".to_owned(),
                message: "mux-window: tile 3, phase 2: it looked away".to_owned(),
                tile: 7,
                count: 3,
            }),
            ..usual
        };
        let badges = badges(&broken, ClockKind::Shared, false);
        let fault = badges.iter().find(|it| it.id == "fault").expect("a badge");
        assert_eq!(fault.text, "fault: mux-window on tile 7 and 2 more");
        assert!(fault.warns && fault.meaning.contains("it looked away"));
        assert!(!ids(&unusual, ClockKind::Shared).contains(&"cropped"));
        let of_machine = |tiles: u32| Summary {
            target: "ipu21".to_owned(),
            tiles: crate::engine::summary::TileNames {
                physical: (0..tiles).collect(),
            },
            ..Summary::default()
        };
        assert!(ids(&of_machine(64), ClockKind::Shared).contains(&"missing-tiles"));
        assert!(!ids(&of_machine(1_472), ClockKind::Shared).contains(&"missing-tiles"));
    }

    #[test]
    fn no_two_badges_share_a_name() {
        let unusual = Summary {
            is_partial: true,
            covered: Some([1, 4]),
            ..Summary::default()
        };
        let badges = badges(&unusual, ClockKind::Cropped, true);
        let shown: Vec<_> = badges.iter().map(|it| (it.id, it.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("origin-unknown", "origin unknown"),
                ("partly-read", "partly read"),
                ("sampled-overview", "sampled overview"),
                ("partial-coverage", "partial coverage"),
            ]
        );
        assert!(badges.iter().all(|it| it.meaning.len() > it.text.len()));
    }

    #[test]
    fn no_estimate_at_all_is_not_called_partial() {
        let id = |covered| {
            let summary = Summary {
                covered,
                ..Summary::default()
            };
            coverage(&summary).map(|it| it.id)
        };
        assert_eq!(id(Some([0, 9])), Some("no-estimates"));
        assert_eq!(id(Some([1, 9])), Some("partial-coverage"));
        assert_eq!(id(Some([8_999, 9_000])), Some("partial-coverage"));
        assert_eq!(id(Some([9, 9])), None);
        assert_eq!(id(Some([0, 0])), None, "nothing is measured");
        assert_eq!(id(None), None, "it is not known yet");
    }

    #[test]
    fn a_clock_that_is_not_known_is_said_so() {
        assert_eq!(hertz(0), "clock unknown");
        assert_eq!(hertz(1_500_000_000), "1.500 GHz");
    }
}
