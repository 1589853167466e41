//! The JSON contract of a query: [`QueryResult`] in, text out.
//!
//! Field order is fixed, two-space pretty print, final newline. Unknown is `null`, never zero.
//! Fractions are fractions, not percentages. Additions keep the schema number, renames raise it.

use serde::Serialize;

use crate::aggregate::Measures;
use crate::query::{Filter, Group, GroupBy, GroupKey, QueryResult, SampleDetail};
use crate::text;
use crate::units::{Cycles, Work};

/// Name and version of the query contract.
pub const QUERY_SCHEMA: &str = "ipu-stack/profile-query/1";

/// The answer as pretty JSON with a final newline.
#[must_use]
pub fn query_json(result: &QueryResult) -> String {
    pretty(&Report::new(result))
}

/// Two-space pretty JSON with a final newline.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(value)
        .expect("plain structs with string keys always serialise");
    json.push('\n');
    json
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    clock: &'static str,
    clock_hz: Option<u64>,
    tile_count: u64,
    sample_count: u64,
    matched_sample_count: u64,
    profile_span_cycles: u64,
    profile_span_ms: Option<f64>,
    at: Option<u64>,
    at_offset: Option<u64>,
    group_by: &'static str,
    metadata_key: Option<&'a str>,
    sort_by: &'static str,
    filters: Filters<'a>,
    group_count: usize,
    shown_group_count: usize,
    totals: Figures,
    groups: Vec<GroupJson<'a>>,
    samples: Vec<SampleJson<'a>>,
    warnings: &'a [String],
}

impl<'a> Report<'a> {
    fn new(result: &'a QueryResult) -> Self {
        let metadata_key = match &result.group_by {
            GroupBy::Metadata(key) => Some(key.as_str()),
            GroupBy::Kernel
            | GroupBy::Operation
            | GroupBy::Phase
            | GroupBy::Tile
            | GroupBy::Kind => None,
        };
        let clock_hz = result.clock_hz;
        let group = |group| GroupJson::new(group, metadata_key, clock_hz);
        Self {
            schema: QUERY_SCHEMA,
            clock: result.clock.name(),
            clock_hz: (clock_hz > 0).then_some(clock_hz),
            tile_count: result.tile_count,
            sample_count: result.sample_count,
            matched_sample_count: result.totals.sample_count,
            profile_span_cycles: result.span.get(),
            profile_span_ms: text::milliseconds(result.span, clock_hz),
            at: result.filter.at,
            at_offset: result.filter.at_offset,
            group_by: result.group_by.name(),
            metadata_key,
            sort_by: result.sort_by.name(),
            filters: Filters::new(&result.filter),
            group_count: result.group_count,
            shown_group_count: result.groups.len(),
            totals: Figures::new(&result.totals, clock_hz),
            groups: result.groups.iter().map(group).collect(),
            samples: result.samples.iter().map(SampleJson::new).collect(),
            warnings: &result.warnings,
        }
    }
}

/// Only the conditions in force are present.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Filters<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tiles: Vec<u32>,
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    phases: &'a [u32],
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_contains: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<MetadataConditionJson<'a>>,
}

impl<'a> Filters<'a> {
    pub(super) fn new(filter: &'a Filter) -> Self {
        let conditions = filter.metadata.iter().map(|it| MetadataConditionJson {
            name: &it.name,
            value: it.value.as_deref(),
        });
        Self {
            tiles: filter.tiles.iter().map(|tile| tile.get()).collect(),
            phases: &filter.phases,
            kernel: filter.kernel.as_deref(),
            operation_contains: filter.operation_contains.as_deref(),
            kind: filter.kind.map(crate::profile::SampleKind::name),
            metadata: conditions.collect(),
        }
    }
}

#[derive(Serialize)]
struct MetadataConditionJson<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    sample_count: u64,
    tile_count: u64,
    phase_count: u64,
    phase_cycles: u64,
    phase_ms: Option<f64>,
    timeline_cycles: u64,
    timeline_ms: Option<f64>,
    work_cycles: u64,
    average_active_tiles: Option<f64>,
    useful_cycles: Option<WorkJson>,
    wasted_cycles: Option<CyclesJson>,
    physical_work_cycles: Option<WorkJson>,
    estimated_work_cycles: u64,
    useful_utilization: Option<f64>,
    work_cycle_fraction: Option<f64>,
    work_lane_occupancy: Option<f64>,
    device_useful_utilization: Option<f64>,
    device_useful_is_lower_bound: bool,
    coverage: Option<f64>,
    mean_cycles: Option<f64>,
    p50_cycles: Option<u64>,
    p95_cycles: Option<u64>,
    maximum_cycles: Option<u64>,
    first_offset: Option<u64>,
    last_offset: Option<u64>,
}

impl Figures {
    /// The order statistics of no samples are unknown.
    fn new(it: &Measures, clock_hz: u64) -> Self {
        let some = |value: u64| (it.sample_count > 0).then_some(value);
        let cycles = |value: Cycles| some(value.get());
        Self {
            sample_count: it.sample_count,
            tile_count: it.tile_count,
            phase_count: it.phase_count,
            phase_cycles: it.phase_cycles.get(),
            phase_ms: text::milliseconds(it.phase_cycles, clock_hz),
            timeline_cycles: it.timeline_cycles.get(),
            timeline_ms: text::milliseconds(it.timeline_cycles, clock_hz),
            work_cycles: it.work_cycles.get(),
            average_active_tiles: it.average_active_tiles(),
            useful_cycles: it.useful().map(WorkJson),
            wasted_cycles: it.wasted().map(CyclesJson),
            physical_work_cycles: it.physical().map(WorkJson),
            estimated_work_cycles: it.estimated_cycles.get(),
            useful_utilization: it.useful_efficiency(),
            work_cycle_fraction: it.work_cycle_fraction(),
            work_lane_occupancy: it.lane_occupancy(),
            device_useful_utilization: it.device_useful(),
            device_useful_is_lower_bound: it.device_useful_is_lower_bound(),
            coverage: it.coverage(),
            mean_cycles: it.mean(),
            p50_cycles: cycles(it.p50),
            p95_cycles: cycles(it.p95),
            maximum_cycles: cycles(it.maximum),
            first_offset: some(it.first_offset),
            last_offset: some(it.last_offset),
        }
    }
}

/// Cycles with a sign: an integer where whole and exact, else a decimal.
struct CyclesJson(f64);

impl Serialize for CyclesJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match text::whole(self.0) {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

/// Issue-cycles: an integer where whole, else a decimal.
pub(super) struct WorkJson(pub(super) Work);

impl Serialize for WorkJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0.get_256ths();
        if parts.is_multiple_of(Work::PER_CYCLE) {
            serializer.serialize_u64(parts / Work::PER_CYCLE)
        } else {
            serializer.serialize_f64(self.0.as_cycles())
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupJson<'a> {
    name: &'a str,
    dimensions: Dimensions<'a>,
    #[serde(flatten)]
    figures: Figures,
}

impl<'a> GroupJson<'a> {
    fn new(group: &'a Group, metadata_key: Option<&'a str>, clock_hz: u64) -> Self {
        Self {
            name: &group.name,
            dimensions: Dimensions::new(&group.key, metadata_key),
            figures: Figures::new(&group.measures, clock_hz),
        }
    }
}

/// The value that the samples of the group share.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Dimensions<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_tile: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata_value: Option<Option<&'a str>>,
}

impl<'a> Dimensions<'a> {
    fn new(key: &'a GroupKey, metadata_key: Option<&'a str>) -> Self {
        let mut it = Self::default();
        match key {
            GroupKey::Kernel(name) => it.kernel = Some(name),
            GroupKey::Operation(name) => it.operation = Some(name),
            GroupKey::Phase { phase, epoch } => {
                it.phase = Some(*phase);
                it.epoch = Some(*epoch);
            }
            GroupKey::Tile(tile) => it.physical_tile = Some(tile.get()),
            GroupKey::Kind(kind) => it.kind = Some(text::kind(*kind)),
            GroupKey::Metadata(value) => {
                it.metadata_key = metadata_key;
                it.metadata_value = Some(value.as_deref());
            }
        }
        it
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SampleJson<'a> {
    physical_tile: u32,
    offset: u64,
    duration: u64,
    cut: bool,
    phase: u32,
    epoch: u32,
    kind: String,
    operation: &'a str,
    kernel: &'a str,
    useful_cycles: Option<WorkJson>,
    physical_work_cycles: Option<WorkJson>,
    work_estimate_basis: Option<&'a str>,
    metadata: Vec<MetadataJson<'a>>,
}

impl<'a> SampleJson<'a> {
    fn new(sample: &'a SampleDetail) -> Self {
        let pair = |(name, value): &'a (String, String)| MetadataJson { name, value };
        Self {
            physical_tile: sample.tile.get(),
            offset: sample.offset,
            duration: sample.duration.get(),
            cut: sample.cut,
            phase: sample.phase,
            epoch: sample.epoch,
            kind: text::kind(sample.kind),
            operation: &sample.operation,
            kernel: &sample.kernel,
            useful_cycles: sample.useful.map(WorkJson),
            physical_work_cycles: sample.physical.map(WorkJson),
            work_estimate_basis: sample.useful.map(|_| sample.basis.as_str()),
            metadata: sample.metadata.iter().map(pair).collect(),
        }
    }
}

#[derive(Serialize)]
struct MetadataJson<'a> {
    name: &'a str,
    value: &'a str,
}
