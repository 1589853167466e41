//! Groups of both profiles in, changes out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::align::{Alignment, align};
use super::content::Content;
use super::on_path::OnPath;
use super::{Change, Section, judge};
use crate::order;
use crate::profile::{PhaseKey, ProfileReport};
use crate::query::{Group, GroupKey};
use crate::text;

/// How groups become changes.
pub(super) struct Pairing<'a> {
    /// The critical paths; `None` on each tile's own clock.
    pub(super) path: Option<&'a OnPath>,
    /// Largest change in cycles that counts as none.
    pub(super) noise: u64,
}

impl Pairing<'_> {
    fn change(&self, name: String, before: Option<&Group>, after: Option<&Group>) -> Change {
        let measures = |group: Option<&Group>| group.map(|it| it.measures);
        let cycles = |group: Option<&Group>| group.map(|it| it.measures.phase_cycles.get());
        let keys = [before, after].map(|group| group.map(|it| &it.key));
        Change {
            name,
            work: String::new(),
            before_place: before.and_then(place),
            after_place: after.and_then(place),
            before: measures(before),
            after: measures(after),
            path: self.path.and_then(|path| path.of(keys)),
            verdict: judge(cycles(before), cycles(after), self.noise),
        }
    }

    /// Changes of groups with the same key.
    pub(super) fn by_key(&self, before: &[Group], after: &[Group]) -> Section {
        let mut pairs: BTreeMap<&GroupKey, [Option<&Group>; 2]> = BTreeMap::new();
        for (at, groups) in [before, after].into_iter().enumerate() {
            for group in groups {
                pairs.entry(&group.key).or_default()[at] = Some(group);
            }
        }
        let changes = pairs
            .into_iter()
            .map(|(key, [before, after])| self.change(key.name(), before, after));
        section(changes.collect())
    }

    /// Changes of phases, aligned by what runs in them, and what a reader should know of that.
    pub(super) fn phases(
        &self,
        reports: [&ProfileReport; 2],
        groups: [&[Group]; 2],
    ) -> (Section, Option<String>) {
        let contents = reports.map(Content::of_phases);
        let content = |side: usize, group: &Group| {
            let content = place(group).and_then(|it| contents[side].get(&it));
            content.cloned().unwrap_or_default()
        };
        let sequences = [0, 1].map(|side: usize| {
            let groups = groups[side].iter();
            let phase = |it| (content(side, it), it.measures.phase_cycles.get());
            groups.map(phase).collect::<Vec<(Content, u64)>>()
        });
        let Alignment { pairs, is_near } = align(&sequences[0], &sequences[1]);
        let changes = pairs.into_iter().map(|(old, new)| {
            let work = old
                .map(|at| &sequences[0][at])
                .or(new.map(|at| &sequences[1][at]));
            let work = work.map_or_else(String::new, |it| it.0.words());
            let (old, new) = (old.map(|at| &groups[0][at]), new.map(|at| &groups[1][at]));
            let name = match (old, new) {
                (Some(old), Some(new)) if old.name != new.name => {
                    let new = new.name.strip_prefix("phase ").unwrap_or(&new.name);
                    format!("{} → {new}", old.name)
                }
                (Some(one), _) | (None, Some(one)) => one.name.clone(),
                (None, None) => String::new(),
            };
            Change {
                work,
                ..self.change(name, old, new)
            }
        });
        (section(changes.collect()), is_near.then(|| near(groups)))
    }
}

/// Said where not every pair of phases was weighed.
fn near(groups: [&[Group]; 2]) -> String {
    let [before, after] = groups.map(|it| text::count(it.len() as u64));
    format!(
        "{before} and {after} phases are too many to weigh every pair of them: only those at about \
         the same part of both runs are paired, others count as gone and new"
    )
}

fn place(group: &Group) -> Option<PhaseKey> {
    match group.key {
        GroupKey::Phase { phase, epoch } => Some(PhaseKey { epoch, phase }),
        _ => None,
    }
}

fn section(mut changes: Vec<Change>) -> Section {
    let on_path = |it: &Change| it.path_change().map_or(0, i64::unsigned_abs);
    let size = |it: &Change| it.before_cycles().abs_diff(it.after_cycles());
    // The sort is stable, and the changes come in the order of their keys.
    order::by_key(&mut changes, |it| Reverse((on_path(it), size(it))));
    Section { changes }
}
