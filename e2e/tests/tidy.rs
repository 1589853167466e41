//! The house rules as tests: dependency arrows, what a crate must not mention, sizes, headers, the
//! map.
//!
//! Each rule collects every offence before it fails, so that one run shows all there is to mend.
//! `RATCHET` holds offences that are known; it may only become shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use syn::visit::Visit;

/// Known offences as (file, rule).
const RATCHET: &[(&str, &str)] = &[];

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const COLUMNS_MAX: usize = 100;

/// Which workspace crates each crate may depend on, tests and build scripts included.
const ARROWS: &[(&str, &[&str])] = &[
    ("analytics", &[]),
    ("runtime", &["analytics"]),
    ("compiler", &["analytics", "runtime"]),
    ("viewer", &["analytics"]),
    ("viewer-module", &[]),
    ("site", &["viewer-module"]),
    ("server", &["analytics", "runtime", "compiler", "site"]),
    (
        "e2e",
        &["analytics", "runtime", "compiler", "site", "server"],
    ),
    ("engine", &["analytics"]),
];

/// Everything at the top besides dot files and `target`.
const TOP_LEVEL: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "analytics",
    "clippy.toml",
    "compiler",
    "e2e",
    "runtime",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "schemas",
    "server",
    "static",
    "viewer",
];

/// Text that the product code under a folder must not hold, and the one file that may.
const ABSENT: &[(&str, &[&str], Option<&str>)] = &[
    (
        "analytics/src",
        &[
            "std::fs",
            "std::net",
            "std::process",
            "std::thread",
            "Instant::now",
            "SystemTime",
            "web_sys",
            "println!",
            "eprintln!",
        ],
        None,
    ),
    (
        "runtime/src",
        &[
            "compiler::",
            "std::fs",
            "std::net",
            "Instant::now",
            "SystemTime",
        ],
        None,
    ),
    (
        "compiler/src",
        &["runtime::sim", "std::net"],
        Some("compiler/src/bin"),
    ),
    (
        "viewer/src",
        &["CanvasRenderingContext2d"],
        Some("viewer/src/timeline/canvas.rs"),
    ),
];

/// A source file with what the rules ask about it.
struct Source {
    /// Path from the root with forward slashes.
    path: String,
    text: String,
    syntax: syn::File,
}

impl Source {
    fn generated(&self) -> bool {
        self.text
            .lines()
            .take(3)
            .any(|line| line.contains("@generated"))
    }

    /// Whether the whole file is a test, a benchmark or a fixture of tests.
    fn for_tests(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| matches!(part, "tests" | "benches" | "tests.rs"))
    }

    /// Lines of items behind `#[cfg(test)]`.
    fn test_lines(&self) -> Vec<RangeInclusive<usize>> {
        let mut found = TestItems::default();
        found.visit_file(&self.syntax);
        found.lines
    }

    /// Product lines with their numbers.
    fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.test_lines();
        let numbered = self
            .text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line));
        numbered.filter(move |(number, _)| !tests.iter().any(|lines| lines.contains(number)))
    }
}

#[derive(Default)]
struct TestItems {
    lines: Vec<RangeInclusive<usize>>,
}

impl<'ast> Visit<'ast> for TestItems {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let test = item.attrs.iter().find(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Path>()
                    .is_ok_and(|path| path.is_ident("test"))
        });
        match (test, &item.content) {
            (Some(attribute), Some((brace, _))) => {
                let first = attribute.pound_token.span.start().line;
                self.lines.push(first..=brace.span.close().end().line);
            }
            _ => syn::visit::visit_item_mod(self, item),
        }
    }
}

/// Functions with their first and last line.
#[derive(Default)]
struct Functions {
    found: Vec<(String, usize, usize)>,
}

impl Functions {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        self.found.push((signature.ident.to_string(), first, last));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.sig, block);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the root")
        .to_owned()
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a folder of the project can be read")
        .map(|entry| entry.expect("an entry can be read").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with('.') || name == "target" {
            continue;
        }
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Every Rust file of the project.
fn sources() -> Vec<Source> {
    let root = root();
    let mut paths = Vec::new();
    files_below(&root, &mut paths);
    let rust = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let sources: Vec<_> = rust
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file is UTF-8");
            let syntax = syn::parse_file(&text)
                .unwrap_or_else(|error| panic!("{} does not parse: {error}", path.display()));
            let relative = path
                .strip_prefix(&root)
                .expect("it was found below the root");
            Source {
                path: relative.to_string_lossy().replace('\\', "/"),
                text,
                syntax,
            }
        })
        .collect();
    assert!(
        sources.len() > 30,
        "only {} source files were found",
        sources.len()
    );
    sources
}

/// Fails with every offence that the ratchet does not hold.
fn settle(rule: &str, offences: &BTreeMap<String, Vec<String>>) {
    let known: BTreeSet<_> = RATCHET
        .iter()
        .filter(|entry| entry.1 == rule)
        .map(|entry| entry.0)
        .collect();
    let fresh: Vec<_> = offences
        .iter()
        .filter(|(file, _)| !known.contains(file.as_str()))
        .flat_map(|(_, lines)| lines.iter().cloned())
        .collect();
    assert!(fresh.is_empty(), "{rule}:\n{}", fresh.join("\n"));
    let mended: Vec<_> = known
        .iter()
        .filter(|file| !offences.contains_key(**file))
        .collect();
    assert!(
        mended.is_empty(),
        "{rule}: take {mended:?} off the ratchet, they are mended"
    );
}

fn check(rule: &str, judge: impl Fn(&Source) -> Vec<String>) {
    let judged = sources().into_iter().filter(|source| !source.generated());
    let offences = judged.filter_map(|source| {
        let lines = judge(&source);
        (!lines.is_empty()).then_some((source.path, lines))
    });
    settle(rule, &offences.collect());
}

#[test]
fn files_are_at_most_500_product_lines() {
    check("file length", |source| {
        let count = if source.for_tests() {
            0
        } else {
            source.product_lines().count()
        };
        if count <= FILE_LINES_MAX {
            return Vec::new();
        }
        vec![format!(
            "{}: {count} product lines, at most {FILE_LINES_MAX}",
            source.path
        )]
    });
}

#[test]
fn functions_are_at_most_70_lines() {
    check("function length", |source| {
        let mut functions = Functions::default();
        functions.visit_file(&source.syntax);
        let long = functions
            .found
            .into_iter()
            .filter_map(|(name, first, last)| {
                let lines = last - first + 1;
                let path = &source.path;
                (lines > FUNCTION_LINES_MAX)
                    .then(|| format!("{path}:{first}: {name} has {lines} lines"))
            });
        long.collect()
    });
}

#[test]
fn lines_are_at_most_100_columns() {
    check("line length", |source| {
        let numbered = source.text.lines().enumerate();
        // A line of markup is expected output, which cannot be broken.
        let long = numbered.filter(|(_, line)| {
            line.chars().count() > COLUMNS_MAX && !line.trim_start().starts_with('<')
        });
        let say = |(index, line): (usize, &str)| {
            format!(
                "{}:{}: {} columns",
                source.path,
                index + 1,
                line.chars().count()
            )
        };
        long.map(say).collect()
    });
}

#[test]
fn every_file_says_first_what_it_is_for() {
    check("module header", |source| {
        let first = source.text.lines().next().unwrap_or_default();
        let crate_root = first == "#![doc = include_str!(\"../README.md\")]";
        let header = first
            .strip_prefix("//! ")
            .is_some_and(|purpose| purpose.len() >= 10);
        if header || crate_root {
            return Vec::new();
        }
        vec![format!(
            "{}:1: no `//!` line with the purpose of the module",
            source.path
        )]
    });
}

#[test]
fn product_code_does_not_mention_what_its_crate_must_not_hold() {
    check("absence", |source| {
        let mut found = Vec::new();
        for (folder, words, exempt) in ABSENT {
            let exempt = exempt.is_some_and(|path| source.path.starts_with(path));
            if exempt || source.for_tests() || !source.path.starts_with(folder) {
                continue;
            }
            for (number, line) in source.product_lines() {
                let code = line.split("//").next().unwrap_or_default();
                let word = words.iter().find(|word| code.contains(**word));
                found.extend(word.map(|word| format!("{}:{number}: {word}", source.path)));
            }
        }
        found
    });
}

#[test]
fn notes_of_unfinished_work_do_not_stay() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
    ];
    check("unfinished", |source| {
        let numbered = source.text.lines().enumerate();
        let notes = numbered.filter(|(_, line)| words.iter().any(|word| line.contains(word)));
        notes
            .map(|(index, line)| format!("{}:{}:{line}", source.path, index + 1))
            .collect()
    });
}

#[test]
fn crates_depend_only_downwards() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let name_of = |value: &serde_json::Value| value["name"].as_str().unwrap_or_default().to_owned();
    let members: BTreeSet<_> = packages.iter().map(name_of).collect();
    let listed: BTreeSet<_> = ARROWS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(members, listed, "every member has its arrows listed");
    let mut wrong = Vec::new();
    for package in packages {
        let name = name_of(package);
        let (_, allowed) = ARROWS
            .iter()
            .find(|arrow| arrow.0 == name)
            .expect("it is listed");
        let needs = package["dependencies"]
            .as_array()
            .expect("a list of dependencies");
        for need in needs
            .iter()
            .map(name_of)
            .filter(|need| members.contains(need))
        {
            if !allowed.contains(&need.as_str()) {
                wrong.push(format!("{name} -> {need}"));
            }
        }
    }
    assert!(wrong.is_empty(), "arrows that must not be: {wrong:?}");
}

#[test]
fn the_top_level_holds_the_agreed_names() {
    let names: BTreeSet<_> = fs::read_dir(root())
        .expect("the root can be read")
        .map(|entry| entry.expect("an entry can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && name != "target")
        .collect();
    let agreed: BTreeSet<_> = TOP_LEVEL.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, agreed);
}

#[test]
fn the_readme_maps_every_module_directory() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(
        readme.lines().count() <= 300,
        "the README has {} lines",
        readme.lines().count()
    );
    let folders: BTreeSet<_> = sources()
        .into_iter()
        .filter(|source| source.path.contains("/src/") && !source.for_tests())
        .filter_map(|source| {
            source
                .path
                .rsplit_once('/')
                .map(|(folder, _)| folder.to_owned())
        })
        .filter(|folder| !folder.ends_with("/src"))
        .collect();
    let unmapped: Vec<_> = folders
        .iter()
        .filter(|folder| !readme.contains(&format!("`{folder}`")))
        .collect();
    assert!(
        unmapped.is_empty(),
        "the code map of README.md lacks {unmapped:?}"
    );
}

#[test]
fn continuous_integration_runs_the_test_line_of_the_readme() {
    let line = ".ci/install-chromium && cargo test --locked --workspace";
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(
        readme.lines().any(|it| it.trim() == line),
        "README.md shows `{line}`"
    );
    let script = fs::read_to_string(root().join(".ci/run")).expect("there is a .ci/run");
    assert_eq!(script.lines().last(), Some(line));
}
