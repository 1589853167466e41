//! The committed generated code is what the schema gives: a fresh checkout needs no `capnp`, and
//! the two cannot drift apart.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Set to rewrite the committed file.
const UPDATE: &str = "UPDATE_EXPECT";

#[test]
fn generated_package_code_matches_the_schema() {
    if Command::new("capnp").arg("--version").output().is_err() {
        println!("capnp is not installed; nothing to compare");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = root.join("src/package/package_capnp.rs");
    let generated = generate(&root.join("../schemas"));
    if env::var_os(UPDATE).is_some() {
        fs::write(&committed, &generated).expect("write the generated code");
    }
    let found = fs::read_to_string(&committed).expect("read the committed code");
    assert!(
        found == generated,
        "{} is stale: run this test with {UPDATE}=1",
        committed.display()
    );
}

fn generate(schemas: &Path) -> String {
    let output = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("package-schema");
    fs::create_dir_all(&output).expect("create the output folder");
    capnpc::CompilerCommand::new()
        .src_prefix(schemas)
        .file(schemas.join("package.capnp"))
        .output_path(&output)
        .default_parent_module(vec!["package".to_owned()])
        .run()
        .expect("run capnp");
    fs::read_to_string(output.join("package_capnp.rs")).expect("read the generated code")
}
