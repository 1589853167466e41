//! Tiles × time on a canvas. Pure: [`viewport`], [`axis`], [`colour`], [`layout`] → [`scene`] →
//! [`paint`] over a [`surface`], and [`input`]. Only [`canvas`] touches the canvas; the components
//! wire signals and events, [`frames`] logs what each frame costs, and [`words`] say the
//! picture.

pub(crate) mod axis;
pub(crate) mod below;
pub(crate) mod canvas;
pub(crate) mod chip;
pub(crate) mod colour;
pub(crate) mod component;
pub(crate) mod cursor;
pub(crate) mod elements;
pub(crate) mod frames;
pub(crate) mod input;
pub(crate) mod labels;
pub(crate) mod late;
pub(crate) mod layout;
pub(crate) mod pace;
pub(crate) mod paint;
pub(crate) mod pointer;
pub(crate) mod scene;
pub(crate) mod selected;
pub(crate) mod stage;
pub(crate) mod steering;
pub(crate) mod strip;
pub(crate) mod surface;
pub(crate) mod viewport;
pub(crate) mod words;
