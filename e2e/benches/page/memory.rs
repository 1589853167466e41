//! What the renderers of a browser hold, from `/proc`; zero on other systems.

use std::fs;

/// Memory of the largest renderer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Resident now.
    pub(crate) resident_mib: f64,
    /// Most that was ever resident.
    pub(crate) peak_mib: f64,
}

/// The largest renderer below a browser's process.
pub(crate) fn of_renderers(browser: u32) -> Memory {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Memory::default();
    };
    let ids = processes.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let renderers = ids.filter(|&id| {
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        words.contains("--type=renderer") && is_below(id, browser)
    });
    let mut most = Memory::default();
    for id in renderers {
        let mib = |name| {
            field(id, name)
                .and_then(|it| it.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        most.resident_mib = most.resident_mib.max(mib("VmRSS:") / 1024.0);
        most.peak_mib = most.peak_mib.max(mib("VmHWM:") / 1024.0);
    }
    most
}

fn is_below(mut id: u32, ancestor: u32) -> bool {
    while id > 1 {
        if id == ancestor {
            return true;
        }
        id = field(id, "PPid:")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
    }
    false
}

/// A field of a process's status.
fn field(id: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next().map(str::to_owned)
}
