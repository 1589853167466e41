//! The subcommands that analyse profiles, in-process: what they print, write and refuse.

mod analyses;
mod command;
mod json;
