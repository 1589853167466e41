#!/bin/bash
# A store of another vendor as its emulator: profiles published, listed, fetched in parts, asked, compared and deleted
# through a server on az:// (Azurite). Status 0: all came back whole. Emulators of gs:// do not take the XML calls that its
# client makes; a test of `server` has an S3 store answer them.
#
#   npm install azurite
#   AZURITE=node_modules/.bin/azurite-blob e2e/checks/stores.sh
#
# Needs curl and a release build of ipu-stack (IPU_STACK=… names another binary).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stack=${IPU_STACK:-$root/target/release/ipu-stack}
azurite=${AZURITE:-azurite-blob}
work=$(mktemp -d)
children=()
trap 'kill "${children[@]}" 2>/dev/null; rm -rf "$work"' EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

answers() { # URL
    for _ in $(seq 200); do
        if curl --silent --output /dev/null "$1"; then return; fi
        sleep 0.05
    done
    echo "nothing answers at $1" >&2
    return 1
}

"$stack" profile-synth --samples 6000000 --seed 1 -o "$work/one.ipuprofile" >/dev/null
"$stack" profile-synth --samples 200000 --seed 2 -o "$work/two.ipuprofile" >/dev/null

round() { # URL OF THE STORE
    "$stack" serve --port 0 --store "$1" --grace-seconds 0 >"$work/serve.txt" &
    local server=$!
    children+=("$server")
    until grep -q serving "$work/serve.txt"; do
        kill -0 "$server"
        sleep 0.05
    done
    local url
    url=$(sed -n 's/^serving \(.*\)\/$/\1/p' "$work/serve.txt")
    curl --silent --fail --output /dev/null "$url/ready"
    # More than one part of 5 MiB, a small one, and a private one.
    "$stack" publish "$work/one.ipuprofile" --to "$url" --title one >"$work/one.txt"
    "$stack" publish "$work/two.ipuprofile" --to "$url" --title two --private >"$work/two.txt"
    for name in one two; do
        "$stack" fetch "$(head -1 "$work/$name.txt")" -o "$work/back" >/dev/null
        cmp "$work/back" "$work/$name.ipuprofile"
        rm "$work/back"
    done
    local id
    id=$(sha256sum "$work/one.ipuprofile" | cut -d' ' -f1)
    curl --silent --fail --range 100-65635 "$url/api/artifacts/$id" |
        cmp - <(tail -c +101 "$work/one.ipuprofile" | head -c 65536)
    curl --silent --fail "$url/api/publications" | grep -q '"total":1,'
    curl --silent --fail "$url/api/artifacts/$id/query?kind=compute" |
        cmp - <("$stack" profile-query "$work/one.ipuprofile" --kind compute --json)
    curl --silent --fail "$url/api/compare?before=$id&after=$id" |
        cmp - <("$stack" profile-diff "$work/one.ipuprofile" "$work/one.ipuprofile" --json)
    for name in one two; do
        "$stack" publish --to "$url" --delete "$(awk 'END {print $NF}' "$work/$name.txt")" >/dev/null
    done
    curl --silent --fail "$url/api/publications" | grep -q '"total":0,'
    kill "$server"
    wait "$server" || true
    echo "$1: two profiles published, fetched, asked, compared and deleted"
}

azure() {
    local port
    port=$(free_port)
    "$azurite" --silent --inMemoryPersistence --skipApiVersionCheck --blobPort "$port" >"$work/azurite.txt" 2>&1 &
    children+=($!)
    answers "http://127.0.0.1:$port/"
    # The account that the emulator is documented to have.
    export AZURE_STORAGE_ACCOUNT_NAME=devstoreaccount1
    export AZURE_STORAGE_ACCOUNT_KEY=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==
    export AZURE_ENDPOINT=http://127.0.0.1:$port/devstoreaccount1 AZURE_ALLOW_HTTP=true
    python3 "$root/e2e/checks/container.py" "$AZURE_ENDPOINT" profiles
    round az://profiles/team
}

for what in "${@:-azure}"; do
    for part in $what; do
        "$part"
    done
done
