//! Flags of the subcommands about sharing.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use crate::logging::LogFormat;

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every flag can also be set in the environment (--quota-bytes is IPU_STACK_QUOTA_BYTES) and in a
TOML file named with --config (quota-bytes = 1000000000). A flag wins over the environment, which
wins over the file.

Examples:
  ipu-stack serve
  ipu-stack serve gemm.ipuprofile
  ipu-stack serve --port 8080 --store artifacts
  ipu-stack serve --listen 0.0.0.0 --store s3://bucket/profiles --token-hash-file token.hash \\
      --public-url https://profiles.example.com --trust-proxy --log info --log-format json")]
pub struct ServeArgs {
    /// Profiles, packages and rendered pages to publish at once; their links are printed
    pub files: Vec<PathBuf>,
    /// Port; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 7472)]
    pub port: u16,
    /// Address to listen on; beyond loopback, writing needs --token-hash or --insecure-uploads
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: IpAddr,
    /// Folder, s3://, gs:// or az:// URL that keeps artifacts [default: memory]
    #[arg(long, value_name = "FOLDER|URL")]
    pub store: Option<String>,
    /// TOML file with further settings, named as the flags
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Address that links start with [default: the address listened on]
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub trust: TrustArgs,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub limits: LimitArgs,
    /// Least severe log lines shown
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    #[arg(value_parser = ["error", "warn", "info", "debug"])]
    pub log: String,
    /// Look of log lines
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// Who may write.
#[derive(Clone, Debug, Default, Args)]
pub struct TrustArgs {
    /// Argon2 hash of the token that writing needs, from `ipu-stack serve-token`
    #[arg(long, value_name = "HASH")]
    pub token_hash: Option<String>,
    /// File with that hash
    #[arg(long, value_name = "FILE", conflicts_with = "token_hash")]
    pub token_hash_file: Option<PathBuf>,
    /// Let everyone who reaches the server write to it
    #[arg(long)]
    pub insecure_uploads: bool,
    /// Take the client's address from the last X-Forwarded-For, which a proxy in front sets
    #[arg(long)]
    pub trust_proxy: bool,
}

/// Bounds of a server.
#[derive(Clone, Debug, Args)]
pub struct LimitArgs {
    /// Largest upload in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    pub max_upload_bytes: u64,
    /// Bytes of all artifacts together [default: no bound]
    #[arg(long, value_name = "BYTES")]
    pub quota_bytes: Option<u64>,
    /// Days a publication stays that does not say itself [default: 90 beyond loopback]
    #[arg(long, value_name = "DAYS")]
    pub expire_days: Option<u32>,
    /// Publications stay until they are deleted
    #[arg(long, conflicts_with = "expire_days")]
    pub keep: bool,
    /// Uploads read at a time; further ones wait
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub upload_slots: usize,
    /// Uploads of one client at a time [default: 8 beyond loopback]
    #[arg(long, value_name = "N")]
    pub client_uploads: Option<u32>,
    /// Requests of one client a second [default: 50 beyond loopback]
    #[arg(long, value_name = "N")]
    pub client_requests: Option<NonZeroU32>,
    /// Connections of one client at a time [default: 64 beyond loopback]
    #[arg(long, value_name = "N")]
    pub client_connections: Option<u32>,
    /// Connections of all clients at a time
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub connections: usize,
    /// Time for the head of a request, and after it for a JSON body
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    pub head_seconds: u64,
    /// Time until an answer begins, but to uploads, whose pace is bounded
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub answer_seconds: u64,
    /// Time for requests to end when the server stops
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub drain_seconds: u64,
    /// Time between sweeps of what has ended or broke off
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub sweep_seconds: u64,
    /// Age at which what nothing needs is swept
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
    pub grace_seconds: u64,
}

/// Arguments of `serve-token`.
#[derive(Debug, Args)]
#[command(after_help = "\
The token goes to whoever may publish (IPU_STACK_TOKEN), its hash to the server.

Examples:
  ipu-stack serve-token
  ipu-stack serve-token --hash-file token.hash")]
pub struct TokenArgs {
    /// File to write the hash to [default: printed]
    #[arg(long, value_name = "FILE")]
    pub hash_file: Option<PathBuf>,
}

/// Arguments of `publish`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints the link, then the token that deletes the publication again. Large files go in parts of
8 MiB: the same command again, after a broken connection, sends only what is missing.

Environment:
  IPU_STACK_TOKEN  the token that a shared server asks of writers
  IPU_STACK_URL    the server, when --to is absent

Examples:
  ipu-stack publish gemm.ipuprofile --to http://127.0.0.1:7472
  ipu-stack publish gemm.ipuprofile --to https://profiles.example.com --title nightly --days 30
  ipu-stack publish gemm.ipuprofile --private --view t=0-5000&kind=compute
  ipu-stack publish --delete 0123456789abcdef0123456789abcdef:TOKEN")]
pub struct PublishArgs {
    /// Profile, package or rendered page
    #[arg(required_unless_present = "delete")]
    pub file: Option<PathBuf>,
    /// The server
    #[arg(long, value_name = "URL")]
    pub to: Option<String>,
    /// One line to show in lists
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub title: String,
    /// Notes
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub memo: String,
    /// Readable by link only, and not listed
    #[arg(long)]
    pub private: bool,
    /// Stay until deleted
    #[arg(long)]
    pub keep: bool,
    /// Stay this many days
    #[arg(long, value_name = "N", conflicts_with = "keep")]
    pub days: Option<u32>,
    /// View to open the link with: what follows # in the viewer's address
    #[arg(long, value_name = "FRAGMENT", default_value = "")]
    pub view: String,
    /// Delete a publication instead, by the id and token that publishing printed
    #[arg(long, value_name = "ID:TOKEN", conflicts_with = "file")]
    pub delete: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `open`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack open http://127.0.0.1:7472/p/0123456789abcdef0123456789abcdef
  ipu-stack open --no-browser http://127.0.0.1:7472/p/0123456789abcdef0123456789abcdef")]
pub struct OpenArgs {
    /// A link of the viewer, /a/… or /p/…
    pub link: String,
    /// Only check the link and print what it leads to
    #[arg(long)]
    pub no_browser: bool,
}

/// Arguments of `fetch`.
#[derive(Debug, Args)]
#[command(after_help = "\
A download that broke off goes on where it ended. The content is checked against its hash, which
addresses of other hosts do not tell.

Examples:
  ipu-stack fetch http://127.0.0.1:7472/p/0123456789abcdef0123456789abcdef -o block.ipuprofile
  ipu-stack fetch https://example.com/runs/block.ipuprofile -o block.ipuprofile")]
pub struct FetchArgs {
    /// A link of the viewer, /a/… or /p/…, or the address of a profile or package
    pub link: String,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}
