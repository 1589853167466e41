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
    for chart in [
        "kernel-work",
        "durations",
        "cumulative",
        "roofline",
        "tiles",
        "phases",
    ] {
        let picture = path(&format!("{chart}.svg"));
        let draw = ["profile-plot", profile, "--chart", chart, "-o", &picture];
        let said = printed(&draw);
        assert!(said.starts_with("wrote "), "{said}");
        let svg = std::fs::read_to_string(&picture).expect("it is there");
        // More than the ground: what stands for this profile; equal durations make one bar.
        assert!(svg.starts_with("<svg") && marks(&svg) > 1, "{chart}: {svg}");
        let data = json(&[&draw[..], &["--json"]].concat());
        assert!(data["schema"].is_string(), "{data}");
        assert_eq!(std::fs::read_to_string(&picture).expect("it is there"), svg);
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

/// Bars, lines and points of a picture.
fn marks(svg: &str) -> usize {
    let shapes = ["<rect", "<polyline", "<polygon", "<circle", "<path"];
    shapes.iter().map(|shape| svg.matches(shape).count()).sum()
}

#[test]
fn parts_and_packages_say_what_the_whole_says() {
    let profiles = Profiles::new();
    let sum = |list: &serde_json::Value, name: &str| -> u64 {
        let list = list.as_array().expect("a list").iter();
        list.filter_map(|it| it[name].as_u64()).sum()
    };
    let step = &profiles.path("step");
    let query = ["profile-query", step, "--json", "--limit", "0"];
    let query = json(&[&query[..], &["--group-by", "kind"]].concat());
    let run = query["profileSpanCycles"].as_u64().expect("a count");
    let whole = json(&["profile-part", step, "--json", "--by-tile"]);
    assert_eq!(
        sum(&whole["kinds"], "cycles"),
        sum(&query["groups"], "workCycles")
    );
    assert_eq!(
        sum(&whole["tiles"], "computeCycles"),
        sum(&whole["kernels"], "cycles")
    );
    let halves = [format!("0..{}", run / 2), format!("{}..{run}", run / 2)];
    let ids = whole["tiles"].as_array().expect("a list").iter();
    let ids: Vec<String> = ids.map(|it| it["physicalTile"].to_string()).collect();
    let apart = [&ids[..6], &ids[9..10]].concat().join(",");
    let others = [&ids[6..9], &ids[10..]].concat().join(",");
    let mut cycles = 0;
    for range in &halves {
        for tiles in [&apart, &others] {
            let part = [
                "profile-part",
                step,
                "--range",
                range,
                "--tiles",
                tiles,
                "--json",
            ];
            cycles += sum(&json(&part)["kinds"], "cycles");
        }
    }
    assert_eq!(
        cycles,
        sum(&whole["kinds"], "cycles"),
        "the parts make the whole"
    );

    let exchange = json(&["profile-exchange", step, "--limit", "0", "--json"]);
    for bytes in ["sentBytes", "receivedBytes"] {
        let all = exchange[bytes].as_u64().expect("a count");
        assert!(all > 0);
        assert_eq!(sum(&exchange["exchanges"], bytes), all);
        assert_eq!(sum(&exchange["tiles"], bytes), all);
        let part = [
            "profile-exchange",
            step,
            "--tiles",
            "0-2000",
            "--limit",
            "0",
            "--json",
        ];
        let part = json(&part)["part"][bytes].as_u64();
        assert!(
            part > Some(0) && part <= Some(all),
            "{part:?} of {all}: all tiles, the whole run"
        );
    }
    let few = json(&["profile-exchange", step, "--limit", "2", "--json"]);
    assert_eq!(few["exchanges"].as_array().map(Vec::len), Some(2));
    assert_eq!(few["receivedBytes"], exchange["receivedBytes"]);

    let package = &profiles.path("small.ipuexe");
    let traffic = json(&["package-traffic", package, "--limit", "0", "--json"]);
    let landed = traffic["receivedBytes"].as_u64().expect("a count");
    assert_eq!(sum(&traffic["pairs"], "bytes"), landed);
    let one = json(&["package-traffic", package, "--cells", "1", "--json"]);
    assert_eq!(one["pairs"][0]["bytes"].as_u64(), Some(landed));
    let memory = json(&["package-memory", package, "--json"]);
    let fullest = memory["fullestTile"].to_string();
    assert_eq!(memory["tile"]["physicalTile"], memory["fullestTile"]);
    assert_eq!(
        memory,
        json(&["package-memory", package, "--tile", &fullest, "--json"])
    );
}

#[test]
fn parts_and_packages_fit_a_terminal() {
    let profiles = Profiles::new();
    let part = ["--range", "100..900", "--tiles", "0-2000"];
    for name in ["phase", "step", "synth"] {
        let profile = profiles.path(name);
        let spent = [&["profile-part", &profile, "--by-tile"][..], &part].concat();
        let exchange = [&["profile-exchange", &profile][..], &part].concat();
        for words in [spent, exchange] {
            let text = printed(&words);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{words:?}: {widest:?}\n{text}");
            assert!(text.lines().count() > 5, "{text}");
        }
    }
    let package = profiles.path("small.ipuexe");
    for command in ["package-memory", "package-traffic"] {
        let text = printed(&[command, &package]);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{command}: {widest:?}\n{text}");
        assert!(text.lines().count() > 5, "{text}");
    }
    let outside = printed(&[
        "profile-part",
        &profiles.path("phase"),
        "--range",
        "9999999..9999999999",
    ]);
    assert!(outside.contains("no sample touches it"), "{outside}");
}

#[test]
fn packages_and_parts_are_refused_with_what_would_do() {
    let profiles = Profiles::new();
    let (package, phase) = (profiles.path("small.ipuexe"), profiles.path("phase"));
    let cut = profiles.path("cut.ipuexe");
    let whole = std::fs::read(&package).expect("it is there");
    std::fs::write(&cut, &whole[..whole.len() / 2]).expect("it is written");
    for (words, part) in [
        (
            &["package-memory", &package, "--tile", "9999"][..],
            "does not use tile 9999",
        ),
        (&["package-memory", &phase], "profile-query"),
        (&["package-traffic", &cut], "no whole package"),
        (
            &["profile-part", &phase, "--by-tile", "--kernel", "moon"],
            "profile-query --limit 0",
        ),
        (&["profile-part", &phase, "--range", "9"], "1000..2000"),
        (
            &["profile-exchange", &phase, "--tiles", "9999"],
            "no tile of \"9999\" was profiled",
        ),
        (&["profile-exchange", &package], "package"),
    ] {
        let output = command(words);
        let ended = (output.status, output.stdout.as_str());
        assert_eq!(
            ended,
            (Status::UserError, ""),
            "{words:?}: {}",
            output.stderr
        );
        assert!(output.stderr.contains(part), "{words:?}: {}", output.stderr);
    }
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
