//! How far the profile is.

use std::sync::Arc;

use crate::engine::cause::Failure;
use crate::engine::protocol::Progress;
use crate::engine::summary::Summary;

/// The one state of loading; the profile itself stays in the worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum LoadState {
    /// Nothing was asked for.
    #[default]
    Empty,
    /// Bytes are on their way.
    Loading {
        /// What is being opened.
        name: String,
        /// How far it is; the total is zero where unknown.
        progress: Progress,
    },
    /// The profile is open.
    Ready(Arc<Summary>),
    /// A package is open, without a profile.
    Package {
        /// Its name.
        name: String,
    },
    /// The profile could not be opened.
    Failed {
        /// What was to be opened.
        name: String,
        /// Why it was not.
        failure: Failure,
    },
}

impl LoadState {
    /// The name in `data-state`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Loading { .. } => "loading",
            Self::Ready(_) => "ready",
            Self::Package { .. } => "package",
            Self::Failed { .. } => "failed",
        }
    }

    /// What is opened or open; empty without any.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Loading { name, .. } | Self::Failed { name, .. } | Self::Package { name } => name,
            Self::Ready(summary) => &summary.name,
        }
    }

    /// What was open, or was to be, is gone.
    pub(crate) fn fail(&mut self, failure: Failure) {
        if *self != Self::Empty {
            let name = self.label().to_owned();
            *self = Self::Failed { name, failure };
        }
    }

    /// Whether something is being opened.
    pub(crate) const fn is_loading(&self) -> bool {
        matches!(self, Self::Loading { .. })
    }

    /// Whether a profile or a package is open.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self, Self::Ready(_) | Self::Package { .. })
    }

    /// Whether a profile is open.
    pub(crate) const fn has_profile(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    /// The summary of the open profile.
    pub(crate) fn summary(&self) -> Option<&Arc<Summary>> {
        match self {
            Self::Ready(summary) => Some(summary),
            _ => None,
        }
    }
}
