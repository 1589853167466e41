//! Stories told in a headless browser against the real server, one file a theme.

mod colours;
mod driver;
mod existing;
mod failures;
mod figures;
mod grid;
mod links;
mod offline;
mod open;
mod part;
mod pictures;
mod selection;
mod share;
mod table;
