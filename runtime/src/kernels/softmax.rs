//! Row softmax, unnormalised: F32 maximum and sum, exponentials in F16.

use half::f16;

use super::amp::Rounder;
use super::generation::{Cost, Generation};
use super::half_math::Lane;
use super::kernel::Kernel;
use super::operands::{Operand, matrix, multiple, output_error, positive, read, write};
use super::pointwise::narrow;
use super::rules::Violation;
use super::tile::{F16, Ranges, TileCall, WORD, size};
use super::workers::{bundles, parts};
use crate::machine::memory::WordRun;
use crate::package::{Output, Softmax};

/// Columns of an F16 panel, and of an F143 panel.
const PANEL: u32 = 16;
const F143_PANEL: u32 = 32;
/// Bytes of a row's state: as many as a row of an F16 panel.
pub(crate) const STATE: u32 = 32;
/// Bytes of the state that hold something: maximum and sum.
pub(crate) const STATE_USED: usize = 8;

/// Slots of one published kernel set; rows are shared by six workers, a row by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    /// Row base.
    row: u64,
    /// If there is a full panel.
    any_panel: u64,
    /// Per panel of 16 keys.
    panel: u64,
    /// Row end beside the base, of a full row and of a masked one, and of a masked one with full
    /// panels.
    full_end: u64,
    masked_end: u64,
    masked_panels: u64,
    /// Launch of full rows.
    launch: u64,
    /// Segment set-up of the split kernel; 0 where there is none.
    segment: u64,
}

/// The published sets, fitted to C600 measurements within 20 % on random data: bank conflicts and
/// skew between workers are not in the formula.
pub(crate) const OLDEST: Slots = Slots {
    row: 31,
    any_panel: 0,
    panel: 71,
    full_end: 0,
    masked_end: 0,
    masked_panels: 0,
    launch: 216,
    segment: 0,
};
pub(crate) const SET_A: Slots = Slots {
    panel: 47,
    full_end: 7,
    masked_end: 5,
    masked_panels: 6,
    segment: 128,
    ..OLDEST
};
pub(crate) const SET_B: Slots = Slots { panel: 43, ..SET_A };
pub(crate) const SET_C: Slots = Slots {
    any_panel: 2,
    panel: 41,
    segment: 130,
    ..SET_A
};
pub(crate) const SET_D: Slots = Slots {
    row: 28,
    launch: 222,
    segment: 123,
    ..SET_C
};

/// Launch of masked rows, in all sets.
const MASKED_LAUNCH: u64 = 234;
/// The mask: its set-up, and one odd key.
const MASK: u64 = 21;
const ODD_KEY: u64 = 12;
const KEY_PAIR: u64 = 12;
/// Launch, and rows of the split kernel's end.
const SPLIT_LAUNCH: u64 = 408;
const SPLIT_ROWS: u64 = 126;
/// Fewest keys for which rows are split.
const SPLIT_KEYS: u32 = 128;

const fn slots(generation: Generation) -> Slots {
    match generation {
        Generation::G20260907 => OLDEST,
        Generation::G20260913 => SET_D,
    }
}

impl Slots {
    /// Cycles of the kernel that gives each row to one worker.
    pub(crate) fn whole(&self, rows: u32, keys: u32, padded: u32) -> u64 {
        let full = u64::from(keys / PANEL);
        let any = u64::from(full > 0);
        let row = self.row + self.any_panel * any + self.panel * full;
        let (launch, row) = if keys == padded {
            (self.launch, row + self.full_end)
        } else {
            let end = self.masked_end + self.masked_panels * any;
            (MASKED_LAUNCH, row + end + masked(keys, padded))
        };
        launch.saturating_add(bundles(parts(rows, 6).saturating_mul(row)))
    }

    /// Cycles of the three launches that share each row among three workers; `None` where the set
    /// has no such kernel.
    pub(crate) fn split(&self, rows: u32, padded: u32) -> Option<u64> {
        if self.segment == 0 {
            return None;
        }
        let segment = self.panel * parts(padded, 48) + self.segment;
        let segments = bundles(parts(rows, 2).saturating_mul(segment));
        let ends = SPLIT_ROWS.saturating_mul(parts(rows, 6));
        Some(segments.saturating_add(ends).saturating_add(SPLIT_LAUNCH))
    }

    /// Whether rows are split, and the cycles.
    pub(crate) fn best(&self, rows: u32, keys: u32, padded: u32) -> (bool, u64) {
        let whole = self.whole(rows, keys, padded);
        match self.split(rows, padded) {
            Some(split) if keys >= SPLIT_KEYS && split < whole => (true, split),
            _ => (false, whole),
        }
    }
}

/// Slots of a masked row's last panel and of the zero panels after it.
fn masked(keys: u32, padded: u32) -> u64 {
    let rest = keys % PANEL;
    let pairs = u64::from(rest / 2);
    let zeroes = u64::from(8 - rest.div_ceil(2));
    let panels = u64::from((padded / PANEL).saturating_sub(keys / PANEL + 1));
    let some = |count: u64| u64::from(count > 0);
    let before = if keys >= PANEL { 4 } else { 2 };
    MASK + before
        + 2 * some(pairs)
        + KEY_PAIR * pairs
        + ODD_KEY * u64::from(keys % 2)
        + some(zeroes)
        + 2 * zeroes
        + some(panels)
        + 10 * panels
}

/// Added for F143 weights: rows · (7 per 16 or 48 columns + 8). Published fit.
fn f143_cycles(rows: u32, padded: u32, is_split: bool) -> u64 {
    let (rows, panels) = if is_split {
        (parts(rows, 2), parts(padded, 48))
    } else {
        (parts(rows, 6), parts(padded, PANEL))
    };
    bundles(rows.saturating_mul(7 * panels + 8))
}

impl Softmax {
    /// Bytes of the weights, before the row state.
    fn weights_bytes(&self) -> u64 {
        match self.output {
            Output::F16 => matrix(self.rows, self.padded, 2),
            Output::F143 { .. } => matrix(self.rows, self.padded, 1),
        }
    }

    /// One row: its weights and its scaled maximum and sum. Each weight is rounded twice, as the
    /// scaled difference and as the exponential; maximum and sum are F32.
    fn row(
        &self,
        scores: &[f16],
        weights: &mut [f16],
        rounder: &Rounder,
        at: impl Fn(usize) -> usize,
    ) -> [f32; 2] {
        let (keys, scale) = (self.keys as usize, self.scale.get());
        let score = |key: usize| scores[at(key)].to_f32();
        let maximum = (0..keys).map(score).fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for key in 0..keys {
            let mut lane = Lane::new(rounder, 0, at(key));
            let exponent = lane.round((score(key) - maximum) * scale);
            let weight = lane.exp(exponent);
            sum += weight.to_f32();
            weights[at(key)] = weight;
        }
        [maximum * scale, sum]
    }
}

impl Kernel for Softmax {
    fn operands(&self) -> Vec<Operand> {
        let state = matrix(self.rows, STATE, 1);
        vec![
            write("out", self.weights_bytes().saturating_add(state)),
            read("scores", matrix(self.rows, self.padded, 2)),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        let panel = match self.output {
            Output::F16 => PANEL,
            Output::F143 { .. } => F143_PANEL,
        };
        let keys = (self.keys == 0 || self.keys > self.padded)
            .then(|| format!("keys is {}, outside 1..={}", self.keys, self.padded));
        let plain = matches!(self.output, Output::F143 { packed: false, .. })
            .then(|| "F143 weights of a softmax are packed".to_owned());
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("padded", self.padded, panel))
            .or(keys)
            .or_else(|| positive("scale", self.scale.get()))
            .or_else(|| output_error(self.output, self.padded))
            .or(plain)
    }

    fn cost(&self, generation: Generation) -> Cost {
        let (is_split, cycles) = slots(generation).best(self.rows, self.keys, self.padded);
        let Output::F143 { .. } = self.output else {
            return Cost::fitted(cycles);
        };
        Cost::fitted(cycles.saturating_add(f143_cycles(self.rows, self.padded, is_split)))
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        self.output == Output::F16 && (written, other) == ("out", "scores")
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let (rows, padded) = (self.rows as usize, self.padded as usize);
        let panel = PANEL as usize;
        let scores = call.halves(1, rows * padded)?;
        let mut weights = vec![f16::ZERO; rows * padded];
        let mut states = Vec::with_capacity(rows);
        for row in 0..rows {
            if self.is_padding_row(call, row)? {
                states.push(None);
                continue;
            }
            let at = |key: usize| (key / panel * rows + row) * panel + key % panel;
            states.push(Some(self.row(&scores, &mut weights, &call.rounder, at)));
        }
        let is_padding: Vec<bool> = states.iter().map(Option::is_none).collect();
        self.store_weights(call, &weights, &is_padding)?;
        self.store_states(call, &states)
    }
}

/// Memory.
impl Softmax {
    /// Whether no key of a row was written; a fault where some were not.
    fn is_padding_row(&self, call: &TileCall<'_>, row: usize) -> Result<bool, Violation> {
        let (rows, panel) = (self.rows as usize, PANEL as usize);
        let (full, rest) = (self.keys / PANEL, (self.keys % PANEL) as usize);
        let first = call.address(1) + size(row * panel * F16);
        let stride = rows * panel * F16;
        let panels = Ranges {
            first,
            bytes: panel * F16,
            stride,
            count: full as usize,
        };
        let tail = Ranges {
            first: first + full * size(stride),
            bytes: rest * F16,
            stride,
            count: usize::from(rest > 0),
        };
        call.is_padding(row, &[panels, tail])
    }

    fn store_weights(
        &self,
        call: &mut TileCall<'_>,
        weights: &[f16],
        is_padding: &[bool],
    ) -> Result<(), Violation> {
        let rows = self.rows as usize;
        let words_of = |panel_bytes: usize, total: usize| -> Vec<u32> {
            if !is_padding.contains(&true) {
                return Vec::new();
            }
            (0..total / WORD)
                .filter(|word| is_padding[word * WORD / panel_bytes % rows])
                .map(size)
                .collect()
        };
        match self.output {
            Output::F16 => {
                let padding = words_of(STATE as usize, weights.len() * F16);
                Ok(call.store_halves(0, weights, padding)?)
            }
            Output::F143 { scale, .. } => {
                let (narrow_panel, panel) = (F143_PANEL as usize, PANEL as usize);
                let code = |at: usize| {
                    let (row, lane) = (at / narrow_panel % rows, at % narrow_panel);
                    let column = at / (narrow_panel * rows) * narrow_panel + lane;
                    let from = (column / panel * rows + row) * panel + column % panel;
                    narrow(call, weights[from].to_f32(), scale, at)
                };
                let codes: Vec<u8> = (0..weights.len()).map(code).collect();
                let padding = words_of(narrow_panel, codes.len());
                Ok(call.store(0, codes, padding)?)
            }
        }
    }

    fn store_states(
        &self,
        call: &mut TileCall<'_>,
        states: &[Option<[f32; 2]>],
    ) -> Result<(), Violation> {
        let first = call.address(0) + u32::try_from(self.weights_bytes()).unwrap_or(u32::MAX);
        for (row, state) in (0..).zip(states) {
            let values = state.unwrap_or_default();
            let run = WordRun {
                bytes: values
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect(),
                uninitialised: if state.is_some() {
                    Vec::new()
                } else {
                    vec![0, 1]
                },
            };
            call.memory().land(first + row * STATE, &run)?;
        }
        Ok(())
    }
}
