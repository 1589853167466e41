//! The query of an address as flags of a command: names and percent-encoded values in, words out.

use super::error::AppError;

/// Longest query of an address in bytes.
const QUERY_BYTES_MAX: usize = 8 << 10;
/// Flags without a value: an empty one is no value either, since some clients write every name
/// with an equals sign.
const SWITCHES: [&str; 4] = ["shared-clock", "strict", "force", "json"];

/// `a=b&c` as `--a=b` and `--c`, flags of `command`.
///
/// # Errors
/// Where the query is too long, a name cannot be a flag's, or a value is not percent-encoded UTF-8.
pub(super) fn words(query: &str, command: &str) -> Result<Vec<String>, AppError> {
    let pairs = pairs(query, command)?.into_iter();
    Ok(pairs.map(|(name, value)| word(name, value)).collect())
}

/// A name and its value as one word of a command.
pub(super) fn word(name: &str, value: Option<String>) -> String {
    match value {
        None => format!("--{name}"),
        Some(value) => format!("--{name}={value}"),
    }
}

/// Names and decoded values; `None` for a name alone.
///
/// # Errors
/// As [`words`].
pub(super) fn pairs<'q>(
    query: &'q str,
    command: &str,
) -> Result<Vec<(&'q str, Option<String>)>, AppError> {
    if query.len() > QUERY_BYTES_MAX {
        let error = format!("the query is longer than {QUERY_BYTES_MAX} bytes");
        return Err(AppError::bad_request(error, "ask for less at once"));
    }
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = match pair.split_once('=') {
            Some((name, "")) if SWITCHES.contains(&name) => (name, None),
            Some((name, value)) => (name, Some(decoded(value)?)),
            None => (pair, None),
        };
        let is_flag = |it: u8| it.is_ascii_lowercase() || it == b'-';
        if name.is_empty() || name.starts_with('-') || !name.bytes().all(is_flag) {
            let hint = format!("the names are the flags of `ipu-stack {command}`, without dashes");
            return Err(AppError::bad_request(format!("no flag {name:?}"), hint));
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Percent-decoded text; a plus is a space, as in forms.
fn decoded(value: &str) -> Result<String, AppError> {
    let spaced = value.replace('+', " ");
    let text = percent_encoding::percent_decode_str(&spaced).decode_utf8();
    text.map(std::borrow::Cow::into_owned)
        .map_err(|error| AppError::bad_request(error.to_string(), "percent-encode UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_flags_and_nothing_else_does() {
        let query = "kind=compute&tile=3&tile=4&metadata=a%3Db+c&shared-clock&&strict=\
            &operation-contains=";
        let expected = [
            "--kind=compute",
            "--tile=3",
            "--tile=4",
            "--metadata=a=b c",
            "--shared-clock",
            "--strict",
            "--operation-contains=",
        ];
        let found = words(query, "profile-query");
        assert_eq!(found, Ok(expected.map(str::to_owned).to_vec()));
        for bad in ["-o=x", "=x", "Kind=x", "a b=1", "kind=%ff"] {
            assert!(words(bad, "profile-query").is_err(), "{bad}");
        }
        assert!(words(&"a".repeat(8 << 10), "profile-query").is_ok());
        assert!(words(&"a".repeat((8 << 10) + 1), "profile-query").is_err());
    }
}
