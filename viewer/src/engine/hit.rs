//! What is under the pointer: the sample at a place, in words.

use analytics::clock::{ClockKind, Frame};
use analytics::query::SampleDetail;
use analytics::{text, timeline};

use super::answer::{Groups, exact};
use super::cause::Failure;
use super::panel::Sources;
use super::protocol::{Answer, Fact, HitAnswer, HitAsked, Request};
use super::waits;

/// The sample at a place.
pub(super) fn hit(sources: &Sources<'_>, asked: HitAsked) -> Result<Answer, Failure> {
    let report = sources.report;
    let Some(sample) = timeline::hit(report, asked.clock, asked.tile, asked.at)? else {
        return Ok(Answer::Hit(None));
    };
    let waits = match waits::is_stay(&sample) {
        true => sources.waits()?,
        false => None,
    };
    let origin = Frame::new(report, asked.clock).origin(&report.tiles()[asked.tile as usize]);
    let waits = waits::facts(waits.as_deref(), &sample, origin);
    let clock_hz = report.header().clock_hz;
    Ok(Answer::Hit(Some(describe(
        &sample,
        asked.clock,
        clock_hz,
        waits,
    ))))
}

/// Whose what was clicked is: as it is described, but who made its tile wait is no matter.
pub(super) fn clicked(
    sources: &Sources<'_>,
    on: Request,
    groups: &Groups,
) -> Result<Answer, Failure> {
    let kernel = match on {
        Request::Hit(asked) => timeline::hit(sources.report, asked.clock, asked.tile, asked.at)?
            .map(|sample| sample.kernel),
        Request::CellHit(_) if !sources.report.pages_missing().is_empty() => None,
        on => match exact(sources, on, groups)? {
            Answer::Hit(hit) | Answer::OtherHit(hit) => hit.map(|it| it.kernel),
            _ => None,
        },
    };
    Ok(Answer::Clicked(kernel.unwrap_or_default()))
}

/// What is said of the sample at a place before it is known who made its tile wait; `None` where
/// that is known, or nobody waits there.
pub(crate) fn before_waits(sources: &Sources<'_>, request: &Request) -> Option<Answer> {
    let (report, Request::Hit(asked)) = (sources.report, request) else {
        return None;
    };
    if sources.waits.get().is_some() || !report.pages_missing().is_empty() {
        return None;
    }
    let sample = timeline::hit(report, asked.clock, asked.tile, asked.at).ok()??;
    let clock_hz = report.header().clock_hz;
    waits::is_stay(&sample).then(|| {
        let told = describe(&sample, asked.clock, clock_hz, Vec::new());
        Answer::Hit(Some(told))
    })
}

pub(super) fn describe(
    sample: &SampleDetail,
    clock: ClockKind,
    clock_hz: u64,
    waits: Vec<Fact>,
) -> HitAnswer {
    let to = sample.offset.saturating_add(sample.duration.get());
    let names = [&sample.kernel, &sample.operation];
    let named = names.into_iter().find(|it| !it.is_empty());
    HitAnswer {
        kernel: sample.kernel.clone(),
        heading: named
            .cloned()
            .unwrap_or_else(|| sample.kind.name().to_owned()),
        kind: sample.kind.name().to_owned(),
        from: sample.offset,
        to,
        facts: facts(sample, clock, clock_hz, waits),
        metadata: sample.metadata.clone(),
    }
}

fn facts(sample: &SampleDetail, clock: ClockKind, clock_hz: u64, waits: Vec<Fact>) -> Vec<Fact> {
    let mut facts = Vec::with_capacity(16);
    let mut push = |id: &str, label: &str, text: String| facts.push(Fact::new(id, label, text));
    push("tile", "Physical tile", sample.tile.to_string());
    push("kind", "Kind", sample.kind.name().to_owned());
    if !sample.operation.is_empty() {
        push("operation", "Operation", sample.operation.clone());
    }
    push("phase", "Phase / epoch", phase(sample));
    let range = format!(
        "{} – {} ({} clock)",
        text::count(sample.offset),
        text::count(sample.offset.saturating_add(sample.duration.get())),
        clock.name()
    );
    push("range", "Cycles", range);
    let duration = text::cycles(sample.duration);
    let time = text::time(sample.duration, clock_hz);
    let cut = if sample.cut {
        ", cut by the initial-sync crop"
    } else {
        ""
    };
    push(
        "duration",
        "Duration D",
        format!("{duration} cycles = {time}{cut}"),
    );
    for it in waits {
        push(&it.id, &it.label, it.text);
    }
    push(
        "usefulEfficiency",
        "Useful efficiency U/D",
        text::percent(sample.useful_efficiency()),
    );
    push(
        "workCycles",
        "Work cycles P/D",
        text::percent(sample.work_cycle_fraction()),
    );
    push(
        "laneOccupancy",
        "Lane occupancy U/P",
        text::percent(sample.lane_occupancy()),
    );
    push("useful", "Useful work U", text::work(sample.useful));
    push("physical", "Physical work P", text::work(sample.physical));
    if !sample.basis.is_empty() {
        push("basis", "Basis", sample.basis.clone());
    }
    if sample.event_cycles > 0 {
        let events = text::count(u64::from(sample.event_cycles));
        push("scheduled", "Scheduled horizon", format!("{events} cycles"));
    }
    facts
}

/// Phases as people read them: exchange ids without the bit that marks them.
fn phase(sample: &SampleDetail) -> String {
    const EXCHANGE: u32 = 1 << 31;
    let number = sample.phase & !EXCHANGE;
    let mark = if sample.phase & EXCHANGE == 0 {
        ""
    } else {
        "exchange "
    };
    format!("{mark}{number} / {}", sample.epoch)
}
