//! `profile-exchange`: what exchanges and their ports move, as text or JSON.

use analytics::report::{exchange_json, exchange_text};
use analytics::traffic::{Exchanges, totals, traffic_in};

use super::args::ExchangeArgs;
use super::output::print;
use super::query::clock;
use super::{Io, Outcome, part};
use crate::open;

pub(super) fn run(args: &ExchangeArgs, io: &mut Io<'_>) -> Outcome {
    let report = open::profile(&args.profile)?;
    let refused = |error| open::refused(&error, &args.profile);
    let is_part = args.part.range.is_some() || !args.part.tiles.is_empty();
    let wanted = is_part.then(|| part::part(&args.part, &report, &args.profile));
    let wanted = wanted.transpose()?;
    let exchanges = Exchanges::find(&report).map_err(refused)?;
    let found = totals(&report, &exchanges, clock(args.part.clock)).map_err(refused)?;
    let ports = wanted.map(|part| traffic_in(&report, &exchanges, &part));
    let ports = ports.transpose().map_err(refused)?;
    let text = if args.json {
        exchange_json(&found, ports.as_ref(), args.limit)
    } else {
        exchange_text(&found, ports.as_ref(), args.limit)
    };
    print(io.stdout, &text)
}
