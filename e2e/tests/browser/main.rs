//! Stories told in a headless browser against the real server, one file a theme.

mod colours;
mod compare;
mod copies;
mod driver;
mod exchange;
mod existing;
mod failures;
mod figures;
mod grid;
mod links;
mod memory;
mod offline;
mod open;
mod opening;
mod overview;
mod panels;
mod part;
mod phases;
mod pictures;
mod plots;
mod selection;
mod share;
mod table;
mod timeline;
