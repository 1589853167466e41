//! The JSON contract: what the command prints is what `schemas/json` says, no field more or less.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    // The report of a run grows with the simulator; what it has to have is in the schema.
    if name != "run-1" {
        close(&mut schema);
    }
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
    let text = printed(arguments);
    let value: Value = serde_json::from_str(&text).expect("it is JSON");
    let problems: Vec<String> = schema(name)
        .iter_errors(&value)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(
        problems.is_empty(),
        "{arguments:?}:\n{}",
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
    check("run-1", &["run", &profiles.path("small.ipuexe"), "--json"]);
}

#[test]
fn parts_exchanges_charts_and_packages_are_what_their_schemas_say() {
    let profiles = Profiles::new();
    for name in ["phase", "graph", "step", "synth"] {
        let profile = profiles.path(name);
        for clock in ["tile", "cropped", "shared"] {
            let words = ["--json", "--clock", clock, &profile];
            let part = ["--range", "10..900"];
            let spent = [&["profile-part"][..], &words].concat();
            check("profile-part-1", &spent);
            check(
                "profile-part-1",
                &[&spent[..], &part, &["--by-tile"]].concat(),
            );
            let exchange = [&["profile-exchange"][..], &words].concat();
            check("profile-exchange-1", &exchange);
            check("profile-exchange-1", &[&exchange[..], &part].concat());
            for (chart, schema) in [
                ("durations", "profile-plot-1"),
                ("cumulative", "profile-plot-1"),
                ("roofline", "profile-query-1"),
                ("kernel-work", "profile-query-1"),
                ("phases", "profile-query-1"),
                ("tiles", "profile-query-1"),
            ] {
                let plot = [&["profile-plot"][..], &words, &["--chart", chart]].concat();
                check(schema, &plot);
            }
        }
    }
    let package = profiles.path("small.ipuexe");
    check("package-memory-1", &["package-memory", &package, "--json"]);
    check(
        "package-traffic-1",
        &["package-traffic", &package, "--json"],
    );
}

#[test]
fn filters_are_what_their_schema_says() {
    let profiles = Profiles::new();
    let phase = profiles.path("phase");
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
