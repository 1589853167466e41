//! Kernel calls as a package states them: what is computed, in physical (padded) extents.
//!
//! Operand order is output first; [`crate::kernels::operands`] has each operand's bytes. Layouts:
//!
//! * *row-major*: element (r, c) at r·stride + c;
//! * *AMP-left*, panel width w of 16 (F16), 32 (F143) or 8 (F32): (c div w)·R·w + r·w + c mod w;
//! * *AMP-transposed-left*: (r div 16)·C·16 + c·16 + r mod 16;
//! * *block-major* (right operands): for each group of 16 columns, for each panel of w inner
//!   values, 16 columns of w contiguous inner values.

use std::fmt;

/// Where a kernel reads its coefficients from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryClass {
    /// 64-bit path, any address.
    Standard,
    /// 128-bit coefficient loads, addresses from 0x80000.
    Interleaved,
}

/// An F32 argument word of a call, kept as its bits so that calls compare and hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scalar(u32);

impl Scalar {
    /// The argument word of a value.
    #[must_use]
    pub const fn new(value: f32) -> Self {
        Self(value.to_bits())
    }

    /// The value.
    #[must_use]
    pub const fn get(self) -> f32 {
        f32::from_bits(self.0)
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// Extents of a matrix product: out[R, C] = or += left[R, K] · right[K, C].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gemm {
    /// Rows R, at least one.
    pub rows: u32,
    /// Inner extent K, a multiple of the panel width of the precision.
    pub inner: u32,
    /// Columns C, a multiple of 16.
    pub columns: u32,
    /// Add to the output instead of overwriting it.
    pub accumulate: bool,
    /// Memory class of the right operand.
    pub coefficients: MemoryClass,
}

/// Element type of a pointwise result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// F16.
    #[default]
    F16,
    /// F143 codes of value · 2^-scale.
    F143 {
        /// Exponent of the tensor-wide scale, −16..=15.
        scale: i8,
        /// Stored in AMP-left panels of 32 columns instead of row-major; the width is then a
        /// multiple of 32.
        packed: bool,
    },
}

/// out = GeLU(source), tanh form, source clamped to [−8, 8]. Operands: out, source. F16 results may
/// replace their source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gelu {
    /// Rows; 1 for a flat range of F16.
    pub rows: u32,
    /// Elements of a row, even.
    pub width: u32,
    /// Element type of the result.
    pub output: Output,
}

/// out[r, c] = GeLU(source[r, c] + bias[c]). Operands: out, source, bias. F16 results may replace
/// their source. One row with a bias of its full length adds a bias in any layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BiasGelu {
    /// Rows that share the bias.
    pub rows: u32,
    /// Elements of a row and of the bias, even.
    pub width: u32,
    /// Element type of the result.
    pub output: Output,
}

/// out[r, c] = left[r, c] + right[c], F16 or F32. Operands: out, left, right; out may replace
/// left. One row is a dense add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Add {
    /// Rows that share the right operand.
    pub rows: u32,
    /// Elements of a row and of the right operand, even.
    pub width: u32,
}

/// Layer norm of row-major F16 rows: out = (x − mean)·(variance + ε)^-½·gain + shift in F32.
///
/// Plain: operands out, source, gain, shift; F16 results may replace their source. With the
/// residual add fused, x = F16(source + residual) is stored as sum: operands out, sum, source,
/// residual, gain, shift; sum may replace source or residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerNorm {
    /// Rows.
    pub rows: u32,
    /// Elements of a row, even.
    pub width: u32,
    /// The residual add is fused.
    pub add: bool,
    /// ε, positive and finite.
    pub epsilon: Scalar,
    /// Element type of the result.
    pub output: Output,
}

/// Moments of one tile's part of each row: F32 sum at byte 0 and F32 sum of squares at byte 4 of
/// the row's 8 bytes. Operands: moments, source; with the residual add fused moments, sum, source,
/// residual, as in [`LayerNorm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerNormMoments {
    /// Rows.
    pub rows: u32,
    /// Elements of this part of a row, even.
    pub width: u32,
    /// The residual add is fused.
    pub add: bool,
}

/// Normalises one tile's part of each row with the moments of all parts. Operands: out, source,
/// moments (part-major, R × 8 bytes a part), gain, shift; out may replace source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerNormApply {
    /// Rows.
    pub rows: u32,
    /// Elements of this part of a row, even.
    pub width: u32,
    /// Elements of a whole row.
    pub total_width: u32,
    /// Parts of a row.
    pub parts: u32,
    /// ε, positive and finite.
    pub epsilon: Scalar,
}

/// Unnormalised row softmax of AMP-left scores [R, P]: exp((x − max)·scale) of the first keys,
/// zero for the others. Operands: out, scores; F16 weights may replace their scores.
///
/// out is [R, P] weights in AMP-left panels of their type, then the row state: 32 bytes a row with
/// F32 max·scale at byte 0 and the F32 sum of the weights at byte 4, the rest untouched. With F16
/// weights that is the panel of the 16 halves past column P.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Softmax {
    /// Rows R.
    pub rows: u32,
    /// Keys that count, 1..=padded.
    pub keys: u32,
    /// Columns P, a multiple of the weights' panel width.
    pub padded: u32,
    /// Factor of the scores, positive and finite.
    pub scale: Scalar,
    /// Element type of the weights.
    pub output: Output,
}

/// Merges a block of weights · values into the running result of online softmax, in F32.
///
/// state is R rows of V + 2 F32: scaled maximum, sum, V accumulators. block is F16 [R, P] in
/// AMP-left panels, of which the first V columns count. row state is what [`Softmax`] leaves, 32
/// bytes a row. The last merge divides and writes out, row-major [R, V].
/// Operands: [out if last] [state unless first and last] block, row state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Merge {
    /// Rows R.
    pub rows: u32,
    /// Value columns V, even.
    pub columns: u32,
    /// Columns P of the block, a multiple of 16.
    pub padded: u32,
    /// Nothing was merged before: the state is written, not read.
    pub first: bool,
    /// Nothing follows: out is written.
    pub last: bool,
    /// out is F16 instead of F32.
    pub half_output: bool,
}

/// Most blocks that one [`MergeAll`] takes: those of a head with a tile for each.
pub const MERGE_PARTS_MAX: u32 = 92;

/// Merges all blocks of weights · values of some rows in one pass, in F32, and divides by the sum.
///
/// Blocks and row states are laid out as in [`Merge`]. Operands: out, row-major [R, V], then block
/// and row state of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MergeAll {
    /// Rows R.
    pub rows: u32,
    /// Value columns V, even.
    pub columns: u32,
    /// Columns P of a block, a multiple of 16.
    pub padded: u32,
    /// Blocks, 2..=[`MERGE_PARTS_MAX`].
    pub parts: u32,
    /// out is F16 instead of F32.
    pub half_output: bool,
}

/// A change of element type. Operands: out, source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cast {
    /// n F16 to F32.
    F16ToF32 {
        /// Elements, even.
        elements: u32,
    },
    /// n F32 to F16.
    F32ToF16 {
        /// Elements, even.
        elements: u32,
    },
    /// n F16 to F143 in the same order, as value · 2^-scale.
    F16ToF143 {
        /// Elements, a multiple of 4.
        elements: u32,
        /// Exponent of the tensor-wide scale, −16..=15.
        scale: i8,
    },
    /// AMP-left panels of 16 F16 to AMP-left panels of 32 F143.
    F16ToF143Panels {
        /// Rows of a panel.
        rows: u32,
        /// Panels of 32 columns.
        panels: u32,
        /// Exponent of the tensor-wide scale, −16..=15.
        scale: i8,
    },
    /// n F143 to F16, as code · 2^scale.
    F143ToF16 {
        /// Elements, a multiple of 4.
        elements: u32,
        /// Exponent of the tensor-wide scale, −16..=15.
        scale: i8,
    },
}

/// From which order to which a rearrangement goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Row-major [rows, columns] → AMP-left, columns padded with zero to 16.
    PackLeft,
    /// Row-major [rows = inner, columns] → block-major, both padded with zero to 16.
    PackRight,
    /// Row-major [rows, columns = inner] → block-major of its transpose, both padded with zero
    /// to 16: the right operand of a product with the transposed matrix.
    PackTransposedRight,
    /// AMP-transposed-left [rows, columns], rows padded to 16 → row-major.
    UnpackTransposed,
    /// AMP-left [rows, columns], columns padded to 16 → row-major.
    UnpackLeft,
    /// AMP-left [rows = inner, columns], both multiples of 16 → block-major right operand.
    LeftToRight,
}

/// A rearrangement of F16 elements, bit by bit. Operands: out, source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rearrange {
    /// From which order to which.
    pub order: Order,
    /// Matrices, one after the other on both sides.
    pub matrices: u32,
    /// Rows of a matrix; row-major sides hold exactly these.
    pub rows: u32,
    /// Columns of a matrix; row-major sides hold exactly these.
    pub columns: u32,
    /// Elements from one row to the next on the row-major side, even and at least `columns`;
    /// `columns` where no side is row-major. Elements between rows are left alone.
    pub stride: u32,
}

/// A copy of r rows of bytes. Operands: out, source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyRows {
    /// Rows.
    pub rows: u32,
    /// Bytes of a row, a multiple of 8.
    pub bytes: u32,
    /// Bytes from one row to the next at the destination, a multiple of 8, at least `bytes`.
    pub out_stride: u32,
    /// Bytes from one row to the next at the source, a multiple of 8, at least `bytes`.
    pub source_stride: u32,
}

/// What a kernel call computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KernelSpec {
    /// out[R, C] (AMP-left panels) = or += left[R, K] (AMP-left panels) · right[K, C]
    /// (block-major). Operands: out, left, right.
    GemmF16 {
        /// Rows R, at least one.
        rows: u32,
        /// Inner extent K, a multiple of 16.
        inner: u32,
        /// Columns C, a multiple of 16.
        columns: u32,
        /// Add to the output instead of overwriting it.
        accumulate: bool,
        /// Memory class of the right operand.
        coefficients: MemoryClass,
    },
    /// The F16 product with a packed store: out in groups of 16 rows (the last may be shorter),
    /// each group in AMP-left panels. Operands: out, left, right.
    GemmPackedF16(Gemm),
    /// The product of F143 operands, panels of 32 inner values, F16 result in AMP-left panels of
    /// 16. Operands: out, left, right.
    GemmF143 {
        /// Extents; the inner one is a multiple of 32.
        gemm: Gemm,
        /// Exponent of the product's scale: the sum of the operands' exponents, −32..=30.
        scale: i8,
    },
    /// The F32 product, panels of 8 inner values, result in AMP-left panels of 8.
    /// Operands: out, left, right.
    GemmF32(Gemm),
    /// out[n] = sum of P packed F16 partials of n elements, added in partial order.
    /// Operands: out, partials (contiguous, partial-major).
    ReduceSumF16 {
        /// Partials P, at least two.
        partials: u32,
        /// Elements n of each, a multiple of 8.
        elements: u32,
    },
    /// GeLU.
    Gelu(Gelu),
    /// GeLU after a bias add.
    BiasGelu(BiasGelu),
    /// F16 add.
    Add(Add),
    /// F32 add.
    AddF32(Add),
    /// Layer norm of whole rows.
    LayerNorm(LayerNorm),
    /// Moments of parts of rows.
    LayerNormMoments(LayerNormMoments),
    /// Layer norm of parts of rows with merged moments.
    LayerNormApply(LayerNormApply),
    /// Unnormalised row softmax.
    Softmax(Softmax),
    /// Merge of online softmax.
    Merge(Merge),
    /// Merge of all blocks of online softmax at once.
    MergeAll(MergeAll),
    /// Change of element type.
    Cast(Cast),
    /// Change of element order.
    Rearrange(Rearrange),
    /// Writes zero bytes. Operands: out.
    ZeroFill {
        /// Length in bytes, a multiple of 8.
        bytes: u32,
    },
    /// Copies bytes on one tile, 64 bits at a time. Operands: out, source.
    Copy {
        /// Length in bytes, a multiple of 8.
        bytes: u32,
    },
    /// Copies rows of bytes, 64 bits at a time. Operands: out, source.
    CopyRows(CopyRows),
    /// Copies bytes on one tile, 32 bits at a time, by the supervisor. Operands: out, source.
    CopyWords {
        /// Length in bytes, a multiple of 4.
        bytes: u32,
    },
    /// Copies bytes on one tile, 16 bits at a time, by the supervisor. Operands: out, source.
    CopyHalves {
        /// Length in bytes, a multiple of 2.
        bytes: u32,
    },
    /// Copies coefficients from standard to interleaved memory. Operands: out, source.
    StageInterleaved {
        /// Length in bytes, a multiple of 8.
        bytes: u32,
    },
}
