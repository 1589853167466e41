//! Values of the flags that say how a graph is planned.

use clap::ValueEnum;
use compiler::{AttentionProducts, AttentionStrategy, ExchangeItems, OperandPolicy, RepeatPolicy};

/// Which plans of attention are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StrategyArg {
    /// The cheapest
    #[default]
    Auto,
    /// Shared query rows, keys in blocks of 64
    Flash,
    /// Shared query rows, all keys at once
    Materialized,
}

/// Which products of attention have a grid of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProductsArg {
    /// The cheapest
    #[default]
    Auto,
    /// Query rows are shared in both
    SharedRows,
    /// The scores
    QkOnly,
    /// The weighted values
    PvOnly,
    /// Both
    Independent,
}

/// What becomes of blocks that are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RepeatsArg {
    /// Planned once, run in a Repeat
    #[default]
    Keep,
    /// Each planned and run by itself
    Unroll,
}

/// How operands reach the tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OperandArg {
    /// Uploaded once, brought by multicast exchanges
    #[default]
    Sharded,
    /// Copied by the host to every tile that reads them
    Replicated,
}

/// Which items exchanges may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ItemsArg {
    /// 64-bit items too where that makes an exchange shorter
    #[default]
    Auto,
    /// Words alone, as in the published runs
    Words,
}

impl From<ItemsArg> for ExchangeItems {
    fn from(items: ItemsArg) -> Self {
        match items {
            ItemsArg::Auto => Self::Auto,
            ItemsArg::Words => Self::Words,
        }
    }
}

impl From<StrategyArg> for AttentionStrategy {
    fn from(strategy: StrategyArg) -> Self {
        match strategy {
            StrategyArg::Auto => Self::Auto,
            StrategyArg::Flash => Self::Flash,
            StrategyArg::Materialized => Self::Materialized,
        }
    }
}

impl From<ProductsArg> for AttentionProducts {
    fn from(products: ProductsArg) -> Self {
        match products {
            ProductsArg::Auto => Self::Auto,
            ProductsArg::SharedRows => Self::SharedRows,
            ProductsArg::QkOnly => Self::QkOnly,
            ProductsArg::PvOnly => Self::PvOnly,
            ProductsArg::Independent => Self::Independent,
        }
    }
}

impl From<RepeatsArg> for RepeatPolicy {
    fn from(repeats: RepeatsArg) -> Self {
        match repeats {
            RepeatsArg::Keep => Self::Keep,
            RepeatsArg::Unroll => Self::Unroll,
        }
    }
}

impl From<OperandArg> for OperandPolicy {
    fn from(operands: OperandArg) -> Self {
        match operands {
            OperandArg::Sharded => Self::Sharded,
            OperandArg::Replicated => Self::Replicated,
        }
    }
}
