#!/usr/bin/env python3
"""Exports as others read them: every format through a parser or a schema that is not ours, compared with profile-query.

    cargo build --release
    python3 -m pip install duckdb 'polars>=2' pyarrow perfetto jsonschema
    npm pack speedscope && tar xzf speedscope-*.tgz      # for package/dist/release/file-format-schema.json
    python3 e2e/checks/exports.py PROFILE --speedscope-schema package/dist/release/file-format-schema.json

Parquet is read by DuckDB and polars, Arrow and CSV by pyarrow, Perfetto by its own protocol buffers, speedscope by its
own schema; Chrome's and Firefox's JSON by the rules that their viewers document. All must hold the same kernels with
the same number of samples and the same cycles, and no slice may cross another of its track. Status 0: they do.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("IPU_STACK", ROOT / "target" / "release" / "ipu-stack"))


def ours(profile):
    """Samples and cycles of each compute kernel, by profile-query."""
    command = [PROGRAM, "profile-query", profile, "--kind", "compute", "--limit", "0", "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {it["name"]: (it["sampleCount"], it["workCycles"]) for it in answer["groups"]}


def sums(slices):
    """Samples and cycles by name of (name, cycles)."""
    found = collections.defaultdict(lambda: (0, 0))
    for name, cycles in slices:
        count, total = found[name]
        found[name] = (count + 1, total + cycles)
    return dict(found)


def nested(track, spans):
    """No span of a track crosses another."""
    open_ends = []
    for start, end in sorted(spans, key=lambda it: (it[0], -it[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], f"{track}: {start}..{end} crosses {open_ends[-1]}"
        open_ends.append(end)


def parquet(path, profile):
    import duckdb
    import polars

    sql = f"SELECT kernel, count(*), sum(cycles) FROM '{path}' WHERE kind = 'compute' GROUP BY kernel"
    by_duckdb = {name: (count, int(total)) for name, count, total in duckdb.sql(sql).fetchall()}
    frame = polars.scan_parquet(path).filter(polars.col("kind") == "compute")
    frame = frame.group_by("kernel").agg(polars.len(), polars.col("cycles").sum()).collect()
    assert {name: (count, total) for name, count, total in frame.iter_rows()} == by_duckdb
    metadata(path, profile)
    return by_duckdb


def metadata(path, profile):
    """The pairs of all samples, by DuckDB's and by polars' maps."""
    import duckdb
    import polars

    sql = f"SELECT unnest(map_entries(metadata)) AS pair FROM '{path}'"
    sql = f"SELECT pair.key, pair.value, count(*) FROM ({sql}) GROUP BY ALL"
    by_duckdb = {(name, value): count for name, value, count in duckdb.sql(sql).fetchall()}
    frame = polars.scan_parquet(path).select(polars.col("metadata").map.entries())
    frame = frame.explode("metadata").drop_nulls().unnest("metadata")
    frame = frame.group_by("key", "value").agg(polars.len()).collect()
    assert {(name, value): count for name, value, count in frame.iter_rows()} == by_duckdb
    assert by_duckdb, "no metadata"
    for name in {name for name, _ in by_duckdb}:
        command = [PROGRAM, "profile-query", profile, "--group-by", "metadata", "--metadata-key", name, "--limit", "0"]
        answer = json.loads(subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout)
        groups = {it["dimensions"]["metadataValue"]: it["sampleCount"] for it in answer["groups"]}
        groups.pop(None, None)
        assert groups == {value: count for (key, value), count in by_duckdb.items() if key == name}, name


def arrow(path):
    import pyarrow.ipc

    return table(pyarrow.ipc.open_file(path).read_all())


def comma_separated(path):
    import pyarrow.csv

    return table(pyarrow.csv.read_csv(path))


def table(rows):
    columns = [rows[name].to_pylist() for name in ("kind", "kernel", "cycles")]
    return sums((kernel, cycles) for kind, kernel, cycles in zip(*columns) if kind == "compute")


def perfetto(path):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

    trace = Trace.FromString(pathlib.Path(path).read_bytes())
    names, categories, stacks = {}, {}, collections.defaultdict(list)
    slices, spans, tracks = [], collections.defaultdict(list), {}
    for packet in trace.packet:
        names |= {it.iid: it.name for it in packet.interned_data.event_names}
        categories |= {it.iid: it.name for it in packet.interned_data.event_categories}
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        stack = stacks[event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert not stack or stack[-1][0] <= packet.timestamp
            stack.append((packet.timestamp, names[event.name_iid], categories[event.category_iids[0]]))
        else:
            assert event.type == TrackEvent.TYPE_SLICE_END
            start, name, category = stack.pop()
            spans[event.track_uuid].append((start, packet.timestamp))
            if category == "compute":
                slices.append((name, packet.timestamp - start))
    assert not any(stacks.values()), "a slice never ends"
    for track, found in spans.items():
        assert tracks[track].parent_uuid in tracks, "a track without its device"
        nested(tracks[track].name, found)
    return sums(slices)


def chrome(path):
    events = json.loads(pathlib.Path(path).read_text())["traceEvents"]
    complete = [it for it in events if it["ph"] == "X"]
    named = {it["tid"] for it in events if it["name"] == "thread_name"}
    spans = collections.defaultdict(list)
    for event in complete:
        assert {"name", "cat", "ph", "ts", "dur", "pid", "tid"} <= event.keys() and event["tid"] in named
        spans[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for track, found in spans.items():
        nested(track, found)
    return sums((it["name"], it["dur"]) for it in complete if it["cat"] == "compute")


def speedscope(path, schema, kernels):
    import jsonschema

    file = json.loads(pathlib.Path(path).read_text())
    jsonschema.validate(file, json.loads(pathlib.Path(schema).read_text()))
    frames = [it["name"] for it in file["shared"]["frames"]]
    slices = []
    for profile in file["profiles"]:
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], last))
            else:
                frame, start = stack.pop()
                assert frame == event["frame"], "a frame closes inside another"
                slices.append((frames[frame], last - start))
        assert not stack
    return {name: it for name, it in sums(slices).items() if name in kernels}


def firefox(path):
    profile = json.loads(pathlib.Path(path).read_text())
    compute = [it["name"] for it in profile["meta"]["categories"]].index("compute")
    slices = []
    for thread in profile["threads"]:
        markers = thread["markers"]
        assert all(phase == 1 for phase in markers["phase"]), "intervals"
        spans = list(zip(markers["startTime"], markers["endTime"]))
        nested(thread["name"], spans)
        for name, category, data in zip(markers["name"], markers["category"], markers["data"]):
            if category == compute:
                slices.append((thread["stringArray"][name], round(data["cycles"])))
    return sums(slices)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile")
    parser.add_argument("--speedscope-schema", required=True)
    parser.add_argument("--tiles", default="0-63", help="tiles of the timelines")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        part = f"{folder}/part.ipuprofile"
        subprocess.run([PROGRAM, "profile-slice", args.profile, "--tiles", args.tiles, "-o", part], check=True)
        for format, read in {
            "parquet": lambda path: parquet(path, args.profile),
            "arrow": arrow,
            "csv": comma_separated,
            "perfetto": perfetto,
            "chrome-json": chrome,
            "speedscope": lambda path: speedscope(path, args.speedscope_schema, expected),
            "firefox": firefox,
        }.items():
            profile = args.profile if format in ("parquet", "arrow") else part
            expected = ours(profile)
            path = f"{folder}/exported.{format}"
            command = [PROGRAM, "profile-export", profile, "--format", format, "-o", path]
            subprocess.run(command, check=True, capture_output=True)
            found = read(path)
            assert found == expected, f"{format}: {found} is not {expected}"
            samples = sum(count for count, _ in found.values())
            print(f"{format:12} {len(found)} kernels, {samples:,} compute samples, the same cycles")


if __name__ == "__main__":
    main()
