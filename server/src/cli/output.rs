//! Writing results: a closed pipe ends the command quietly, anything else is an error.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use analytics::text::count;

use super::{Io, Outcome, Stop};
use crate::error::CliError;

/// Prints a result as it is.
pub(super) fn print(out: &mut (dyn Write + Send), text: &str) -> Outcome {
    out.write_all(text.as_bytes())
        .map_err(|error| stopped(&error))
}

/// Hands everything that was printed to the reader.
pub(super) fn flush(out: &mut (dyn Write + Send)) -> Outcome {
    out.flush().map_err(|error| stopped(&error))
}

fn stopped(error: &std::io::Error) -> Stop {
    if error.kind() == ErrorKind::BrokenPipe {
        return Stop::ReaderGone;
    }
    let hint = "make sure that it can be written to";
    CliError::user(format!("cannot write: {error}"), "standard output", hint).into()
}

/// Writes a whole file, through a neighbour that is renamed, so that no half file is left.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Outcome {
    let fail = |error: &std::io::Error| {
        let hint = "choose a folder that exists and can be written";
        CliError::user(
            format!("cannot write the file: {error}"),
            path.display(),
            hint,
        )
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut part = new_file_in(folder).map_err(|error| fail(&error))?;
    part.write_all(bytes).map_err(|error| fail(&error))?;
    part.persist(path).map_err(|error| fail(&error.error))?;
    Ok(())
}

/// Writes a whole file piece by piece, through a neighbour that is renamed; returns its length.
pub(super) fn write_through(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), CliError>,
) -> Result<u64, CliError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let part = new_file_in(folder).map_err(|error| unwritable(&error, path))?;
    let mut buffered = BufWriter::with_capacity(1 << 20, part);
    write(&mut buffered)?;
    let part = buffered
        .into_inner()
        .map_err(|error| unwritable(error.error(), path))?;
    let length = part.as_file().metadata().map_or(0, |it| it.len());
    part.persist(path)
        .map_err(|error| unwritable(&error.error, path))?;
    Ok(length)
}

/// Says on standard error what a reader should know of a file whose content was written to another.
pub(super) fn warn(io: &mut Io<'_>, warnings: &[String]) {
    for warning in warnings {
        // Nobody is left to tell when standard error is gone.
        let _told = writeln!(io.stderr, "warning: {warning}");
    }
}

/// A temporary file with the permissions of any new file, since it is kept.
fn new_file_in(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// A file that cannot be written.
pub(super) fn unwritable(error: &std::io::Error, path: &Path) -> CliError {
    let hint = "choose a folder that exists and can be written";
    CliError::user(
        format!("cannot write the file: {error}"),
        path.display(),
        hint,
    )
}

/// What was written, for people, without a line end.
pub(super) fn wrote(path: &Path, bytes: u64) -> String {
    format!("wrote {}, {} bytes", path.display(), count(bytes))
}
