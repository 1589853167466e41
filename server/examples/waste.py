"""Which kernel wastes most, and which makes others wait: JSON of ipu-stack, read with the standard library alone.

    ipu-stack profile-query p.ipuprofile --kind compute --json --limit 0 | python3 server/examples/waste.py
    ipu-stack profile-barriers p.ipuprofile --json | python3 server/examples/waste.py
"""

import json
import sys


def wasted(query):
    """Measured cycles that were not useful, by kernel; unknown work is not counted as waste."""
    rows = []
    for group in query["groups"]:
        if group["wastedCycles"] is not None:
            rows.append((group["wastedCycles"], group["name"]))
    return sorted(rows, reverse=True)


def waits(barriers):
    """Tile-cycles that other tiles waited, by the kernel of the last tile."""
    rows = []
    for culprit in barriers["culprits"]:
        rows.append((culprit["waitingCycles"], culprit["kernel"] or "(left late)"))
    return rows


def main():
    report = json.load(sys.stdin)
    readers = {"ipu-stack/profile-query/1": wasted, "ipu-stack/profile-barriers/1": waits}
    reader = readers.get(report["schema"])
    if reader is None:
        sys.exit(f"cannot read {report['schema']}; this program knows {', '.join(readers)}")
    for cycles, name in reader(report):
        print(f"{cycles:16,.0f}  {name}")
    for warning in report.get("warnings", []):
        print(f"warning: {warning}", file=sys.stderr)


if __name__ == "__main__":
    main()
