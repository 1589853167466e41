//! Which samples the table of the run counts.

use analytics::profile::SampleKind;
use serde::{Deserialize, Serialize};

/// Which samples the table counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KindFilter {
    /// Kernels and local copies.
    #[default]
    Compute,
    /// Exchange rows.
    Exchange,
    /// Waits at barriers.
    Synchronization,
    /// Tiles without a command.
    Idle,
    /// Everything.
    All,
    /// The kernel in focus; without one, whatever computes.
    Focus,
}

/// The kind whose samples have this word for a kernel: the reserved words of the recorders.
pub(crate) fn kind_called(kernel: &str) -> Option<SampleKind> {
    match kernel {
        "exchange" => Some(SampleKind::Exchange),
        "sync" => Some(SampleKind::Synchronization),
        "idle" => Some(SampleKind::Idle),
        _ => None,
    }
}

/// The kind of the samples that count: that of `kernel` where it is a word for a kind, as such
/// samples compute nothing; else the `usual` one.
pub(crate) fn kind_counted(kernel: Option<&str>, usual: Option<SampleKind>) -> Option<SampleKind> {
    kernel.and_then(kind_called).or(usual)
}

/// What is in focus where the kind of this name is; compute is in focus by kernels only.
pub(crate) fn kind_focus(kind: &str) -> Option<&'static str> {
    let names = ["exchange", "sync", "idle"].into_iter();
    let mut names = names.filter_map(|name| Some((kind_called(name)?, name)));
    names.find(|it| it.0.name() == kind).map(|it| it.1)
}

impl KindFilter {
    /// All filters, in the order of the menu.
    pub(crate) const ALL: [Self; 6] = [
        Self::Compute,
        Self::Exchange,
        Self::Synchronization,
        Self::Idle,
        Self::All,
        Self::Focus,
    ];

    /// The name in links; all but `all` and `focus` are names of `profile-query --kind`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Focus => "focus",
            _ => self.to_query().map_or("all", SampleKind::name),
        }
    }

    /// What the menu says.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Focus => "kernel in focus",
            _ => self.name(),
        }
    }

    /// The kind of a query's filter.
    pub(crate) const fn to_query(self) -> Option<SampleKind> {
        match self {
            Self::Compute | Self::Focus => Some(SampleKind::Compute),
            Self::Exchange => Some(SampleKind::Exchange),
            Self::Synchronization => Some(SampleKind::Synchronization),
            Self::Idle => Some(SampleKind::Idle),
            Self::All => None,
        }
    }

    /// What to say where the kernel in focus is asked for and there is none.
    pub(crate) fn lack(self, kernel: Option<&str>) -> Option<&'static str> {
        (self == Self::Focus && kernel.is_none()).then_some(
            "No kernel is in focus: these are all that compute. Focus one to see it alone.",
        )
    }

    /// The filter with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_focus_that_is_not_there_is_said() {
        assert!(KindFilter::Focus.lack(None).is_some());
        assert_eq!(KindFilter::Focus.lack(Some("gemm")), None);
        assert_eq!(KindFilter::Compute.lack(None), None);
    }
}
