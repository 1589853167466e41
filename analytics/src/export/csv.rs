//! Samples as comma-separated values: the columns of the table formats, unknown work empty,
//! metadata as a JSON object.

use std::io::Write;

use ::csv::Writer;

use super::ExportError;
use super::select::Selected;
use crate::units::Work;

const HEADER: [&str; 13] = [
    "tile",
    "start",
    "cycles",
    "kind",
    "kernel",
    "operation",
    "phase",
    "epoch",
    "cut",
    "usefulCycles",
    "physicalWorkCycles",
    "workEstimateBasis",
    "metadata",
];

impl From<::csv::Error> for ExportError {
    fn from(error: ::csv::Error) -> Self {
        match error.into_kind() {
            ::csv::ErrorKind::Io(error) => Self::Write(error),
            other => Self::Encode(format!("{other:?}")),
        }
    }
}

pub(super) fn write(
    selected: &Selected<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(HEADER)?;
    let report = selected.report;
    selected.for_each_tile(|tile, slices| {
        let physical = report.tiles()[tile as usize].tile.to_string();
        for slice in slices.iter() {
            let step = selected.step(slice);
            let estimate = step.estimate.filter(|_| !slice.cut);
            let work =
                |work: Option<Work>| work.map_or_else(String::new, |it| it.as_cycles().to_string());
            writer.write_record([
                physical.as_str(),
                &slice.start.to_string(),
                &slice.cycles().to_string(),
                &crate::text::kind(step.kind),
                report.string(step.kernel),
                report.string(step.operation),
                &step.place.phase.to_string(),
                &step.place.epoch.to_string(),
                if slice.cut { "true" } else { "false" },
                &work(estimate.map(|it| it.useful)),
                &work(estimate.map(|it| it.physical)),
                estimate.map_or("", |it| report.string(it.basis)),
                &object(selected.metadata(step)),
            ])?;
        }
        Ok(())
    })?;
    writer.flush()?;
    Ok(())
}

/// Pairs as a JSON object, in their order.
fn object<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{}:{}", text(name), text(value)))
        .collect();
    format!("{{{}}}", pairs.join(","))
}
