//! The viewer as a WebAssembly module, compiled by the build script of this package.
//!
//! A package of its own, without dependencies: cargo starts it early, beside the crates of the
//! command, since its link-time optimisation keeps one core busy for as long as all of them. `site`
//! waits for it, binds it and embeds it.
