//! Placeholder until its room is there.

use super::args::SynthArgs;
use super::{Io, Outcome};
use crate::error::CliError;

pub(super) fn run(args: SynthArgs, _io: &mut Io<'_>) -> Outcome {
    Err(CliError::internal("not wired yet", format!("{args:?}")).into())
}
