//! The command in-process: exit status, messages, JSON, and a package from compile to query.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;

use serde_json::Value;
use server::cli::{Io, Status, run};

/// What a command printed and how it ended.
#[derive(Debug)]
struct Output {
    status: Status,
    stdout: String,
    stderr: String,
}

fn with_environment(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let variables: BTreeMap<_, _> = variables.iter().copied().collect();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        stdout: &mut stdout,
        stderr: &mut stderr,
        interactive: false,
        environment: &|name| variables.get(name).map(OsString::from),
    };
    let status = run(
        ["ipu-stack"].iter().chain(arguments).map(OsString::from),
        &mut io,
    );
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Output {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

fn command(arguments: &[&str]) -> Output {
    with_environment(arguments, &[])
}

/// Standard output of a command that must succeed and say nothing else.
fn printed(arguments: &[&str]) -> String {
    let output = command(arguments);
    assert_eq!(
        output.status,
        Status::Success,
        "{arguments:?}: {}",
        output.stderr
    );
    assert_eq!(output.stderr, "", "{arguments:?}");
    output.stdout
}

fn json(arguments: &[&str]) -> Value {
    let text = printed(arguments);
    assert!(text.ends_with("}\n"), "JSON ends with a newline: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

/// A folder with a small package and its profile.
struct Built {
    _folder: tempfile::TempDir,
    package: String,
    profile: String,
    run: Value,
}

fn built() -> Built {
    let folder = tempfile::tempdir().expect("a folder");
    let package = text(&folder.path().join("small.ipuexe")).to_owned();
    let profile = text(&folder.path().join("small.ipuprofile")).to_owned();
    let shape = ["--tiles", "16", "--tokens", "64", "--width", "128"];
    let compile = [&["compile", "gemm-projections", "-o", &package][..], &shape].concat();
    let said = printed(&compile);
    assert!(said.starts_with("gemm-projections for 16 tiles"), "{said}");
    let run = json(&["run", &package, "-o", &profile, "--json"]);
    Built {
        _folder: folder,
        package,
        profile,
        run,
    }
}

#[test]
fn help_and_version_are_results() {
    for arguments in [
        &["--help"][..],
        &["help", "compile"],
        &["profile-query", "--help"],
    ] {
        let help = printed(arguments);
        assert!(help.contains("Examples:"), "{arguments:?}: {help}");
    }
    assert!(printed(&["--version"]).starts_with("ipu-stack "));
}

#[test]
fn mistakes_in_arguments_end_with_status_one_and_nothing_on_standard_output() {
    for arguments in [
        &[][..],
        &["fly"],
        &["compile"],
        &["run", "x", "--fast"],
        &["serve", "--port", "x"],
    ] {
        let output = command(arguments);
        assert_eq!(
            (output.status, output.stdout.as_str()),
            (Status::UserError, ""),
            "{arguments:?}"
        );
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_missing_file_is_named_with_what_to_do() {
    for arguments in [
        &["run", "missing.file"][..],
        &["profile-query", "missing.file"],
        &["profile-inspect", "missing.file"],
        &["profile-convert", "missing.file", "-o", "x"],
        &["profile-render", "missing.file", "-o", "x"],
        &["schedule-bench", "missing.file"],
        &["serve", "missing.file"],
    ] {
        let output = command(arguments);
        assert_eq!(
            (output.status, output.stdout.as_str()),
            (Status::UserError, ""),
            "{arguments:?}"
        );
        let error = output.stderr.strip_suffix('\n').expect("a line");
        assert!(
            error.starts_with("error: cannot read the file: "),
            "{arguments:?}: {error}"
        );
        assert!(
            error.ends_with(": missing.file: check the name and the permissions"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn files_of_other_kinds_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("notes");
    std::fs::write(&file, "some notes").expect("written");
    for arguments in [
        ["profile-query", text(&file)],
        ["profile-inspect", text(&file)],
    ] {
        let output = command(&arguments);
        assert_eq!(output.status, Status::UserError);
        assert!(
            output.stderr.contains("a file of an unknown type"),
            "{}",
            output.stderr
        );
    }
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").expect("written");
    for arguments in [["profile-query", text(&empty)], ["run", text(&empty)]] {
        assert_eq!(command(&arguments).status, Status::UserError);
    }
    let itself = command(&["profile-query", text(folder.path())]);
    assert!(
        itself.stderr.contains("it is a folder"),
        "{}",
        itself.stderr
    );
}

#[test]
fn an_unknown_workload_lists_the_known_ones() {
    let output = command(&["compile", "gemm-bench"]);
    assert_eq!(output.status, Status::UserError);
    assert!(
        output.stderr.contains("gemm-benchmark"),
        "{}",
        output.stderr
    );
}

/// A reader that has gone away, or a disk that is full.
struct Broken(ErrorKind);

impl Write for Broken {
    fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
        Err(Error::from(self.0))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure_but_a_full_disk_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("s.ipuprofile");
    let arguments = [
        "profile-synth",
        "--samples",
        "100",
        "--tiles",
        "2",
        "-o",
        text(&output),
    ];
    for (kind, expected) in [
        (ErrorKind::BrokenPipe, Status::Success),
        (ErrorKind::StorageFull, Status::UserError),
    ] {
        let mut stderr = Vec::new();
        let mut io = Io {
            stdout: &mut Broken(kind),
            stderr: &mut stderr,
            interactive: false,
            environment: &|_| None,
        };
        let words = ["ipu-stack"].iter().chain(&arguments).map(OsString::from);
        assert_eq!(run(words, &mut io), expected);
        assert_eq!(stderr.is_empty(), expected == Status::Success);
    }
}

#[test]
fn a_package_runs_checks_every_output_and_is_the_same_each_time() {
    let built = built();
    assert_eq!(built.run["schema"], "ipu-stack/run/1");
    assert_eq!(built.run["simulated"], true);
    assert_eq!(built.run["checkedElements"], 3 * 64 * 128);
    assert_eq!(built.run["failedElements"], 0);
    assert!(
        built.run["totalCycles"]
            .as_u64()
            .is_some_and(|cycles| cycles > 0)
    );
    let worst = &built.run["worst"];
    assert!(["q", "k", "v"].contains(&worst["output"].as_str().expect("a name")));
    assert!(worst["element"].as_u64().is_some_and(|at| at < 64 * 128));
    let number = |value: &Value| value.as_f64().expect("a number");
    let error = (number(&worst["got"]) - number(&worst["expected"])).abs();
    assert!((error - number(&built.run["maximumError"])).abs() < 1e-6);
    let (rms, reference) = (&built.run["rmsError"], &built.run["rmsReference"]);
    assert!(0.0 < number(rms) && number(rms) < 0.01 * number(reference));
    let again = self::built();
    let bytes = |path: &str| std::fs::read(path).expect("the file is there");
    assert_eq!(bytes(&built.package), bytes(&again.package));
    assert_eq!(bytes(&built.profile), bytes(&again.profile));
}

#[test]
fn a_run_that_passes_says_where_the_largest_error_is() {
    let built = built();
    let text = printed(&["run", &built.package]);
    let (output, element) = (
        &built.run["worst"]["output"],
        &built.run["worst"]["element"],
    );
    let output = output.as_str().expect("a name");
    let place = format!(" at {output}[{element}]: ");
    assert!(text.contains(&place), "{text} lacks {place}");
    assert!(text.contains("root mean square of errors 0.0"), "{text}");
    // What is live at once, which compiling counts, and all that is ever used are told apart.
    let covered = built.run["memoryHighWaterBytes"].as_u64().expect("bytes");
    assert!(covered > 0 && text.contains("operands cover "), "{text}");
}

#[test]
fn an_exchange_problem_is_written_and_scheduled() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("broadcast.json");
    let said = printed(&["schedule-bench", "--write", "broadcast", text(&file)]);
    assert!(said.contains("broadcast.json"), "{said}");
    let said = printed(&["schedule-bench", text(&file)]);
    for line in [
        "transfers       160",
        "endpoint bound  5120",
        "check           passed",
    ] {
        assert!(said.replace(',', "").contains(line), "{said} lacks {line}");
    }
}

#[test]
fn the_span_of_the_profile_is_the_run() {
    let built = built();
    let answer = json(&["profile-query", &built.profile, "--json"]);
    assert_eq!(answer["profileSpanCycles"], built.run["totalCycles"]);
    assert_eq!(answer["tileCount"], 16);
}

#[test]
fn useful_work_of_the_profile_is_the_mathematics_of_the_block() {
    let built = built();
    let answer = json(&[
        "profile-query",
        &built.profile,
        "--kind",
        "compute",
        "--metadata",
        "role=gemm",
        "--limit",
        "0",
        "--json",
    ]);
    let groups = answer["groups"].as_array().expect("groups");
    let useful: f64 = groups
        .iter()
        .filter_map(|group| group["usefulCycles"].as_f64())
        .sum();
    // Three products of 64 x 128 by 128 x 128; a multiply-add is two operations, 128 a cycle.
    assert_eq!(useful, f64::from(3 * 2 * 64 * 128 * 128 / 128));
}

#[test]
fn every_granularity_is_recorded_and_the_environment_chooses() {
    let built = built();
    let folder = tempfile::tempdir().expect("a folder");
    let mut samples = Vec::new();
    for level in ["graph", "region", "phase", "step"] {
        let place = folder.path().join(level);
        let variables = [
            ("IPU_PROFILE_OUTPUT", text(&place)),
            ("IPU_PROFILE_GRANULARITY", level),
        ];
        let output = with_environment(&["run", &built.package], &variables);
        assert_eq!(output.status, Status::Success, "{}", output.stderr);
        let answer = json(&["profile-query", text(&place), "--json"]);
        assert_eq!(
            answer["profileSpanCycles"], built.run["totalCycles"],
            "{level}"
        );
        samples.push(answer["sampleCount"].as_u64().expect("a count"));
    }
    assert_eq!(samples[0], 16, "graph is one sample a tile");
    assert!(samples.is_sorted(), "{samples:?}");
    assert!(samples[1] < samples[2], "{samples:?}");
}

#[test]
fn a_filter_that_matches_nothing_is_an_empty_answer_unless_strict() {
    let built = built();
    let question = ["profile-query", &built.profile, "--kernel", "gem", "--json"];
    let answer = json(&question);
    assert_eq!(answer["groups"], Value::Array(Vec::new()));
    assert_eq!(answer["matchedSampleCount"], 0);
    assert!(
        answer["warnings"]
            .as_array()
            .is_some_and(|warnings| !warnings.is_empty())
    );
    let strict = command(&[&question[..], &["--strict"]].concat());
    assert_eq!(
        (strict.status, strict.stdout.as_str()),
        (Status::UserError, "")
    );
}

#[test]
fn converting_there_and_back_changes_no_answer() {
    let built = built();
    let folder = tempfile::tempdir().expect("a folder");
    let row = folder.path().join("row");
    let back = folder.path().join("back");
    let again = folder.path().join("again");
    let _said = printed(&[
        "profile-convert",
        &built.profile,
        "--to",
        "row",
        "-o",
        text(&row),
    ]);
    let _said = printed(&["profile-convert", text(&row), "-o", text(&back)]);
    let _said = printed(&[
        "profile-convert",
        text(&back),
        "--to",
        "row",
        "-o",
        text(&again),
    ]);
    let bytes = |path: &Path| std::fs::read(path).expect("the file is there");
    assert_eq!(bytes(&row), bytes(&again));
    let question = |profile: &str| {
        let flags = [
            "--group-by",
            "phase",
            "--limit",
            "0",
            "--samples",
            "5",
            "--json",
        ];
        json(&[&["profile-query", profile][..], &flags].concat())
    };
    let expected = question(&built.profile);
    assert_eq!(question(text(&row)), expected);
    assert_eq!(question(text(&back)), expected);
}

#[test]
fn inspecting_tells_the_figures_as_text_and_as_json() {
    let built = built();
    let answer = json(&["profile-inspect", &built.profile, "--json"]);
    assert_eq!(answer["tiles"], 16);
    assert!(
        answer["exchangeSamples"]
            .as_u64()
            .is_some_and(|count| count > 0)
    );
    assert!(!printed(&["profile-inspect", &built.profile]).is_empty());
}

#[test]
fn synthetic_profiles_are_the_same_for_the_same_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |name: &str, seed: &str| {
        let place = folder.path().join(name);
        let size = ["--samples", "5000", "--tiles", "32"];
        let words = ["profile-synth", "--seed", seed, "-o", text(&place)];
        let _said = printed(&[&words[..], &size].concat());
        let answer = json(&["profile-query", text(&place), "--limit", "0", "--json"]);
        assert!(
            answer["sampleCount"]
                .as_u64()
                .is_some_and(|count| count >= 5000)
        );
        std::fs::read(place).expect("the file is there")
    };
    assert_eq!(made("a", "7"), made("b", "7"));
    assert_ne!(made("a", "7"), made("c", "8"));
}
