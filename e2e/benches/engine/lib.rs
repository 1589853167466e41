//! The engine as a bare WebAssembly module, for measuring it in a browser without the viewer.
//!
//! Three exports over one synthetic profile that the module keeps: `prepare(samples)` makes and
//! opens it and returns its bytes, `decode()` unpacks every sample and returns their number,
//! `by_kernel()` answers `--group-by kernel --limit 0` and returns the number of groups. A failure
//! traps. `cargo bench -p e2e --bench wasm` builds and drives it.

use std::cell::RefCell;

use analytics::format::open_bytes;
use analytics::profile::{ChunkScratch, ProfileReport};
use analytics::query::{Query, query};
use analytics::synth::{SynthOptions, generate};

thread_local! {
    static REPORT: RefCell<Option<ProfileReport>> = const { RefCell::new(None) };
}

fn with_report<T>(work: impl FnOnce(&ProfileReport) -> T) -> T {
    REPORT.with_borrow(|report| work(report.as_ref().expect("prepare() comes first")))
}

/// Makes and opens a profile of `samples` samples; its bytes.
#[expect(unsafe_code, reason = "an export by name")]
#[unsafe(no_mangle)]
pub extern "C" fn prepare(samples: u32) -> u32 {
    let options = SynthOptions {
        samples: u64::from(samples),
        ..SynthOptions::default()
    };
    let mut bytes = Vec::new();
    generate(&options, &mut |piece| bytes.extend_from_slice(piece)).expect("generates");
    let length = u32::try_from(bytes.len()).expect("fits the address space");
    REPORT.set(Some(open_bytes(bytes).expect("opens")));
    length
}

/// Unpacks every sample; their number.
#[expect(unsafe_code, reason = "an export by name")]
#[unsafe(no_mangle)]
pub extern "C" fn decode() -> u32 {
    with_report(|report| {
        let mut scratch = ChunkScratch::new();
        let mut samples = 0;
        for chunk in 0..report.chunks().len() {
            report.decode_chunk(chunk, &mut scratch).expect("decodes");
            samples += scratch.duration.len();
        }
        u32::try_from(samples).expect("fits")
    })
}

/// Groups all samples by kernel; the number of groups.
#[expect(unsafe_code, reason = "an export by name")]
#[unsafe(no_mangle)]
pub extern "C" fn by_kernel() -> u32 {
    let question = Query {
        limit: 0,
        ..Query::default()
    };
    with_report(|report| {
        let answer = query(report, &question).expect("answers");
        u32::try_from(answer.groups.len()).expect("fits")
    })
}
