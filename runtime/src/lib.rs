//! The simulated IPU21: executes encoded packages, computes real numbers, counts cycles and records
//! profiles. It defines the machine and never sees the compiler.

pub mod package;
