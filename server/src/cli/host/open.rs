//! `open`: a link → checked → opened in the browser.

use serde_json::Value;

use super::args::OpenArgs;
use super::client::{Client, json};
use super::link::{Link, Target};
use super::serve::runtime;
use crate::cli::output::print;
use crate::cli::{Io, Outcome, browser};
use crate::error::CliError;

pub(in crate::cli) fn run(args: &OpenArgs, io: &mut Io<'_>) -> Outcome {
    let link = Link::parse(&args.link)?;
    let client = Client::new(&link.server, io.environment)?;
    let about = runtime()?.block_on(about(&client, &link))?;
    print(io.stdout, &format!("{about}\n{}\n", args.link))?;
    if !args.no_browser {
        browser::open(&args.link, io.environment);
    }
    Ok(())
}

/// One line about what the link leads to.
async fn about(client: &Client, link: &Link) -> Result<String, CliError> {
    let id = match link.target {
        Target::Blob(id) => {
            // One byte tells whether it is there for everyone.
            let address = link.content();
            let asked = || client.read(&address).header("range", "bytes=0-0");
            client.send(asked).await?;
            return Ok(format!("artifact {id}"));
        }
        Target::Publication(id) => id,
    };
    let address = format!("{}/api/publications/{id}", link.server);
    let found: Value = json(client.send(|| client.read(&address)).await?).await?;
    let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    let title = match text("title") {
        title if title.is_empty() => "untitled".to_owned(),
        title => title,
    };
    let bytes = analytics::text::count(found["bytes"].as_u64().unwrap_or(0));
    Ok(format!(
        "{title}: a {} of {bytes} bytes, {}",
        text("kind"),
        text("visibility")
    ))
}
