//! Which kernel wastes most, who waits for it, and what the run would gain: the first questions of
//! a person, asked from Rust.
//!
//!     cargo run -p analytics --example waste -- profile.ipuprofile

#![allow(clippy::print_stdout, reason = "this program's results are its output")]

use std::error::Error;

use analytics::barriers::barriers;
use analytics::critical::{CriticalOptions, critical_path};
use analytics::format::open_bytes;
use analytics::profile::SampleKind;
use analytics::query::{Filter, Query, SortKey, query};
use analytics::text;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give a profile")?;
    let report = open_bytes(std::fs::read(&path)?)?;

    let question = Query {
        filter: Filter {
            kind: Some(SampleKind::Compute),
            ..Filter::default()
        },
        sort_by: SortKey::WastedCycles,
        limit: 3,
        ..Query::default()
    };
    let answer = query(&report, &question)?;
    for group in &answer.groups {
        let it = &group.measures;
        let (cycles, useful) = (
            text::cycles(it.work_cycles),
            text::percent(it.useful_efficiency()),
        );
        let wasted = text::wasted(it.wasted());
        println!(
            "{}: {wasted} of {cycles} tile-cycles wasted, {useful} useful",
            group.name
        );
    }

    let waits = barriers(&report)?;
    if let Some(worst) = waits.culprits.first() {
        let kernel = worst.kernel.as_deref().unwrap_or("(left late)");
        println!(
            "most waiting: {} tile-cycles for {kernel}",
            text::count(worst.waiting)
        );
    }

    let path = critical_path(&report, &CriticalOptions::default())?;
    let (run, balanced) = (text::count(path.run), text::count(path.run_if_balanced()));
    println!("the run: {run} cycles, {balanced} if every stretch were balanced");
    Ok(())
}
