#!/bin/sh
# How long the two promises of the README take on this machine: a clean build to the end of the demo, and an edit
# in `analytics` back to a running demo. Works on a copy of the committed tree; needs the crates to be downloaded.
#
#   e2e/benches/build.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$root" archive HEAD | tar -x -C "$copy"
cd "$copy"

demo() {
    start=$(date +%s)
    cargo run --quiet --release -- demo --no-open --exit >demo.txt
    end=$(date +%s)
    echo "$1: $((end - start)) s"
}

demo "clean build, compile, run"
printf '\n// edited\n' >>analytics/src/text.rs
demo "after an edit in analytics"
