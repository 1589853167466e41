//! The newest answers of the panels below the timeline.

use std::sync::Arc;

use leptos::prelude::*;

use crate::engine::cause::Failure;
use crate::engine::compare::CompareAnswer;
use crate::engine::memory::{MatrixAnswer, MemoryAnswer, PackageSummary};
use crate::engine::panel::PanelAnswer;
use crate::engine::phases::PhasesAnswer;
use crate::engine::places::ItemsAnswer;
use crate::engine::plot::PlotAnswer;
use crate::engine::ports::PortsAnswer;
use crate::engine::protocol::HitAnswer;
use crate::engine::raster::{RasterAnswer, RowsAnswer};
use crate::engine::slack::SlackAnswer;
use crate::engine::summary::Summary;
use crate::engine::traffic::TrafficAnswer;

/// A signal with the newest answer of a sort.
type Newest<T> = RwSignal<Option<Arc<T>>>;

/// One signal a panel.
#[derive(Clone, Copy, Default)]
pub(crate) struct PanelAnswers {
    /// Waits and the critical path.
    pub(crate) phases: Newest<PhasesAnswer>,
    /// Bytes of exchanges.
    pub(crate) traffic: Newest<TrafficAnswer>,
    /// Exchange ports in view.
    pub(crate) ports: Newest<PortsAnswer>,
    /// Differences of two profiles.
    pub(crate) compare: Newest<CompareAnswer>,
    /// A chart.
    pub(crate) plot: Newest<PlotAnswer>,
    /// The tiles of a phase.
    pub(crate) slack: Newest<SlackAnswer>,
    /// The second profile.
    pub(crate) other: RwSignal<Beside<Summary>>,
    /// Its cells.
    pub(crate) other_raster: Newest<RasterAnswer>,
    /// The groups that its rows stand for.
    pub(crate) other_rows: Newest<RowsAnswer>,
    /// Its sample under the pointer.
    pub(crate) other_hit: Newest<HitAnswer>,
    /// The package.
    pub(crate) package: RwSignal<Beside<PackageSummary>>,
    /// The memory of one of its tiles.
    pub(crate) memory: Newest<MemoryAnswer>,
    /// The items of the schedule that this tile was in.
    pub(crate) items: Newest<ItemsAnswer>,
    /// Who sends to whom in it.
    pub(crate) matrix: Newest<MatrixAnswer>,
    /// Addresses that were opened beside the profile: of the second profile and of the package.
    opened: StoredValue<[Option<String>; 2]>,
}

/// How far something that is opened beside the profile is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Beside<T> {
    /// There is none.
    #[default]
    Nothing,
    /// It is being read.
    Loading {
        /// What is being opened.
        name: String,
    },
    /// It is open.
    Ready {
        /// Tells those that were opened apart.
        number: u64,
        /// What is true of it.
        summary: Arc<T>,
    },
    /// It could not be opened.
    Failed {
        /// What was to be opened.
        name: String,
        /// Why it was not.
        failure: Failure,
    },
}

impl<T> Beside<T> {
    /// The name in `data-state`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "empty",
            Self::Loading { .. } => "loading",
            Self::Ready { .. } => "ready",
            Self::Failed { .. } => "failed",
        }
    }

    /// Number and summary of the open one.
    pub(crate) const fn ready(&self) -> Option<(u64, &Arc<T>)> {
        match self {
            Self::Ready { number, summary } => Some((*number, summary)),
            _ => None,
        }
    }

    /// Why it could not be opened, as one line; `what` it was to be.
    pub(crate) fn trouble(&self, what: &str) -> String {
        match self {
            Self::Failed { failure, .. } => {
                let heading = failure.cause.heading(what);
                format!("{heading}: {}", failure.message)
            }
            _ => String::new(),
        }
    }

    /// What follows once it is open, or is not.
    fn opened(&self, opened: Result<T, Failure>) -> Self {
        thread_local!(static NEXT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });
        NEXT.set(NEXT.get() + 1);
        match opened {
            Ok(summary) => Self::Ready {
                number: NEXT.get(),
                summary: Arc::new(summary),
            },
            Err(failure) => Self::Failed {
                name: match self {
                    Self::Loading { name } => name.clone(),
                    _ => String::new(),
                },
                failure,
            },
        }
    }
}

impl Beside<Summary> {
    /// What follows once the profile is open, or is not; it keeps the name it was opened by.
    fn profile_opened(&self, opened: Result<Summary, Failure>) -> Self {
        self.opened(opened.map(|summary| Summary {
            name: match self {
                Self::Loading { name } => name.clone(),
                _ => summary.name,
            },
            ..summary
        }))
    }
}

/// What is open beside a profile, while another tab is shown.
#[derive(Debug, Default)]
pub(crate) struct ParkedBeside {
    other: Beside<Summary>,
    package: Beside<PackageSummary>,
    opened: [Option<String>; 2],
}

impl ParkedBeside {
    /// The second profile is open, or is not.
    pub(crate) fn take_other(&mut self, opened: Result<Summary, Failure>) {
        forget_failed(&mut self.opened[0], &opened);
        self.other = self.other.profile_opened(opened);
    }

    /// The package is open, or is not.
    pub(crate) fn take_package(&mut self, opened: Result<PackageSummary, Failure>) {
        forget_failed(&mut self.opened[1], &opened);
        self.package = self.package.opened(opened);
    }
}

/// What could not be opened may be asked for again.
fn forget_failed<T>(address: &mut Option<String>, opened: &Result<T, Failure>) {
    address.take_if(|_| opened.is_err());
}

impl PanelAnswers {
    /// What is open beside the profile that is shown.
    pub(crate) fn parked(self) -> ParkedBeside {
        ParkedBeside {
            other: self.other.get_untracked(),
            package: self.package.get_untracked(),
            opened: self.opened.get_value(),
        }
    }

    /// Shows again what was open beside a profile.
    pub(crate) fn unpark(self, parked: ParkedBeside) {
        self.other.set(parked.other);
        self.package.set(parked.package);
        self.opened.set_value(parked.opened);
    }

    /// Takes over an answer.
    pub(crate) fn take(self, answer: PanelAnswer) {
        match answer {
            PanelAnswer::Phases(it) => self.phases.set(Some(Arc::new(it))),
            PanelAnswer::Traffic(it) => self.traffic.set(Some(Arc::new(it))),
            PanelAnswer::Ports(it) => self.ports.set(Some(Arc::new(it))),
            PanelAnswer::Compare(it) => self.compare.set(Some(Arc::new(it))),
            PanelAnswer::Plot(it) => self.plot.set(Some(Arc::new(it))),
            PanelAnswer::Slack(it) => self.slack.set(Some(Arc::new(it))),
        }
    }

    /// Whether an address is another one than was opened as `which`; it is taken note of.
    pub(crate) fn is_news(self, which: usize, address: &str) -> bool {
        let news = self.opened.try_update_value(|opened| {
            let before = opened[which].replace(address.to_owned());
            before.as_deref() != Some(address)
        });
        news.unwrap_or_default()
    }

    /// A file of this computer takes the place of the address that was opened as `which`.
    pub(crate) fn forget_address(self, which: usize) {
        self.opened.update_value(|opened| opened[which] = None);
    }

    /// The second profile, once it is open.
    pub(crate) fn compared(self) -> Option<Arc<Summary>> {
        self.other.with(|it| it.ready().map(|it| Arc::clone(it.1)))
    }

    /// The second profile is open, or is not.
    pub(crate) fn take_other(self, opened: Result<Summary, Failure>) {
        self.opened
            .update_value(|addresses| forget_failed(&mut addresses[0], &opened));
        self.other
            .update(|other| *other = other.profile_opened(opened));
    }

    /// The package is open, or is not.
    pub(crate) fn take_package(self, opened: Result<PackageSummary, Failure>) {
        self.opened
            .update_value(|addresses| forget_failed(&mut addresses[1], &opened));
        self.memory.set(None);
        self.matrix.set(None);
        self.package
            .update(|package| *package = package.opened(opened));
    }

    /// Another profile is about to be opened.
    pub(crate) fn forget(self) {
        self.phases.set(None);
        self.traffic.set(None);
        self.ports.set(None);
        self.compare.set(None);
        self.plot.set(None);
        self.slack.set(None);
        self.other.set(Beside::Nothing);
        self.other_raster.set(None);
        self.other_rows.set(None);
        self.other_hit.set(None);
        self.package.set(Beside::Nothing);
        self.opened.set_value([None, None]);
        self.memory.set(None);
        self.items.set(None);
        self.matrix.set(None);
    }
}
