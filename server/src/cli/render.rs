//! Placeholder until its room is there.

use super::args::RenderArgs;
use super::{Io, Outcome};
use crate::error::CliError;

pub(super) fn run(args: RenderArgs, _io: &mut Io<'_>) -> Outcome {
    Err(CliError::internal("not wired yet", format!("{args:?}")).into())
}
