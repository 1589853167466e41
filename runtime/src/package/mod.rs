//! The `.ipuexe` package: its model and its bytes.

pub mod model;
