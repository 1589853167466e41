//! speedscope's evented profiles: one profile a tile. The only timeline whose unit can be "none",
//! and so the only one that shows cycles as what they are.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::ExportError;
use super::lanes::{Edge, edges, lane_name, lanes};
use super::select::{Selected, Slice};

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile<'a> {
    r#type: &'static str,
    name: &'a str,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    events: &'a [Event],
}

#[derive(Serialize)]
struct Event {
    r#type: &'static str,
    frame: usize,
    at: u64,
}

pub(super) fn write(
    selected: &Selected<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    let (frames, frame_of) = frames(selected);
    out.write_all(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",")?;
    out.write_all(b"\"exporter\":\"ipu-stack\",\"name\":")?;
    json(out, &selected.unit_note("unit"))?;
    out.write_all(b",\"shared\":{\"frames\":")?;
    let list: Vec<Frame<'_>> = frames.iter().map(|name| Frame { name }).collect();
    json(out, &list)?;
    out.write_all(b"},\"profiles\":[")?;
    let mut is_first = true;
    selected.for_each_tile(|tile, slices| {
        let physical = selected.report.tiles()[tile as usize].tile.get();
        let lane_of = lanes(slices);
        let count = lane_of.iter().max().map_or(0, |last| last + 1);
        for lane in 0..count {
            let own = slices.iter().zip(&lane_of).filter(|it| *it.1 == lane);
            let own: Vec<&Slice> = own.map(|it| it.0).collect();
            let events = events(selected, &own, &frame_of);
            let comma: &[u8] = if is_first { b"\n" } else { b",\n" };
            is_first = false;
            out.write_all(comma)?;
            let name = lane_name(physical, lane);
            json(
                out,
                &Profile {
                    r#type: "evented",
                    name: &name,
                    unit: if selected.is_real_time() {
                        "nanoseconds"
                    } else {
                        "none"
                    },
                    start_value: events.first().map_or(0, |it| it.at),
                    end_value: events.last().map_or(0, |it| it.at),
                    events: &events,
                },
            )?;
        }
        Ok(())
    })?;
    out.write_all(b"\n]}\n")?;
    Ok(())
}

fn json(out: &mut (dyn Write + Send), value: &impl Serialize) -> Result<(), ExportError> {
    serde_json::to_writer(out, value).map_err(std::io::Error::from)?;
    Ok(())
}

/// Names of slices, and the name of each step.
fn frames(selected: &Selected<'_>) -> (Vec<String>, Vec<usize>) {
    let mut known = BTreeMap::new();
    let mut names = Vec::new();
    let mut frame_of = Vec::new();
    for step in selected.report.steps() {
        let name = selected.name(step);
        frame_of.push(*known.entry(name.clone()).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        }));
    }
    (names, frame_of)
}

fn events(selected: &Selected<'_>, slices: &[&Slice], frame_of: &[usize]) -> Vec<Event> {
    let mut events = Vec::with_capacity(slices.len() * 2);
    edges(slices.iter().copied(), &mut |edge, slice| {
        let (kind, instant) = match edge {
            Edge::Open => ("O", slice.start),
            Edge::Close => ("C", slice.end),
        };
        events.push(Event {
            r#type: kind,
            frame: frame_of[slice.step as usize],
            at: selected.instant(instant),
        });
    });
    events
}
