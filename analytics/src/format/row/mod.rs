//! The row format: existing profiles in, and out again for tools that read them.

mod decode;
mod encode;
mod estimate;
mod framing;

pub use decode::{to_columnar, to_file};
pub use encode::encode;

pub(crate) use framing::Framing;
