//! The machine as constants, tables and an instruction decoder; nothing here changes during a run.

pub mod arch;
pub mod isa;
pub mod memory;
pub mod sram;
pub mod supervisor;
pub mod topology;
