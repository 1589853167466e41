//! `publish`: a file → its hash → sent whole or in parts → its link and the token that deletes it.

use std::ffi::OsString;

use bytes::Bytes;
use reqwest::{Body, Method};
use serde::Deserialize;
use serde_json::{Value, json};

use super::args::PublishArgs;
use super::client::{Client, json};
use super::serve::runtime;
use crate::cli::output::print;
use crate::cli::progress::Progress;
use crate::cli::{Io, Outcome};
use crate::error::CliError;
use crate::open;
use crate::store::{BlobId, PART_BYTES, PARTS_MAX, UploadId};

/// Files up to this length go in one request.
const WHOLE_BYTES_MAX: u64 = 2 * PART_BYTES;

pub(in crate::cli) fn run(args: &PublishArgs, io: &mut Io<'_>) -> Outcome {
    let named = args.to.clone().map(OsString::from);
    let server = named.or_else(|| (io.environment)("IPU_STACK_URL"));
    let server = server.ok_or_else(|| {
        let hint = "name it with --to URL, or set IPU_STACK_URL";
        CliError::user("no server to publish to", "--to", hint)
    })?;
    let client = Client::new(&server.to_string_lossy(), io.environment)?;
    if let Some(right) = &args.delete {
        let text = runtime()?.block_on(delete(&client, right))?;
        return print(io.stdout, &text);
    }
    let Some(file) = &args.file else {
        return Err(CliError::user("no file", "publish", "name one").into());
    };
    let content = open::map(file)?;
    let progress = Progress::new(io.interactive);
    let made = runtime()?.block_on(send(&client, &content, args, &progress))?;
    drop(progress);
    print(io.stdout, &told(&made, args))
}

/// What a person wants to know of the answer, or the answer itself.
fn told(made: &Value, args: &PublishArgs) -> String {
    let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
    let mut link = text("link");
    if !args.view.is_empty() {
        link = format!("{link}#{}", args.view.trim_start_matches('#'));
    }
    if args.json {
        let mut made = made.clone();
        made["schema"] = json!("ipu-stack/publish/1");
        made["link"] = Value::String(link);
        return format!("{made:#}\n");
    }
    match made["deleteToken"].as_str() {
        Some(token) => {
            let right = format!("{}:{token}", text("id"));
            format!("{link}\ndelete with: ipu-stack publish --delete {right}\n")
        }
        // It was public before, and its token went to who published it.
        None => format!("{link}\n"),
    }
}

/// Publishes the content; the answer of the server comes back.
async fn send(
    client: &Client,
    content: &Bytes,
    args: &PublishArgs,
    progress: &Progress,
) -> Result<Value, CliError> {
    let id = BlobId::of(content);
    let terms = terms(args);
    if content.len() as u64 > WHOLE_BYTES_MAX {
        return parts(client, id, content, &terms, progress).await;
    }
    let address = format!("{}/api/artifacts/{id}?{}", client.server(), query(&terms));
    let answer = client.send(|| client.request(Method::PUT, &address).body(content.clone()));
    json(answer.await?).await
}

/// Title, memo and lifetime, as the interface names them.
fn terms(args: &PublishArgs) -> Value {
    let mut terms = serde_json::Map::new();
    for (name, text) in [("title", &args.title), ("memo", &args.memo)] {
        if !text.is_empty() {
            terms.insert(name.to_owned(), Value::String(text.clone()));
        }
    }
    if args.private {
        terms.insert("visibility".to_owned(), json!("private"));
    }
    if args.keep {
        terms.insert("keep".to_owned(), json!(true));
    }
    if let Some(days) = args.days {
        terms.insert("days".to_owned(), json!(days));
    }
    Value::Object(terms)
}

/// The same as the query of an address.
fn query(terms: &Value) -> String {
    let pairs = terms.as_object().into_iter().flatten();
    let encoded = pairs.map(|(name, value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let all = percent_encoding::NON_ALPHANUMERIC;
        format!(
            "{name}={}",
            percent_encoding::utf8_percent_encode(&text, all)
        )
    });
    encoded.collect::<Vec<_>>().join("&")
}

#[derive(Deserialize)]
struct Parts {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    number: u32,
    bytes: u64,
}

/// Sends what the server does not have yet, then has it joined.
async fn parts(
    client: &Client,
    id: BlobId,
    content: &Bytes,
    terms: &Value,
    progress: &Progress,
) -> Result<Value, CliError> {
    let upload = upload_id(client, id);
    let address = format!("{}/api/uploads/{upload}", client.server());
    let there = client
        .send(|| client.request(Method::GET, &address))
        .await?;
    let there: Parts = json(there).await?;
    let length = content.len();
    let part_bytes = usize::try_from(PART_BYTES).unwrap_or(usize::MAX);
    let count = u32::try_from(length.div_ceil(part_bytes)).unwrap_or(u32::MAX);
    if count > PARTS_MAX {
        let what = format!("the file has more than {PARTS_MAX} parts of {PART_BYTES} bytes");
        return Err(CliError::user(
            what,
            client.server(),
            "publish a smaller file",
        ));
    }
    for number in 0..count {
        let start = number as usize * part_bytes;
        let part = content.slice(start..length.min(start + part_bytes));
        let bytes = part.len() as u64;
        progress.stage("upload", start as u64, length as u64);
        if there
            .parts
            .iter()
            .any(|it| it.number == number && it.bytes == bytes)
        {
            continue;
        }
        let address = format!("{address}/{number}");
        let put = || {
            client
                .request(Method::PUT, &address)
                .body(Body::from(part.clone()))
        };
        client.send(put).await?;
    }
    progress.stage("check", length as u64, length as u64);
    let join = json!({"sha256": id, "parts": count, "terms": terms}).to_string();
    let joined = client.send(|| {
        let post = client.request(Method::POST, &address);
        let mime = "application/json";
        post.header(reqwest::header::CONTENT_TYPE, mime)
            .body(join.clone())
    });
    json(joined.await?).await
}

/// The same for the same file and writer, so that an upload can go on; the token keeps others from
/// guessing it.
fn upload_id(client: &Client, id: BlobId) -> UploadId {
    let text = format!("upload\n{id}\n{}", client.token().unwrap_or_default());
    UploadId::from_digest(&BlobId::of(text.as_bytes()))
}

/// Deletes by `ID:TOKEN`.
async fn delete(client: &Client, right: &str) -> Result<String, CliError> {
    let hint = "give ID:TOKEN as `ipu-stack publish` printed it";
    let Some((id, token)) = right.split_once(':') else {
        return Err(CliError::user("no token", "--delete", hint));
    };
    let address = format!("{}/api/publications/{id}", client.server());
    let request = || client.delete(&address, token);
    client.send(request).await?;
    Ok(format!("deleted {id}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_the_same_as_query_and_as_json() {
        let terms = json!({"title": "a b&c=ü", "keep": true, "days": 3});
        assert_eq!(query(&terms), "days=3&keep=true&title=a%20b%26c%3D%C3%BC");
        assert_eq!(query(&json!({})), "");
    }
}
