//! Settings of `serve` from the environment and from a file, under the names of the flags.
//!
//! Both are turned into flags and read by the same parser, so that they mean the same and are
//! refused with the same words.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory as _, FromArgMatches as _};

use super::args::ServeArgs;
use crate::cli::args::Cli;
use crate::error::CliError;

/// What the environment calls `--quota-bytes`.
fn variable(flag: &str) -> String {
    format!("IPU_STACK_{}", flag.replace('-', "_").to_uppercase())
}

/// The arguments with what environment and file add to the command line `words`, which start with
/// the program's name.
pub(super) fn with_settings(
    words: &[OsString],
    environment: &(dyn Fn(&str) -> Option<OsString> + Sync),
) -> Result<ServeArgs, CliError> {
    let typed = parse(words, "command line")?;
    let mut all = words.to_vec();
    let command = serve();
    let flags = command.get_arguments().filter_map(Arg::get_long);
    for flag in flags.filter(|flag| !matches!(*flag, "help" | "config")) {
        if is_typed(&typed, flag) {
            continue;
        }
        if let Some(value) = environment(&variable(flag)) {
            let value = value.to_string_lossy().into_owned();
            all.extend(word(&command, flag, &value, &variable(flag))?);
        }
    }
    let said = parse(&all, "environment")?;
    let named = environment("IPU_STACK_CONFIG").map(Into::into);
    let config = typed.get_one("config").cloned().or(named);
    if let Some(path) = config {
        let path: std::path::PathBuf = path;
        for (flag, value) in file(&path)? {
            let words = word(&command, &flag, &value, &path.display().to_string())?;
            if !is_typed(&said, &flag) {
                all.extend(words);
            }
        }
    }
    let matches = parse(&all, "settings")?;
    ServeArgs::from_arg_matches(&matches).map_err(|error| refused(&error, "settings"))
}

/// `serve` as the parser knows it.
fn serve() -> Command {
    let cli = Cli::command();
    let found = cli.get_subcommands().find(|it| it.get_name() == "serve");
    found.cloned().unwrap_or_default()
}

fn parse(words: &[OsString], place: &str) -> Result<ArgMatches, CliError> {
    let matches = Cli::command()
        .try_get_matches_from(words)
        .map_err(|error| refused(&error, place))?;
    let serve = matches.subcommand_matches("serve").cloned();
    serve.ok_or_else(|| CliError::internal("the arguments are not of serve", place))
}

fn refused(error: &clap::Error, place: &str) -> CliError {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.trim_start_matches("error: ").to_owned();
    CliError::user(what, place, "see ipu-stack serve --help")
}

fn is_typed(matches: &ArgMatches, flag: &str) -> bool {
    let id = flag.replace('-', "_");
    matches.value_source(&id) == Some(ValueSource::CommandLine)
}

/// A setting as words of a command line; a switch takes true or false.
fn word(
    command: &Command,
    flag: &str,
    value: &str,
    place: &str,
) -> Result<Vec<OsString>, CliError> {
    let mut arguments = command.get_arguments();
    let Some(argument) = arguments.find(|it| it.get_long() == Some(flag)) else {
        let hint = "see ipu-stack serve --help for their names";
        return Err(CliError::user(format!("no setting {flag:?}"), place, hint));
    };
    if argument.get_action().takes_values() {
        return Ok(vec![format!("--{flag}={value}").into()]);
    }
    match value {
        "true" | "1" => Ok(vec![format!("--{flag}").into()]),
        "false" | "0" => Ok(Vec::new()),
        _ => {
            let what = format!("{flag} is {value:?}");
            Err(CliError::user(what, place, "set it to true or false"))
        }
    }
}

/// The settings of a TOML file in its order, underscores in names as dashes.
fn file(path: &Path) -> Result<Vec<(String, String)>, CliError> {
    let fail = |error: &dyn std::fmt::Display| {
        let hint = "a line such as port = 8080 sets the flag of that name";
        CliError::user(error, path.display(), hint)
    };
    let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
    let table: toml::Table = text.parse().map_err(|error| fail(&error))?;
    let mut settings = Vec::new();
    for (name, value) in table {
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(switch) => switch.to_string(),
            other => {
                let what = format!("{name} is a {}, not one value", other.type_str());
                return Err(fail(&what));
            }
        };
        settings.push((name.replace('_', "-"), value));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(flags: &[&str], variables: &[(&str, &str)]) -> Result<ServeArgs, String> {
        let words = ["ipu-stack", "serve"].iter().chain(flags);
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let environment = |name: &str| {
            let found = variables.iter().find(|it| it.0 == name);
            found.map(|it| OsString::from(it.1))
        };
        with_settings(&words, &environment).map_err(|error| error.to_string())
    }

    #[test]
    fn a_flag_wins_over_the_environment_which_wins_over_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("serve.toml");
        let text = "port = 1\nquota_bytes = 3\nstore = \"a\"\nkeep = true\ntrust-proxy = false\n";
        std::fs::write(&path, text).expect("a file");
        let config = path.to_str().expect("a UTF-8 path");
        let variables = [("IPU_STACK_PORT", "2"), ("IPU_STACK_QUOTA_BYTES", "4")];
        let found = settings(&["--config", config, "--port", "5"], &variables).expect("settings");
        assert_eq!((found.port, found.limits.quota_bytes), (5, Some(4)));
        assert_eq!(found.store.as_deref(), Some("a"));
        assert!(found.limits.keep && !found.trust.trust_proxy);
        let by_environment = [("IPU_STACK_CONFIG", config)];
        assert_eq!(settings(&[], &by_environment).expect("settings").port, 1);
    }

    #[test]
    fn what_means_nothing_is_refused_where_it_stands() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("serve.toml");
        let config = path.to_str().expect("a UTF-8 path");
        let cases = [
            ("prot = 1", "no setting \"prot\""),
            ("port = [1]", "port is a array, not one value"),
            ("port = \"many\"", "invalid value 'many'"),
            ("keep = \"perhaps\"", "set it to true or false"),
            ("port", "serve.toml"),
        ];
        for (text, part) in cases {
            std::fs::write(&path, text).expect("a file");
            let error = settings(&["--config", config], &[]).expect_err("it is refused");
            assert!(error.contains(part), "{text}: {error}");
        }
        let error = settings(&[], &[("IPU_STACK_PORT", "x")]).expect_err("it is refused");
        assert!(error.contains("invalid value 'x'"), "{error}");
    }
}
