//! The fragment of the address ⇄ [`ViewState`].
//!
//! `#v=1&clock=&t=a-b&tiles=&rows=&sel=a-b&seltiles=&by=&kernel=&kind=&sort=&find=&colour=&view=
//! &map=`, then what the panels add (`panels.rs`):
//! `&order=&over=&cycle=&plot=&pairs=&compare=&align=a-b&force=&swap=&phase=&package=&tile=
//! &across=&key=&columns=`. Integers in cycles, names percent-encoded.
//! Keys that are not ours are kept in order; a value that cannot be read leaves the default. Under
//! an unknown `v` our keys may mean something else: they are dropped, and the profile opens all the
//! same.

use analytics::clock::ClockKind;

use super::view::{
    Colouring, Grouping, KindFilter, Lower, Metric, Rows, Selection, Sort, Span, TileIds, ViewState,
};

/// Version of the keys that this viewer writes.
const VERSION: &str = "1";

/// The fragment, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// The view that it asks for.
    pub(crate) view: ViewState,
    /// SHA-256 of the local file that the link was made from, as 64 lowercase hex digits.
    pub(crate) sha: Option<String>,
    /// Pairs of other keys, still encoded.
    pub(crate) others: Vec<(String, String)>,
}

/// Reads a fragment, with or without its `#`.
pub(crate) fn parse(fragment: &str) -> Fragment {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    let pairs: Vec<(&str, &str)> = fragment
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect();
    let version = pairs
        .iter()
        .find(|(key, _)| *key == "v")
        .map(|(_, value)| *value);
    let known = version.is_none_or(|version| version == VERSION);
    let mut parsed = Fragment::default();
    for (key, value) in pairs {
        if key == "sha" {
            parsed.sha = is_sha256(value).then(|| value.to_owned());
            continue;
        }
        let mut ignored = ViewState::default();
        let view = if known {
            &mut parsed.view
        } else {
            &mut ignored
        };
        if !read_key(view, key, value) {
            parsed.others.push((key.to_owned(), value.to_owned()));
        }
    }
    parsed
}

/// Takes a pair into the view; `false` where the key is not one of ours.
fn read_key(view: &mut ViewState, key: &str, value: &str) -> bool {
    match key {
        "v" => {}
        "clock" => view.clock = ClockKind::from_name(value).unwrap_or_default(),
        "t" => {
            view.span = range(value)
                .filter(|(a, b)| a < b)
                .map(|(from, to)| Span { from, to });
        }
        "tiles" => view.tiles = tile_ids(value),
        "rows" => view.rows = Rows::from_name(value).unwrap_or_default(),
        "sel" => {
            let span = range(value).filter(|(a, b)| a < b);
            let tiles = view.selection.and_then(|it| it.tiles);
            view.selection = span.map(|(from, to)| Selection {
                span: Span { from, to },
                tiles,
            });
        }
        "seltiles" => {
            if let Some(selection) = &mut view.selection {
                selection.tiles = tile_ids(value);
            }
        }
        "by" => view.by = Grouping::from_name(value).unwrap_or_default(),
        "kernel" => view.kernel = Some(decoded(value)).filter(|it| !it.is_empty()),
        "kind" => view.kind = KindFilter::from_name(value).unwrap_or_default(),
        "sort" => view.sort = Sort::parse(&decoded(value)),
        "find" => view.find = decoded(value),
        "view" => view.lower = Lower::from_name(value).unwrap_or_default(),
        "map" => view.metric = Metric::from_name(value).unwrap_or_default(),
        "colour" => view.colour = Colouring::from_name(value).unwrap_or_default(),
        _ => return view.panels.read_key(key, value),
    }
    true
}

/// Writes the fragment without its `#`; defaults are left out.
pub(crate) fn format(fragment: &Fragment) -> String {
    let Fragment { view, sha, others } = fragment;
    let defaults = ViewState::default();
    let mut text = format!("v={VERSION}");
    let mut push = |key: &str, value: &str| {
        text.push('&');
        text.push_str(key);
        text.push('=');
        text.push_str(value);
    };
    if view.clock != defaults.clock {
        push("clock", view.clock.name());
    }
    if let Some(span) = view.span {
        push("t", &format!("{}-{}", span.from, span.to));
    }
    if let Some(tiles) = view.tiles {
        push("tiles", &format!("{}-{}", tiles.first, tiles.last));
    }
    if view.rows != defaults.rows {
        push("rows", view.rows.name());
    }
    if let Some(Selection { span, tiles }) = view.selection {
        push("sel", &format!("{}-{}", span.from, span.to));
        if let Some(tiles) = tiles {
            push("seltiles", &format!("{}-{}", tiles.first, tiles.last));
        }
    }
    if view.by != defaults.by {
        push("by", view.by.name());
    }
    if let Some(kernel) = &view.kernel {
        push("kernel", &encoded(kernel));
    }
    if view.kind != defaults.kind {
        push("kind", view.kind.name());
    }
    if view.sort != defaults.sort {
        push("sort", &encoded(&view.sort.to_string()));
    }
    if view.find != defaults.find {
        push("find", &encoded(&view.find));
    }
    if view.colour != defaults.colour {
        push("colour", view.colour.name());
    }
    if view.lower != defaults.lower {
        push("view", view.lower.name());
    }
    if view.metric != defaults.metric {
        push("map", view.metric.name());
    }
    for (key, value) in view.panels.pairs_of_link() {
        push(key, &value);
    }
    if let Some(sha) = sha {
        push("sha", sha);
    }
    for (key, value) in others {
        push(key, value);
    }
    text
}

/// Whether the text is a SHA-256 as links write it.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

pub(super) fn range(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// `a-b` or one tile `a`.
fn tile_ids(text: &str) -> Option<TileIds> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let ids = TileIds {
        first: first.parse().ok()?,
        last: last.parse().ok()?,
    };
    (ids.first <= ids.last).then_some(ids)
}

/// Percent-encodes everything but unreserved characters.
pub(crate) fn encoded(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out
}

/// Decodes percent escapes; what is no escape, or no UTF-8 when decoded, stays readable.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let value = escape
            .and_then(|hex| str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(fragment: &str, again: &Expect) {
        again.assert_eq(&format(&parse(fragment)));
    }

    #[test]
    fn links_keep_what_they_say() {
        check("", &expect![[r#"v=1"#]]);
        check(
            "#v=1&clock=tile&t=10-20&tiles=3-7&by=phase&kernel=a%20b&kind=idle&sort=name.asc",
            &expect![[
                r#"v=1&clock=tile&t=10-20&tiles=3-7&by=phase&kernel=a%20b&kind=idle&sort=name.asc"#
            ]],
        );
        check(
            "view=chip&find=a%26b&map=idle&colour=efficiency",
            &expect![[r#"v=1&find=a%26b&colour=efficiency&view=chip&map=idle"#]],
        );
        check(
            "sel=5-9&seltiles=3-7&t=1-20&rows=cohort&colour=occupancy",
            &expect![[r#"v=1&t=1-20&rows=cohort&sel=5-9&seltiles=3-7&colour=occupancy"#]],
        );
        check(
            "t=5-9&later=new&v=1&x",
            &expect![[r#"v=1&t=5-9&later=new&x="#]],
        );
    }

    #[test]
    fn nonsense_leaves_the_defaults() {
        check(
            "t=20-10&tiles=9-1&clock=lunar&kind=%FF&by=&colour=mauve",
            &expect![[r#"v=1"#]],
        );
        check("t=-&tiles=x&kernel=&sha=ABC", &expect![[r#"v=1"#]]);
    }

    #[test]
    fn an_unknown_version_still_opens() {
        let parsed = parse("v=9&t=1-2&future=a");
        assert_eq!(parsed.view, ViewState::default());
        assert_eq!(format(&parsed), "v=1&future=a");
    }

    #[test]
    fn a_local_file_is_named_by_its_hash() {
        let sha = "0123456789abcdef".repeat(4);
        let parsed = parse(&format!("v=1&sha={sha}"));
        assert_eq!(parsed.sha.as_deref(), Some(sha.as_str()));
    }

    proptest! {
        #[test]
        fn any_name_survives(name in ".*") {
            prop_assert_eq!(decoded(&encoded(&name)), name);
        }

        #[test]
        fn any_view_survives(
            from in 0u64..u64::MAX,
            len in 1u64..1000,
            (kernel, find) in (".{1,20}", ".*"),
        ) {
            let view = ViewState {
                span: Some(Span { from, to: from.saturating_add(len) }),
                kernel: Some(kernel),
                find,
                ..ViewState::default()
            };
            let fragment = Fragment { view, ..Fragment::default() };
            prop_assert_eq!(parse(&format(&fragment)), fragment);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".*") {
            let once = parse(&text);
            let again = format(&once);
            prop_assert_eq!(format(&parse(&again)), again);
        }
    }
}
