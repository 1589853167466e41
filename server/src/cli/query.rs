//! `profile-query`: typed flags → one [`Query`] → the answer of `analytics`, as text or JSON.

use std::path::Path;

use analytics::clock::ClockKind;
use analytics::profile::SampleKind;
use analytics::query::{
    Filter, GROUP_BY_NAMES, GroupBy, KIND_NAMES, MetadataFilter, Query, QueryError, QueryResult,
    SortKey, kind_from_name, query,
};
use analytics::report::{query_json, query_text};
use analytics::units::PhysicalTile;
use clap::Parser as _;

use super::args::{Cli, ClockArg, ClockArgs, Command, QueryArgs};
use super::output::print;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: &QueryArgs, io: &mut Io<'_>) -> Outcome {
    let question = meaning(args)?;
    let answer = ask(&args.profile, &question)?;
    if let Some((problem, hint)) = empty(&answer).filter(|_| args.strict) {
        return Err(CliError::user(problem, args.profile.display(), hint).into());
    }
    print(
        io.stdout,
        &if args.json {
            query_json(&answer)
        } else {
            query_text(&answer)
        },
    )
}

/// What is wrong with an answer without samples where there have to be some, and what to do.
pub(crate) fn empty(answer: &QueryResult) -> Option<(&'static str, String)> {
    let hint = match answer.warnings.join("; ") {
        warnings if warnings.is_empty() => "loosen the filters".to_owned(),
        warnings => warnings,
    };
    (answer.totals.sample_count == 0).then_some(("no sample matches the filters", hint))
}

/// The table of compute kernels that `demo` prints: `--kind compute --limit 0`.
pub(super) fn kernel_table(profile: &Path) -> Result<String, CliError> {
    let filter = Filter {
        kind: Some(SampleKind::Compute),
        ..Filter::default()
    };
    let question = Query {
        filter,
        limit: 0,
        ..Query::default()
    };
    ask(profile, &question).map(|answer| query_text(&answer))
}

fn ask(profile: &Path, question: &Query) -> Result<QueryResult, CliError> {
    let report = open::profile(profile)?;
    query(&report, question).map_err(|error| match error {
        QueryError::Decode(error) => open::refused(&error, profile),
        other => CliError::user(other, profile.display(), "see profile-query --help"),
    })
}

/// The question that flags ask, as words of a command line without program, command and file, and
/// whether an answer without samples is an error.
pub(crate) fn question(flags: Vec<String>) -> Result<(Query, bool), String> {
    match command(&["profile-query", "-"], flags)? {
        Command::ProfileQuery(args) => meaning(&args)
            .map(|question| (question, args.strict))
            .map_err(|error| error.to_string()),
        _ => Err("the flags are of another command".to_owned()),
    }
}

/// The command that `front` and the flags after it make.
pub(super) fn command(front: &[&str], flags: Vec<String>) -> Result<Command, String> {
    let front = ["ipu-stack"].iter().chain(front).map(|&it| it.to_owned());
    let cli = Cli::try_parse_from(front.chain(flags)).map_err(|error| {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").to_owned()
    })?;
    Ok(cli.command)
}

/// What the flags mean.
fn meaning(args: &QueryArgs) -> Result<Query, CliError> {
    let sort_by = SortKey::from_name(&args.sort_by).ok_or_else(|| {
        let known = SortKey::ALL.iter().map(|key| key.name());
        unknown("figure", &args.sort_by, "--sort-by", known)
    })?;
    let filter = Filter {
        tiles: args.tile.iter().copied().map(PhysicalTile::new).collect(),
        phases: args.phase.clone(),
        kernel: args.kernel.clone(),
        operation_contains: args.operation_contains.clone(),
        kind: args.kind.as_deref().map(kind).transpose()?,
        metadata: args
            .metadata
            .iter()
            .map(|text| MetadataFilter::parse(text))
            .collect(),
        at: args.at,
        at_offset: args.at_offset,
    };
    let (limit, samples) = (args.limit, args.samples);
    let (group_by, clock) = (group_by(args)?, clock(args.clock));
    Ok(Query {
        group_by,
        filter,
        clock,
        sort_by,
        limit,
        samples,
    })
}

/// The clock in force.
pub(super) const fn clock(args: ClockArgs) -> ClockKind {
    if args.shared_clock {
        return ClockKind::Shared;
    }
    match args.clock {
        ClockArg::Tile => ClockKind::Tile,
        ClockArg::Cropped => ClockKind::Cropped,
        ClockArg::Shared => ClockKind::Shared,
    }
}

fn group_by(args: &QueryArgs) -> Result<GroupBy, CliError> {
    let found = GroupBy::from_name(&args.group_by, args.metadata_key.as_deref());
    let found = found.map_err(|error| match error {
        QueryError::MetadataKeyMissing => {
            let hint = "name it with --metadata-key NAME";
            let what = "grouping by metadata needs a metadata name";
            CliError::user(what, "--group-by", hint)
        }
        _ => {
            let known = GROUP_BY_NAMES.into_iter();
            unknown("grouping", &args.group_by, "--group-by", known)
        }
    })?;
    match (&found, &args.metadata_key) {
        (GroupBy::Metadata(_), _) | (_, None) => Ok(found),
        (_, Some(_)) => {
            let hint = "add --group-by metadata";
            let what = "a metadata name without its grouping";
            Err(CliError::user(what, "--metadata-key", hint))
        }
    }
}

/// The sample kind with this name.
pub(super) fn kind(text: &str) -> Result<SampleKind, CliError> {
    kind_from_name(text).map_err(|_unknown| unknown("kind", text, "--kind", KIND_NAMES.into_iter()))
}

/// A word that means nothing, with those that would.
pub(super) fn unknown<'a>(
    what: &str,
    found: &str,
    flag: &str,
    known: impl Iterator<Item = &'a str>,
) -> CliError {
    let known: Vec<_> = known.collect();
    CliError::user(
        format!("unknown {what} {found:?}"),
        flag,
        format!("use {}", known.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(flags: &[&str]) -> Result<Query, String> {
        let words = ["ipu-stack", "profile-query", "p"].iter().chain(flags);
        match Cli::try_parse_from(words)
            .map_err(|error| error.to_string())?
            .command
        {
            Command::ProfileQuery(args) => meaning(&args).map_err(|error| error.to_string()),
            other => panic!("{other:?} is no query"),
        }
    }

    #[test]
    fn no_flags_mean_twenty_kernels_by_phase_cycles_on_the_cropped_clock() {
        assert_eq!(meant(&[]), Ok(Query::default()));
    }

    #[test]
    fn every_flag_reaches_the_question() {
        let flags = "--group-by metadata --metadata-key block --sort-by maximum-cycles --kind sync \
            --kernel k --operation-contains op --tile 3 --tile 4 --phase 7 --metadata a=b=c \
            --metadata d --at-offset 9 --shared-clock --limit 0 --samples 2";
        let flags: Vec<_> = flags.split_whitespace().collect();
        let expected = Query {
            group_by: GroupBy::Metadata("block".to_owned()),
            filter: Filter {
                tiles: vec![PhysicalTile::new(3), PhysicalTile::new(4)],
                phases: vec![7],
                kernel: Some("k".to_owned()),
                operation_contains: Some("op".to_owned()),
                kind: Some(SampleKind::Synchronization),
                metadata: vec![
                    MetadataFilter {
                        name: "a".to_owned(),
                        value: Some("b=c".to_owned()),
                    },
                    MetadataFilter {
                        name: "d".to_owned(),
                        value: None,
                    },
                ],
                at: None,
                at_offset: Some(9),
            },
            clock: ClockKind::Shared,
            sort_by: SortKey::MaximumCycles,
            limit: 0,
            samples: 2,
        };
        assert_eq!(meant(&flags), Ok(expected));
    }

    #[test]
    fn words_that_mean_nothing_are_refused_with_what_would_mean_something() {
        let cases: [(&[&str], &str); 6] = [
            (
                &["--group-by", "color"],
                "kind, kernel, operation, phase, tile, metadata",
            ),
            (&["--group-by", "metadata"], "--metadata-key NAME"),
            (&["--metadata-key", "x"], "--group-by metadata"),
            (
                &["--kind", "wait"],
                "exchange, compute, synchronization, idle",
            ),
            (&["--sort-by", "speed"], "phase-cycles, work-cycles"),
            (&["--at", "1", "--at-offset", "1"], "cannot be used with"),
        ];
        for (flags, part) in cases {
            let error = meant(flags).expect_err("it is refused");
            assert!(error.contains(part), "{flags:?}: {error}");
        }
    }
}
