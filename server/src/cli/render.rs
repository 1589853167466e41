//! `profile-render`: a profile and its viewer as one HTML file that opens offline.

use analytics::text::count;

use super::args::RenderArgs;
use super::output::{print, warn, write_file, wrote};
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

pub(super) fn run(args: RenderArgs, io: &mut Io<'_>) -> Outcome {
    let RenderArgs {
        profile,
        output,
        title,
    } = args;
    let report = open::profile(&profile)?;
    let title = title.unwrap_or_else(|| {
        let name = profile.file_name().unwrap_or(profile.as_os_str());
        name.to_string_lossy().into_owned()
    });
    let page = site::render_single_file(&open::map(&profile)?, &title)
        .map_err(|error| CliError::internal(error, "profile-render"))?;
    write_file(&output, &page)?;
    warn(io, &report.warnings());
    let (tiles, samples) = (
        count(report.tiles().len() as u64),
        count(report.sample_count()),
    );
    let wrote = wrote(&output, page.len() as u64);
    let text = format!("{wrote}: a page with a profile of {tiles} tiles and {samples} samples\n");
    print(io.stdout, &text)
}
