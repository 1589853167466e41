#!/usr/bin/env python3
"""The same questions to ipu-stack and to DuckDB: whole cold processes on the same ten million samples.

    cargo build --release
    python3 -m pip install duckdb
    python3 e2e/benches/duckdb.py [--samples N] [--runs N] [--threads N]

ipu-stack reads its own file, DuckDB the Parquet export of it. Before each run both files are dropped from the page
cache. Printed are medians of whole processes, and of the engines alone, which are not measured alike: DuckDB's from
connection to rows, without its start and imports; ours as the whole process less one of `ipu-stack --version`, so that
opening the file and printing JSON count. Then the most memory that a process held, mapped pages of the file included.
Answers are compared first: no figure is printed for different answers.
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
FROM '{parquet}' {where} GROUP BY kernel ORDER BY kernel
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
# It draws on standard output what takes longer than two seconds.
con.execute("SET enable_progress_bar = false")
rows = con.execute(sys.argv[1]).fetchall()
print(json.dumps({"seconds": time.perf_counter() - begin, "rows": rows}))
"""


def drop_from_cache(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(command, threads, *inputs):
    """Seconds, most resident bytes and standard output of one cold process."""
    for path in inputs:
        drop_from_cache(path)
    environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        output = process.stdout.read()
        # Whoever waits gets the figures of the process, and only once.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with status {process.returncode}")
    return seconds, usage.ru_maxrss * 1024, output


def ours(question, profile, threads, runs):
    """Median seconds, most memory and the answer."""
    results = [timed([PROGRAM, "profile-query", profile, *question, "--json"], threads, profile) for _ in range(runs)]
    whole = statistics.median(seconds for seconds, _, _ in results)
    return whole, max(memory for _, memory, _ in results), json.loads(results[0][2])


def theirs(sql, parquet, threads, runs):
    """Median seconds of processes and of the engine, most memory, and the rows."""
    command = [sys.executable, "-c", DUCKDB, sql, str(threads)]
    results = [timed(command, threads, parquet) for _ in range(runs)]
    answers = [json.loads(output) for _, _, output in results]
    whole = statistics.median(seconds for seconds, _, _ in results)
    engine = statistics.median(answer["seconds"] for answer in answers)
    return whole, engine, max(memory for _, memory, _ in results), answers[0]["rows"]


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

    nothing = [timed([PROGRAM, "--version"], args.threads) for _ in range(args.runs)]
    idle = statistics.median(seconds for seconds, _, _ in nothing)
    results = []
    for name, flags, where in [
        ("group all by kernel", [], ""),
        ("group compute by kernel", ["--kind", "compute"], "WHERE kind = 'compute'"),
    ]:
        by_kernel = [*flags, "--group-by", "kernel", "--limit", "0"]
        mine, memory, answer = ours(by_kernel, profile, args.threads, args.runs)
        sql = GROUPS.format(parquet=parquet, where=where)
        whole, engine, their_memory, rows = theirs(sql, parquet, args.threads, args.runs)
        same_groups(answer, rows)
        samples = sum(row[1] for row in rows)
        results.append((name, samples, mine, whole, engine, memory, their_memory))

    kernel = max(answer["groups"], key=lambda group: group["sampleCount"])["dimensions"]["kernel"]
    longest = ["--kind", "compute", "--kernel", kernel, "--samples", "20"]
    mine, memory, answer = ours(longest, profile, args.threads, args.runs)
    sql = LONGEST.format(parquet=parquet, kernel=kernel)
    whole, engine, their_memory, rows = theirs(sql, parquet, args.threads, args.runs)
    same_samples(answer, rows)
    matched = answer["matchedSampleCount"]
    results.append(("20 longest of a kernel", matched, mine, whole, engine, memory, their_memory))
    report(results, idle, min(memory for _, memory, _ in nothing), args)


def report(results, idle, floor, args):
    print(f"\nmedians of {args.runs} cold processes, {args.threads} threads, in seconds")
    print(f"{'whole processes':24}{'samples':>12}{'ipu-stack':>12}{'DuckDB':>12}{'ratio':>8}")
    for name, samples, mine, whole, _, _, _ in results:
        print(f"{name:24}{samples:12,}{mine:12.3f}{whole:12.3f}{mine / whole:8.2f}")
    print(f"\n{'engines':24}{'':12}{'less start':>12}{'from connect':>12}{'ratio':>8}")
    for name, _, mine, _, engine, _, _ in results:
        alone = max(mine - idle, 0.0)
        print(f"{name:24}{'':12}{alone:12.3f}{engine:12.3f}{alone / engine:8.2f}")
    print(f"\n{'most memory in MiB':24}{'':12}{'ipu-stack':>12}{'DuckDB':>12}{'ratio':>8}")
    for name, _, _, _, _, memory, their_memory in results:
        print(f"{name:24}{'':12}{memory / 2**20:12.1f}{their_memory / 2**20:12.1f}{memory / their_memory:8.2f}")
    print(f"(a process of ours that does nothing: {floor / 2**20:.1f} MiB)")


if __name__ == "__main__":
    main()
