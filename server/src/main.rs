//! The `ipu-stack` command.
fn main() {}
