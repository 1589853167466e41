//! What the server of this page publishes: a page of its list.

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{RequestCredentials, RequestInit, Response};

use super::recent::{ago, size};
use crate::state::url::encoded;
use crate::timeline::viewport::rounded;

/// A page of the list, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The publications.
    pub(crate) publications: Vec<Published>,
    /// Publications that hold the words, on all pages.
    pub(crate) total: u64,
    /// The cursor of the next page, if there is one.
    pub(crate) next: Option<String>,
}

/// What is public on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Published {
    sha256: String,
    title: String,
    memo: String,
    kind: String,
    link: String,
    bytes: u64,
    workload: String,
    tiles: u64,
    cycles: u64,
    created_ms: u64,
}

impl Published {
    /// Whether it is a `kind`: `profile`, `package` or, a rendered page, `report`.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// Where it is shown: on this page, but for a report, which is a page itself.
    pub(crate) fn link(&self) -> String {
        match self.is("report") {
            true => self.link.clone(),
            false => format!("/a/{}", self.sha256),
        }
    }

    /// What it is called: by its publisher, or by what was run.
    pub(crate) fn name(&self) -> String {
        let names = [&self.title, &self.workload];
        let named = names.into_iter().find(|it| !it.trim().is_empty());
        let unnamed = || format!("artifact {}", self.sha256.get(..12).unwrap_or_default());
        named.cloned().unwrap_or_else(unnamed)
    }

    /// What else there is to know, in one line.
    pub(crate) fn about(&self, now: u64) -> String {
        let mut words = Vec::new();
        if !self.workload.is_empty() && self.workload != self.name() {
            words.push(self.workload.clone());
        }
        if !self.is("profile") {
            words.push(self.kind.clone());
        }
        if !self.is("package") {
            words.push(format!("{} cycles", analytics::text::count(self.cycles)));
        }
        words.push(format!("{} tiles", analytics::text::count(self.tiles)));
        words.push(size(self.bytes));
        words.push(ago(self.created_ms, now));
        words.join(", ")
    }

    /// What its publisher says of it.
    pub(crate) fn memo(&self) -> &str {
        &self.memo
    }
}

/// The call that answers with `count` publications after a cursor; `words` are all in title, memo
/// or workload of each, or begin its hash.
fn call(words: &str, after: &str, count: u32) -> String {
    let (words, after) = (encoded(words), encoded(after));
    format!("/api/publications?limit={count}&q={words}&after={after}")
}

/// Asks the server; `None` where its answer is not what it should be.
pub(crate) async fn listed(words: &str, after: &str, count: u32) -> Option<Listed> {
    let options = RequestInit::new();
    options.set_credentials(RequestCredentials::Omit);
    let asked =
        leptos::prelude::window().fetch_with_str_and_init(&call(words, after, count), &options);
    let response: Response = JsFuture::from(asked).await.ok()?.dyn_into().ok()?;
    let answer = JsFuture::from(response.json().ok()?).await.ok()?;
    let publications: Array = field(&answer, "publications").dyn_into().ok()?;
    Some(Listed {
        publications: publications.iter().map(|it| published(&it)).collect(),
        total: number(&answer, "total"),
        next: field(&answer, "next").as_string(),
    })
}

// The browser reads JSON anyway: reading it once more here would be 4 KB of program.
fn published(of: &JsValue) -> Published {
    Published {
        sha256: text(of, "sha256"),
        title: text(of, "title"),
        memo: text(of, "memo"),
        kind: text(of, "kind"),
        link: text(of, "link"),
        workload: text(of, "workload"),
        bytes: number(of, "bytes"),
        tiles: number(of, "tiles"),
        cycles: number(of, "cycles"),
        created_ms: number(of, "createdMs"),
    }
}

fn field(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or_default()
}

fn text(of: &JsValue, name: &str) -> String {
    field(of, name).as_string().unwrap_or_default()
}

fn number(of: &JsValue, name: &str) -> u64 {
    rounded(field(of, name).as_f64().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(title: &str, kind: &str) -> Published {
        Published {
            sha256: "ab082d62f631d792".to_owned(),
            title: title.to_owned(),
            memo: String::new(),
            kind: kind.to_owned(),
            link: "http://h/api/publications/1/content".to_owned(),
            workload: "siglip-block".to_owned(),
            bytes: 46_125_400,
            tiles: 1_472,
            cycles: 371_759,
            created_ms: 60_000,
        }
    }

    #[test]
    fn a_publication_is_told_in_two_lines() {
        let (profile, package) = (published("mine", "profile"), published(" ", "package"));
        assert_eq!(profile.name(), "mine");
        assert_eq!(profile.link(), "/a/ab082d62f631d792");
        let about = "siglip-block, 371\u{202f}759 cycles, 1\u{202f}472 tiles, 46.1 MB, 1 min ago";
        assert_eq!(profile.about(120_000), about);
        assert_eq!(package.name(), "siglip-block");
        let about = "package, 1\u{202f}472 tiles, 46.1 MB, just now";
        assert_eq!(package.about(0), about);
        let report = published("page", "report");
        assert!(report.link().ends_with("/content"), "it is a page itself");
        assert!(report.about(0).contains("report, 371\u{202f}759 cycles"));
    }

    #[test]
    fn what_has_no_name_is_called_by_its_hash() {
        let nameless = Published {
            sha256: "cd082d62f631d792".to_owned(),
            ..Published::default()
        };
        assert_eq!(nameless.name(), "artifact cd082d62f631");
        assert_eq!(Published::default().name(), "artifact ");
    }

    #[test]
    fn words_are_escaped() {
        let expected = "/api/publications?limit=10&q=a%20%26b&after=1%2F2";
        assert_eq!(call("a &b", "1/2", 10), expected);
    }
}
