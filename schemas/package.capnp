@0x97a0822ceefbfbc7;

# The .ipuexe package: a device-wide schedule, and for each tile its exchange rows and kernel calls.
#
# One Cap'n Proto message in standard stream framing, unpacked. These comments are normative. Equal
# packages give equal bytes. Addresses are byte addresses in a tile's SRAM, 0x4c000..0xe8000. Tiles are
# logical, 0..1472, unless a field says physical.
#
# Long lists are columns. A column is a Data that holds one integer per item: the zig-zag LEB128 of its
# difference to the item before it, the first to 0. Zig-zag maps 0, -1, 1, -2 .. to 0, 1, 2, 3 ..;
# LEB128 stores seven bits a byte, low bits first, bit 7 set on all but the last byte; differences wrap
# in 64 bits. The number of items stands beside the columns and every column holds exactly that many.
# A column of text holds indices into Package.strings; index 0 is the empty text.

struct Package {
  magic @0 :UInt64;
  # ASCII "IPUEXE02", little-endian: tells a package from every other file.
  formatMajor @1 :UInt16;
  # 3. Readers refuse a larger one by name. 2 has no steps and patches of Repeats; 1 is the layout of
  # earlier systems, which has no magic.
  formatMinor @2 :UInt16;
  # 2. Grows with additions; a reader refuses a kernel that it does not know.

  strings @3 :List(Text);
  # Each text once, in order of first use; the first is empty.
  target @4 :Target;
  manifest @5 :Manifest;
  tensors @6 :List(Tensor);
  patterns @7 :List(Pattern);
  bindings @8 :Bindings;
  schedule @9 :List(ScheduleItem);
  # Device-wide order.
  exchanges @10 :List(Exchange);
  computePhases @11 :ComputePhases;
  callTemplates @12 :List(CallTemplate);
  tiles @13 :List(TileProgram);
  # By logical tile; 1..=1472 of them.
  allocations @14 :Allocations;
}

struct Target {
  machine @0 :Text;
  # "ipu21".
  clockHz @1 :UInt64;
  # Tile clock in hertz, not 0.
  tileMapping @2 :Data;
  # Column: physical tile of each logical tile, distinct, below 1472; as many as tiles.
}

struct Manifest {
  # Enough to compile the package again; nothing that varies from run to run.
  compilerVersion @0 :Text;
  workload @1 :Text;
  graph @2 :Text;
  # The graph in its text form.
  flags @3 :List(Pair);
  plan @4 :List(Text);
  # One line an operation.
  kernelGeneration @5 :Text;
  # Date of the kernel cost set, such as "2026-09-13".
  hostBytes @6 :UInt64;
  # Bytes the host holds before replication.
  replicatedHostBytes @7 :UInt64;
  # Bytes that the bindings write to the tiles, replicas included.
}

struct Pair {
  name @0 :Text;
  value @1 :Text;
}

enum DType {
  f16 @0;
  f32 @1;
  f143 @2;
  # One byte: sign, 4 exponent bits with bias 8, 3 mantissa bits.
}

enum TensorRole {
  input @0;
  parameter @1;
  output @2;
}

struct Tensor {
  # A logical host tensor, row-major, unpadded.
  name @0 :Text;
  dtype @1 :DType;
  role @2 :TensorRole;
  shape @3 :List(UInt64);
  # Extents, outermost first, none 0; at most 2^31 elements together.
  fill :union {
    # How the host makes the values; ignored for outputs.
    constant @4 :Float32;
    gaussian :group {
      # Element i is one standard normal draw from SplitMix64 seeded with (seed xor i), times sigma.
      seed @5 :UInt64;
      sigma @6 :Float32;
    }
    oneHotBatchStep @7 :UInt64;
    # [.., batch, rows, columns]: row r of batch b is one at (step * b + r) mod columns, else zero.
    cycleRowStep @8 :UInt64;
    # -1, -1/2, 0, 1/2, 1 at (step * row + column) mod 5 of the last two axes.
  }
}

struct Pattern {
  # A loop nest that copies elements between a tensor and SRAM; at most 8 loops, outermost first. No
  # loop is one element.
  count @0 :UInt32;
  counts @1 :Data;
  # Column: iterations, at least 1.
  tensorStrides @2 :Data;
  # Column: elements between iterations in the tensor, signed.
  memoryStrides @3 :Data;
  # Column: bytes between iterations in SRAM, signed.
}

struct Bindings {
  # Which part of which tensor lies where.
  count @0 :UInt32;
  tensors @1 :Data;
  # Column: index into Package.tensors.
  tiles @2 :Data;
  addresses @3 :Data;
  # Column: address of the pattern's first element, aligned to the element type.
  elements @4 :Data;
  # Column: row-major tensor index of the pattern's first element.
  patterns @5 :Data;
  # Column: index into Package.patterns.
}

struct ScheduleItem {
  union {
    exchange @0 :UInt32;
    # Index into Package.exchanges.
    compute @1 :UInt32;
    # Index into Package.computePhases.
    repeat @2 :Repeat;
  }
}

struct Repeat {
  # At most 8 deep; at most 2^20 items are executed in all.
  count @0 :UInt32;
  # Iterations, at least 1.
  body @1 :List(ScheduleItem);
  # At least one item. Iteration i of the innermost Repeat around an item, from 0, moves the item's
  # addresses i steps on: Exchange.sourceSteps, TileProgram.operandSteps and TileProgram.rowPatches.
}

struct Exchange {
  operation @0 :UInt32;
  # Text index: the operation it serves.
  region @1 :UInt32;
  # Text index: region label, empty without one.
  eventCycles @2 :UInt32;
  # Longest row horizon over the tiles, in events.
  deliveries @3 :Deliveries;
  stepCount @4 :UInt32;
  # Source steps, sorted by delivery: deliveries whose source moves from iteration to iteration.
  stepDeliveries @5 :Data;
  # Column: index into deliveries, distinct.
  stepBytes @6 :Data;
  # Column: bytes from one iteration's source address to the next one's, signed, a multiple of 4.
}

struct Deliveries {
  # What must have arrived after the phase: compared with what the words did, never used to move data.
  # In program order: a delivery reads what those before it have brought.
  # Destinations are runs of equal tile and address steps; at most 2^25 destinations a package.
  count @0 :UInt32;
  sources @1 :Data;
  # Column: sending tile.
  sourceAddresses @2 :Data;
  # Column: first byte at the source, a multiple of 4.
  bytes @3 :Data;
  # Column: length, a multiple of 4, not 0.
  runCounts @4 :Data;
  # Column: destination runs of the delivery, at least 1.
  totalRuns @5 :UInt32;
  # The columns below hold the runs of all deliveries in order.
  runLengths @6 :Data;
  # Column: destinations in the run, at least 1.
  runTiles @7 :Data;
  # Column: first receiving tile of the run.
  runTileSteps @8 :Data;
  # Column: from one receiving tile to the next, signed; 0 where the run has one.
  runAddresses @9 :Data;
  # Column: first byte at the first receiver.
  runAddressSteps @10 :Data;
  # Column: bytes from one receiver's address to the next one's, signed; 0 where the run has one.
}

struct ComputePhases {
  count @0 :UInt32;
  operations @1 :Data;
  # Text column: the operation it belongs to.
  roles @2 :Data;
  # Text column: what it is for, such as "gemm".
  regions @3 :Data;
  # Text column: region label, empty without one.
}

enum MemoryClass {
  standard @0;
  # 64-bit path, any address.
  interleaved @1;
  # 128-bit loads, addresses from 0x80000.
}

struct CallTemplate {
  # A kernel call without its tile and addresses. Operand order is output first.
  symbol @0 :UInt32;
  # Text index: kernel symbol shown in profiles.
  metadataCount @1 :UInt32;
  metadataNames @2 :Data;
  # Text column.
  metadataValues @3 :Data;
  # Text column.
  estimate @4 :WorkEstimate;
  # Absent: unknown, which is not zero.
  kernel :union {
    gemmF16 :group {
      # out[R, C] = or += left[R, K] * right[K, C]; out and left in AMP-left panels, right block-major.
      # Operands: out, left, right.
      rows @5 :UInt32;
      inner @6 :UInt32;
      # A multiple of 16.
      columns @7 :UInt32;
      # A multiple of 16.
      accumulate @8 :Bool;
      coefficients @9 :MemoryClass;
    }
    reduceSumF16 :group {
      # out[n] = sum of P packed partials of n elements. Operands: out, partials.
      partials @10 :UInt32;
      # At least 2.
      elements @11 :UInt32;
      # A multiple of 8.
    }
    zeroFillBytes @12 :UInt32;
    # A multiple of 8. Operands: out.
    copyBytes @13 :UInt32;
    # A multiple of 8. Operands: out, source.

    # Since 2.1. Layouts, padding and in-place rules as in runtime/src/package/kernel.rs.
    gemmPackedF16 @14 :Gemm;
    # gemmF16 stored in groups of 16 rows, each group in AMP-left panels.
    gemmF143 :group {
      # F143 operands, panels of 32 inner values, F16 result.
      gemm @15 :Gemm;
      scale @16 :Int8;
      # Sum of the operands' scale exponents, -32..=30.
    }
    gemmF32 @17 :Gemm;
    # F32, panels of 8 inner values and of 8 result columns.
    gelu @18 :Pointwise;
    # GeLU, tanh form, input clamped to [-8, 8]. Operands: out, source.
    biasGelu @19 :Pointwise;
    # GeLU(source + bias). Operands: out, source, bias of one row.
    add :group {
      # F16. Operands: out, left, right of one row.
      rows @20 :UInt32;
      width @21 :UInt32;
      # Even.
    }
    layerNorm :group {
      # Operands: out, source, gain, shift; with add: out, sum, source, residual, gain, shift.
      shape @22 :Pointwise;
      add @23 :Bool;
      epsilon @24 :Float32;
    }
    layerNormMoments :group {
      # F32 sum and sum of squares a row. Operands: moments, source; with add: moments, sum, source,
      # residual.
      rows @25 :UInt32;
      width @26 :UInt32;
      # Elements of this part of a row, even.
      add @27 :Bool;
    }
    layerNormApply :group {
      # Operands: out, source, moments (part-major), gain, shift.
      rows @28 :UInt32;
      width @29 :UInt32;
      totalWidth @30 :UInt32;
      # Elements of a whole row.
      parts @31 :UInt32;
      epsilon @32 :Float32;
    }
    softmax :group {
      # exp((x - max) * scale) of the first keys of AMP-left scores, zero for the others, then 32 bytes
      # of row state a row: F32 max * scale, F32 sum. Operands: out, scores.
      shape @33 :Pointwise;
      # width is the number of padded columns.
      keys @34 :UInt32;
      scale @35 :Float32;
    }
    merge :group {
      # Operands: [out if last] [state unless first and last] block, row state.
      rows @36 :UInt32;
      columns @37 :UInt32;
      # Value columns V, even.
      padded @38 :UInt32;
      # Columns of the block, a multiple of 16.
      first @39 :Bool;
      last @40 :Bool;
      halfOutput @41 :Bool;
    }
    cast :group {
      # Operands: out, source.
      kind @42 :CastKind;
      rows @43 :UInt32;
      # Rows of a panel for f16ToF143Panels, 1 for the others.
      count @44 :UInt32;
      # Panels of 32 columns for f16ToF143Panels, elements for the others.
      scale @45 :Int8;
      # Exponent of the F143 side's scale, -16..=15; 0 for the others.
    }
    rearrange :group {
      # F16, bit by bit. Operands: out, source.
      order @46 :Order;
      matrices @47 :UInt32;
      rows @48 :UInt32;
      columns @49 :UInt32;
      stride @50 :UInt32;
      # Elements from row to row on the row-major side.
    }
    copyRows :group {
      # Operands: out, source.
      rows @51 :UInt32;
      bytes @52 :UInt32;
      # Of a row, a multiple of 8, like the strides.
      outStride @53 :UInt32;
      sourceStride @54 :UInt32;
    }
    copyWordsBytes @55 :UInt32;
    # By the supervisor, 32 bits at a time; a multiple of 4. Operands: out, source.
    copyHalvesBytes @56 :UInt32;
    # By the supervisor, 16 bits at a time; a multiple of 2. Operands: out, source.
    stageInterleavedBytes @57 :UInt32;
    # From standard to interleaved memory; a multiple of 8. Operands: out, source.

    # Since 3.1.
    mergeAll :group {
      # All blocks of online softmax in one pass. Operands: out, then block and row state of each part.
      rows @58 :UInt32;
      columns @59 :UInt32;
      # Value columns V, even.
      padded @60 :UInt32;
      # Columns of a block, a multiple of 16.
      parts @61 :UInt32;
      # 2..=92.
      halfOutput @62 :Bool;
    }

    # Since 3.2.
    addF32 :group {
      # Operands: out, left, right of one row.
      rows @63 :UInt32;
      width @64 :UInt32;
      # Even.
    }
  }
}

struct Gemm {
  # Extents of a product as in CallTemplate.kernel.gemmF16. Since 2.1.
  rows @0 :UInt32;
  inner @1 :UInt32;
  columns @2 :UInt32;
  accumulate @3 :Bool;
  coefficients @4 :MemoryClass;
}

struct Pointwise {
  # Rows and the element type of the result. Since 2.1.
  rows @0 :UInt32;
  width @1 :UInt32;
  # Even.
  toF143 @2 :Bool;
  # The result is F143 instead of F16.
  scale @3 :Int8;
  # Exponent of the F143 result's scale, -16..=15; 0 for F16.
  packed @4 :Bool;
  # The F143 result lies in AMP-left panels of 32; false for F16.
}

enum CastKind {
  f16ToF32 @0;
  f32ToF16 @1;
  f16ToF143 @2;
  f16ToF143Panels @3;
  f143ToF16 @4;
}

enum Order {
  # Of a rearrangement. Since 2.1.
  packLeft @0;
  packRight @1;
  packTransposedRight @2;
  unpackTransposed @3;
  unpackLeft @4;
  leftToRight @5;
}

struct WorkEstimate {
  # Of one call, in 256ths of an issue-cycle.
  useful @0 :UInt64;
  physical @1 :UInt64;
  basis @2 :UInt32;
  # Text index: the rule that gave the numbers, for people.
}

struct TileProgram {
  segments @0 :List(Segment);
  # Loaded bytes, sorted by address, disjoint.

  rowCount @1 :UInt32;
  # Rows sorted by exchange; a tile without traffic at an exchange has none.
  rowExchanges @2 :Data;
  # Column: index into Package.exchanges.
  rowAddresses @3 :Data;
  # Column: address of the first word, a multiple of 8, in region 0.
  rowIncomingBases @4 :Data;
  # Column: INCOMING_BASE on entry, a byte address; 0 for absolute rows.
  rowOutgoingBases @5 :Data;
  # Column: OUTGOING_BASE on entry, a byte address; 0 for absolute rows.

  callCount @6 :UInt32;
  # Calls in program order, sorted by compute phase.
  callPhases @7 :Data;
  # Column: index into Package.computePhases.
  callTemplates @8 :Data;
  # Column: index into Package.callTemplates.
  operandCount @9 :UInt32;
  # Operands of all calls; the template's kernel says how many each has.
  callOperands @10 :Data;
  # Column: operand addresses, output first.

  zeroCount @11 :UInt32;
  # Ranges that are zero before the run and count as initialised.
  zeroAddresses @12 :Data;
  # Column: multiples of 4.
  zeroBytes @13 :Data;
  # Column: multiples of 4.

  operandStepCount @14 :UInt32;
  # Operand steps, sorted by call and operand: operands that move from iteration to iteration.
  operandStepCalls @15 :Data;
  # Column: index of the call.
  operandStepOperands @16 :Data;
  # Column: index of its operand.
  operandStepBytes @17 :Data;
  # Column: bytes from one iteration's address to the next one's, signed.

  patchCount @18 :UInt32;
  # Row patches, sorted by address: row words that the supervisor rewrites for each iteration.
  patchExchanges @19 :Data;
  # Column: the exchange before which the word is rewritten; the tile has a row in it.
  patchAddresses @20 :Data;
  # Column: address of the word, in a segment, distinct.
  patchSteps @21 :Data;
  # Column: added to the word, modulo 2^32, from one iteration to the next.
}

struct Segment {
  address @0 :UInt32;
  bytes @1 :Data;
}

struct Allocations {
  # SRAM placement with lifetimes, for the memory map; never used to execute.
  count @0 :UInt32;
  tiles @1 :Data;
  addresses @2 :Data;
  bytes @3 :Data;
  classes @4 :Data;
  # Column: MemoryClass values.
  labels @5 :Data;
  # Text column: what it holds.
  firsts @6 :Data;
  # Column: first schedule item at which it is live (flattened, a Repeat body counted once).
  lasts @7 :Data;
  # Column: last one, inclusive; 4294967295 lives to the end.
}
