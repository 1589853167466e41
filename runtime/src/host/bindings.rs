//! Bindings applied: tensor values to tile memories, and outputs back.
//!
//! A binding is an affine loop nest; its innermost loops that step by one element in SRAM move as
//! runs.

use analytics::units::TileId;
use half::f16;
use rayon::prelude::*;

use super::{HostError, TensorValues, values};
use crate::fault::{Fault, FaultRule};
use crate::machine::memory::{OutOfRange, TileMemory};
use crate::package::{Address, Binding, Package, TensorRole};

/// Elements that lie one after another in SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// First byte.
    address: Address,
    /// Tensor index of the first element.
    element: usize,
    /// Tensor elements from one to the next.
    stride: isize,
    /// How many.
    count: usize,
}

/// Calls `visit` for every run of a binding, in pattern order.
fn runs<E>(
    package: &Package,
    binding: &Binding,
    visit: &mut impl FnMut(Run) -> Result<(), E>,
) -> Result<(), E> {
    let size = package.tensors[binding.tensor as usize].dtype.bytes();
    let loops = &package.patterns[binding.pattern as usize].loops;
    let inner = loops
        .last()
        .filter(|level| i64::from(level.memory_stride) == i64::from(size));
    let outer = &loops[..loops.len() - usize::from(inner.is_some())];
    let (count, stride) = inner.map_or((1, 1), |level| (level.count, level.tensor_stride));
    let mut counters = vec![0_u32; outer.len()];
    loop {
        let (mut address, mut element) =
            (i64::from(binding.address), binding.element.cast_signed());
        for (level, &index) in outer.iter().zip(&counters) {
            address += i64::from(index) * i64::from(level.memory_stride);
            element += i64::from(index) * level.tensor_stride;
        }
        visit(Run {
            address: u32::try_from(address).unwrap_or(u32::MAX),
            element: usize::try_from(element).unwrap_or(usize::MAX),
            stride: isize::try_from(stride).unwrap_or(isize::MAX),
            count: count as usize,
        })?;
        // The innermost counter that is not at its end steps; those inside it start again.
        let Some(level) = (0..outer.len())
            .rev()
            .find(|&l| counters[l] + 1 < outer[l].count)
        else {
            return Ok(());
        };
        counters[level] += 1;
        counters[level + 1..].fill(0);
    }
}

/// An element as the bytes that SRAM holds.
trait Element<const N: usize>: Copy {
    fn to_bytes(self) -> [u8; N];
    fn from_bytes(bytes: [u8; N]) -> Self;
}

impl Element<2> for f16 {
    fn to_bytes(self) -> [u8; 2] {
        self.to_le_bytes()
    }
    fn from_bytes(bytes: [u8; 2]) -> Self {
        Self::from_le_bytes(bytes)
    }
}

impl Element<4> for f32 {
    fn to_bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }
    fn from_bytes(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }
}

impl Element<1> for u8 {
    fn to_bytes(self) -> [u8; 1] {
        [self]
    }
    fn from_bytes([byte]: [u8; 1]) -> Self {
        byte
    }
}

/// Writes inputs and parameters to the tiles, in parallel over tiles.
///
/// # Errors
///
/// A tensor that the host cannot make.
pub(crate) fn load(package: &Package, memories: &mut [TileMemory]) -> Result<(), HostError> {
    let made = package.tensors.par_iter().map(|tensor| match tensor.role {
        TensorRole::Input | TensorRole::Parameter => values(tensor).map(Some),
        TensorRole::Output => Ok(None),
    });
    let made: Vec<Option<TensorValues>> = made.collect::<Result<_, _>>()?;
    let by_tile = by_tile(package, memories.len());
    memories
        .par_iter_mut()
        .zip(&by_tile)
        .try_for_each(|(memory, bindings)| {
            for &binding in bindings {
                if let Some(values) = &made[binding.tensor as usize] {
                    write_binding(package, binding, values, memory)?;
                }
            }
            Ok(())
        })
}

fn by_tile(package: &Package, tiles: usize) -> Vec<Vec<&Binding>> {
    let mut by_tile = vec![Vec::new(); tiles];
    for binding in &package.bindings {
        by_tile[binding.tile.index()].push(binding);
    }
    by_tile
}

fn write_binding(
    package: &Package,
    binding: &Binding,
    values: &TensorValues,
    memory: &mut TileMemory,
) -> Result<(), HostError> {
    runs(package, binding, &mut |run| match values {
        TensorValues::F16(values) => put(memory, run, values),
        TensorValues::F32(values) => put(memory, run, values),
        TensorValues::F143(values) => put(memory, run, values),
    })
    .map_err(|source| HostError::Placement {
        tile: binding.tile.get(),
        source,
    })
}

fn put<const N: usize, T: Element<N>>(
    memory: &mut TileMemory,
    run: Run,
    values: &[T],
) -> Result<(), OutOfRange> {
    memory.write_with(run.address, length(run.count * N), |to| {
        let (slots, _) = to.as_chunks_mut::<N>();
        for (index, slot) in slots.iter_mut().enumerate() {
            *slot = values[element(run, index)].to_bytes();
        }
    })
}

fn element(run: Run, index: usize) -> usize {
    run.element
        .wrapping_add_signed(run.stride.wrapping_mul(index.cast_signed()))
}

/// A length inside SRAM; longer ones fail the memory's own check.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Why outputs could not be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutputError {
    /// The bindings leave an element out or contradict each other.
    Host(HostError),
    /// The program never wrote what an output names.
    Fault(Fault),
}

/// Reads every output tensor, in package order, as its index and values.
pub(crate) fn read_outputs(
    package: &Package,
    memories: &[TileMemory],
) -> Result<Vec<(u32, TensorValues)>, OutputError> {
    let outputs: Vec<u32> = (0..)
        .zip(&package.tensors)
        .filter(|(_, tensor)| tensor.role == TensorRole::Output)
        .map(|(index, _)| index)
        .collect();
    outputs
        .into_par_iter()
        .map(|index| Ok((index, read_output(package, index, memories)?)))
        .collect()
}

fn read_output(
    package: &Package,
    index: u32,
    memories: &[TileMemory],
) -> Result<TensorValues, OutputError> {
    let tensor = &package.tensors[index as usize];
    let elements = usize::try_from(tensor.elements()).unwrap_or(usize::MAX);
    let mut values = TensorValues::zeroes(tensor.dtype, elements);
    let mut covered = vec![false; elements];
    for binding in package
        .bindings
        .iter()
        .filter(|binding| binding.tensor == index)
    {
        let memory = &memories[binding.tile.index()];
        let mut reader = Reader {
            name: &tensor.name,
            tile: binding.tile,
            memory,
        };
        runs(package, binding, &mut |run| match &mut values {
            TensorValues::F16(values) => reader.get(run, values, &mut covered),
            TensorValues::F32(values) => reader.get(run, values, &mut covered),
            TensorValues::F143(values) => reader.get(run, values, &mut covered),
        })?;
    }
    match covered.iter().position(|&is_covered| !is_covered) {
        None => Ok(values),
        Some(element) => Err(OutputError::Host(HostError::Uncovered {
            tensor: tensor.name.clone(),
            element: element as u64,
        })),
    }
}

/// Reads one output from one tile.
struct Reader<'a> {
    name: &'a str,
    tile: TileId,
    memory: &'a TileMemory,
}

impl Reader<'_> {
    fn get<const N: usize, T: Element<N>>(
        &mut self,
        run: Run,
        values: &mut [T],
        covered: &mut [bool],
    ) -> Result<(), OutputError> {
        let bytes = length(run.count * N);
        let placement = |source| {
            OutputError::Host(HostError::Placement {
                tile: self.tile.get(),
                source,
            })
        };
        if let Some(address) = self
            .memory
            .first_uninitialised(run.address, bytes)
            .map_err(placement)?
        {
            let detail = format!("output {} from element {} on", self.name, run.element);
            let fault = Fault::new(FaultRule::UninitialisedRead, self.tile, detail);
            return Err(OutputError::Fault(fault.at_address(address)));
        }
        let (found, _) = self
            .memory
            .read(run.address, bytes)
            .map_err(placement)?
            .as_chunks::<N>();
        for (index, &bytes) in found.iter().enumerate() {
            let element = element(run, index);
            if covered[element] && values[element].to_bytes() != bytes {
                return Err(OutputError::Host(HostError::Contradiction {
                    tensor: self.name.to_owned(),
                    element: element as u64,
                    first: bits(&values[element].to_bytes()),
                    second: bits(&bytes),
                    tile: self.tile.get(),
                }));
            }
            covered[element] = true;
            values[element] = T::from_bytes(bytes);
        }
        Ok(())
    }
}

fn bits(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, &byte| bits << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use analytics::units::PhysicalTile;

    use super::*;
    use crate::package::{AffineLoop, AffinePattern, DType, Fill, Target, Tensor, TileProgram};

    /// A 4 × 6 input and output on two tiles, AMP-like: column panels of 3, rows inside.
    fn package(bindings: &[(u32, u16, u64)]) -> Package {
        let tensor = |name: &str, role| Tensor {
            name: name.to_owned(),
            dtype: DType::F16,
            shape: vec![4, 6],
            role,
            fill: Fill::Cycle { row_step: 1 },
        };
        let level = |count, tensor_stride, memory_stride| AffineLoop {
            count,
            tensor_stride,
            memory_stride,
        };
        Package {
            target: Target {
                tile_mapping: vec![PhysicalTile::new(0), PhysicalTile::new(2)],
                ..Target::default()
            },
            tensors: vec![
                tensor("in", TensorRole::Input),
                tensor("out", TensorRole::Output),
            ],
            patterns: vec![AffinePattern {
                loops: vec![level(4, 6, 6), level(3, 1, 2)],
            }],
            bindings: bindings
                .iter()
                .map(|&(tensor, tile, element)| Binding {
                    tensor,
                    tile: TileId::new(tile),
                    address: 0x6_0000 + 32 * tensor,
                    element,
                    pattern: 0,
                })
                .collect(),
            tiles: vec![TileProgram::default(); 2],
            ..Package::default()
        }
    }

    fn memories() -> Vec<TileMemory> {
        vec![TileMemory::new(), TileMemory::new()]
    }

    #[test]
    fn inputs_lie_where_the_pattern_says_and_come_back_as_outputs() {
        let package = package(&[(0, 0, 0), (0, 1, 3), (1, 0, 0), (1, 1, 3)]);
        let mut memories = memories();
        load(&package, &mut memories).unwrap();
        // Row 1, columns 3..6 of the cycle: (1 + column) mod 5 = 4, 0, 1.
        let found = memories[1].read(0x6_0006, 6).unwrap().to_vec();
        let expected: Vec<u8> = [1.0, -1.0, -0.5]
            .iter()
            .flat_map(|&v| f16::from_f32(v).to_le_bytes())
            .collect();
        assert_eq!(found, expected);
        for memory in &mut memories {
            let bytes = memory.read(0x6_0000, 24).unwrap().to_vec();
            memory.write(0x6_0020, &bytes).unwrap();
        }
        let outputs = read_outputs(&package, &memories).unwrap();
        assert_eq!(outputs, [(1, values(&package.tensors[0]).unwrap())]);
    }

    #[test]
    fn strided_elements_need_no_contiguous_loop() {
        let mut package = package(&[(0, 0, 0), (0, 1, 3)]);
        // The same elements, column by column.
        package.patterns[0].loops.reverse();
        let mut strided = memories();
        load(&package, &mut strided).unwrap();
        package.patterns[0].loops.reverse();
        let mut direct = memories();
        load(&package, &mut direct).unwrap();
        for (strided, direct) in strided.iter().zip(&direct) {
            assert_eq!(strided.read(0x6_0000, 24), direct.read(0x6_0000, 24));
        }
    }

    #[test]
    fn outputs_must_be_covered_written_and_consistent() {
        let mut memories = memories();
        let missing = package(&[(1, 0, 0)]);
        let unwritten = read_outputs(&missing, &memories).unwrap_err();
        assert!(
            matches!(&unwritten, OutputError::Fault(f) if f.rule == FaultRule::UninitialisedRead)
        );
        for memory in &mut memories {
            memory.write(0x6_0020, &[0; 24]).unwrap();
        }
        let uncovered = HostError::Uncovered {
            tensor: "out".to_owned(),
            element: 3,
        };
        assert_eq!(
            read_outputs(&missing, &memories),
            Err(OutputError::Host(uncovered))
        );
        let twice = package(&[(1, 0, 0), (1, 1, 3), (1, 1, 0)]);
        assert!(read_outputs(&twice, &memories).is_ok());
        memories[1].write(0x6_0022, &[1, 2]).unwrap();
        let contradiction = HostError::Contradiction {
            tensor: "out".to_owned(),
            element: 1,
            first: 0,
            second: 0x201,
            tile: 1,
        };
        assert_eq!(
            read_outputs(&twice, &memories),
            Err(OutputError::Host(contradiction))
        );
    }
}
