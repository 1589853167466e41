//! The figures of a profile as a file, as JSON and as text, in one order with one set of names.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::json::pretty;
use super::text::warned;
use crate::inspect::Inspection;

/// Name and version of the contract.
pub const INSPECT_SCHEMA: &str = "ipu-stack/profile-inspect/1";

/// The figures as pretty JSON with a final newline. An unknown clock is `null`.
#[must_use]
pub fn inspect_json(inspection: &Inspection) -> String {
    pretty(&Json(inspection))
}

/// The figures as one `key=value` line each, with a final newline. An unknown clock is `unknown`.
#[must_use]
pub fn inspect_text(inspection: &Inspection) -> String {
    let line = |(key, value): (&str, Option<u64>)| match value {
        Some(value) => format!("{key}={value}\n"),
        None => format!("{key}=unknown\n"),
    };
    let mut out: String = figures(inspection).into_iter().map(line).collect();
    out.push_str(&warned(&inspection.warnings));
    out
}

fn figures(it: &Inspection) -> [(&'static str, Option<u64>); 17] {
    [
        ("clockHz", (it.clock_hz > 0).then_some(it.clock_hz)),
        ("tiles", Some(it.tiles)),
        ("samples", Some(it.samples)),
        ("exchangeSamples", Some(it.exchange_samples)),
        (
            "describedExchangeSamples",
            Some(it.described_exchange_samples),
        ),
        ("sendIntervals", Some(it.send_intervals)),
        ("receiveIntervals", Some(it.receive_intervals)),
        ("partnerBusyIntervals", Some(it.partner_busy_intervals)),
        ("estimatedSendWorkCycles", Some(it.send_cycles)),
        ("estimatedReceiveWorkCycles", Some(it.receive_cycles)),
        (
            "estimatedSimultaneousWorkCycles",
            Some(it.simultaneous_cycles),
        ),
        (
            "estimatedPartnerBusyWorkCycles",
            Some(it.partner_busy_cycles),
        ),
        (
            "estimatedExchangeIdleWorkCycles",
            Some(it.exchange_idle_cycles),
        ),
        (
            "measuredExchangePhaseCycles",
            Some(it.measured_exchange_cycles),
        ),
        (
            "scheduledExchangeEventCycles",
            Some(it.scheduled_exchange_cycles),
        ),
        ("exchangeArrivalWaitCycles", Some(it.arrival_wait_cycles)),
        ("exchangePhaseBoundaryCycles", Some(it.boundary_cycles)),
    ]
}

struct Json<'a>(&'a Inspection);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", INSPECT_SCHEMA)?;
        for (key, value) in figures(self.0) {
            map.serialize_entry(key, &value)?;
        }
        map.serialize_entry("warnings", &self.0.warnings)?;
        map.end()
    }
}
