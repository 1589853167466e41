//! Placeholder until its room is there.

use super::args::ConvertArgs;
use super::{Io, Outcome};
use crate::error::CliError;

pub(super) fn run(args: ConvertArgs, _io: &mut Io<'_>) -> Outcome {
    Err(CliError::internal("not wired yet", format!("{args:?}")).into())
}
