//! Ways a profile comes in: dropped or picked files, addresses, the file inside the page.

pub(crate) mod drop_zone;
pub(crate) mod place;
pub(crate) mod reading;
pub(crate) mod recent;
pub(crate) mod recent_list;
pub(crate) mod shared;
pub(crate) mod shared_list;
pub(crate) mod tab_bar;
