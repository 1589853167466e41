//! Questions in the words of the command line, after `ipu-stack`: what each prints is the JSON that
//! the page copies. The file comes as a word of its own, quoted where it must be. Pure.

use analytics::chart::Chart;
use analytics::clock::ClockKind;
use analytics::profile::SampleKind;

use super::memory::{MatrixAsked, MemoryAsked, PAIRS_MAX};
use super::phases::PhasesAsked;
use super::plot::PlotAsked;
use super::ports::PortsAsked;
use super::spent::{SpentAsked, Told};
use super::summary::{Summary, TileNames};
use super::traffic::TrafficAsked;
use crate::browser::quoted;

/// What a part was spent on.
pub(crate) fn spent(asked: &SpentAsked, told: Told, file: &str, of: &Summary) -> String {
    let tiles = tiles(&of.tiles, asked.tile_from, asked.tile_to);
    let focus = asked.focus.filter(|_| told == Told::Tiles);
    let kernel = of.kernels.iter().find(|(id, _)| Some(*id) == focus);
    let kernel = flag("--kernel", kernel.map(|it| it.1.as_str()));
    let by_tile = match told {
        Told::Tiles => " --by-tile",
        Told::Sums => "",
    };
    let clock = asked.clock.name();
    let (from, to) = (asked.from, asked.to);
    format!(
        "profile-part {file} --range {from}..{to}{tiles} --clock {clock}{by_tile}{kernel} --json"
    )
}

/// The critical path.
pub(crate) fn phases(asked: &PhasesAsked, file: &str, _of: &Summary) -> String {
    let shared = match asked.clock {
        ClockKind::Cropped => "",
        ClockKind::Shared | ClockKind::Tile => " --shared-clock",
    };
    format!("profile-critical-path {file}{shared} --limit 0 --json")
}

/// The boundaries at which tiles wait for each other; they are on one clock whichever is in force.
pub(crate) fn barriers(_asked: &(), file: &str, _of: &Summary) -> String {
    format!("profile-barriers {file} --limit 0 --json")
}

/// Bytes of exchanges over the run.
pub(crate) fn traffic(asked: &TrafficAsked, file: &str, _of: &Summary) -> String {
    let clock = asked.clock.name();
    format!("profile-exchange {file} --clock {clock} --limit 0 --json")
}

/// The same with the ports of a part.
pub(crate) fn ports(asked: &PortsAsked, file: &str, of: &Summary) -> String {
    let tiles = tiles(&of.tiles, asked.tile_from, asked.tile_to);
    let clock = asked.clock.name();
    let (from, to) = (asked.from, asked.to);
    format!("profile-exchange {file} --range {from}..{to}{tiles} --clock {clock} --limit 0 --json")
}

/// The memory of a tile of a package.
pub(crate) fn memory(asked: &MemoryAsked, file: &str) -> String {
    format!("package-memory {file} --tile {} --json", asked.tile)
}

/// Who sends to whom in a package.
pub(crate) fn matrix(asked: &MatrixAsked, file: &str) -> String {
    let cells = asked.cells;
    format!("package-traffic {file} --cells {cells} --limit {PAIRS_MAX} --json")
}

/// A chart: its picture as a file, and its data.
pub(crate) fn plot(asked: &PlotAsked, file: &str, _of: &Summary) -> String {
    let (chart, clock) = (asked.chart.name(), asked.clock.name());
    let kernel = flag("--kernel", asked.kernel.as_deref());
    // What the command takes unless told otherwise.
    let usual = (asked.chart != Chart::Phases).then_some(SampleKind::Compute);
    let kind = asked.kind().filter(|kind| Some(*kind) != usual);
    let kind = flag("--kind", kind.map(SampleKind::name));
    let (width, height) = asked.size;
    let dark = if asked.dark { " --dark" } else { "" };
    format!(
        "profile-plot {file} --chart {chart}{kernel}{kind} --clock {clock} \
         --size {width}x{height}{dark} -o {chart}.svg --json"
    )
}

/// Tiles by physical ids; nothing where they are all there are.
fn tiles(names: &TileNames, from: u32, to: u32) -> String {
    if from == 0 && to >= names.count() {
        return String::new();
    }
    let (first, last) = (names.name(from), names.name(to.saturating_sub(1)));
    format!(" --tiles {first}-{last}")
}

/// A flag with its value, where there is one.
pub(super) fn flag(name: &str, value: Option<&str>) -> String {
    let Some(value) = value else {
        return String::new();
    };
    // A value must not pass for a flag.
    let joint = if value.starts_with('-') { '=' } else { ' ' };
    format!(" {name}{joint}{}", quoted(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::view::Metric;

    fn summary() -> Summary {
        Summary {
            tiles: TileNames {
                physical: vec![1, 3, 7, 9],
            },
            kernels: vec![(5, "gemm f16".to_owned())],
            ..Summary::default()
        }
    }

    fn part() -> SpentAsked {
        SpentAsked {
            clock: ClockKind::Shared,
            from: 10,
            to: 20,
            tile_from: 1,
            tile_to: 3,
            focus: Some(5),
            metric: Metric::Compute,
        }
    }

    #[test]
    fn a_part_is_named_by_cycles_physical_tiles_and_clock() {
        assert_eq!(
            spent(&part(), Told::Sums, "a.ipuprofile", &summary()),
            "profile-part a.ipuprofile --range 10..20 --tiles 3-7 --clock shared --json"
        );
        let whole = SpentAsked {
            tile_from: 0,
            tile_to: 4,
            ..part()
        };
        assert_eq!(
            spent(&whole, Told::Tiles, "a.ipuprofile", &summary()),
            "profile-part a.ipuprofile --range 10..20 --clock shared --by-tile \
             --kernel 'gemm f16' --json"
        );
    }

    #[test]
    fn the_critical_path_and_the_barriers_are_two_commands() {
        let path = |clock| phases(&PhasesAsked { clock }, "a.ipuprofile", &summary());
        let whole = "profile-critical-path a.ipuprofile --limit 0 --json";
        assert_eq!(path(ClockKind::Cropped), whole);
        let shared = "profile-critical-path a.ipuprofile --shared-clock --limit 0 --json";
        assert_eq!(path(ClockKind::Tile), shared);
        let said = barriers(&(), "a.ipuprofile", &summary());
        assert_eq!(said, "profile-barriers a.ipuprofile --limit 0 --json");
    }

    #[test]
    fn a_chart_of_phases_of_a_kernel_keeps_its_kind() {
        let asked = |chart, kernel: Option<&str>| PlotAsked {
            chart,
            clock: ClockKind::Cropped,
            kernel: kernel.map(str::to_owned),
            size: (900, 420),
            dark: true,
        };
        let said = plot(&asked(Chart::Phases, Some("k")), "a.ipuprofile", &summary());
        assert!(said.contains(" --kernel k --kind compute "), "{said}");
        let said = plot(
            &asked(Chart::Tiles, Some("sync")),
            "a.ipuprofile",
            &summary(),
        );
        assert!(
            said.contains(" --kernel sync --kind synchronization "),
            "{said}"
        );
        let said = plot(&asked(Chart::Tiles, Some("-k")), "a.ipuprofile", &summary());
        assert!(said.contains(" --kernel=-k --clock "), "{said}");
        let said = plot(&asked(Chart::Durations, None), "a.ipuprofile", &summary());
        assert_eq!(
            said,
            "profile-plot a.ipuprofile --chart durations --clock cropped --size 900x420 \
             --dark -o durations.svg --json"
        );
    }
}
