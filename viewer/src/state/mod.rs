//! What is loaded and what is looked at. Plain values in [`load`], [`view`] and [`url`]; the only
//! writers of what is loaded and viewed in [`actions`], [`taking`], [`moves`] and [`tabs`];
//! everything that follows in [`derived`].

pub(crate) mod actions;
pub(crate) mod answers;
pub(crate) mod beside;
pub(crate) mod chip_choice;
pub(crate) mod derived;
pub(crate) mod history;
pub(crate) mod kind_choice;
pub(crate) mod listed;
pub(crate) mod load;
pub(crate) mod moves;
pub(crate) mod panels;
pub(crate) mod rehearsal;
pub(crate) mod row_choice;
pub(crate) mod rows;
pub(crate) mod tabs;
mod taking;
pub(crate) mod trail;
pub(crate) mod url;
pub(crate) mod view;
