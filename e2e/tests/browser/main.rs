//! Stories told in a headless browser against the real server, one file a theme.

mod driver;
