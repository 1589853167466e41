//! [`ProfileReport`]: one profile in memory, samples packed.
//!
//! Built by [`crate::format`]. Every id in a table refers to a row that exists; tiles ascend by
//! physical id; a chunk's page is either absent or has the checksum that the index names.

use bytes::Bytes;

use super::ProfileHeader;
use super::chunk::{ChunkEntry, ChunkScratch};
use super::overview::{Ending, Overview, Summary};
use super::step::ExchangeActivity;
use super::tables::{MetadataTable, PhaseKey, StepRow, StepView, StringTable, TileEntry};
use crate::format::{ByteRange, DecodeError};
use crate::order;
use crate::units::{MetadataSetId, PhysicalTile, StepId, StringId};

/// Whether the file was whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// Everything that was written is here.
    #[default]
    Complete,
    /// The file has no valid trailer; every whole record before byte `at` was read.
    Truncated {
        /// One past the last whole record.
        at: u64,
    },
}

/// One file's content: header and tables in full, samples packed as in the columnar file.
#[derive(Clone, Debug, Default)]
pub struct ProfileReport {
    pub(crate) header: ProfileHeader,
    pub(crate) condition: Condition,
    pub(crate) strings: StringTable,
    pub(crate) metadata: MetadataTable,
    pub(crate) kernels: Vec<StringId>,
    pub(crate) operations: Vec<StringId>,
    pub(crate) phases: Vec<PhaseKey>,
    pub(crate) steps: Vec<StepRow>,
    pub(crate) tiles: Vec<TileEntry>,
    /// Positions in `tiles` in the order of the file.
    pub(crate) tile_order: Vec<u32>,
    pub(crate) chunks: Vec<ChunkEntry>,
    pub(crate) activity_chunks: Vec<ChunkEntry>,
    /// One for each chunk, then one for each activity chunk.
    pub(crate) pages: Vec<Page>,
    pub(crate) overview: Option<Overview>,
    pub(crate) summary: Option<Summary>,
    pub(crate) ending: Option<Ending>,
}

/// Bytes of a record, when they are here, and the checksum that they must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) bytes: Option<Bytes>,
    pub(crate) checksum: u32,
}

impl ProfileReport {
    /// What is true of the whole profile.
    #[must_use]
    pub fn header(&self) -> &ProfileHeader {
        &self.header
    }

    /// Whether the file was whole.
    #[must_use]
    pub fn condition(&self) -> Condition {
        self.condition
    }

    /// All samples of all tiles, decoded or not.
    #[must_use]
    pub fn sample_count(&self) -> u64 {
        self.tiles.iter().map(|tile| tile.sample_count).sum()
    }

    /// Profiled tiles, ascending by physical id, those without samples included. A *tile index* is
    /// a position in this slice.
    #[must_use]
    pub fn tiles(&self) -> &[TileEntry] {
        &self.tiles
    }

    /// The tile index of a physical tile, where it was profiled.
    #[must_use]
    pub fn tile_index(&self, tile: PhysicalTile) -> Option<u32> {
        let found = self
            .tiles
            .binary_search_by_key(&tile, |entry| entry.tile)
            .ok()?;
        u32::try_from(found).ok()
    }

    /// Tile indices in the order in which the file lists its tiles.
    #[must_use]
    pub fn tiles_in_file_order(&self) -> &[u32] {
        &self.tile_order
    }

    /// The step table, by [`StepId`].
    #[must_use]
    pub fn steps(&self) -> &[StepRow] {
        &self.steps
    }

    /// A step with its names.
    ///
    /// # Panics
    /// Where the id is not of this profile.
    #[must_use]
    pub fn step(&self, id: StepId) -> StepView<'_> {
        let row = &self.steps[id.index()];
        StepView {
            row,
            kernel: self.string(row.kernel),
            operation: self.string(row.operation),
            basis: row
                .estimate
                .map_or("", |estimate| self.string(estimate.basis)),
        }
    }

    /// A string of the profile. Equal ids have equal text, and in files we write the reverse holds.
    ///
    /// # Panics
    /// Where the id is not of this profile.
    #[must_use]
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// Number of strings: ids are `0..string_count`.
    #[must_use]
    pub fn string_count(&self) -> usize {
        self.strings.len()
    }

    /// Name and value pairs of a metadata set, in order; names may repeat.
    ///
    /// # Panics
    /// Where the id is not of this profile.
    pub fn metadata(
        &self,
        id: MetadataSetId,
    ) -> impl ExactSizeIterator<Item = (&str, &str)> + DoubleEndedIterator {
        self.metadata_ids(id)
            .iter()
            .map(|&(name, value)| (self.string(name), self.string(value)))
    }

    /// The pairs of a metadata set as string ids, in order.
    ///
    /// # Panics
    /// Where the id is not of this profile.
    #[must_use]
    pub fn metadata_ids(&self, id: MetadataSetId) -> &[(StringId, StringId)] {
        self.metadata.get(id)
    }

    /// Number of metadata sets: ids are `0..metadata_set_count`.
    #[must_use]
    pub fn metadata_set_count(&self) -> usize {
        self.metadata.len()
    }

    /// Kernel symbols in order of first use.
    #[must_use]
    pub fn kernels(&self) -> &[StringId] {
        &self.kernels
    }

    /// Operations in order of first use.
    #[must_use]
    pub fn operations(&self) -> &[StringId] {
        &self.operations
    }

    /// Distinct places in the schedule, in order of first use.
    #[must_use]
    pub fn phases(&self) -> &[PhaseKey] {
        &self.phases
    }

    /// The sample chunks, in file order. Together they hold every sample once; the samples of one
    /// tile follow each other from chunk to chunk.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkEntry] {
        &self.chunks
    }

    /// The chunks of exchange activities, in file order.
    #[must_use]
    pub fn activity_chunks(&self) -> &[ChunkEntry] {
        &self.activity_chunks
    }

    /// Decodes the chunk at position `index` of [`Self::chunks`], replacing what `scratch` held.
    ///
    /// # Errors
    /// [`DecodeError::PageMissing`] where the page was not supplied, else a corrupt chunk.
    ///
    /// # Panics
    /// Where there is no such chunk.
    pub fn decode_chunk(
        &self,
        index: usize,
        scratch: &mut ChunkScratch,
    ) -> Result<(), DecodeError> {
        crate::format::decode_samples(self, index, scratch)
    }

    /// The transfers scheduled inside one sample; empty where the file has none.
    ///
    /// # Errors
    /// [`DecodeError::PageMissing`] where the page was not supplied, else a corrupt chunk.
    pub fn activities(
        &self,
        tile: u32,
        ordinal: u64,
    ) -> Result<Vec<ExchangeActivity>, DecodeError> {
        crate::format::decode_activities(self, tile, ordinal)
    }

    /// The file's own picture of the device, where it has one.
    #[must_use]
    pub fn overview(&self) -> Option<&Overview> {
        self.overview.as_ref()
    }

    /// The file's own sums, where it has them. "From the file" until samples were decoded.
    #[must_use]
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// The fault that ended the run before its program did, where one is known.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Calls `visit` for every sample with scheduled transfers: tile index, ordinal in the tile's
    /// list, transfers. Each activity chunk is decoded once.
    ///
    /// # Errors
    /// [`DecodeError::PageMissing`] where a page was not supplied, else a corrupt chunk.
    pub fn visit_activities(
        &self,
        visit: &mut dyn FnMut(u32, u64, &[ExchangeActivity]),
    ) -> Result<(), DecodeError> {
        crate::format::visit_activities(self, visit)
    }

    /// Byte ranges of the sample and activity pages that are not here, in the order of the file,
    /// where both take turns; empty when all are here.
    #[must_use]
    pub fn pages_missing(&self) -> Vec<ByteRange> {
        let entries = self.chunks.iter().chain(&self.activity_chunks);
        let missing = entries
            .zip(&self.pages)
            .filter(|(_, page)| page.bytes.is_none());
        in_file_order(missing.map(|(entry, _)| entry.bytes).collect())
    }

    /// Bytes held by tables and packed pages. Pages that share the buffer they were supplied in
    /// count once.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        let pages: usize = self
            .pages
            .iter()
            .filter_map(|page| page.bytes.as_ref())
            .map(Bytes::len)
            .sum();
        let tables = self.strings.bytes()
            + self.metadata.bytes()
            + self.steps.capacity() * size_of::<StepRow>()
            + self.tiles.capacity() * size_of::<TileEntry>()
            + (self.chunks.capacity() + self.activity_chunks.capacity()) * size_of::<ChunkEntry>()
            + self.pages.capacity() * size_of::<Page>();
        let overview = self.overview.as_ref().map_or(0, |it| it.kinds.len() * 6);
        (pages + tables + overview) as u64
    }

    /// Bytes of sample and activity pages that are here, and of all of them.
    #[must_use]
    pub fn page_bytes(&self) -> (u64, u64) {
        let entries = self.chunks.iter().chain(&self.activity_chunks);
        let mut bytes = (0, 0);
        for (entry, page) in entries.zip(&self.pages) {
            bytes.0 += page.bytes.as_ref().map_or(0, |_| entry.bytes.len());
            bytes.1 += entry.bytes.len();
        }
        bytes
    }

    /// Samples in the pages that are here.
    #[must_use]
    pub fn samples_here(&self) -> u64 {
        let here = self.chunks.iter().zip(&self.pages);
        here.filter(|(_, page)| page.bytes.is_some())
            .map(|(chunk, _)| chunk.sample_count)
            .sum()
    }

    /// Gives up the bytes of a page, which is then one of [`Self::pages_missing`] again; a range
    /// that is no page is ignored.
    pub fn forget_page(&mut self, range: ByteRange) {
        let entries = self.chunks.iter().chain(&self.activity_chunks);
        let at = entries.map(|entry| entry.bytes).position(|it| it == range);
        if let Some(page) = at.and_then(|at| self.pages.get_mut(at)) {
            page.bytes = None;
        }
    }

    /// Gives the report a page it was missing: `range` is one of [`Self::pages_missing`].
    ///
    /// # Errors
    /// Where no such page exists, or its bytes have another length or checksum.
    pub fn supply_page(
        &mut self,
        range: ByteRange,
        bytes: impl Into<Bytes>,
    ) -> Result<(), DecodeError> {
        crate::format::supply_page(self, range, bytes.into())
    }
}

/// Ranges ascending by their first byte: who reads joins those that lie near each other.
pub(crate) fn in_file_order(mut ranges: Vec<ByteRange>) -> Vec<ByteRange> {
    order::by_key(&mut ranges, |it| it.start);
    ranges
}
