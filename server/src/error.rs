//! The error that a person reads: what failed, where, and what to do about it.
//!
//! Library errors are turned into a [`CliError`] once, at the place that knows the file or the
//! flag; `main` prints it as `error: what: where: what to do` and turns its [`Fault`] into the exit
//! status.

use std::fmt;

/// Who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The arguments or the input; exit status 1.
    User,
    /// This program; exit status 2.
    Internal,
    /// Nobody: a figure passed the limit that was asked for; exit status 3.
    Limit,
}

/// A failed command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    fault: Fault,
    what: String,
    place: String,
    hint: String,
}

impl CliError {
    /// A fault of the input: `what` happened at `place` (a file, a flag, a URL), with a hint what
    /// to do.
    pub fn user(
        what: impl fmt::Display,
        place: impl fmt::Display,
        hint: impl fmt::Display,
    ) -> Self {
        let (what, place, hint) = (what.to_string(), place.to_string(), hint.to_string());
        Self {
            fault: Fault::User,
            what,
            place,
            hint,
        }
    }

    /// A fault of this program: it should not have happened whatever the input.
    pub fn internal(what: impl fmt::Display, place: impl fmt::Display) -> Self {
        let hint = "this is a bug; please report it with the command and its input".to_owned();
        Self {
            fault: Fault::Internal,
            what: what.to_string(),
            place: place.to_string(),
            hint,
        }
    }

    /// A figure passed the limit that was asked for: `what`, and the flag that asks for it.
    pub fn limit(what: impl fmt::Display, flag: impl fmt::Display) -> Self {
        Self {
            fault: Fault::Limit,
            what: what.to_string(),
            place: flag.to_string(),
            hint: String::new(),
        }
    }

    /// Who has to act.
    #[must_use]
    pub const fn fault(&self) -> Fault {
        self.fault
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        for part in [&self.place, &self.hint] {
            if !part.is_empty() {
                write!(f, ": {part}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for CliError {}
