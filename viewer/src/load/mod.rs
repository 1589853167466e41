//! Ways a profile comes in: dropped or picked files, addresses, the file inside the page.

pub(crate) mod drop_zone;
pub(crate) mod place;
