//! The compiler as a whole, with the simulated device behind it.

#[cfg(test)]
mod assumed;
#[cfg(test)]
mod attention;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod determinism;
#[cfg(test)]
mod exchanges;
#[cfg(test)]
mod interpret;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod mutants;
#[cfg(test)]
mod placement;
#[cfg(test)]
mod progress;
#[cfg(test)]
mod published;
#[cfg(test)]
mod simulate;
#[cfg(test)]
mod support;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod totals;
