//! Exchange problems as files: what `ipu-stack schedule-bench` reads, runs and reports.
//!
//! JSON text of schema version 4 → [`Problem`] → one [`PhaseReport`] a phase, whose rows were
//! checked.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use analytics::units::TileId;
use runtime::machine::topology::Topology;
use runtime::package::model::{Address, Delivery, Package, ScheduleItem};
use serde::{Deserialize, Serialize};

use super::encode::{EncodeError, encode};
use super::schedule::{Delays, ScheduleError, ScheduleReport, delays, schedule};
use super::transfer::{ExchangeContext, SourceSteps, Transfer};
use super::verify::{VerifyError, verify};
use crate::options::TILES_MAX;

/// One exchange of a problem file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemPhase {
    /// Phase number in the file.
    pub phase: u32,
    /// Its transfers in program order.
    pub transfers: Vec<Transfer>,
    /// How many of them the file wants 64 bits wide.
    pub wide: usize,
}

/// What came of one exchange of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseReport {
    /// Phase number in the file.
    pub phase: u32,
    /// Transfers of the file.
    pub transfers: usize,
    /// Transfers that the file wants 64 bits wide.
    pub wide: usize,
    /// How the schedule came out.
    pub schedule: ScheduleReport,
    /// Which rules delayed how many of the transfers.
    pub delays: Delays,
    /// Wall time of scheduling.
    pub schedule_time: Duration,
    /// Wall time of encoding.
    pub encode_time: Duration,
    /// Wall time of the check.
    pub verify_time: Duration,
    /// Instruction words of the longest row.
    pub row_words_max: usize,
    /// Instruction words of all rows.
    pub row_words: usize,
}

impl fmt::Display for PhaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        writeln!(f, "phase {}", self.phase)?;
        writeln!(f, "  transfers       {}", self.transfers)?;
        writeln!(f, "  messages        {}", self.schedule.messages)?;
        let (paired, wide) = (self.schedule.paired, self.wide);
        if paired + wide > 0 {
            writeln!(
                f,
                "  64-bit          {paired} messages, {wide} transfers asked for it"
            )?;
        }
        writeln!(f, "  ordered pairs   {}", self.schedule.hazards)?;
        writeln!(f, "  order           {}", self.schedule.order)?;
        writeln!(f, "  endpoint bound  {}", self.schedule.bound)?;
        writeln!(f, "  horizon         {}", self.schedule.horizon)?;
        writeln!(
            f,
            "  schedule        {:.1} ms",
            milliseconds(self.schedule_time)
        )?;
        writeln!(
            f,
            "  encode          {:.1} ms",
            milliseconds(self.encode_time)
        )?;
        writeln!(f, "  longest row     {} words", self.row_words_max)?;
        writeln!(f, "  all rows        {} words", self.row_words)?;
        writeln!(
            f,
            "  check           passed, {:.1} ms",
            milliseconds(self.verify_time)
        )?;
        self.write_delays(f)
    }
}

impl PhaseReport {
    /// How many transfers each rule delayed, and how many it alone did.
    fn write_delays(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Delays {
            transfers,
            delayed,
            rules,
        } = self.delays;
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let share = |count: usize| 100.0 * count as f64 / transfers.max(1) as f64;
        write!(
            f,
            "  delayed         {:.1} % of the transfers",
            share(delayed)
        )?;
        for each in rules {
            let (forbidden, decided) = (share(each.forbidden), share(each.decided));
            let name = each.rule.name();
            write!(f, "\n    {name:<14}{forbidden:5.1} %, {decided:5.1} %")?;
        }
        Ok(())
    }
}

/// A problem file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Logical tiles.
    pub tiles: u16,
    /// Its exchanges.
    pub phases: Vec<ProblemPhase>,
}

/// Why a problem file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// Not JSON, or not of the expected shape.
    #[error("not an exchange problem: {0}")]
    Json(#[from] serde_json::Error),
    /// No schedule.
    #[error("phase {phase}: {error}")]
    Schedule {
        /// Phase number in the file.
        phase: u32,
        /// What the scheduler says.
        error: ScheduleError,
    },
    /// No rows: a bug.
    #[error("phase {phase}: {error}")]
    Encode {
        /// Phase number in the file.
        phase: u32,
        /// What the encoder says.
        error: EncodeError,
    },
    /// Rows that do something else: a bug.
    #[error("phase {phase}: the check failed: {error}")]
    Verify {
        /// Phase number in the file.
        phase: u32,
        /// What the check found.
        error: VerifyError,
    },
    /// A form that is not scheduled.
    #[error("phase {phase}, transfer {transfer}: {problem}")]
    Transfer {
        /// Phase number in the file.
        phase: u32,
        /// Position in the phase.
        transfer: usize,
        /// What is wrong.
        problem: String,
    },
    /// A header field out of range.
    #[error("{field} is {value}; expected {expected}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        expected: &'static str,
    },
}

#[derive(Deserialize, Serialize)]
pub(super) struct FileText {
    pub(super) schema_version: u32,
    pub(super) tile_count: u16,
    pub(super) phases: Vec<PhaseText>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct PhaseText {
    pub(super) phase: u32,
    pub(super) transfers: Vec<TransferText>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct TransferText {
    pub(super) source: u16,
    pub(super) source_addresses: Vec<Address>,
    pub(super) destinations: Vec<(u16, Address)>,
    pub(super) words: u32,
    pub(super) width: String,
}

/// Reads a problem file of schema version 4.
///
/// # Errors
/// Text that is no such file, or a transfer form that is not scheduled.
pub fn read(text: &str) -> Result<Problem, ProblemError> {
    let file: FileText = serde_json::from_str(text)?;
    if file.schema_version != 4 {
        return Err(ProblemError::Field {
            field: "schema_version",
            value: u64::from(file.schema_version),
            expected: "4",
        });
    }
    if file.tile_count == 0 || file.tile_count > TILES_MAX {
        return Err(ProblemError::Field {
            field: "tile_count",
            value: u64::from(file.tile_count),
            expected: "1 to 1472",
        });
    }
    let phases = file
        .phases
        .into_iter()
        .map(phase)
        .collect::<Result<_, _>>()?;
    Ok(Problem {
        tiles: file.tile_count,
        phases,
    })
}

fn phase(text: PhaseText) -> Result<ProblemPhase, ProblemError> {
    let number = text.phase;
    let wide = |text: &&TransferText| text.width == WIDE;
    let wide = text.transfers.iter().filter(wide).count();
    let transfers = text.transfers.into_iter().enumerate();
    let transfers = transfers.map(|(position, text)| {
        transfer(text).map_err(|problem| ProblemError::Transfer {
            phase: number,
            transfer: position,
            problem,
        })
    });
    Ok(ProblemPhase {
        phase: number,
        transfers: transfers.collect::<Result<_, _>>()?,
        wide,
    })
}

/// Width of a transfer that the file wants sent as 64-bit items over a borrowed lane.
pub(super) const WIDE: &str = "Paired64";
/// Width of any other transfer.
pub(super) const WORD: &str = "Word32";

fn transfer(text: TransferText) -> Result<Transfer, String> {
    if text.width != WIDE && text.width != WORD {
        return Err(format!("unknown width {}", text.width));
    }
    let (source_address, steps) = steps(&text.source_addresses)?;
    let destinations = text.destinations.into_iter();
    Ok(Transfer {
        source: TileId::new(text.source),
        source_address,
        steps,
        words: text.words,
        destinations: destinations
            .map(|(tile, at)| (TileId::new(tile), at))
            .collect(),
    })
}

/// The first of the addresses that a source has in the runs of a Repeat, and the steps between.
fn steps(addresses: &[Address]) -> Result<(Address, SourceSteps), String> {
    let (Some(&first), runs) = (addresses.first(), addresses.len()) else {
        return Err("no source address".to_owned());
    };
    let second = addresses.get(1).copied().unwrap_or(first);
    let even = addresses
        .windows(2)
        .all(|pair| pair[0].checked_add(second.wrapping_sub(first)) == Some(pair[1]));
    if second < first || !even {
        return Err(format!(
            "{runs} source addresses that are not equally far from each other"
        ));
    }
    let runs = u32::try_from(runs).map_err(|error| error.to_string())?;
    let bytes = second - first;
    Ok((first, SourceSteps { bytes, runs }))
}

/// The exchanges of a package as the text of a problem file.
///
/// # Errors
/// Not with numbers and names like these.
pub fn export(package: &Package) -> Result<String, ProblemError> {
    let counts = runs(&package.schedule);
    let phases = (0..).zip(&package.exchanges).map(|(phase, exchange)| {
        let steps: BTreeMap<u32, i32> = exchange
            .source_steps
            .iter()
            .map(|step| (step.delivery, step.bytes))
            .collect();
        let transfer = |(number, delivery): (u32, &Delivery)| {
            let step = steps.get(&number).copied().unwrap_or(0);
            let runs = if step == 0 {
                1
            } else {
                counts.get(&phase).copied().unwrap_or(1)
            };
            let address = |run: u32| {
                let offset = step.unsigned_abs().wrapping_mul(run);
                delivery.source_address.wrapping_add(offset)
            };
            TransferText {
                source: delivery.source.get(),
                source_addresses: (0..runs).map(address).collect(),
                destinations: delivery
                    .destinations
                    .iter()
                    .map(|&(tile, at)| (tile.get(), at))
                    .collect(),
                words: delivery.bytes / 4,
                width: WORD.to_owned(),
            }
        };
        let transfers = (0..).zip(&exchange.deliveries).map(transfer).collect();
        PhaseText { phase, transfers }
    });
    let file = FileText {
        schema_version: 4,
        tile_count: u16::try_from(package.tiles.len()).unwrap_or(u16::MAX),
        phases: phases.collect(),
    };
    Ok(serde_json::to_string(&file)?)
}

/// How often each exchange runs in a row: sources move with the runs of the innermost Repeat and
/// start anew with each run of one around it.
fn runs(schedule: &[ScheduleItem]) -> BTreeMap<u32, u32> {
    fn add(items: &[ScheduleItem], times: u32, counts: &mut BTreeMap<u32, u32>) {
        for item in items {
            match item {
                ScheduleItem::Exchange(exchange) => {
                    counts.insert(*exchange, times);
                }
                ScheduleItem::Compute(_) => {}
                ScheduleItem::Repeat { count, body } => add(body, *count, counts),
            }
        }
    }
    let mut counts = BTreeMap::new();
    add(schedule, 1, &mut counts);
    counts
}

impl Problem {
    /// Schedules, encodes and checks each phase on the first tiles of the device.
    ///
    /// # Errors
    /// A phase whose transfers cannot be scheduled, or, which would be a bug, whose rows are wrong.
    pub fn run(&self) -> Result<Vec<PhaseReport>, ProblemError> {
        let topology = Topology::first_tiles(self.tiles);
        let context = ExchangeContext {
            topology: &topology,
            row_code: &[],
        };
        self.phases
            .iter()
            .map(|phase| phase.run(&context))
            .collect()
    }
}

impl ProblemPhase {
    fn run(&self, context: &ExchangeContext<'_>) -> Result<PhaseReport, ProblemError> {
        let phase = self.phase;
        let started = Instant::now();
        let schedule = schedule(&self.transfers, context)
            .map_err(|error| ProblemError::Schedule { phase, error })?;
        let schedule_time = started.elapsed();
        let started = Instant::now();
        let rows =
            encode(&schedule, context).map_err(|error| ProblemError::Encode { phase, error })?;
        let encode_time = started.elapsed();
        let started = Instant::now();
        verify(&rows, &self.transfers, context)
            .map_err(|error| ProblemError::Verify { phase, error })?;
        let verify_time = started.elapsed();
        let lengths = || rows.iter().flatten().map(|row| row.words.len());
        Ok(PhaseReport {
            phase,
            transfers: self.transfers.len(),
            wide: self.wide,
            schedule: schedule.report(),
            delays: delays(&schedule, &self.transfers, context),
            schedule_time,
            encode_time,
            verify_time,
            row_words_max: lengths().max().unwrap_or(0),
            row_words: lengths().sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tiles: u32, version: u32, width: &str, addresses: &str) -> String {
        format!(
            r#"{{"schema_version":{version},"tile_count":{tiles},"phases":[{{"phase":3,"transfers":[
            {{"source":0,"source_addresses":{addresses},"destinations":[[1,589824],[2,589824]],
            "words":40,"width":"{width}"}}]}}]}}"#
        )
    }

    #[test]
    fn a_problem_is_read_scheduled_and_checked() {
        let problem = read(&text(8, 4, "Paired64", "[393216]")).expect("it is a problem");
        let reports = problem.run().expect("it can be scheduled");
        let [report] = reports.as_slice() else {
            panic!("one phase, not {}", reports.len());
        };
        assert_eq!((report.phase, report.transfers, report.wide), (3, 1, 1));
        assert_eq!(report.schedule.bound.get(), 40);
        assert!(report.row_words_max >= 4 && report.row_words >= 3 * 3);
        let text = report.to_string();
        for line in [
            "endpoint bound  40 cycles",
            "64-bit          0 messages, 1 transfers asked for it",
            "check           passed",
            "delayed         0.0 % of the transfers",
            "receive lane    0.0 %,   0.0 %",
        ] {
            assert!(text.contains(line), "{text} lacks {line}");
        }
    }

    #[test]
    fn an_exchange_in_nested_repeats_has_the_addresses_of_the_inner_one() {
        let exchange = ScheduleItem::Exchange;
        let repeat = |count, body| ScheduleItem::Repeat { count, body };
        let inner = repeat(3, vec![exchange(1), ScheduleItem::Compute(0)]);
        let outer = repeat(5, vec![exchange(0), inner, exchange(2)]);
        let counts = runs(&[outer, exchange(3)]);
        assert_eq!(counts, BTreeMap::from([(0, 5), (1, 3), (2, 5), (3, 1)]));
    }

    #[test]
    fn other_files_are_refused_by_name() {
        let table = [
            ("{}".to_owned(), "not an exchange problem"),
            (
                text(8, 3, "Word32", "[393216]"),
                "schema_version is 3; expected 4",
            ),
            (
                text(1473, 4, "Word32", "[393216]"),
                "tile_count is 1473; expected 1 to 1472",
            ),
            (
                text(8, 4, "Byte", "[393216]"),
                "phase 3, transfer 0: unknown width Byte",
            ),
            (text(8, 4, "Word32", "[4, 8, 16]"), "3 source addresses"),
            (
                text(2, 4, "Word32", "[393216]"),
                "phase 3: transfer 0: tile 2 is not",
            ),
        ];
        for (text, part) in table {
            let outcome = read(&text).and_then(|problem| problem.run());
            let error = outcome.expect_err("it is refused").to_string();
            assert!(error.contains(part), "{error:?} lacks {part:?}");
        }
    }
}
