# Profiles of tiled accelerators: the row format of existing files and the columnar format we write.
#
# The comments are normative. All integers are little-endian; every range is half-open; "ordinal" is
# the position of a sample in its tile's list, from 0. README.md beside this file tabulates units,
# sentinels and versions.

@0xd2f1c6a49be07d35;

# --------------------------------------------------------------------------------------------------
# Row format: one message of any number of segments, unpacked, uncompressed, root `Profile`.
# --------------------------------------------------------------------------------------------------

struct Profile {
  schemaVersion @0 :UInt32;
  # 1..=5 are read; 5 is written.
  clockHz @1 :UInt64;
  # Tile clock in hertz. 0: unknown.
  tiles @2 :List(TileProfile);
  # In any order; a physical tile appears at most once.
}

struct TileProfile {
  physicalTile @0 :UInt32;
  # Physical id, 0..1472 on an IPU21.
  samples @1 :List(CycleSample);
  # In time order.
}

struct CycleSample {
  step @0 :Step;
  startCycle @1 :UInt32;
  # Low 32 bits of the tile's free-running counter.
  endCycle @2 :UInt32;
  # Same counter; duration = end - start, wrapping.
}

struct Step {
  localIndex @0 :UInt32;
  # Position in this tile's list; the ordinal in well-formed files.
  phase @1 :UInt32;
  # Schedule phase. Bit 31 marks an exchange id in files that number exchanges apart.
  epoch @2 :UInt32;
  # Exchange epoch or Repeat body.
  operation @3 :Text;
  # Model-level operation; may be empty.
  kind @4 :UInt16;
  # 0 exchange, 1 compute, 2 synchronization (since 3), 3 idle (since 3). Others are kept as read.
  kernel @5 :Text;
  # Kernel symbol; may be empty. Since 2.
  metadata @6 :List(Metadata);
  # In order; names may repeat. Since 2.
  exchangeActivities @7 :List(ExchangeActivity);
  # Scheduled, not measured. Since 4.
  exchangeEventCycles @8 :UInt32;
  # Horizon of the static schedule in cycles. 0: unknown. Since 4.
}

struct Metadata {
  name @0 :Text;
  value @1 :Text;
}

struct ExchangeActivity {
  kind @0 :UInt16;
  # 0 send, 1 receive, 2 partner-busy (since 5). Others are kept as read.
  start @1 :UInt32;
  # First event, counted from the exchange's event origin.
  end @2 :UInt32;
  # One past the last event; may pass the horizon.
  fanout @3 :UInt16;
  # Destination tiles. 0: unknown. Added within 5.
  paired @4 :Bool;
  # The transfer borrows the partner tile's transmit lane. Added within 5.
}

# --------------------------------------------------------------------------------------------------
# Columnar format: a stream of framed messages, each one segment, at most 4 MiB, root `Record`.
#
# A record refers only to table rows of earlier records, so a file cut anywhere is readable up to
# its last whole record. Order: header; then tables and chunks as they fill; ending; catalogs;
# overview; summary; index pages, adjacent; trailer, always the last 64 bytes.
# --------------------------------------------------------------------------------------------------

struct Record {
  magic @0 :UInt64;
  # The ASCII bytes `IPUPROF2`. Bytes 16..24 of every record, and so of the file.
  major @1 :UInt16;
  # 1. A reader refuses a larger one by name.
  minor @2 :UInt16;
  # 1. A larger one may add record kinds and fields, which older readers skip.
  union {
    header @3 :Header;
    dictionary @4 :Dictionary;
    metadata @5 :MetadataPage;
    steps @6 :StepPage;
    samples @7 :SampleChunk;
    activities @8 :ActivityChunk;
    overview @9 :Overview;
    summary @10 :Summary;
    index @11 :IndexPage;
    trailer @12 :Trailer;
    catalog @13 :Catalog;
    # Since 1.1.
    ending @14 :Ending;
    # Since 1.1.
  }
}

struct Header {
  clockHz @0 :UInt64;
  # Tile clock in hertz. 0: unknown.
  granularity @1 :UInt16;
  # 0 unknown, 1 graph, 2 region, 3 phase, 4 step. Others read as unknown.
  simulated @2 :UInt8;
  # 0 unknown, 1 hardware, 2 simulator.
  hasSeed @3 :Bool;
  seed @4 :UInt64;
  # Seed of the run, where hasSeed.
  rowSchemaVersion @5 :UInt32;
  # Version of the row file this was converted from. 0: recorded in this format.
  target @6 :Text;
  # The machine, such as `ipu21`. Empty: unknown.
  provenance @7 :List(Metadata);
  # Workload, plan, kernel generation, cost parameters, assumed constants; in order.
}

struct Dictionary {
  # Rows appended to four tables; row numbers continue over all dictionary records of the file.
  strings @0 :List(Text);
  # StringId = position over all records. Row 0 of the first record is the empty string.
  kernels @1 :List(UInt32);
  # StringId of each kernel symbol, in order of first use.
  operations @2 :List(UInt32);
  # StringId of each operation, in order of first use.
  phases @3 :List(PhaseKey);
  # Distinct (epoch, phase) pairs, in order of first use.
}

struct PhaseKey {
  phase @0 :UInt32;
  epoch @1 :UInt32;
}

struct MetadataPage {
  # Metadata sets appended to one table; MetadataSetId = position over all pages. Set 0 is empty.
  counts @0 :List(UInt32);
  # Pairs of each set.
  names @1 :List(UInt32);
  # StringId of each name, sets one after another, pairs in order.
  values @2 :List(UInt32);
  # StringId of each value.
}

struct StepPage {
  # Steps appended to one table; StepId = position over all pages. All lists have one length.
  kinds @0 :List(UInt16);
  # As Step.kind, as recorded.
  kernels @1 :List(UInt32);
  # Row of Dictionary.kernels.
  operations @2 :List(UInt32);
  # Row of Dictionary.operations.
  phases @3 :List(UInt32);
  # Row of Dictionary.phases.
  eventCycles @4 :List(UInt32);
  # As Step.exchangeEventCycles.
  metadata @5 :List(UInt32);
  # MetadataSetId.
  flags @6 :List(UInt8);
  # Bit 0: useful, physical and basis are known. Bit 1: they were read from metadata pairs that the
  # set still holds. Bit 2: a decimal was rounded to 1/256. Other bits 0.
  useful @7 :List(UInt64);
  # Useful work in 1/256 issue-cycle. 0 where bit 0 of flags is clear; unknown is not zero.
  physical @8 :List(UInt64);
  # Physical work in 1/256 issue-cycle; may be less than useful.
  bases @9 :List(UInt32);
  # StringId of the rule that gave the numbers.
}

struct SampleChunk {
  # Up to 64 tiles of one aligned group of 64 physical ids, up to 1,024 samples each, tile-major.
  tiles @0 :List(UInt32);
  # Physical ids, ascending.
  counts @1 :List(UInt16);
  # Samples of each tile in this chunk, 1..=1024.
  firstOrdinals @2 :List(UInt64);
  # Ordinal of each tile's first sample in this chunk.
  bases @3 :List(UInt64);
  # Start of that sample in cycles since the tile's first sample (tile clock), unwrapped.
  firstCounters @4 :List(UInt32);
  # Raw counter at that start.
  gaps @5 :Data;
  # Packed column: cycles from the end of the sample before, wrapping; 0 for a tile's first sample
  # in the chunk. Empty: all zero. A gap g >= 2^31 whose 2^32 - g is at most the duration of the
  # sample before is an overlap of 2^32 - g cycles.
  durations @6 :Data;
  # Packed column: cycles, or what durationCoding makes of them.
  steps @7 :Data;
  # Packed column: zig-zag of StepId minus that of the sample before, wrapping. For a tile's first
  # sample in the chunk, minus the first StepId of the tile before; for the first tile, minus 0.
  localIndices @8 :Data;
  # Packed column: zig-zag of Step.localIndex minus the ordinal, wrapping. Empty: all zero.
  durationCoding @9 :UInt16;
  # 0: durations are cycles. 1: each is the zig-zag of the cycles minus those of the last sample
  # before it in the chunk that has the same step, wrapping; minus 0 where there is none. Tiles that
  # run one program differ little in the same step. Others: the chunk cannot be read.
}

# A packed column of n unsigned 32-bit values is ceil(n / 128) blocks; the last is padded with its
# base:
#   base u32, width u8 (0..=32), exceptions u8 (0..=128), 0 u16;
#   16 * width bytes: the low `width` bits of value - base (wrapping), as little-endian words of 32
#     bits: value i is in lane i mod 4 at bit (i div 4) * width of that lane; word w of lane l is
#     the word 4 * w + l of the block;
#   exceptions bytes: positions in the block, ascending;
#   4 * exceptions bytes: for each, the bits of value - base above the low `width`, u32.
# zig-zag maps a wrapping difference d, read as signed, to (d << 1) ^ (d >> 31).

struct ActivityChunk {
  # Exchange activities of samples of one aligned group of 64 physical tiles; lists of (tile,
  # ordinal) ascending, without empty ones.
  tiles @0 :List(UInt32);
  ordinals @1 :List(UInt64);
  counts @2 :List(UInt32);
  # Activities of each sample; 65,536 in all at most unless one sample has more.
  kinds @3 :Data;
  # Packed column: ExchangeActivity.kind * 2 + paired.
  starts @4 :Data;
  # Packed column: zig-zag of start minus the start before, wrapping; 0 before a sample's first.
  lengths @5 :Data;
  # Packed column: zig-zag of end - start, wrapping.
  fanouts @6 :Data;
  # Packed column. Empty: all zero.
}

struct Catalog {
  # All rows of the tables once more, where chunks lie between the records that have them, so that
  # whoever has the index reads the tables in one piece and skips those records. Present only in
  # whole: the catalogs of a file together hold every row, in order. A reader of a file without
  # index skips them.
  length @0 :UInt32;
  # Bytes of the records.
  records @1 :Data;
  # Zstandard frame of whole records: dictionaries, metadata pages, step pages.
}

struct Ending {
  # Why the run ended before its program did. Absent: it did not, or nobody knows.
  rule @0 :Text;
  # Stable name of the rule of the machine that was broken.
  message @1 :Text;
  # For people: what was broken, where, and what was found.
  tile @2 :UInt32;
  # Physical tile that broke it.
  count @3 :UInt32;
  # Faults found together; the one named is the first.
}

struct Overview {
  # One screen of the whole device: a row per tile of the index, ascending by physical id.
  firstCycle @0 :Int64;
  # Left edge of column 0 on the shared clock; 0 or a little less.
  cellCycles @1 :UInt64;
  # Width of a column in cycles, a power of two.
  columns @2 :UInt32;
  rows @3 :UInt32;
  kinds @4 :Data;
  # Packed column, row-major: the kind that took most cycles of the cell (as Step.kind after
  # `active=false` computes became idle; the smaller of equals), or 255 where nothing was recorded.
  # Kinds above 3 are counted together as 4.
  kernels @5 :Data;
  # Packed column: row of Dictionary.kernels plus one, by weighted majority vote among the compute
  # samples of the cell, exact for a kernel with more than half of its compute cycles; 0: none.
  busy @6 :Data;
  # Packed column: compute cycles / cellCycles in 1/255, rounded down, at most 255.
}

struct Summary {
  # Exact sums on the cropped clock. Absent from files where the writer could not keep them exact.
  sampleCount @0 :UInt64;
  # All samples, those that the crop removes included.
  tileCount @1 :UInt32;
  cropCycles @2 :UInt64;
  # Initial-sync crop on the shared clock.
  spanCycles @3 :UInt64;
  # End of the cropped timeline.
  rows @4 :List(KernelSummary);
  # By (kind, kernel row), ascending.
}

struct KernelSummary {
  kernel @0 :UInt32;
  # Row of Dictionary.kernels.
  kind @1 :UInt16;
  # After `active=false` computes became idle.
  tileCount @2 :UInt32;
  sampleCount @3 :UInt64;
  # Samples of non-zero cropped length.
  workCycles @4 :UInt64;
  # Sum of their cropped durations.
  coveredCycles @5 :UInt64;
  # Part of workCycles in uncut samples with an estimate.
  useful @6 :UInt64;
  # 1/256 issue-cycle, over the covered samples.
  physical @7 :UInt64;
  p50Cycles @8 :UInt32;
  # Lower nearest rank.
  p95Cycles @9 :UInt32;
  maximumCycles @10 :UInt32;
  timelineCycles @11 :UInt64;
  # Length of the union of the samples' intervals over all tiles.
}

struct IndexPage {
  # Rows for every record before the index; pages follow each other.
  kinds @0 :List(UInt16);
  # Discriminant of Record's union (0 header ... 11 ending).
  offsets @1 :List(UInt64);
  # First byte of the record in the file.
  lengths @2 :List(UInt32);
  # Bytes, framing included; a multiple of 8.
  checksums @3 :List(UInt32);
  # CRC-32C of those bytes.
  tileFirst @4 :List(UInt32);
  tileEnd @5 :List(UInt32);
  # Physical tiles in the record; equal where it has none.
  cycleFirst @6 :List(UInt64);
  cycleEnd @7 :List(UInt64);
  # Shared-clock cycles that its samples touch; equal where it has none.
  counts @8 :List(UInt64);
  # Rows or samples in the record: strings, sets, steps, samples, activities, cells, kernels; 1
  # else.
  tiles @9 :List(UInt32);
  # On the first page: every profiled physical tile in the order it was begun.
  tileSamples @10 :List(UInt64);
  # Samples of each.
  tileCounters @11 :List(UInt32);
  # Raw counter at the start of each one's first sample; 0 where it has none.
}

struct Trailer {
  # The record is exactly 64 bytes; checksum is its last four.
  indexOffset @0 :UInt64;
  fileLength @1 :UInt64;
  # Trailer included.
  indexLength @2 :UInt32;
  # Bytes of all index pages.
  checksum @3 :UInt32;
  # CRC-32C of the index pages and of the 60 bytes before this field.
}
