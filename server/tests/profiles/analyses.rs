//! Analyses on profiles that the command itself recorded or generated.

use std::path::Path;

use server::cli::Status;

use crate::command::{Profiles, command, json, printed};

#[test]
fn a_profile_is_analysed_compared_and_cut() {
    let profiles = Profiles::new();
    let path = |name: &str| profiles.path(name);
    let profile = &path("phase");

    let barriers = json(&["profile-barriers", profile, "--json", "--limit", "0"]);
    let path_of = json(&["profile-critical-path", profile, "--json", "--limit", "0"]);
    let query = json(&["profile-query", profile, "--json", "--limit", "0"]);
    assert_eq!(path_of["runCycles"], query["profileSpanCycles"]);
    let stretches = path_of["stretches"].as_array().expect("a list").len();
    assert_eq!(
        barriers["barriers"].as_array().map(Vec::len),
        Some(stretches - 1)
    );

    let same = json(&[
        "profile-diff",
        profile,
        profile,
        "--json",
        "--fail-above",
        "0",
    ]);
    assert_eq!(same["run"]["verdict"], "same");

    let part = path("part.ipuprofile");
    let by_tile = [
        "profile-query",
        profile,
        "--json",
        "--limit",
        "0",
        "--group-by",
        "tile",
    ];
    let groups = json(&by_tile)["groups"].as_array().expect("a list").clone();
    let ids = groups
        .iter()
        .map(|it| it["dimensions"]["physicalTile"].as_u64());
    let mut ids: Vec<u64> = ids.map(|id| id.expect("a number")).collect();
    ids.sort_unstable();
    let tiles = format!("0-{}", ids[5]);
    let cut = ["--tiles", &tiles, "--range", "0..500", "-o", &part];
    let said = printed(&[&["profile-slice", profile][..], &cut].concat());
    assert!(said.contains("6 of 16 tiles"), "{said}");
    let tiles = json(&["profile-query", &part, "--json"]);
    assert_eq!(tiles["tileCount"], 6);
}

const CHARTS: [&str; 6] = [
    "kernel-work",
    "durations",
    "tiles",
    "phases",
    "roofline",
    "cumulative",
];

#[test]
fn a_profile_is_exported_drawn_and_reported() {
    let profiles = Profiles::new();
    let path = |name: &str| profiles.path(name);
    let profile = &path("phase");
    for format in [
        "parquet",
        "arrow",
        "csv",
        "perfetto",
        "chrome-json",
        "speedscope",
        "firefox",
    ] {
        let file = path(format);
        let said = printed(&["profile-export", profile, "--format", format, "-o", &file]);
        assert!(said.contains(" samples as "), "{said}");
        assert!(std::fs::metadata(&file).expect("it is there").len() > 100);
    }
    for chart in CHARTS {
        let picture = path(&format!("{chart}.svg"));
        printed(&["profile-plot", profile, "--chart", chart, "-o", &picture]);
        let svg = std::fs::read_to_string(&picture).expect("it is there");
        // More than the ground: the bars of this profile, of which equal durations make one.
        assert!(
            svg.starts_with("<svg") && svg.matches("<rect").count() > 1,
            "{chart}: {svg}"
        );
    }
    let report = path("report");
    if !site::is_built() {
        // A build without the viewer has no page to put into the folder, and says so.
        let refused = command(&["report", profile, "-o", &report]);
        assert_eq!(refused.status, Status::InternalError, "{}", refused.stderr);
        assert!(refused.stderr.contains("no viewer"), "{}", refused.stderr);
        return;
    }
    printed(&["report", profile, "-o", &report]);
    let png = std::fs::read(Path::new(&report).join("kernel-work.png")).expect("it is there");
    assert!(png.starts_with(b"\x89PNG"));
    let copy = std::fs::read(Path::new(&report).join("profile.ipuprofile")).expect("it is there");
    assert_eq!(copy, std::fs::read(profile).expect("it is there"));
}

#[test]
fn what_is_missing_of_a_truncated_profile_is_said_wherever_it_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| {
        let path = folder.path().join(name);
        path.to_str().expect("a UTF-8 path").to_owned()
    };
    let (profile, part) = (path("p"), path("part"));
    let synth = ["--samples", "30000", "--tiles", "200", "-o", &profile];
    printed(&[&["profile-synth"][..], &synth].concat());
    let bytes = std::fs::read(&profile).expect("it is there");
    std::fs::write(&profile, &bytes[..bytes.len() / 3 * 2]).expect("it is cut");
    let missing = "warning: the file is truncated: samples after byte ";
    let output = path("output");
    let svg = path("output.svg");
    for words in [
        &["profile-export", &profile, "--format", "csv", "-o", &output][..],
        &["profile-plot", &profile, "-o", &svg],
        &["profile-slice", &profile, "-o", &part],
    ] {
        let said = command(words);
        assert_eq!(said.status, Status::Success, "{words:?}: {}", said.stderr);
        assert!(
            said.stderr.starts_with(missing),
            "{words:?}: {}",
            said.stderr
        );
    }
    // Answers say it themselves; the part is whole, and says what it was cut from.
    for (profile, warning) in [
        (&profile, missing),
        (&part, "warning: this is a part of a trunc"),
    ] {
        for name in [
            "profile-query",
            "profile-barriers",
            "profile-critical-path",
            "profile-inspect",
        ] {
            let said = printed(&[name, profile]);
            assert!(said.contains(warning), "{name}: {said}");
            let said = json(&[name, profile, "--json"]);
            assert_eq!(
                said["warnings"].as_array().map(Vec::len),
                Some(1),
                "{name}: {said}"
            );
        }
    }
    if site::is_built() {
        let page = path("output.html");
        for words in [
            ["profile-render", &profile, "-o", &page],
            ["report", &profile, "-o", &output],
        ] {
            std::fs::remove_file(&output).ok();
            let said = command(&words);
            assert_eq!(said.status, Status::Success, "{words:?}: {}", said.stderr);
            assert!(
                said.stderr.starts_with(missing),
                "{words:?}: {}",
                said.stderr
            );
        }
    }
}

#[test]
fn a_kernel_that_no_tile_waits_for_is_an_error_where_that_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p");
    let profile = path.to_str().expect("a UTF-8 path");
    printed(&[
        "profile-synth",
        "--samples",
        "200",
        "--tiles",
        "4",
        "-o",
        profile,
    ]);
    let barriers = ["profile-barriers", profile, "--kernel", "gemm"];
    let said = printed(&barriers);
    assert!(
        said.contains("warning: no kernel is named `gemm`; near: `gemm"),
        "{said}"
    );
    let refused = command(&[&barriers[..], &["--strict"]].concat());
    assert_eq!(refused.status, Status::UserError, "{}", refused.stderr);
    assert!(refused.stderr.contains("near: `gemm"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    printed(&["profile-barriers", profile, "--strict"]);
}

#[test]
fn a_slower_run_ends_with_status_three() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| {
        folder
            .path()
            .join(name)
            .to_str()
            .expect("a UTF-8 path")
            .to_owned()
    };
    let (before, after) = (path("before"), path("after"));
    printed(&[
        "profile-synth",
        "--samples",
        "2000",
        "--tiles",
        "20",
        "-o",
        &before,
    ]);
    printed(&[
        "profile-synth",
        "--samples",
        "4000",
        "--tiles",
        "20",
        "-o",
        &after,
    ]);
    let slower = command(&["profile-diff", &before, &after, "--fail-above", "50%"]);
    assert_eq!(slower.status, Status::LimitPassed, "{}", slower.stderr);
    assert_eq!(slower.status.code(), 3);
    assert!(
        slower.stdout.contains("the run is slower"),
        "{}",
        slower.stdout
    );
    assert!(slower.stderr.contains("--fail-above"), "{}", slower.stderr);
    let faster = command(&["profile-diff", &after, &before, "--fail-above", "0"]);
    assert_eq!(faster.status, Status::Success, "{}", faster.stderr);
}

#[test]
fn flags_of_the_analyses_are_refused_with_what_would_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p");
    let profile = path.to_str().expect("a UTF-8 path").to_owned();
    printed(&[
        "profile-synth",
        "--samples",
        "200",
        "--tiles",
        "4",
        "-o",
        &profile,
    ]);
    let cases = [
        (
            "profile-barriers --sort-by age",
            "last-exit, arrival-spread",
        ),
        ("profile-critical-path --faster x", "percentage"),
        ("profile-critical-path --faster 101", "at most 100 percent"),
        ("profile-export --format xml -o x", "parquet, arrow, csv"),
        (
            "profile-export --format csv --tiles 9 -o x",
            "no tile of \"9\" was profiled",
        ),
        (
            "profile-export --format speedscope --max-bytes 9 -o x",
            "--tiles",
        ),
        ("profile-slice --range 5 -o x", "1000..2000"),
        ("profile-plot -o x.jpg", ".svg or .png"),
        ("profile-plot --size 3 -o x.svg", "200x150"),
    ];
    for (words, part) in cases {
        let mut arguments: Vec<&str> = words.split(' ').collect();
        arguments.insert(1, &profile);
        let output = command(&arguments);
        assert_eq!(
            output.status,
            Status::UserError,
            "{words:?}: {}",
            output.stderr
        );
        assert!(output.stderr.contains(part), "{words:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{words:?}");
    }
    assert!(!Path::new("x").exists(), "nothing was written");
}
