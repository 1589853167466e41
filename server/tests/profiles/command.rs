//! Running the command, and the profiles that the tests ask about.

use std::ffi::OsString;

use server::cli::{Io, Status, run};

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) status: Status,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `ipu-stack` with these arguments.
pub(crate) fn command(arguments: &[&str]) -> Output {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        stdout: &mut stdout,
        stderr: &mut stderr,
        interactive: false,
        environment: &|_| None,
    };
    let words = ["ipu-stack"].iter().chain(arguments);
    let status = run(words.map(OsString::from), &mut io);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Output {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

/// Standard output of a command that must succeed and say nothing else.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = command(arguments);
    let ended = (output.status, output.stderr.as_str());
    assert_eq!(ended, (Status::Success, ""), "{arguments:?}");
    output.stdout
}

/// The same as JSON.
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    let text = printed(arguments);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
}

/// A folder with profiles: one that we recorded, the same run as one sample a tile and with every
/// transfer, one generated.
pub(crate) struct Profiles {
    folder: tempfile::TempDir,
}

impl Profiles {
    /// Makes them: `phase`, `graph`, `step`, `synth`, and `small.ipuexe`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let profiles = Self { folder };
        let package = profiles.path("small.ipuexe");
        let shape = ["--tiles", "16", "--tokens", "64", "--width", "128"];
        printed(&[&["compile", "gemm-projections", "-o", &package][..], &shape].concat());
        for granularity in ["phase", "graph", "step"] {
            let output = profiles.path(granularity);
            printed(&["run", &package, "-o", &output, "--granularity", granularity]);
        }
        let synth = profiles.path("synth");
        printed(&[
            "profile-synth",
            "--samples",
            "3000",
            "--tiles",
            "40",
            "-o",
            &synth,
        ]);
        profiles
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        path.to_str().expect("a UTF-8 path").to_owned()
    }
}
