//! Byte ranges of HTTP: a `Range` header and a length → which bytes to send.
//!
//! One range is served. Several are refused as unsatisfiable, since no reader of ours asks for them
//! and a multipart answer would only hide a mistake; text that is no range at all is ignored, as
//! the standard wants.

use std::ops::Range;

/// What to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Everything, status 200.
    Whole,
    /// These bytes, status 206; never empty and inside the length.
    Part(Range<u64>),
    /// Nothing, status 416.
    Unsatisfiable,
}

/// Resolves the value of a `Range` header against a body of `length` bytes.
#[must_use]
pub(super) fn select(header: &str, length: u64) -> Selection {
    let Some(specs) = header.trim().strip_prefix("bytes=") else {
        return Selection::Whole;
    };
    if specs.contains(',') {
        return Selection::Unsatisfiable;
    }
    let Some((first, last)) = specs.trim().split_once('-') else {
        return Selection::Whole;
    };
    match (position(first), position(last)) {
        (Some(None), Some(Some(suffix))) if suffix == 0 || length == 0 => Selection::Unsatisfiable,
        (Some(None), Some(Some(suffix))) => Selection::Part(length.saturating_sub(suffix)..length),
        (Some(Some(first)), Some(last)) => from_to(first, last, length),
        _ => Selection::Whole,
    }
}

fn from_to(first: u64, last: Option<u64>, length: u64) -> Selection {
    match last {
        Some(last) if last < first => Selection::Whole,
        _ if first >= length => Selection::Unsatisfiable,
        Some(last) => Selection::Part(first..last.saturating_add(1).min(length)),
        None => Selection::Part(first..length),
    }
}

/// `Some(None)` for no digits, `None` for text that is no number of 64 bits.
fn position(text: &str) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    // A position past 64 bits lies past any body.
    digits.then(|| Some(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_cut_to_the_length_and_anything_else_is_whole_or_unsatisfiable() {
        use Selection::{Part, Unsatisfiable, Whole};
        let cases = [
            ("bytes=0-0", 10, Part(0..1)),
            ("bytes=2-5", 10, Part(2..6)),
            ("bytes=2-", 10, Part(2..10)),
            ("bytes=-3", 10, Part(7..10)),
            ("bytes=-30", 10, Part(0..10)),
            ("bytes=8-99", 10, Part(8..10)),
            ("bytes=8-99999999999999999999999", 10, Part(8..10)),
            ("bytes=9-18446744073709551615", 10, Part(9..10)),
            ("bytes=10-", 10, Unsatisfiable),
            ("bytes=99999999999999999999999-", 10, Unsatisfiable),
            ("bytes=-0", 10, Unsatisfiable),
            ("bytes=-5", 0, Unsatisfiable),
            ("bytes=0-", 0, Unsatisfiable),
            ("bytes=0-1,4-5", 10, Unsatisfiable),
            ("bytes=5-2", 10, Whole),
            ("bytes=-", 10, Whole),
            ("bytes=", 10, Whole),
            ("bytes=a-b", 10, Whole),
            ("bytes=+1-2", 10, Whole),
            ("items=0-1", 10, Whole),
            ("", 10, Whole),
        ];
        for (header, length, expected) in cases {
            assert_eq!(select(header, length), expected, "{header} of {length}");
        }
    }
}
