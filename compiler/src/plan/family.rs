//! The plan families of attention and what a plan of each holds.

use std::fmt;

/// Which plan family an attention follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Query blocks × key blocks, softmax on each rectangle, merge by rows.
    Split,
    /// The same with a merge of all partial results in one pass, whose cost is assumed.
    SplitOnePass,
    /// A grid for the scores, another for the weighted values, softmax of whole rows between.
    Products,
    /// Query rows × nothing: every tile of a stream sees all keys, in blocks of 64 with a running
    /// merge.
    Flash,
    /// The same with all keys at once.
    Materialized,
}

impl Family {
    /// The name in plan texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::SplitOnePass => "split-one-pass",
            Self::Products => "products",
            Self::Flash => "flash",
            Self::Materialized => "materialized",
        }
    }
}

/// How one attention is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttentionPlan {
    /// Graph operation index.
    pub operation: usize,
    /// The family.
    pub family: Family,
    /// Query blocks of a stream.
    pub queries: u32,
    /// Key blocks of a stream.
    pub keys: u32,
    /// Query blocks and key blocks of the product with the values; those of the scores in all
    /// families but [`Family::Products`].
    pub values: [u32; 2],
    /// Tiles of a stream that own rows of it in [`Family::Products`]; the other families do not ask
    /// for it and have the size of their grid here.
    pub owners: u32,
}

impl AttentionPlan {
    /// A plan with one grid.
    pub(super) const fn of_one_grid(
        operation: usize,
        family: Family,
        [queries, keys]: [u32; 2],
    ) -> Self {
        Self {
            operation,
            family,
            queries,
            keys,
            values: [queries, keys],
            owners: queries * keys,
        }
    }

    /// Tiles of one stream.
    #[must_use]
    pub const fn stream_tiles(&self) -> u32 {
        let (scores, values) = (self.queries * self.keys, self.values[0] * self.values[1]);
        let products = if scores > values { scores } else { values };
        if products > self.owners {
            products
        } else {
            self.owners
        }
    }

    /// Logical tile of a cell of a stream, of either product or an owner.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a grid has at most 1,472 tiles"
    )]
    pub const fn owner_tile(&self, stream: u32, cell: u32) -> u16 {
        (stream * self.stream_tiles() + cell) as u16
    }

    /// Strides of the grids of `streams` streams, and the tiles of a grid.
    pub(super) fn blocks(&self, streams: u64) -> Vec<u32> {
        match self.family {
            Family::Split | Family::SplitOnePass | Family::Products => {
                vec![self.keys, self.values[1], self.stream_tiles()]
            }
            // Neighbours are of different streams; a stream's parts lie a stride apart.
            Family::Flash | Family::Materialized => {
                let streams = u32::try_from(streams).unwrap_or(u32::MAX);
                vec![streams, streams.saturating_mul(self.queries)]
            }
        }
    }

    /// Whether the owners of the rows compute the scores themselves.
    pub(crate) const fn shares_scores(&self) -> bool {
        is_of_owners([self.queries, self.keys], self.owners)
    }

    /// Whether the owners of the rows multiply with the values themselves.
    pub(crate) const fn shares_values(&self) -> bool {
        is_of_owners(self.values, self.owners)
    }

    /// Logical tile of a rectangle in a plan with one grid.
    #[must_use]
    pub const fn tile(&self, stream: u32, query: u32, key: u32) -> u16 {
        self.owner_tile(stream, query * self.keys + key)
    }

    /// Logical tile of a part of a stream's query rows.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a grid has at most 1,472 tiles"
    )]
    pub const fn shared_tile(&self, streams: u32, stream: u32, part: u32) -> u16 {
        (stream + streams * part) as u16
    }
}

/// Whether the owners of the rows do a product on their own rows: its grid has a query block for
/// each of them and all keys in one.
pub(super) const fn is_of_owners([queries, keys]: [u32; 2], owners: u32) -> bool {
    queries == owners && keys == 1
}

impl fmt::Display for AttentionPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operation,
            family,
            queries,
            keys,
            values,
            ..
        } = self;
        write!(f, "{operation}:{}:{queries}x{keys}", family.name())?;
        if *family == Family::Products {
            write!(f, ":{}x{}", values[0], values[1])?;
        }
        Ok(())
    }
}
