//! What the machine asks of a kernel's operands: alignment, regions, elements, no overlap.
//!
//! A call in, its first violation out. These rules need no data, so they are checked before a run.

use super::kernel::{Kernel, with_kernel};
use super::operands::{Access, Operand};
use crate::fault::FaultRule;
use crate::machine::sram;
use crate::package::{Address, KernelSpec};

/// A rule that a call breaks; the caller knows tile and phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: FaultRule,
    /// Address of the operand, or of the word, that breaks it.
    pub address: Address,
    /// The particulars.
    pub detail: String,
}

impl Violation {
    pub(super) fn new(rule: FaultRule, address: Address, detail: String) -> Self {
        Self {
            rule,
            address,
            detail,
        }
    }
}

/// An operand at its place.
pub(crate) struct Placed {
    pub(crate) operand: Operand,
    pub(crate) address: Address,
    /// Bytes, the tail excluded.
    pub(crate) bytes: u32,
    /// Elements touched, the tail included.
    pub(crate) elements: u32,
}

impl Placed {
    fn end(&self) -> Address {
        self.address + self.bytes
    }

    /// A fault unless the operand lies in the interleaved region.
    pub(crate) fn require_interleaved(&self, why: &str) -> Result<(), Violation> {
        if sram::is_interleaved(self.address, self.bytes) {
            return Ok(());
        }
        let name = self.operand.name;
        let detail = format!("operand {name} must lie in the interleaved region: {why}");
        Err(Violation::new(
            FaultRule::OperandRegion,
            self.address,
            detail,
        ))
    }
}

/// Checks the operand addresses of a call, output first.
///
/// # Errors
///
/// The first violation in operand order.
pub fn check_operands(spec: &KernelSpec, addresses: &[Address]) -> Result<(), Violation> {
    with_kernel!(spec, kernel => check(&kernel, addresses))
}

fn check(kernel: &impl Kernel, addresses: &[Address]) -> Result<(), Violation> {
    let placed = kernel
        .operands()
        .into_iter()
        .zip(addresses)
        .map(|(operand, &address)| place(operand, address))
        .collect::<Result<Vec<_>, _>>()?;
    for (index, written) in placed.iter().enumerate() {
        if written.operand.access == Access::Read {
            continue;
        }
        let others = placed.iter().enumerate();
        for (_, other) in others.filter(|&(other, _)| other != index) {
            overlap(kernel, written, other)?;
        }
    }
    kernel.check_places(&placed)
}

fn place(operand: Operand, address: Address) -> Result<Placed, Violation> {
    let Operand {
        name,
        bytes,
        tail,
        alignment,
        ..
    } = operand;
    if !address.is_multiple_of(alignment) {
        let detail = format!("operand {name} is not {alignment}-byte aligned");
        return Err(Violation::new(FaultRule::OperandAlignment, address, detail));
    }
    let touched = u32::try_from(bytes.saturating_add(tail)).ok();
    let elements = touched.and_then(|touched| sram::elements(address, touched));
    match (u32::try_from(bytes), elements) {
        (Ok(bytes), Some(elements)) => Ok(Placed {
            operand,
            address,
            bytes,
            elements,
        }),
        _ => {
            let detail = format!("operand {name} of {bytes} bytes and {tail} read past it");
            Err(Violation::new(FaultRule::OperandRange, address, detail))
        }
    }
}

/// A written operand overlaps no other, unless the kernel may work in place.
fn overlap(kernel: &impl Kernel, written: &Placed, other: &Placed) -> Result<(), Violation> {
    let apart = written.end() <= other.address || other.end() <= written.address;
    let (name, other_name) = (written.operand.name, other.operand.name);
    let in_place = written.address == other.address
        && (kernel.may_replace(name, other_name) || kernel.may_replace(other_name, name));
    if apart || in_place {
        return Ok(());
    }
    let detail = format!(
        "{} {:#x}..{:#x} overlaps operand {other_name} at {:#x}..{:#x}",
        if name == "out" { "output" } else { name },
        written.address,
        written.end(),
        other.address,
        other.end()
    );
    Err(Violation::new(
        FaultRule::OperandOverlap,
        written.address,
        detail,
    ))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::package::MemoryClass;

    const GEMM: KernelSpec = KernelSpec::GemmF16 {
        rows: 4,
        inner: 32,
        columns: 16,
        accumulate: false,
        coefficients: MemoryClass::Interleaved,
    };
    const SMALL: KernelSpec = KernelSpec::GemmF16 {
        rows: 4,
        inner: 16,
        columns: 16,
        accumulate: false,
        coefficients: MemoryClass::Standard,
    };

    fn check(spec: &KernelSpec, addresses: &[Address], expected: &Expect) {
        let found = match check_operands(spec, addresses) {
            Ok(()) => "fine".to_owned(),
            Err(v) => format!(
                "{} at {:#x}:\n{}",
                v.rule,
                v.address,
                v.detail.replace(": ", ":\n")
            ),
        };
        expected.assert_eq(&found);
    }

    #[test]
    fn gemm_operands_are_aligned_apart_and_in_their_regions() {
        check(&GEMM, &[0x8_0000, 0x8_8000, 0x9_0000], &expect!["fine"]);
        check(&SMALL, &[0x6_0000, 0x6_4000, 0x6_8000], &expect!["fine"]);
        check(
            &GEMM,
            &[0x8_0010, 0x8_8000, 0x9_0000],
            &expect![[r#"
                operand-alignment at 0x80010:
                operand out is not 32-byte aligned"#]],
        );
        check(
            &GEMM,
            &[0x6_0000, 0x8_8000, 0x9_0000],
            &expect![[r#"
                operand-region at 0x60000:
                operand out must lie in the interleaved region:
                it is read back for each panel"#]],
        );
        check(
            &GEMM,
            &[0x8_0000, 0x8_8000, 0x6_0000],
            &expect![[r#"
                operand-region at 0x60000:
                operand right must lie in the interleaved region:
                its coefficients are loaded 128 bits at a time"#]],
        );
        check(
            &GEMM,
            &[0x8_0000, 0x8_7000, 0x9_0000],
            &expect![[r#"
                operand-element at 0x80000:
                output at 0x80000 and left operand at 0x87000 share a memory element"#]],
        );
        check(
            &GEMM,
            &[0x8_0000, 0x8_8000, 0x8_0040],
            &expect![[r#"
                operand-overlap at 0x80000:
                output 0x80000..0x80080 overlaps operand right at 0x80040..0x80440"#]],
        );
    }

    #[test]
    fn the_left_operand_counts_with_what_is_read_past_it() {
        // 256 bytes end exactly at the element border; sixteen more are read.
        check(
            &GEMM,
            &[0x8_8000, 0x8_7F00, 0x9_0000],
            &expect![[r#"
                operand-element at 0x88000:
                output at 0x88000 and left operand at 0x87f00 share a memory element"#]],
        );
        check(
            &GEMM,
            &[0x8_8000, 0xE_7F00, 0x9_0000],
            &expect![[r#"
                operand-range at 0xe7f00:
                operand left of 256 bytes and 16 read past it"#]],
        );
    }

    #[test]
    fn sums_may_replace_their_first_partial_and_copies_nothing() {
        let sum = KernelSpec::ReduceSumF16 {
            partials: 3,
            elements: 8,
        };
        check(&sum, &[0x6_0000, 0x6_0000], &expect!["fine"]);
        check(
            &sum,
            &[0x6_0010, 0x6_0000],
            &expect![[r#"
                operand-overlap at 0x60010:
                output 0x60010..0x60020 overlaps operand partials at 0x60000..0x60030"#]],
        );
        let copy = KernelSpec::Copy { bytes: 16 };
        check(&copy, &[0x6_0000, 0x6_0010], &expect!["fine"]);
        check(
            &copy,
            &[0x6_0000, 0x6_0000],
            &expect![[r#"
                operand-overlap at 0x60000:
                output 0x60000..0x60010 overlaps operand source at 0x60000..0x60010"#]],
        );
        check(
            &copy,
            &[0x6_0004, 0x6_0020],
            &expect![[r#"
                operand-alignment at 0x60004:
                operand out is not 8-byte aligned"#]],
        );
    }
}
