//! Links of the viewer: which server, which artifact, which view.

use std::str::FromStr;

use reqwest::Url;

use crate::error::CliError;
use crate::store::{BlobId, PublicationId};

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Target {
    /// `/a/<sha256>`.
    Blob(BlobId),
    /// `/p/<id>`.
    Publication(PublicationId),
}

/// A link, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Link {
    /// Address of the server without a final slash.
    pub(in crate::cli) server: String,
    pub(in crate::cli) target: Target,
}

impl Link {
    /// Reads the address of a page or of the content itself; the view after `#` is left aside.
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, CliError> {
        let bad = |what: String| {
            let hint = "give a link as `ipu-stack publish` prints it, http://HOST/p/… or /a/…";
            CliError::user(what, text, hint)
        };
        let url = Url::parse(text).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(format!(
                "a link starts with http, not {}",
                url.scheme()
            )));
        }
        let segments: Vec<&str> = url.path().split('/').filter(|it| !it.is_empty()).collect();
        let target = match segments.as_slice() {
            [.., "a" | "artifacts", id] => id.parse().map(Target::Blob),
            [.., "p" | "publications", id] | [.., "publications", id, "content"] => {
                PublicationId::from_str(id).map(Target::Publication)
            }
            _ => return Err(bad("the address names no artifact".to_owned())),
        };
        Ok(Self {
            server: server(&url),
            target: target.map_err(|error| bad(error.to_string()))?,
        })
    }

    /// Where the content is.
    pub(in crate::cli) fn content(&self) -> String {
        match self.target {
            Target::Blob(id) => format!("{}/api/artifacts/{id}", self.server),
            Target::Publication(id) => format!("{}/api/publications/{id}/content", self.server),
        }
    }
}

/// Scheme, host and port, and whatever path is in front of ours.
fn server(url: &Url) -> String {
    let marks = ["/a/", "/p/", "/api/"];
    let path = url.path();
    let end = marks
        .iter()
        .filter_map(|mark| path.find(mark))
        .min()
        .unwrap_or(0);
    let origin = url.origin().ascii_serialization();
    format!("{origin}{}", path[..end].trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_contents_lead_to_the_same_artifact() {
        let id = "0123456789abcdef".repeat(2);
        let publication = Target::Publication(id.parse().expect("an id"));
        let sha = BlobId::of(b"x");
        let cases = [
            (
                format!("http://h:1/p/{id}#v=1&t=0-5"),
                "http://h:1",
                publication,
            ),
            (
                format!("https://h/api/publications/{id}/content"),
                "https://h",
                publication,
            ),
            (
                format!("https://h/sub/p/{id}"),
                "https://h/sub",
                publication,
            ),
            (format!("https://h/a/{sha}"), "https://h", Target::Blob(sha)),
            (
                format!("https://h/api/artifacts/{sha}"),
                "https://h",
                Target::Blob(sha),
            ),
        ];
        for (text, server, target) in cases {
            let link = Link::parse(&text).expect("a link");
            assert_eq!(
                (link.server.as_str(), link.target),
                (server, target),
                "{text}"
            );
            assert_eq!(Link::parse(&link.content()), Ok(link));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "x",
            "ftp://h/a/b",
            "http://h/",
            "http://h/a/short",
            "http://h/p/../x",
        ] {
            assert!(Link::parse(text).is_err(), "{text}");
        }
    }
}
