//! What kernels over rows share: padding of their results, and results as F16 or F143.

use half::f16;

use super::rules::Violation;
use super::tile::{F16, TileCall, WORD, WORD_HALVES, size};
use crate::host::f143;
use crate::package::Output;

/// Columns of an F143 panel.
const F143_PANEL: usize = 32;

/// Rows of a result with its element type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) output: Output,
}

impl Rows {
    pub(crate) const fn new(rows: u32, width: u32, output: Output) -> Self {
        let (rows, width) = (rows as usize, width as usize);
        Self {
            rows,
            width,
            output,
        }
    }

    pub(crate) const fn elements(&self) -> usize {
        self.rows * self.width
    }

    /// Output words that come from padding of these row-major F16 operands only.
    pub(crate) fn padding(
        &self,
        call: &TileCall<'_>,
        sources: &[usize],
    ) -> Result<Vec<u32>, Violation> {
        for &source in sources {
            if !call.is_complete(source, self.elements() * F16)? {
                return call.padding_words(self.words(), |word, from| {
                    let halves = self.halves_of(word);
                    for &source in sources {
                        let words = halves.start / WORD_HALVES..halves.end.div_ceil(WORD_HALVES);
                        from.extend(words.map(|w| call.address(source) + size(w * WORD)));
                    }
                });
            }
        }
        Ok(Vec::new())
    }

    /// Output words of padded rows.
    pub(crate) fn words_of_rows(&self, padding: &[bool]) -> Vec<u32> {
        if !padding.contains(&true) {
            return Vec::new();
        }
        (0..self.words())
            .filter(|&word| padding[self.halves_of(word).start / self.width])
            .map(size)
            .collect()
    }

    fn words(&self) -> usize {
        match self.output {
            Output::F16 => self.elements() * F16 / WORD,
            Output::F143 { .. } => self.elements() / WORD,
        }
    }

    /// Row-major elements that an output word holds.
    fn halves_of(&self, word: usize) -> std::ops::Range<usize> {
        match self.output {
            Output::F16 => word * WORD_HALVES..(word + 1) * WORD_HALVES,
            Output::F143 { packed: false, .. } => word * WORD..(word + 1) * WORD,
            Output::F143 { packed: true, .. } => {
                let at = word * WORD;
                let (row, panel) = (at / F143_PANEL % self.rows, at / (F143_PANEL * self.rows));
                let first = row * self.width + panel * F143_PANEL + at % F143_PANEL;
                first..first + WORD
            }
        }
    }

    /// Writes row-major results to operand 0.
    pub(crate) fn store(
        &self,
        call: &mut TileCall<'_>,
        values: &[f16],
        padding: Vec<u32>,
    ) -> Result<(), Violation> {
        let Output::F143 { scale, .. } = self.output else {
            return Ok(call.store_halves(0, values, padding)?);
        };
        let mut codes = Vec::with_capacity(self.elements());
        for word in 0..self.words() {
            for value in &values[self.halves_of(word)] {
                codes.push(narrow(call, value.to_f32(), scale, codes.len()));
            }
        }
        Ok(call.store(0, codes, padding)?)
    }
}

/// The F143 code of value · 2^-scale, rounded as the run rounds.
pub(crate) fn narrow(call: &TileCall<'_>, value: f32, scale: i8, element: usize) -> u8 {
    let scaled = f64::from(value) * f64::from(-scale).exp2();
    match call.rounder.draw(0, element as u64) {
        None => f143::encode(scaled),
        Some(random) => f143::encode_stochastic(scaled, random),
    }
}
