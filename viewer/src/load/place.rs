//! What the address of the page says is to be opened. Pure.
//!
//! `/a/<sha256>` and `/p/<id>` are artifacts of the server that gave the page; `?url=` is any
//! address and becomes `/a/<sha256>` where it means one of those.

use crate::browser::quoted;
use crate::state::url::{decoded, encoded, is_sha256};

/// What the page was asked to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing: the landing page, or a local file.
    #[default]
    Landing,
    /// A blob of the server, by its SHA-256.
    Artifact(String),
    /// A publication of the server, by its id.
    Publication(String),
    /// Any address.
    Address(String),
}

impl Place {
    /// Reads path and query of the page's address.
    pub(crate) fn parse(path: &str, query: &str, origin: &str) -> Self {
        if let Some(place) = Self::of_path(path) {
            return place;
        }
        let pairs = query.trim_start_matches('?').split('&');
        let url = pairs
            .filter_map(|pair| pair.strip_prefix("url="))
            .map(decoded)
            .next();
        match url {
            Some(url) if !url.is_empty() => Self::from_url(&url, origin),
            _ => Self::Landing,
        }
    }

    /// The place that an address means: one of this server's pages, its interface, or elsewhere.
    pub(crate) fn from_url(url: &str, origin: &str) -> Self {
        let here = url.strip_prefix(origin).unwrap_or(url);
        let path = here.split('#').next().unwrap_or(here);
        if let Some(sha) = path.strip_prefix("/api/artifacts/")
            && is_sha256(sha)
        {
            return Self::Artifact(sha.to_owned());
        }
        let publication = path.strip_prefix("/api/publications/");
        if let Some(id) = publication.and_then(|it| it.strip_suffix("/content"))
            && is_publication(id)
        {
            return Self::Publication(id.to_owned());
        }
        Self::of_path(path).unwrap_or_else(|| Self::Address(url.to_owned()))
    }

    /// The place that a path of this server names, if it is a page with a profile.
    fn of_path(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
        match segments.as_slice() {
            ["a", sha] if is_sha256(sha) => Some(Self::Artifact((*sha).to_owned())),
            ["p", id] if is_publication(id) => Some(Self::Publication((*id).to_owned())),
            _ => None,
        }
    }

    /// Path and query that lead here again.
    pub(crate) fn link(&self) -> String {
        match self {
            Self::Landing => "/".to_owned(),
            Self::Artifact(sha) => format!("/a/{sha}"),
            Self::Publication(id) => format!("/p/{id}"),
            Self::Address(url) => format!("/?url={}", encoded(url)),
        }
    }

    /// Where the bytes are, relative to the page's origin or absolute; `None` on the landing page.
    pub(crate) fn source(&self) -> Option<String> {
        match self {
            Self::Landing => None,
            Self::Artifact(sha) => Some(format!("/api/artifacts/{sha}")),
            Self::Publication(id) => Some(format!("/api/publications/{id}/content")),
            Self::Address(url) => Some(url.clone()),
        }
    }

    /// What to call it before its name is known.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Landing => "profile".to_owned(),
            Self::Artifact(sha) => format!("artifact {}…", &sha[..12]),
            Self::Publication(id) => format!("publication {id}"),
            Self::Address(url) => {
                let path = url.split(['?', '#']).next().unwrap_or(url);
                let name = path.rsplit('/').find(|it| !it.is_empty()).unwrap_or(url);
                decoded(name)
            }
        }
    }
}

/// What a file is to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The open profile.
    Profile,
    /// The profile that it is compared with.
    Before,
    /// A package.
    Package,
}

impl Part {
    /// What tells its file apart from those of the others.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Before => "before-",
            Self::Profile | Self::Package => "",
        }
    }

    /// The end of its file's name.
    const fn extension(self) -> &'static str {
        match self {
            Self::Profile | Self::Before => "ipuprofile",
            Self::Package => "ipuexe",
        }
    }
}

/// A file as a command line finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OnDisk {
    /// Commands that bring the file, with what joins them to the next one; empty of a local file.
    pub(crate) first: String,
    /// The file, as a word of a command line.
    pub(crate) file: String,
}

impl OnDisk {
    /// The command `words` after what brings the file.
    pub(crate) fn command(&self, words: &str) -> String {
        format!("{}ipu-stack {words}", self.first)
    }
}

impl Place {
    /// The file as commands find it: a local one by its name `name`, any other once it is fetched,
    /// under a name that fits `part`. `absolute` makes an address whole.
    pub(crate) fn on_disk(
        &self,
        name: &str,
        part: Part,
        absolute: impl Fn(&str) -> String,
    ) -> OnDisk {
        let (prefix, extension) = (part.prefix(), part.extension());
        let (link, name) = match self {
            Self::Landing => (None, name.to_owned()),
            Self::Artifact(id) | Self::Publication(id) => {
                let name = format!("{prefix}{}.{extension}", &id[..12]);
                (Some(self.link()), name)
            }
            Self::Address(url) => {
                let name = format!("{prefix}{}", file_name(&self.label()));
                (Some(url.clone()), name)
            }
        };
        let mut disk = OnDisk {
            first: String::new(),
            file: word(&name),
        };
        if let Some(link) = link {
            let link = quoted(&absolute(&link));
            disk.first = format!("ipu-stack fetch {link} -o {} && ", disk.file);
        }
        // The page unpacks by itself, commands do not.
        for (end, program) in [(".gz", "gzip"), (".zst", "zstd")] {
            if let Some(unpacked) = name.strip_suffix(end) {
                disk.first
                    .push_str(&format!("{program} -dkf {} && ", disk.file));
                disk.file = word(unpacked);
            }
        }
        disk
    }
}

/// A file as a word of a command line, which must not pass for a flag.
fn word(file: &str) -> String {
    match file.starts_with('-') {
        true => quoted(&format!("./{file}")),
        false => quoted(file),
    }
}

/// The last part of an address as a name for a file in the folder that one is in.
fn file_name(label: &str) -> String {
    match label.rsplit('/').next() {
        None | Some("" | "." | "..") => "profile.ipuprofile".to_owned(),
        Some(name) => name.to_owned(),
    }
}

/// Whether a file is a package by its name, wrapped or not.
pub(crate) fn is_package_name(name: &str) -> bool {
    let inside = [".gz", ".zst"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    inside.unwrap_or(name).ends_with(".ipuexe")
}

/// Publications are named by 128 random bits in hexadecimal.
fn is_publication(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|it| it.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: &str = "http://127.0.0.1:8080";

    fn check(path: &str, query: &str, link: &str, source: Option<&str>) {
        let place = Place::parse(path, query, ORIGIN);
        assert_eq!(place.link(), link);
        assert_eq!(place.source().as_deref(), source);
    }

    #[test]
    fn addresses_name_what_to_open() {
        let sha = "0123456789abcdef".repeat(4);
        let artifact = format!("/a/{sha}");
        let api = format!("/api/artifacts/{sha}");
        check(&artifact, "", &artifact, Some(&api));
        check("/", "", "/", None);
        check("/a/short", "", "/", None);
        check(
            "/p/0123456789abcdef0123456789abcdef",
            "",
            "/p/0123456789abcdef0123456789abcdef",
            Some("/api/publications/0123456789abcdef0123456789abcdef/content"),
        );
        let alias = format!("?url={}", encoded(&format!("{ORIGIN}{api}")));
        check("/", &alias, &artifact, Some(&api));
        check("/", &format!("?url={api}"), &artifact, Some(&api));
        check(
            "/",
            "?x=1&url=https%3A%2F%2Fh%2Fa%20b.ipuprofile",
            "/?url=https%3A%2F%2Fh%2Fa%20b.ipuprofile",
            Some("https://h/a b.ipuprofile"),
        );
    }

    #[test]
    fn packages_are_told_by_the_end_of_their_names() {
        assert!(is_package_name("block.ipuexe") && is_package_name("block.ipuexe.zst"));
        assert!(!is_package_name("block.ipuexe.ipuprofile") && !is_package_name("ipuexe.gz"));
    }

    #[test]
    fn whole_links_of_this_server_are_known_with_or_without_a_view() {
        let id = "0123456789abcdef0123456789abcdef";
        let publication = Place::Publication(id.to_owned());
        for view in ["", "#v=1&view=tiles"] {
            let link = format!("{ORIGIN}/p/{id}{view}");
            assert_eq!(Place::from_url(&link, ORIGIN), publication, "{link}");
        }
        let elsewhere = format!("https://h/p/{id}");
        assert_eq!(
            Place::from_url(&elsewhere, ORIGIN),
            Place::Address(elsewhere)
        );
    }

    fn check_command(place: &Place, name: &str, expected: &str) {
        let absolute = |link: &str| match link.starts_with('/') {
            true => format!("{ORIGIN}{link}"),
            false => link.to_owned(),
        };
        let found = place.on_disk(name, Part::Profile, absolute);
        assert_eq!(found.command(&format!("x {}", found.file)), expected);
    }

    #[test]
    fn commands_fetch_what_is_not_a_file_of_this_computer() {
        check_command(&Place::Landing, "a.ipuprofile", "ipu-stack x a.ipuprofile");
        check_command(&Place::Landing, "-a b", "ipu-stack x './-a b'");
        check_command(
            &Place::Landing,
            "a.ipuprofile.gz",
            "gzip -dkf a.ipuprofile.gz && ipu-stack x a.ipuprofile",
        );
        check_command(
            &Place::Artifact("0123456789abcdef".repeat(4)),
            "artifact 0123456789ab…",
            &format!(
                "ipu-stack fetch {ORIGIN}/a/{} -o 0123456789ab.ipuprofile && \
                 ipu-stack x 0123456789ab.ipuprofile",
                "0123456789abcdef".repeat(4)
            ),
        );
        for (url, expected) in [
            (
                "https://h/run%201.ipuprofile?a=b&c",
                "ipu-stack fetch 'https://h/run%201.ipuprofile?a=b&c' -o 'run 1.ipuprofile' && \
                 ipu-stack x 'run 1.ipuprofile'",
            ),
            (
                "https://h/x%2F..%2F..",
                "ipu-stack fetch 'https://h/x%2F..%2F..' -o profile.ipuprofile && \
                 ipu-stack x profile.ipuprofile",
            ),
            (
                "/files/run.ipuprofile",
                "ipu-stack fetch http://127.0.0.1:8080/files/run.ipuprofile -o run.ipuprofile && \
                 ipu-stack x run.ipuprofile",
            ),
        ] {
            check_command(&Place::Address(url.to_owned()), "", expected);
        }
        let before = Place::Address("https://h/1/run.ipuprofile".to_owned());
        let before = before.on_disk("", Part::Before, str::to_owned);
        assert_eq!(before.file, "before-run.ipuprofile");
    }

    #[test]
    fn labels_are_short() {
        let place = Place::Address("https://h/x/run%201.ipuprofile?token=a".to_owned());
        assert_eq!(place.label(), "run 1.ipuprofile");
        assert_eq!(
            Place::Artifact("ab".repeat(32)).label(),
            "artifact abababababab…"
        );
    }
}
