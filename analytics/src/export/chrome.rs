//! Chrome's trace event JSON: one thread a tile, one complete event a sample.
//!
//! The unit of the format is the microsecond: in cycles, 1 µs is 1 cycle, an integer, and the name
//! of the process says so. The exact cycles are in the arguments either way.

use std::io::Write;

use serde::Serialize;

use super::ExportError;
use super::lanes::{lane_name, lanes};
use super::select::{Selected, Slice};

#[derive(Serialize)]
struct Meta<'a> {
    ph: &'static str,
    pid: u32,
    tid: u64,
    name: &'static str,
    args: MetaArguments<'a>,
}

#[derive(Serialize)]
struct MetaArguments<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_index: Option<u64>,
}

#[derive(Serialize)]
struct Complete<'a> {
    ph: &'static str,
    pid: u32,
    tid: u64,
    ts: Instant,
    dur: Instant,
    name: &'a str,
    cat: &'a str,
    args: Arguments<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    start: u64,
    cycles: u64,
    phase: u32,
    epoch: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    operation: &'a str,
}

/// Microseconds: whole ones where they stand for cycles.
#[derive(Serialize)]
#[serde(untagged)]
enum Instant {
    Whole(u64),
    Fraction(f64),
}

/// Writes the events of one file, commas between them.
struct Events<'o> {
    out: &'o mut (dyn Write + Send),
    is_first: bool,
}

impl Events<'_> {
    fn add(&mut self, event: &impl Serialize) -> Result<(), ExportError> {
        let comma: &[u8] = if self.is_first { b"\n" } else { b",\n" };
        self.is_first = false;
        self.out.write_all(comma)?;
        serde_json::to_writer(&mut *self.out, event).map_err(std::io::Error::from)?;
        Ok(())
    }

    fn name(&mut self, what: &'static str, tid: u64, name: &str) -> Result<(), ExportError> {
        self.add(&Meta {
            ph: "M",
            pid: 1,
            tid,
            name: what,
            args: MetaArguments {
                name: Some(name),
                sort_index: None,
            },
        })
    }
}

pub(super) fn write(
    selected: &Selected<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut events = Events {
        out,
        is_first: true,
    };
    events.name(
        "process_name",
        0,
        &format!("tiles: {}", selected.unit_note("µs")),
    )?;
    let mut tid = 0;
    selected.for_each_tile(|tile, slices| {
        let physical = selected.report.tiles()[tile as usize].tile.get();
        let lane_of = lanes(slices);
        let count = lane_of.iter().max().map_or(0, |last| last + 1);
        for lane in 0..count {
            tid += 1;
            events.name("thread_name", tid, &lane_name(physical, lane))?;
            events.add(&Meta {
                ph: "M",
                pid: 1,
                tid,
                name: "thread_sort_index",
                args: MetaArguments {
                    name: None,
                    sort_index: Some(tid),
                },
            })?;
            let own = slices.iter().zip(&lane_of).filter(|it| *it.1 == lane);
            for (slice, _) in own {
                add_slice(&mut events, selected, slice, tid)?;
            }
        }
        Ok(())
    })?;
    events.out.write_all(b"\n]}\n")?;
    Ok(())
}

fn add_slice(
    events: &mut Events<'_>,
    selected: &Selected<'_>,
    slice: &Slice,
    tid: u64,
) -> Result<(), ExportError> {
    let step = selected.step(slice);
    let (start, end) = (selected.instant(slice.start), selected.instant(slice.end));
    let instant = |value: u64| {
        if selected.is_real_time() {
            Instant::Fraction(crate::aggregate::float(value) / 1_000.0)
        } else {
            Instant::Whole(value)
        }
    };
    events.add(&Complete {
        ph: "X",
        pid: 1,
        tid,
        ts: instant(start),
        dur: instant(end - start),
        name: &selected.name(step),
        cat: step.kind.name(),
        args: Arguments {
            start: slice.start,
            cycles: slice.cycles(),
            phase: step.place.phase,
            epoch: step.place.epoch,
            operation: selected.report.string(step.operation),
        },
    })
}
