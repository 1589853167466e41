//! The questions of the panels below the timeline, each with a module of its own.

use std::cell::RefCell;
use std::rc::Rc;

use analytics::barriers::{BarrierReport, barriers};
use analytics::diff::{DiffOptions, ProfileDiff};
use analytics::profile::ProfileReport;
use analytics::traffic::Exchanges;
use serde::{Deserialize, Serialize};

use super::answer::Groups;
use super::cause::{Cause, Failure};
use super::compare::{CompareAnswer, CompareAsked, compare, compare_json};
use super::phases::{PhasesAnswer, PhasesAsked, phases, phases_json};
use super::plot::{PlotAnswer, PlotAsked, plot};
use super::ports::{PortsAnswer, PortsAsked, ports, ports_json};
use super::protocol::Answer;
use super::slack::{SlackAnswer, SlackAsked, slack};
use super::traffic::{TrafficAnswer, TrafficAsked, traffic, traffic_json};

/// A question of a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum PanelAsked {
    /// Waits and the critical path, phase by phase.
    Phases(PhasesAsked),
    /// Bytes of exchanges over the run.
    Traffic(TrafficAsked),
    /// Exchange ports over the part in view.
    Ports(PortsAsked),
    /// Differences of two profiles.
    Compare(CompareAsked),
    /// A chart.
    Plot(PlotAsked),
    /// The tiles at the end of one phase.
    Slack(SlackAsked),
}

/// An answer to a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum PanelAnswer {
    /// To [`PanelAsked::Phases`].
    Phases(PhasesAnswer),
    /// To [`PanelAsked::Traffic`].
    Traffic(TrafficAnswer),
    /// To [`PanelAsked::Ports`].
    Ports(PortsAnswer),
    /// To [`PanelAsked::Compare`].
    Compare(CompareAnswer),
    /// To [`PanelAsked::Plot`].
    Plot(PlotAnswer),
    /// To [`PanelAsked::Slack`].
    Slack(SlackAnswer),
}

/// A profile that the open one is compared with.
pub(crate) struct Compared {
    /// Tables and samples, all of them.
    pub(crate) report: ProfileReport,
    /// Groups of its tiles and samples.
    pub(crate) groups: Groups,
    /// The newest comparison, of which one question shows a part.
    pub(crate) found: RefCell<Option<Found>>,
}

/// A comparison, and what it was found under.
pub(crate) type Found = ((DiffOptions, bool), Rc<ProfileDiff>);

impl Compared {
    pub(crate) fn new(report: ProfileReport) -> Self {
        Self {
            report,
            groups: Groups::default(),
            found: RefCell::new(None),
        }
    }
}

/// What a panel's question is answered from.
pub(crate) struct Sources<'a> {
    /// The open profile.
    pub(crate) report: &'a ProfileReport,
    /// The profile that it is compared with.
    pub(crate) other: Option<&'a Compared>,
    /// Where its exchanges are, once that was asked.
    pub(crate) exchanges: &'a std::cell::OnceCell<Rc<Exchanges>>,
    /// Where its tiles wait for each other, once that was asked.
    pub(crate) waits: &'a std::cell::OnceCell<Rc<BarrierReport>>,
}

impl Sources<'_> {
    /// Where the exchanges are; found on first use.
    pub(crate) fn exchanges(&self) -> Result<Rc<Exchanges>, Failure> {
        if let Some(found) = self.exchanges.get() {
            return Ok(Rc::clone(found));
        }
        let found = Rc::new(Exchanges::find(self.report)?);
        Ok(Rc::clone(self.exchanges.get_or_init(|| found)))
    }

    /// Where tiles wait for each other; found on first use, `None` until all samples are here.
    pub(crate) fn waits(&self) -> Result<Option<Rc<BarrierReport>>, Failure> {
        if let Some(found) = self.waits.get() {
            return Ok(Some(Rc::clone(found)));
        }
        if !self.report.pages_missing().is_empty() {
            return Ok(None);
        }
        let found = Rc::new(barriers(self.report)?);
        Ok(Some(Rc::clone(self.waits.get_or_init(|| found))))
    }

    /// The profile to compare with.
    pub(crate) fn compared(&self) -> Result<&Compared, Failure> {
        self.other
            .ok_or_else(|| Failure::new(Cause::Internal, "no second profile is open in the worker"))
    }
}

/// The answer to a panel's question.
pub(crate) fn answer(sources: &Sources<'_>, asked: &PanelAsked) -> Result<Answer, Failure> {
    let answer = match asked {
        PanelAsked::Phases(asked) => PanelAnswer::Phases(phases(sources.report, *asked)?),
        PanelAsked::Traffic(asked) => PanelAnswer::Traffic(traffic(sources, *asked)?),
        PanelAsked::Ports(asked) => PanelAnswer::Ports(ports(sources, *asked)?),
        PanelAsked::Compare(asked) => PanelAnswer::Compare(compare(sources, asked)?),
        PanelAsked::Plot(asked) => PanelAnswer::Plot(plot(sources.report, asked)?),
        PanelAsked::Slack(asked) => PanelAnswer::Slack(slack(sources.report, *asked)?),
    };
    Ok(Answer::Panel(Box::new(answer)))
}

/// The JSON behind a panel, as the command line prints it where there is such a command.
pub(crate) fn json(sources: &Sources<'_>, asked: &PanelAsked) -> Result<Answer, Failure> {
    let text = match asked {
        PanelAsked::Phases(asked) => phases_json(sources.report, *asked)?,
        PanelAsked::Traffic(asked) => traffic_json(sources, *asked)?,
        PanelAsked::Ports(asked) => ports_json(sources, *asked)?,
        PanelAsked::Slack(_) => String::new(),
        PanelAsked::Compare(asked) => compare_json(sources, asked)?,
        PanelAsked::Plot(asked) => plot(sources.report, asked)?.json,
    };
    Ok(Answer::Json(text))
}
