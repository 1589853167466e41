//! One engine: the same questions to the command line, to WebAssembly in Chromium and to the
//! server, whose answers are equal to the last byte.

use std::path::Path;

use analytics::fixtures::{Layout, RowFile, RowSample, RowTile};
use e2e::stack::{Stack, demo, expect_output, target_folder};
use e2e::viewer::Viewer;

/// Questions a profile, in the words of the command line.
const QUESTIONS: usize = 240;

type Words = Vec<(String, String)>;

/// A small generator of its own, so that the questions never change with a library.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn one_of(&mut self, list: &[&str]) -> String {
        list[self.roll(list.len())].to_owned()
    }
}

/// A question: grouping, order, clock and length always, conditions now and then.
fn question(dice: &mut Dice, span: u64, kernels: &[String]) -> Words {
    let mut words = Words::new();
    let mut say = |word: &str, value: String| words.push((word.to_owned(), value));
    let groupings = ["kernel", "operation", "phase", "tile", "kind", "metadata"];
    let group_by = dice.one_of(&groupings);
    if group_by == "metadata" {
        say(
            "metadata-key",
            dice.one_of(&["role", "block", "next_kernel", "absent"]),
        );
    }
    say("group-by", group_by);
    let orders: Vec<&str> = analytics::query::SortKey::ALL
        .iter()
        .map(|it| it.name())
        .collect();
    say("sort-by", dice.one_of(&orders));
    say("clock", dice.one_of(&["tile", "cropped", "shared"]));
    say("limit", dice.one_of(&["0", "3", "20"]));
    say("samples", dice.one_of(&["0", "1", "5"]));
    if dice.roll(2) == 0 {
        say(
            "kind",
            dice.one_of(&["compute", "exchange", "sync", "idle"]),
        );
    }
    if dice.roll(4) == 0 {
        say("kernel", kernels[dice.roll(kernels.len())].clone());
    }
    if dice.roll(5) == 0 {
        say("operation-contains", dice.one_of(&["1", "gemm", "x", ""]));
    }
    for _ in 0..dice.roll(3) {
        say("tile", dice.roll(70).to_string());
    }
    if dice.roll(5) == 0 {
        say("phase", dice.roll(12).to_string());
    }
    if dice.roll(5) == 0 {
        say(
            "metadata",
            dice.one_of(&["role", "role=gemm", "block=3", "absent=1"]),
        );
    }
    let cycle = span * dice.roll(1_000) as u64 / 1_000;
    match dice.roll(6) {
        0 => say("at", cycle.to_string()),
        1 => say("at-offset", cycle.to_string()),
        _ => {}
    }
    words
}

/// What the command line prints for a question.
fn printed(profile: &str, words: &Words) -> String {
    let mut arguments = vec![
        "profile-query".to_owned(),
        profile.to_owned(),
        "--json".to_owned(),
    ];
    for (word, value) in words {
        arguments.push(format!("--{word}={value}"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    expect_output(&arguments)
}

/// A worker of the page's own build, opened on an address: `window.ask(list)` gives JSON texts, as
/// the worker answers and as the server does. Messages are packed as postcard packs them: a variant
/// is its place in `engine::protocol`, before its fields; a text or a list follows its length.
const WORKER: &str = r"(async () => {
    const [PROGRESS, OPENED, CONVERTED, EARLY, QUERY] = [0, 1, 2, 3, 13];
    const number = (it) => (it < 128 ? [it] : [it % 128 + 128, ...number(Math.floor(it / 128))]);
    const text = (it) => {
        const bytes = new TextEncoder().encode(it);
        return [...number(bytes.length), ...bytes];
    };
    const open = (...source) => [0, ...source];
    const query = (words) => [11, ...number(words.length), ...words.flat().flatMap(text)];
    const textOf = (bytes) => {
        const end = 1 + bytes.subarray(1).findIndex((it) => it < 128);
        return new TextDecoder().decode(bytes.subarray(end + 1));
    };
    const module = await WebAssembly.compileStreaming(fetch('/viewer_bg.wasm'));
    const start = () => {
        const worker = new Worker('/worker.js', { type: 'module' });
        const waiting = new Map();
        worker.onmessage = ({ data }) => {
            if (data.fatal) throw new Error(data.fatal);
            const [id, answer, columnar] = data;
            if (answer[0] === PROGRESS || answer[0] === EARLY) return;
            waiting.get(id)([answer, columnar]);
        };
        worker.postMessage(module);
        return (id, request, ...more) => new Promise((done) => {
            waiting.set(id, done);
            worker.postMessage([id, Uint8Array.from(request), ...more]);
        });
    };
    let post = start();
    let [opened, columnar] = await post(1, open(2, ...text(URL_HERE)));
    if (opened[0] === CONVERTED) {
        // Another form of file: what it became is opened in a worker of its own, as the page does.
        const bytes = opened.subarray(1);
        post = start();
        [opened] = await post(1, open(1, ...text('grid'), ...bytes), columnar);
    }
    if (opened[0] !== OPENED) return textOf(opened);
    window.ask = async (list) => {
        const pairs = [];
        for (const [at, words] of list.entries()) {
            const [answer] = await post(at + 2, query(words));
            const served = await fetch(`${URL_HERE}/query?${new URLSearchParams(words)}`);
            const said = answer[0] === QUERY ? textOf(answer) : `answer ${answer[0]}`;
            pairs.push([said, await served.text()]);
        }
        return pairs;
    };
    return 'open';
})()";

async fn compare(path: &Path, seed: u64) {
    let profile = path.to_str().expect("a UTF-8 path");
    let whole = printed(profile, &vec![("limit".to_owned(), "0".to_owned())]);
    let whole: serde_json::Value = serde_json::from_str(&whole).expect("JSON");
    let span = whole["profileSpanCycles"].as_u64().expect("a span");
    let groups = whole["groups"].as_array().expect("groups");
    let name = |it: &serde_json::Value| it["dimensions"]["kernel"].as_str().map(str::to_owned);
    let mut kernels: Vec<String> = groups.iter().filter_map(name).collect();
    kernels.push("no_such_kernel".to_owned());
    let mut dice = Dice(seed);
    let questions: Vec<Words> = (0..QUESTIONS)
        .map(|_| question(&mut dice, span, &kernels))
        .collect();

    let stack = Stack::start().await;
    let id = stack.upload(path).await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    let url = stack.url(&format!("/api/artifacts/{id}"));
    let script = WORKER.replace("URL_HERE", &serde_json::json!(url).to_string());
    assert_eq!(viewer.eval::<String>(&script).await, "open");
    for batch in questions.chunks(30) {
        let list = serde_json::to_string(batch).expect("plain texts");
        let answers: Vec<[String; 2]> = viewer.eval(&format!("window.ask({list})")).await;
        assert_eq!(answers.len(), batch.len());
        for (words, [page, server]) in batch.iter().zip(answers) {
            let expected = printed(profile, words);
            assert_eq!(page, expected, "page, {profile}, seed {seed}: {words:?}");
            assert_eq!(
                server, expected,
                "server, {profile}, seed {seed}: {words:?}"
            );
        }
    }
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_profile_gets_one_answer_everywhere() {
    compare(&demo().profile, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_profile_gets_one_answer_everywhere() {
    let path = target_folder("e2e/grid").join("synth.ipuprofile");
    let place = path.to_str().expect("a UTF-8 path");
    let _said = expect_output(&[
        "profile-synth",
        "--samples",
        "200000",
        "--tiles",
        "70",
        "-o",
        place,
    ]);
    compare(&path, 2).await;
}

/// Counters that wrap, a late tile, gaps, metadata with repeated names, estimates in metadata.
fn existing() -> RowFile {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let sample = |start: u32, end: u32, at: u32, kind: u16| RowSample {
        start,
        end,
        local_index: at,
        phase: at % 5,
        epoch: at / 5,
        kind,
        operation: format!("operation.{}", at % 3),
        kernel: if kind == 1 {
            format!("gemm_{}", at % 4)
        } else {
            String::new()
        },
        metadata: if kind == 1 {
            vec![
                pair("block", &(at % 4).to_string()),
                pair("block", "3"),
                pair("usefulCycles", &format!("{}.5", at % 7)),
                pair("physicalWorkCycles", "9"),
                pair("workEstimateBasis", "test"),
            ]
        } else {
            vec![pair("active", "false")]
        },
        ..RowSample::default()
    };
    let tile = |physical: u32| {
        let mut now = 0xffff_f000_u32.wrapping_add(physical * 13);
        let samples = (0..60).map(|at| {
            let start = now.wrapping_add(if at % 11 == 3 { 40 } else { 0 });
            now = start.wrapping_add(6 * (1 + (at * 7 + physical) % 90));
            sample(start, now, at, [2, 0, 1, 1, 3][(at % 5) as usize])
        });
        RowTile {
            physical,
            samples: samples.collect(),
        }
    };
    RowFile {
        version: 5,
        clock_hz: 1_500_000_000,
        tiles: [5, 3, 60, 12].map(tile).to_vec(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_row_profile_gets_one_answer_everywhere() {
    let path = target_folder("e2e/grid").join("existing.capnp");
    std::fs::write(&path, existing().encode(Layout::Segments(64))).expect("it is written");
    compare(&path, 3).await;
}
