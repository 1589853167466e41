#!/bin/bash
# Load on one server over loopback: range reads, many uploads at a time, a long list. Prints the figures of the README.
#
#   e2e/benches/load.sh [reads|uploads|list]...
#
# Needs wrk, curl, a release build of ipu-stack (IPU_STACK=… names another binary), and 9 GB on the disk of TMPDIR. The
# profiles that are uploaded stay in the folder PROFILES, where it is given, for the next time; DISTINCT=20 makes no more
# than so many, each uploaded by ten clients at once.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stack=${IPU_STACK:-$root/target/release/ipu-stack}
work=$(mktemp -d)
server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

serve() {
    "$stack" serve --port 0 --store "$work/store" "$@" >"$work/serve.txt" &
    server=$!
    until grep -q serving "$work/serve.txt"; do sleep 0.05; done
    url=$(sed -n 's/^serving \(.*\)\/$/\1/p' "$work/serve.txt")
}

stop() {
    kill "$server"
    wait "$server" || true
    server=
}

put() { # FILE
    id=$(sha256sum "$1" | cut -d' ' -f1)
    curl --silent --fail --output /dev/null --upload-file "$1" "$url/api/artifacts/$id"
}

reads() {
    "$stack" profile-synth --samples 5000000 -o "$work/hot.ipuprofile" >/dev/null
    serve
    put "$work/hot.ipuprofile"
    bytes=$(stat -c %s "$work/hot.ipuprofile")
    cat >"$work/range.lua" <<LUA
request = function()
  local start = math.random(0, $bytes - 65537)
  wrk.headers["Range"] = "bytes=" .. start .. "-" .. start + 65535
  return wrk.format("GET", "/api/artifacts/$id")
end
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("64 KiB range reads, 64 connections: %.0f a second, p50 %.1f ms, p99 %.1f ms, %d failed\n",
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
LUA
    wrk --threads 1 --connections 64 --duration 10s --script "$work/range.lua" "$url" | grep failed
    stop
}

uploads() {
    count=${UPLOADS:-200}
    export files=${PROFILES:-$work}
    export distinct=${DISTINCT:-$count}
    for seed in $(seq "$distinct"); do
        [ -e "$files/$seed.ipuprofile" ] && continue
        # Under its name it is whole: one that broke off would be refused by the server, rightly.
        "$stack" profile-synth --samples 8400000 --seed "$seed" -o "$files/part.ipuprofile" >/dev/null
        mv "$files/part.ipuprofile" "$files/$seed.ipuprofile"
    done
    bytes=$(stat -c %s "$files/1.ipuprofile")
    serve
    start=$(date +%s.%N)
    export url
    export -f put
    seq "$count" | xargs -P "$count" -I{} bash -c "put $files/\$(({} % distinct + 1)).ipuprofile" ||
        echo "some uploads failed"
    end=$(date +%s.%N)
    peak=$(awk '/VmHWM/ {print $2 / 1024}' "/proc/$server/status")
    total=$(curl --silent "$url/api/publications?limit=1" | sed 's/.*"total":\([0-9]*\).*/\1/')
    stop
    echo "$count uploads of $bytes bytes at a time: $(echo "$end $start" | awk '{printf "%.1f", $1 - $2}') s," \
        "$total listed, peak memory $peak MiB"
}

list() {
    count=${ARTIFACTS:-100000}
    mkdir -p "$work/store"
    serve
    "$stack" profile-synth --samples 1 --tiles 1 -o "$work/one.ipuprofile" >/dev/null
    put "$work/one.ipuprofile"
    stop
    # Copies of one list entry, each under a name and a time of its own.
    python3 - "$work/store" "$count" <<'PYTHON'
import json, os, sys
store, count = sys.argv[1], int(sys.argv[2])
[name] = [it for it in os.listdir(store + "/meta")]
entry = json.load(open(f"{store}/meta/{name}"))
record = json.load(open(f"{store}/publications/{entry['id']}"))
for number in range(count - 1):
    created, id = entry["createdMs"] - 1 - number, f"{number:032x}"
    for folder, text in (("meta", entry), ("publications", record)):
        text = dict(text, id=id, createdMs=created, title=f"nightly {number}")
        place = id if folder == "publications" else f"{2**64 - 1 - created:016x}-{id}"
        json.dump(text, open(f"{store}/{folder}/{place}", "w"))
    open(f"{store}/refs/{entry['sha256']}/{id}-public-{2**64 - 1:016x}", "w")
PYTHON
    serve
    for path in "limit=100" "limit=100" "limit=100&q=nightly+99"; do
        curl --silent --output "$work/page.json" --write-out "%{time_total} s for /api/publications?$path, " \
            "$url/api/publications?$path"
        sed 's/.*"total":\([0-9]*\).*/\1 artifacts\n/' "$work/page.json"
    done
    stop
}

for what in "${@:-reads uploads list}"; do
    for part in $what; do
        rm -rf "$work/store"
        "$part"
    done
done
