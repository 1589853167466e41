//! Kernels whose cost no measurement stands behind: which ones a package calls, and whether it may.

use runtime::kernels::{Basis, symbols_of};
use runtime::package::Package;

use crate::error::CompileError;
use crate::options::Options;

/// Symbols of the kernels with an assumed cost that a package calls, sorted.
///
/// # Errors
/// [`CompileError::Option`] naming them where the options do not allow any.
pub(crate) fn check(package: &Package, options: &Options) -> Result<Vec<String>, CompileError> {
    let generation = options.kernel_generation;
    let symbols = symbols_of(&package.call_templates, generation, Basis::Assumed);
    if options.allow_assumed_kernels || symbols.is_empty() {
        return Ok(symbols.into_iter().map(str::to_owned).collect());
    }
    Err(CompileError::Option {
        name: "allow-assumed-kernels",
        problem: format!(
            "no measurement stands behind the cost of {} in generation {generation}; give the \
             option to compile them, and read the totals as assumed",
            symbols.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use runtime::kernels::Generation;
    use runtime::package::{CallTemplate, Cast, KernelSpec};

    use super::*;
    use crate::options::{
        AttentionProducts, AttentionStrategy, ExchangeItems, Limits, OperandPolicy, RepeatPolicy,
    };

    fn options(allow_assumed_kernels: bool) -> Options {
        Options {
            workload: String::new(),
            tiles: 1,
            operands: OperandPolicy::Sharded,
            clock_hz: 1_500_000_000,
            kernel_generation: Generation::default(),
            allow_assumed_kernels,
            attention: AttentionStrategy::Auto,
            products: AttentionProducts::default(),
            repeats: RepeatPolicy::default(),
            items: ExchangeItems::default(),
            limits: Limits::STANDARD,
            tile_mapping: None,
            plan_constraints: Vec::new(),
            flags: Vec::new(),
        }
    }

    #[test]
    fn assumed_kernels_are_named_and_refused_unless_allowed() {
        let template = |symbol: &str, kernel| CallTemplate {
            kernel,
            symbol: symbol.to_owned(),
            metadata: Vec::new(),
            estimate: None,
        };
        let widen = KernelSpec::Cast(Cast::F16ToF32 { elements: 2 });
        let mut package = Package {
            call_templates: vec![template("zero_fill", KernelSpec::ZeroFill { bytes: 8 })],
            ..Package::default()
        };
        assert_eq!(check(&package, &options(false)).unwrap(), [""; 0]);
        package.call_templates.push(template("widen", widen));
        assert_eq!(check(&package, &options(true)).unwrap(), ["widen"]);
        let error = check(&package, &options(false)).unwrap_err().to_string();
        assert!(
            error.starts_with("option allow-assumed-kernels: "),
            "{error}"
        );
        assert!(error.contains("widen in generation 2026-09-13"), "{error}");
    }
}
