//! `serve-token`: a random token for writers and the hash that a server checks it against.

use super::args::TokenArgs;
use crate::cli::output::{print, write_file};
use crate::cli::{Io, Outcome};
use crate::error::CliError;
use crate::http::WriteToken;
use crate::store::DeleteToken;

pub(in crate::cli) fn run(args: &TokenArgs, io: &mut Io<'_>) -> Outcome {
    // 256 random bits in hex, as every token here.
    let token = DeleteToken::random()
        .map_err(|error| CliError::internal(error, "random bytes"))?
        .to_string();
    let hash = WriteToken::hash(&token).map_err(|error| CliError::internal(error, "argon2"))?;
    match &args.hash_file {
        Some(path) => {
            write_file(path, format!("{}\n", hash.as_str()).as_bytes())?;
            print(io.stdout, &format!("{token}\n"))
        }
        None => print(
            io.stdout,
            &format!("token {token}\nhash {}\n", hash.as_str()),
        ),
    }
}
