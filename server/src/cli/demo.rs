//! `demo`: compile → run → write both files → kernel table → viewer with the profile.

use std::net::Ipv4Addr;
use std::path::Path;

use analytics::profile::Granularity;

use super::args::DemoArgs;
use super::compile::{compile, describe, encode};
use super::device::DeviceArgs;
use super::host::serve::{publish, runtime, start, until_interrupted};
use super::output::{flush, print, unwritable, write_file, wrote};
use super::simulate::{simulate, verdict};
use super::{Io, Outcome, Stop, browser, query, run_report};
use crate::http::Config;
use crate::store::Store;

pub(super) fn run(args: &DemoArgs, io: &mut Io<'_>) -> Outcome {
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|error| unwritable(&error, folder))?;
    let package_path = folder.join(&args.workload).with_extension("ipuexe");
    let profile_path = folder.join(&args.workload).with_extension("ipuprofile");

    let compiled = compile(&args.workload, &args.plan, io)?;
    let bytes = encode(&compiled)?;
    write_file(&package_path, &bytes)?;
    print(io.stdout, &describe(&compiled))?;
    print(
        io.stdout,
        &format!("{}\n\n", wrote(&package_path, bytes.len() as u64)),
    )?;
    flush(io.stdout)?;

    let device = DeviceArgs::default();
    let granularity = Some(Granularity::Phase);
    let finished = simulate(
        &compiled.package,
        &device,
        (granularity, None),
        &package_path,
        io,
    )?;
    let profile = finished.report.profile.as_deref().unwrap_or_default();
    write_file(&profile_path, profile)?;
    print(
        io.stdout,
        &run_report::text(&compiled.package, &finished, Some(&profile_path)),
    )?;
    verdict(&finished, &package_path)?;
    print(io.stdout, "\n")?;
    print(io.stdout, &query::kernel_table(&profile_path)?)?;
    show(args, &profile_path, io)
}

/// Serves the viewer with the profile.
fn show(args: &DemoArgs, profile: &Path, io: &mut Io<'_>) -> Outcome {
    let store = Store::in_memory();
    runtime()?.block_on(async {
        let id = publish(&store, profile).await?;
        let address = (Ipv4Addr::LOCALHOST, args.port).into();
        let mut server = start(Config::loopback(store), address).await?;
        let url = format!("{}/a/{id}", server.url());
        print(io.stdout, &format!("\nviewer {url}\n"))?;
        flush(io.stdout)?;
        if args.exit {
            return Ok::<(), Stop>(());
        }
        if !args.no_open {
            browser::open(&url, io.environment);
        }
        until_interrupted(&mut server).await
    })
}
