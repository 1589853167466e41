//! Repeats whose iterations read other weights and send from other addresses.

use half::f16;

use super::block::{package, repeat, send_word};
use super::{TensorValues, horizons, lines, report, run, values};
use crate::fault::FaultRule;
use crate::package::{Binding, OperandStep, Package, RowPatch, SourceStep};
use crate::sim::{RunError, RunOptions};

/// Iterations.
const COUNT: u32 = 3;
/// Bytes of one iteration's left and right operand.
const LEFT_BYTES: u32 = 64;
const RIGHT_BYTES: u32 = 512;

/// The block with a Repeat around operands and product: iteration i multiplies rows 2i.. of the
/// left tensor by rows 16i.. of the right one; the last product stays.
fn repeated() -> Package {
    let mut package = package();
    package.tensors[0].shape[0] *= u64::from(COUNT);
    package.tensors[1].shape[0] *= u64::from(COUNT);
    let copies = |binding: &Binding| {
        let (bytes, elements) = if binding.tensor == 0 {
            (LEFT_BYTES, 2 * 16)
        } else {
            (RIGHT_BYTES, 16 * 32)
        };
        let binding = *binding;
        (1..COUNT).map(move |i| Binding {
            address: binding.address + i * bytes,
            element: binding.element + u64::from(i) * elements,
            ..binding
        })
    };
    let further: Vec<_> = package.bindings[..3].iter().flat_map(copies).collect();
    package.bindings.extend(further);
    for tile in [1, 2] {
        let call = package.tiles[tile].calls.len() - 1;
        package.tiles[tile].operand_steps.push(OperandStep {
            call: u32::try_from(call).unwrap(),
            operand: 2,
            bytes: RIGHT_BYTES.cast_signed(),
        });
    }
    package.exchanges[0].source_steps.push(SourceStep {
        delivery: 0,
        bytes: LEFT_BYTES.cast_signed(),
    });
    let address = send_word(&package, 0, 0);
    package.tiles[0].row_patches.push(RowPatch {
        address,
        exchange: 0,
        // The address field counts words and starts at bit 3.
        step: (LEFT_BYTES / 4) << 3,
    });
    repeat(&mut package, COUNT);
    package
}

#[test]
fn the_last_iteration_reads_its_own_operands() {
    let package = repeated();
    let (left, right) = (
        values(&package.tensors[0]).unwrap(),
        values(&package.tensors[1]).unwrap(),
    );
    let last = COUNT as usize - 1;
    let product = |i: usize| {
        let (row, column) = (2 * last + i / 32, i % 32);
        let terms =
            (0..16).map(|k| left.get(row * 16 + k) * right.get((16 * last + k) * 32 + column));
        f16::from_f32(terms.fold(0.0, |sum, term| sum + term))
    };
    let expected: Vec<_> = (0..64).map(product).collect();
    let report = report(&package);
    assert_eq!(report.outputs[0].values, TensorValues::F16(expected));
    let read = crate::package::read(&crate::package::write(&package).unwrap()).unwrap();
    assert_eq!(read, package);
}

/// Spread of the arrivals at the second iteration's exchange.
fn second_spread(package: &Package) -> u64 {
    report(package).phases[3].arrival_spread.get()
}

#[test]
fn a_rewritten_word_costs_its_supervisor_28_cycles_an_iteration() {
    let mut package = repeated();
    // Tile 0 has no kernel: its exit from the first exchange is the earliest arrival.
    let before = second_spread(&package);
    let spare = crate::package::Segment {
        address: 0x5_4000,
        bytes: vec![0; 40],
    };
    let words = (0..10).map(|word| RowPatch {
        address: spare.address + 4 * word,
        exchange: 0,
        step: 0,
    });
    package.tiles[0].row_patches.extend(words);
    package.tiles[0].segments.push(spare);
    let after = second_spread(&package);
    // The others arrive at different times; tile 3, without a kernel too, is now the first.
    let exits = |tile: usize| horizons(&package)[0][tile];
    assert_eq!(before, latest(&package) - (exits(3).min(exits(0) + 28)));
    assert_eq!(after, latest(&package) - exits(3).min(exits(0) + 11 * 28));
}

/// When the last tile has computed, counted from where rows of length zero exit.
fn latest(package: &Package) -> u64 {
    let horizons = &horizons(package)[0];
    (horizons[1] + 246 + 12 + 462).max(horizons[2] + 462)
}

#[test]
fn the_footprint_counts_the_operands_of_every_iteration() {
    let once = report(&package()).memory_high_water;
    let all = report(&repeated()).memory_high_water;
    let more = |tile: usize| all[tile].get() - once[tile].get();
    let further = u64::from(COUNT - 1);
    assert_eq!(more(0), further * u64::from(LEFT_BYTES));
    assert_eq!(more(2), further * u64::from(RIGHT_BYTES));
    assert_eq!(more(3), 0);
}

#[test]
fn steps_that_do_not_belong_together_are_faults() {
    let mut unpatched = repeated();
    unpatched.tiles[0].row_patches.clear();
    let error = run(&unpatched, &RunOptions::default()).unwrap_err();
    let RunError::Faults(faults) = &error else {
        panic!("{error}");
    };
    assert_eq!(faults.first().rule, FaultRule::DeliveryMismatch);
    let mut astray = repeated();
    // The second iteration's coefficients lie below the interleaved region.
    astray.tiles[2].operand_steps[0].bytes = -0x2_0000;
    let text = lines(&run(&astray, &RunOptions::default()).unwrap_err());
    assert!(text.contains("in iteration 1 of its Repeat"), "{text}");
}
