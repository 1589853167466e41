//! `profile-synth`: a generated profile, streamed to a file.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use analytics::synth::{SynthOptions, generate};
use analytics::text::count;

use super::args::SynthArgs;
use super::output::{print, unwritable, wrote};
use super::progress::Progress;
use super::{Io, Outcome};
use crate::error::CliError;

pub(super) fn run(args: SynthArgs, io: &mut Io<'_>) -> Outcome {
    let SynthArgs {
        samples,
        tiles,
        seed,
        output,
    } = args;
    let file = File::create(&output).map_err(|error| unwritable(&error, &output))?;
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let progress = Progress::new(io.interactive);
    let (mut bytes, mut failure) = (0_u64, None);
    generate(
        &SynthOptions {
            samples,
            tiles,
            seed,
            ..SynthOptions::default()
        },
        &mut |piece| {
            bytes += piece.len() as u64;
            // Compressed samples take about two bytes.
            progress.stage("generate", bytes / 2, samples);
            if failure.is_none() {
                failure = file.write_all(piece).err();
            }
        },
    )
    .map_err(|error| CliError::user(error, "profile-synth", "ask for fewer samples or tiles"))?;
    drop(progress);
    match failure.map_or_else(|| file.flush(), Err) {
        Ok(()) => {}
        Err(error) => return Err(unwritable(&error, &output).into()),
    }
    let (wrote, tiles) = (wrote(&output, bytes), count(tiles.into()));
    let text = format!("{wrote}: a synthetic profile of {tiles} tiles from seed {seed}\n");
    print(io.stdout, &text)
}
