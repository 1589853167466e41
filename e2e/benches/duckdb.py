#!/usr/bin/env python3
"""The same questions to ipu-stack and to DuckDB: whole cold processes on the same ten million samples.

    cargo build --release
    python3 -m pip install duckdb
    python3 e2e/benches/duckdb.py [--samples N] [--runs N] [--threads N]

ipu-stack reads its own file, DuckDB the Parquet export of it. Before each run both files are dropped from the page
cache. Printed are medians of whole processes, and of the engines alone: DuckDB's from connection to rows, ours as the
whole process less one that does nothing. Answers are compared first: no figure is printed for different answers.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("IPU_STACK", ROOT / "target" / "release" / "ipu-stack"))
FOLDER = ROOT / "target" / "duckdb"

GROUPS = """
SELECT kernel, count(*), sum(cycles), quantile_disc(cycles, 0.5), quantile_disc(cycles, 0.95), max(cycles)
FROM '{parquet}' WHERE kind = 'compute' GROUP BY kernel ORDER BY kernel
"""
LONGEST = """
SELECT tile, start, cycles, phase, kernel, operation
FROM '{parquet}' WHERE kind = 'compute' AND kernel = '{kernel}'
ORDER BY cycles DESC, tile, start LIMIT 20
"""
# A process of its own, so that its start and its imports count as ours do.
DUCKDB = """
import sys, time, json, duckdb
begin = time.perf_counter()
con = duckdb.connect()
con.execute(f"SET threads = {sys.argv[2]}")
rows = con.execute(sys.argv[1]).fetchall()
print(json.dumps({"seconds": time.perf_counter() - begin, "rows": rows}))
"""


def drop_from_cache(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(command, threads, *inputs):
    """Seconds and standard output of one cold process."""
    for path in inputs:
        drop_from_cache(path)
    environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    begin = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return time.perf_counter() - begin, output


def ours(question, profile, threads, runs):
    """Median seconds and the answer."""
    results = [timed([PROGRAM, "profile-query", profile, *question, "--json"], threads, profile) for _ in range(runs)]
    return statistics.median(seconds for seconds, _ in results), json.loads(results[0][1])


def theirs(sql, parquet, threads, runs):
    """Median seconds of processes and of the engine, and the rows."""
    command = [sys.executable, "-c", DUCKDB, sql, str(threads)]
    results = [timed(command, threads, parquet) for _ in range(runs)]
    answers = [json.loads(output) for _, output in results]
    whole = statistics.median(seconds for seconds, _ in results)
    return whole, statistics.median(answer["seconds"] for answer in answers), answers[0]["rows"]


def same_groups(answer, rows):
    """Names, counts, sums and maxima are equal; percentiles are one rank apart at most."""
    mine = {group["dimensions"]["kernel"]: group for group in answer["groups"]}
    assert sorted(mine) == [row[0] for row in rows], "different kernels"
    for kernel, count, total, p50, p95, maximum in rows:
        group = mine[kernel]
        assert (group["sampleCount"], group["workCycles"], group["maximumCycles"]) == (count, total, maximum), kernel
        assert group["p50Cycles"] <= p50 and group["p95Cycles"] <= p95, kernel


def same_samples(answer, rows):
    mine = [[it["physicalTile"], it["offset"], it["duration"], it["phase"]] for it in answer["samples"]]
    assert mine == [list(row[:4]) for row in rows], "different samples"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    profile = FOLDER / f"{args.samples}.ipuprofile"
    parquet = FOLDER / f"{args.samples}.parquet"
    if not profile.exists():
        subprocess.run([PROGRAM, "profile-synth", "--samples", str(args.samples), "-o", profile], check=True)
    if not parquet.exists():
        command = [PROGRAM, "profile-export", profile, "--format", "parquet", "-o", parquet]
        subprocess.run(command, check=True)
    print(f"{profile.stat().st_size:,} bytes as .ipuprofile, {parquet.stat().st_size:,} as Parquet")

    idle = statistics.median(timed([PROGRAM, "--version"], args.threads)[0] for _ in range(args.runs))
    by_kernel = ["--kind", "compute", "--group-by", "kernel", "--limit", "0"]
    mine, answer = ours(by_kernel, profile, args.threads, args.runs)
    whole, engine, rows = theirs(GROUPS.format(parquet=parquet), parquet, args.threads, args.runs)
    same_groups(answer, rows)
    results = [("group by kernel", mine, whole, engine)]

    kernel = max(answer["groups"], key=lambda group: group["sampleCount"])["dimensions"]["kernel"]
    longest = ["--kind", "compute", "--kernel", kernel, "--samples", "20"]
    mine, answer = ours(longest, profile, args.threads, args.runs)
    whole, engine, rows = theirs(LONGEST.format(parquet=parquet, kernel=kernel), parquet, args.threads, args.runs)
    same_samples(answer, rows)
    results.append(("20 longest of a kernel", mine, whole, engine))

    print(f"medians of {args.runs} cold processes, {args.threads} threads, in seconds")
    print(f"{'':24}{'ipu-stack':>12}{'DuckDB':>12}{'ratio':>8}{'engine':>12}{'engine':>12}{'ratio':>8}")
    for name, mine, whole, engine in results:
        alone = max(mine - idle, 0.0)
        figures = f"{mine:12.3f}{whole:12.3f}{mine / whole:8.2f}{alone:12.3f}{engine:12.3f}{alone / engine:8.2f}"
        print(f"{name:24}{figures}")


if __name__ == "__main__":
    main()
