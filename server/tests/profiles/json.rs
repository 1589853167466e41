//! The JSON contract: what the command prints is what `schemas/json` says, no field more or less.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::CommandFactory as _;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::command::{Profiles, printed};

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .expect("the crate lies in the root")
        .to_owned()
}

/// The schema, with every object closed: consumers must bear additions, but this program must not
/// print what the schema does not describe.
fn schema(name: &str) -> Validator {
    let path = root()
        .join("schemas/json")
        .join(format!("{name}.schema.json"));
    let text = std::fs::read_to_string(&path).expect("the schema is committed");
    let mut schema: Value = serde_json::from_str(&text).expect("it is JSON");
    close(&mut schema);
    jsonschema::validator_for(&schema).expect("it is a schema")
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("type") == Some(&json!("object")) {
                map.insert("additionalProperties".to_owned(), json!(false));
            }
            map.values_mut().for_each(close);
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}

fn check(name: &str, arguments: &[&str]) {
    check_text(name, &printed(arguments));
}

fn check_text(name: &str, text: &str) {
    let value: Value = serde_json::from_str(text).expect("it is JSON");
    let problems: Vec<String> = schema(name)
        .iter_errors(&value)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(
        problems.is_empty(),
        "{name}: {text}\n{}",
        problems.join("\n")
    );
    assert_eq!(
        value["schema"],
        format!("ipu-stack/{}", name.replacen("-1", "/1", 1))
    );
}

#[test]
fn every_output_is_what_its_schema_says() {
    let profiles = Profiles::new();
    let phase = profiles.path("phase");
    for name in ["phase", "graph", "synth"] {
        let profile = profiles.path(name);
        for group_by in ["kernel", "operation", "phase", "tile", "kind"] {
            let clock = ["--clock", "tile", "--samples", "2"];
            let query = ["profile-query", &profile, "--json", "--group-by", group_by];
            check("profile-query-1", &query);
            check("profile-query-1", &[&query[..], &clock].concat());
        }
        check(
            "profile-inspect-1",
            &["profile-inspect", &profile, "--json"],
        );
        check(
            "profile-barriers-1",
            &["profile-barriers", &profile, "--json", "--limit", "2"],
        );
        check(
            "profile-barriers-1",
            &["profile-barriers", &profile, "--json", "--kernel", "x"],
        );
        check(
            "profile-critical-path-1",
            &["profile-critical-path", &profile, "--json"],
        );
        let diff = [
            "profile-diff",
            &phase,
            &profile,
            "--json",
            "--force",
            "--limit",
            "0",
        ];
        check("profile-diff-1", &diff);
    }
    let metadata = [
        "--group-by",
        "metadata",
        "--metadata-key",
        "role",
        "--metadata",
        "role",
    ];
    let filters = [
        "--tile", "3", "--phase", "1", "--kernel", "x", "--at", "7", "--kind", "compute",
    ];
    let query = [
        "profile-query",
        &phase,
        "--json",
        "--operation-contains",
        "y",
    ];
    check(
        "profile-query-1",
        &[&query[..], &metadata, &filters].concat(),
    );
    check("run-1", &["run", &profiles.path("small.ipuexe"), "--json"]);
    check("fidelity-1", &["fidelity", "--json"]);
    let package = profiles.path("timed.ipuexe");
    let compile = ["compile", "gemm-smoke", "--timings", "json", "-o", &package];
    let text = printed(&compile);
    let line = text.lines().find(|line| line.starts_with('{'));
    check_text("compile-timings-1", line.expect("a line of JSON"));
}

/// Subcommands whose JSON is described under another name.
const RENAMED: [(&str, &str); 1] = [("compile", "compile-timings")];

#[test]
fn every_subcommand_that_prints_json_has_a_schema() {
    let command = server::cli::args::Cli::command();
    let mut count = 0;
    for subcommand in command.get_subcommands() {
        let prints = |it: &clap::Arg| matches!(it.get_long(), Some("json" | "timings"));
        if !subcommand.get_arguments().any(prints) {
            continue;
        }
        let name = subcommand.get_name();
        let renamed = RENAMED.iter().find(|(from, _)| *from == name);
        let name = renamed.map_or(name, |(_, to)| to);
        let file = root().join(format!("schemas/json/{name}-1.schema.json"));
        let text = std::fs::read_to_string(&file);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let schema: Value = serde_json::from_str(&text).expect("it is JSON");
        let named = &schema["properties"]["schema"]["const"];
        assert_eq!(named, &json!(format!("ipu-stack/{name}/1")));
        count += 1;
    }
    assert!(count >= 9, "only {count} subcommands print JSON");
}

/// What a program prints for some input.
fn piped(program: &mut Command, input: &str) -> String {
    let child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    std::io::Write::write_all(&mut stdin, input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{program:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_python_example_reads_what_is_printed() {
    let python = || Command::new("python3");
    let found = python().arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no python3 on this machine");
        return;
    }
    let profiles = Profiles::new();
    let profile = profiles.path("synth");
    let script = root().join("server/examples/waste.py");
    let query = [
        "profile-query",
        &profile,
        "--kind",
        "compute",
        "--json",
        "--limit",
        "0",
    ];
    let rows = piped(python().arg(&script), &printed(&query));
    let answer: Value = serde_json::from_str(&printed(&query)).expect("JSON");
    let groups = answer["groups"].as_array().expect("groups");
    let known = groups
        .iter()
        .filter(|it| !it["usefulCycles"].is_null())
        .count();
    assert!(known > 3);
    assert_eq!(rows.lines().count(), known, "{rows}");
    let waits = piped(
        python().arg(&script),
        &printed(&["profile-barriers", &profile, "--json"]),
    );
    assert!(waits.lines().count() > 1, "{waits}");
}
