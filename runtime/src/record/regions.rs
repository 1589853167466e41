//! Runs of one region label: the samples of the `graph` and `region` granularities.

use analytics::profile::Granularity;

use super::{Instants, Place};

/// An open run of one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// Where it began.
    pub(super) place: Place,
    /// One past the last schedule position in it.
    pub(super) end: u32,
    /// Its label.
    pub(super) label: String,
}

/// Which region every tile is in, and since when.
pub(super) struct Regions {
    granularity: Granularity,
    current: Option<Region>,
    starts: Vec<u64>,
}

impl Regions {
    pub(super) fn new(granularity: Granularity, starts: &Instants) -> Self {
        Self {
            granularity,
            current: None,
            starts: starts.to_vec(),
        }
    }

    /// Whether an item with this label prolongs what is open, to which it then belongs. All items
    /// do when regions are not recorded, or when the whole run is one.
    pub(super) fn prolong(&mut self, place: Place, label: &str) -> bool {
        let is_recorded = matches!(self.granularity, Granularity::Region | Granularity::Graph);
        let is_one = self.granularity == Granularity::Graph;
        let open = self.current.as_mut();
        let Some(region) = open.filter(|region| is_one || region.label == label) else {
            return !is_recorded;
        };
        region.end = place.phase + 1;
        true
    }

    /// Opens a run; its samples start where the tiles last left off.
    pub(super) fn open(&mut self, place: Place, label: &str) {
        self.current = Some(Region {
            place,
            end: place.phase + 1,
            label: label.to_owned(),
        });
    }

    /// Ends the open run, if there is one.
    pub(super) const fn close(&mut self) -> Option<Region> {
        self.current.take()
    }

    /// The next run starts at these instants.
    pub(super) fn resume(&mut self, starts: &Instants) {
        self.starts.copy_from_slice(starts);
    }

    /// Where each tile's open run started.
    pub(super) fn starts(&self) -> &Instants {
        &self.starts
    }
}
