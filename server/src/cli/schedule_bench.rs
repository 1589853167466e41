//! Placeholder until its room is there.

use super::args::ScheduleBenchArgs;
use super::{Io, Outcome};
use crate::error::CliError;

pub(super) fn run(args: &ScheduleBenchArgs, _io: &mut Io<'_>) -> Outcome {
    Err(CliError::internal("not wired yet", format!("{args:?}")).into())
}
