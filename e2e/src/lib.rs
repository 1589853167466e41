#![doc = include_str!("../README.md")]

pub mod chromium;
pub mod hand;
pub mod ranges;
pub mod stack;
pub mod tab;
pub mod viewer;
