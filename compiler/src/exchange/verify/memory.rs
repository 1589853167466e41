//! What a tile reads and writes while it exchanges: inside SRAM, apart from its rows, and never one
//! memory element read and written at once.

use analytics::units::TileId;
use runtime::machine::sram;
use runtime::package::model::Address;

use super::super::transfer::ExchangeContext;
use super::VerifyError;
use super::decode::Decoded;
use super::derive::Run;

/// Elements in use over `items` events.
#[derive(Clone, Copy)]
struct Window {
    event: u32,
    items: u32,
    address: Address,
    elements: u32,
}

/// Checks the windows of one tile, whose landings are `runs`.
pub(super) fn check(
    tile: TileId,
    row: &Decoded,
    runs: &[Run],
    context: &ExchangeContext<'_>,
) -> Result<(), VerifyError> {
    let code = code_elements(tile, context);
    let window = |event: u32, address: Address, (items, item_words): (u32, u32)| {
        let error = |problem| VerifyError::Memory {
            tile,
            event,
            address,
            problem,
        };
        let bytes = items.checked_mul(4 * item_words);
        let elements = bytes.and_then(|bytes| sram::elements(address, bytes));
        let elements = elements.ok_or_else(|| error("the words leave SRAM"))?;
        if elements & code != 0 {
            return Err(error("the words share an element with the tile's rows"));
        }
        Ok(Window {
            event,
            items,
            address,
            elements,
        })
    };
    let reads = row
        .sent
        .iter()
        .map(|sent| window(sent.event, sent.address, (sent.items, sent.item_words())));
    let reads: Vec<Window> = reads.collect::<Result<_, _>>()?;
    let mut first = 0;
    for run in runs {
        let landing = window(run.landed, run.address, (run.items, run.item_words))?;
        while reads
            .get(first)
            .is_some_and(|read| read.event + read.items <= landing.event)
        {
            first += 1;
        }
        let end = landing.event + landing.items;
        let overlapping = reads[first..].iter().take_while(|read| read.event < end);
        for read in overlapping {
            if read.elements & landing.elements != 0 {
                return Err(VerifyError::Memory {
                    tile,
                    event: read.event.max(landing.event),
                    address: landing.address,
                    problem: "words land in an element that is read at the time",
                });
            }
        }
    }
    Ok(())
}

/// Elements of the tile's rows and of what may be fetched past them.
fn code_elements(tile: TileId, context: &ExchangeContext<'_>) -> u32 {
    let Some(code) = context
        .row_code
        .get(tile.index())
        .filter(|code| code.bytes > 0)
    else {
        return 0;
    };
    let last = u64::from(code.address) + u64::from(code.bytes + sram::FETCH_GUARD_BYTES) - 1;
    let addresses = (u64::from(code.address)..=last).step_by(4).chain([last]);
    let elements = addresses.filter_map(|at| sram::element(u32::try_from(at).ok()?));
    elements.fold(0, |mask, element| mask | 1 << element)
}
