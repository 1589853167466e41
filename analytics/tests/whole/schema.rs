//! The committed readers of `schemas/*.capnp` are what the schema compiler writes today.

use std::path::Path;
use std::process::Command;

fn capnp_version() -> Option<String> {
    let output = Command::new("capnp").arg("--version").output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The lines but the comments at the top, which name the versions of the tools.
fn code(generated: &str) -> Vec<&str> {
    generated
        .lines()
        .skip_while(|line| line.starts_with("//"))
        .collect()
}

/// Run with `UPDATE_EXPECT=1` to replace the committed files after a change of a schema.
#[test]
fn generated_readers_are_up_to_date() {
    let Some(version) = capnp_version() else {
        eprintln!("skipped: the schema compiler `capnp` is not installed");
        return;
    };
    for (schema, module) in [("profile", "format"), ("package", "memory")] {
        compare(schema, module, &version);
    }
}

fn compare(schema: &str, module: &str, version: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{schema}-schema"));
    std::fs::create_dir_all(&out).expect("a folder for the output");
    let schemas = root.join("../schemas");
    capnpc::CompilerCommand::new()
        .src_prefix(&schemas)
        .file(schemas.join(format!("{schema}.capnp")))
        .default_parent_module(vec![module.to_owned()])
        .output_path(&out)
        .run()
        .expect("the schema compiles");
    let generated = std::fs::read_to_string(out.join(format!("{schema}_capnp.rs")))
        .expect("what was just written");
    let name = format!("src/{module}/{schema}_capnp.rs");
    let committed = root.join(&name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&committed, &generated).expect("the committed file");
    }
    let held = std::fs::read_to_string(&committed).unwrap_or_default();
    assert!(
        code(&held) == code(&generated),
        "{name} is stale ({version}): rerun with UPDATE_EXPECT=1"
    );
}
