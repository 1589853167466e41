//! Firefox Profiler's processed profile: one thread a tile, one interval marker a sample.
//!
//! Nanoseconds: in cycles, 1 ns is 1 cycle, and the name of the profile says so.

use std::io::Write;

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, MarkerFieldFlags, MarkerFieldFormat, MarkerTiming, Profile,
    ReferenceTimestamp, SamplingInterval, StaticSchemaMarker, StaticSchemaMarkerField,
    StringHandle, Timestamp,
};

use super::ExportError;
use super::lanes::{lane_name, lanes};
use super::select::{Selected, Slice};

const fn field(key: &'static str, label: &'static str) -> StaticSchemaMarkerField {
    StaticSchemaMarkerField {
        key,
        label,
        format: MarkerFieldFormat::Integer,
        flags: MarkerFieldFlags::SEARCHABLE,
    }
}

/// A sample as a marker.
struct SampleMarker {
    name: StringHandle,
    category: CategoryHandle,
    operation: StringHandle,
    numbers: [f64; 4],
}

impl StaticSchemaMarker for SampleMarker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "IpuSample";
    const CHART_LABEL: Option<&'static str> = Some("{marker.name}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.name} {marker.data.operation}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[
        field("start", "Start (cycles)"),
        field("cycles", "Cycles"),
        field("phase", "Phase"),
        field("epoch", "Epoch"),
        StaticSchemaMarkerField {
            key: "operation",
            label: "Operation",
            format: MarkerFieldFormat::String,
            flags: MarkerFieldFlags::SEARCHABLE,
        },
    ];

    fn name(&self, _profile: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _profile: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, _field: u32) -> StringHandle {
        self.operation
    }

    fn number_field_value(&self, field: u32) -> f64 {
        self.numbers.get(field as usize).copied().unwrap_or(0.0)
    }
}

pub(super) fn write(
    selected: &Selected<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    let start = ReferenceTimestamp::from_millis_since_unix_epoch(0.0);
    let name = format!("tiles: {}", selected.unit_note("ns"));
    let mut profile = Profile::new(&name, start, SamplingInterval::from_nanos(1));
    let zero = Timestamp::from_nanos_since_reference(0);
    let process = profile.add_process(&name, 1, zero);
    let categories = Categories::new(&mut profile);
    let mut thread_id = 0;
    selected.for_each_tile(|tile, slices| {
        let physical = selected.report.tiles()[tile as usize].tile.get();
        let lane_of = lanes(slices);
        let count = lane_of.iter().max().map_or(0, |last| last + 1);
        for lane in 0..count {
            thread_id += 1;
            // A main thread would be shown under the name of the process.
            let thread = profile.add_thread(process, thread_id, zero, false);
            profile.set_thread_name(thread, &lane_name(physical, lane));
            profile.set_thread_show_markers_in_timeline(thread, true);
            profile.add_initial_visible_thread(thread);
            for (slice, _) in slices.iter().zip(&lane_of).filter(|it| *it.1 == lane) {
                let marker = marker(&mut profile, selected, slice, &categories);
                let instant = |at| Timestamp::from_nanos_since_reference(selected.instant(at));
                let timing = MarkerTiming::Interval(instant(slice.start), instant(slice.end));
                profile.add_marker(thread, timing, marker);
            }
        }
        Ok(())
    })?;
    serde_json::to_writer(out, &profile).map_err(std::io::Error::from)?;
    Ok(())
}

/// One category a kind, by position in [`super::table::KINDS`].
struct Categories([CategoryHandle; 5]);

impl Categories {
    fn new(profile: &mut Profile) -> Self {
        let colors = [
            CategoryColor::Green,
            CategoryColor::Red,
            CategoryColor::Yellow,
            CategoryColor::Transparent,
            CategoryColor::Gray,
        ];
        let mut position = 0;
        Self(super::table::KINDS.map(|kind| {
            position += 1;
            profile.add_category(kind, colors[position - 1])
        }))
    }
}

fn marker(
    profile: &mut Profile,
    selected: &Selected<'_>,
    slice: &Slice,
    categories: &Categories,
) -> SampleMarker {
    let step = selected.step(slice);
    let float = crate::aggregate::float;
    SampleMarker {
        name: profile.intern_string(&selected.name(step)),
        category: categories.0[super::table::kind_key(step.kind) as usize],
        operation: profile.intern_string(selected.report.string(step.operation)),
        numbers: [
            float(slice.start),
            float(slice.cycles()),
            step.place.phase.into(),
            step.place.epoch.into(),
        ],
    }
}
