//! Opening a package or a second profile beside the open one.

use leptos::prelude::*;
use web_sys::{Blob, File};

use super::actions::App;
use super::answers::Beside;
use super::load::LoadState;
use super::view::Lower;
use crate::browser;
use crate::engine::lanes::Lane;
use crate::engine::protocol::Source;
use crate::load::place::{Place, is_package_name};

fn is_package(file: &File) -> bool {
    is_package_name(&file.name())
}

/// A profile, and the package that comes with it.
pub(super) fn pair(files: &[File]) -> Option<(&File, &File)> {
    match files {
        [a, b] if !is_package(a) && is_package(b) => Some((a, b)),
        [a, b] if is_package(a) && !is_package(b) => Some((b, a)),
        _ => None,
    }
}

impl App {
    /// Opens a package of this computer beside the open profile, and shows it.
    pub(crate) fn open_package_file(self, file: &File) {
        self.change_view(|view| view.lower = Lower::Memory);
        self.take_package_file(file);
    }

    /// Opens a package of this computer beside the open profile.
    pub(super) fn take_package_file(self, file: &File) {
        self.panels.forget_address(1);
        self.change_view(|view| view.panels.package = None);
        self.open_package(Source::File { name: file.name() }, file.name(), Some(file));
    }

    /// Opens the package that came with a profile, once that is open.
    pub(super) fn take_package_to_come(self) {
        if !self.load.with_untracked(LoadState::has_profile) {
            return;
        }
        if let Some(Some(package)) = self.package_to_come.try_update_value(Option::take) {
            self.take_package_file(&package);
        }
    }

    /// Opens the package that an address names beside the open profile, unless it is there
    /// already.
    pub(crate) fn open_package_place(self, address: &str) {
        if !self.panels.is_news(1, address) {
            return;
        }
        let place = Place::from_url(address, &browser::origin());
        if let Some(url) = place.source().map(|it| browser::absolute(&it)) {
            self.open_package(Source::Address { url }, place.label(), None);
        }
    }

    fn open_package(self, source: Source, name: String, file: Option<&Blob>) {
        self.panels.package.set(Beside::Loading { name });
        self.client
            .with_value(|client| client.open_package(source, file));
    }

    /// Opens a dropped file: a package beside the open profile, where there is one.
    pub(crate) fn open_dropped(self, file: &File) {
        let has_profile = self.load.with_untracked(LoadState::has_profile);
        if has_profile && is_package(file) {
            self.open_package_file(file);
        } else {
            self.open_file(file);
        }
    }

    /// Opens a file of this computer beside the open profile, to compare the two.
    pub(crate) fn open_other_file(self, file: &File) {
        self.panels.forget_address(0);
        self.change_view(|view| {
            view.panels.compare_with(None);
            view.lower = Lower::Compare;
        });
        self.open_other(Source::File { name: file.name() }, file.name(), Some(file));
    }

    /// Opens what an address names beside the open profile, unless it is there already.
    pub(crate) fn open_other_place(self, address: &str) {
        if !self.panels.is_news(0, address) {
            return;
        }
        let place = Place::from_url(address, &browser::origin());
        if let Some(url) = place.source().map(|it| browser::absolute(&it)) {
            self.open_other(Source::Address { url }, place.label(), None);
        }
    }

    fn open_other(self, source: Source, name: String, file: Option<&Blob>) {
        // Answers about the profile before must not pass for those about this one.
        for lane in [
            Lane::Compare,
            Lane::OtherRaster,
            Lane::OtherRows,
            Lane::OtherHit,
        ] {
            self.void(lane);
        }
        self.panels.compare.set(None);
        self.panels.other_raster.set(None);
        self.panels.other_rows.set(None);
        self.panels.other_hit.set(None);
        self.panels.other.set(Beside::Loading { name });
        self.client
            .with_value(|client| client.open_other(source, file));
    }
}
