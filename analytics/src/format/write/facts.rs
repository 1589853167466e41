//! Records of what is true of the whole run: its header, and how it ended.

use super::intern;
use crate::format::error::WriteError;
use crate::format::record::{self, kind};
use crate::format::tables::granularity_to_wire;
use crate::profile::{Ending, ProfileHeader};

pub(super) fn header_record(header: &ProfileHeader) -> Result<Vec<u8>, WriteError> {
    let pairs = &header.provenance;
    let text: usize = pairs
        .iter()
        .map(|(name, value)| name.len() + value.len() + 48)
        .sum();
    record::build(kind::HEADER, text + header.target.len() + 256, |root| {
        let mut it = root.init_header();
        it.set_clock_hz(header.clock_hz);
        it.set_granularity(granularity_to_wire(header.granularity));
        it.set_simulated(match header.simulated {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        });
        it.set_has_seed(header.seed.is_some());
        it.set_seed(header.seed.unwrap_or(0));
        it.set_row_schema_version(header.row_schema_version);
        it.set_target(&*header.target);
        let mut list = it.init_provenance(intern::length(pairs));
        for (row, (name, value)) in (0..).zip(pairs) {
            let mut pair = list.reborrow().get(row);
            pair.set_name(&**name);
            pair.set_value(&**value);
        }
        Ok(())
    })
}

pub(super) fn ending_record(ending: &Ending) -> Result<Vec<u8>, WriteError> {
    let room = ending.rule.len() + ending.message.len() + 256;
    record::build(kind::ENDING, room, |root| {
        let mut it = root.init_ending();
        it.set_rule(&*ending.rule);
        it.set_message(&*ending.message);
        it.set_tile(ending.tile.get());
        it.set_count(ending.count);
        Ok(())
    })
}
