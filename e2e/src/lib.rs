#![doc = include_str!("../README.md")]

pub mod chromium;
pub mod stack;
pub mod tab;
pub mod viewer;
