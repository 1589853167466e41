//! The test commands as people run them: `ipu-trivial-test` and `ipu-mlp-e2e` as processes.

use std::path::Path;
use std::process::Command;

use analytics::format::open_bytes;
use tempfile::TempDir;

/// What a command printed.
struct Ran {
    passed: bool,
    out: String,
    err: String,
}

fn ran(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(program);
    for name in ["OUTPUT", "GRANULARITY", "AGGREGATE"] {
        command.env_remove(format!("IPU_PROFILE_{name}"));
    }
    let command = command.args(arguments).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        passed: output.status.success(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// A small product on a few tiles, with more flags.
fn trivial(flags: &[&str]) -> Ran {
    let workload = ["--tiles", "24", "--workload", "gemm-projections"];
    let extents = ["--mlp-tokens", "40", "--mlp-dim", "96"];
    let program = env!("CARGO_BIN_EXE_ipu-trivial-test");
    ran(program, &[&workload[..], &extents, flags].concat(), &[])
}

/// What a run that passes prints.
fn passes(flags: &[&str]) -> String {
    let Ran { passed, out, err } = trivial(flags);
    assert!(passed && err.is_empty(), "{flags:?}: {out}{err}");
    out
}

/// The error of a run that is refused.
fn refused(flags: &[&str]) -> String {
    let Ran { passed, out, err } = trivial(flags);
    assert!(!passed, "{flags:?}: {out}");
    assert!(err.starts_with("error: "), "{flags:?}: {err}");
    err
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// Elements of the three projections.
const ELEMENTS: u64 = 3 * 40 * 96;

#[test]
fn a_configuration_is_checked_and_may_be_left_out() {
    let folder = folder();
    let config = |name: &str, bytes: &[u8]| {
        let path = file(&folder, name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let right = [&b"IPUCFG1\0"[..], &2_u32.to_le_bytes(), &[7; 16]].concat();
    let passed = format!("check passed: {ELEMENTS} elements, 0 outside the tolerance");
    assert!(passes(&[]).contains(&passed));
    assert!(passes(&[&config("right", &right)]).contains(&passed));
    let error = refused(&[&config("other", b"IPUCFG2\0\0\0\0\0")]);
    assert!(
        error.contains("other: the first bytes are not IPUCFG1"),
        "{error}"
    );
    let error = refused(&[&config("short", &right[..20])]);
    assert!(
        error.contains("2 register writes take 28 bytes, found 20"),
        "{error}"
    );
    let error = refused(&[&config("cut", &right[..10])]);
    assert!(
        error.contains("ends before the number of register writes"),
        "{error}"
    );
    let error = refused(&[&file(&folder, "missing")]);
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn a_diagnostic_run_checks_every_operation_or_samples_of_each() {
    let layer = ["--workload", "siglip-mlp-benchmark", "--mlp-batch", "1"];
    let checked = |flags: &[&str]| -> u64 {
        let out = passes(&[&layer, flags].concat());
        let count = out.split("check passed: ").nth(1).unwrap();
        count.split(' ').next().unwrap().parse().unwrap()
    };
    let (result, hidden) = (40 * 96, 40 * 384);
    assert_eq!(checked(&[]), result);
    assert_eq!(checked(&["--diagnostic-run"]), result + 2 * hidden);
    let samples = ["--diagnostic-run", "--diagnostic-samples", "16"];
    assert_eq!(checked(&samples), 3 * 16);
    let strict = [
        "--diagnostic-run",
        "--diagnostic-atol",
        "0",
        "--diagnostic-rtol",
        "0",
    ];
    let Ran { passed, out, .. } = trivial(&[&layer[..], &strict].concat());
    assert!(!passed && out.contains("check failed"), "{out}");
    let error = trivial(&["--diagnostic-samples", "16"]).err;
    assert!(error.contains("--diagnostic-run"), "{error}");
}

/// The transfers of each phase of a replay.
fn transfers(out: &str) -> Vec<u64> {
    let lines = out
        .lines()
        .filter_map(|line| line.trim().strip_prefix("transfers"));
    lines.map(|count| count.trim().parse().unwrap()).collect()
}

#[test]
fn exchanges_are_exported_captured_and_replayed_in_part() {
    let folder = folder();
    let (exported, captured) = (file(&folder, "exported"), file(&folder, "captured"));
    let out = passes(&["--export-exchange-schedule", &exported]);
    assert!(out.contains("check passed"), "{out}");
    let out = passes(&[
        "--capture-exchange-schedule",
        &captured,
        "--capture-finalist",
        "0",
    ]);
    assert!(!out.contains("simulated"), "a capture does not run: {out}");
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&exported), read(&captured));

    let replay = |flags: &[&str]| {
        let replay = ["--replay-exchange-schedule", &exported];
        passes(&[&replay, flags].concat())
    };
    let out = replay(&[]);
    let all = transfers(&out);
    assert!(all.len() > 2 && out.matches("check           passed").count() == all.len());
    let first = replay(&["--exchange-replay-phase", "0"]);
    assert!(first.starts_with("phase 0\n"), "{first}");
    assert_eq!(transfers(&first), all[..1]);
    let one = "--exchange-replay-phase=0";
    let from = replay(&[one, "--exchange-replay-first-transfer", "3"]);
    assert_eq!(transfers(&from), [all[0] - 3]);
    let limit = ["--exchange-replay-transfer-limit", "8"];
    assert_eq!(transfers(&replay(&[&[one][..], &limit].concat())), [8]);
    let samples = ["--exchange-replay-samples", "4"];
    assert_eq!(
        transfers(&replay(&[&[one][..], &limit, &samples].concat())),
        [4]
    );
    let error = refused(&[
        "--replay-exchange-schedule",
        &exported,
        "--exchange-replay-phase",
        "999",
    ]);
    assert!(error.contains("no such phase"), "{error}");
}

#[test]
fn budgets_that_cannot_be_kept_are_refused_with_tile_and_bytes() {
    let error = refused(&["--tile-memory-budget-kib", "1"]);
    for part in ["tile 0, the fullest", "bytes", "memory"] {
        assert!(error.contains(part), "{error}");
    }
    let error = refused(&["--exchange-table-budget-kib", "0"]);
    assert!(
        error.contains("tile ") && error.contains("bytes"),
        "{error}"
    );
    let error = refused(&["--exchange-transfer-limit-per-tile", "1"]);
    assert!(error.contains("transfers, the limit is 1"), "{error}");
    let attention = ["--workload", "siglip-attention-benchmark"];
    let heads = ["--attention-heads", "2"];
    let budget = ["--tile-memory-budget-kib", "4"];
    let error = refused(&[&attention[..], &heads, &budget].concat());
    assert!(error.contains("tile "), "{error}");
}

#[test]
fn flags_that_no_plan_follows_are_refused_with_the_reason() {
    for (flags, reason) in [
        (
            ["--gemm-output-packing", "packed"],
            "so no plan packs them; give native",
        ),
        (["--fp8-scale", "-3"], "operands of the workloads are F16"),
        (["--fp8-scale", "16"], "16 is not in -16..=15"),
        (["--fp8-scale", "NaN"], "invalid digit"),
        (["--max-parallel-reductions", "0"], "give 1 or more"),
    ] {
        let error = refused(&flags);
        assert!(error.contains(reason), "{flags:?}: {error}");
    }
    let usual = passes(&["--explain"]);
    assert_eq!(
        passes(&["--explain", "--max-parallel-reductions", "3"]),
        usual
    );
}

#[test]
fn operands_are_brought_whole_or_in_slices() {
    let deep = ["--tiles", "4", "--mlp-dim", "256"];
    let plans = |flag: &str| -> Vec<String> {
        let out = passes(&[&deep[..], &[flag]].concat());
        let plans = out.lines().filter(|line| line.starts_with("plan "));
        plans.map(str::to_owned).collect()
    };
    let streamed = plans("--stream-conversions");
    assert_eq!(streamed.len(), 3);
    for plan in streamed {
        assert!(plan.contains(":chunks="), "{plan}");
    }
    for plan in plans("--materialize-conversions") {
        assert!(!plan.contains(":chunks="), "{plan}");
    }
    let both = ["--stream-conversions", "--materialize-conversions"];
    assert!(trivial(&both).err.contains("cannot be used with"));
}

#[test]
fn rows_of_a_tile_are_decoded_and_printed() {
    let out = passes(&["--inspect-exchanges", "--inspect-exchange-tile", "3"]);
    assert!(
        !out.contains("simulated"),
        "an inspection does not run: {out}"
    );
    let heads = out
        .lines()
        .filter(|line| line.starts_with("tile 3, exchange "));
    let returns = out.lines().filter(|line| line.ends_with(" Return"));
    let (heads, returns) = (heads.count(), returns.count());
    assert!(heads > 1 && heads == returns, "{out}");
    let error = refused(&["--inspect-exchanges", "--inspect-exchange-tile", "24"]);
    assert!(
        error.contains("tile 24 is not one of the package's 24 tiles"),
        "{error}"
    );
}

#[test]
fn the_mlp_runs_end_to_end_and_records_as_the_environment_says() {
    let folder = folder();
    let profile = file(&folder, "mlp.ipuprofile");
    let flags = ["--tiles", "24", "--mlp-tokens", "40", "--mlp-dim", "96"];
    let program = env!("CARGO_BIN_EXE_ipu-mlp-e2e");
    let recorded = |granularity: &str| {
        let output = ("IPU_PROFILE_OUTPUT", profile.as_str());
        let level = ("IPU_PROFILE_GRANULARITY", granularity);
        let Ran { passed, out, err } = ran(program, &flags, &[output, level]);
        assert!(passed, "{out}{err}");
        assert!(
            out.contains(&format!("check passed: {} elements", 40 * 96)),
            "{out}"
        );
        let report = open_bytes(std::fs::read(&profile).unwrap()).unwrap();
        report.steps().len()
    };
    assert!(recorded("graph") < recorded("phase"));
    std::fs::remove_file(&profile).unwrap();
    let more = ["--mlp-hidden-dim", "64", "--no-profile"];
    let flags = [&flags[..], &more].concat();
    let Ran { passed, out, .. } = ran(program, &flags, &[("IPU_PROFILE_OUTPUT", &profile)]);
    assert!(passed && out.contains("plan 2:"), "{out}");
    assert!(!Path::new(&profile).exists());
}
