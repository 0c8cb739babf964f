#!/usr/bin/env bash
# GET /v1/search (hybrid) over HTTP with 8 clients, the questions' vectors known: 100 questions made of the bundle's own words.
# Usage: benches/hybrid.sh BUNDLE   Needs wrk (Debian) and python3.
set -euo pipefail
bundle=$(realpath "$1")
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/josh/target}"
work=$(mktemp -d)
pid=
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT
command -v wrk >/dev/null || { echo 'install wrk first: apt-get install wrk' >&2; exit 2; }
cargo build --release --quiet
josh="$CARGO_TARGET_DIR/$(rustc -vV | sed -n 's/^host: //p')/release/josh"
"$josh" serve --bundle "$bundle" --listen 127.0.0.1:0 --workers 2 2> "$work/log" &
pid=$!
for _ in $(seq 100); do grep -q '  try ' "$work/log" && break; sleep 0.05; done
url=$(sed -n 's|^ *web *\(http://[^/]*\)/|\1|p' "$work/log")
python3 - "$url" "$work" <<'P'
import json, random, sys, urllib.parse, urllib.request
url, work = sys.argv[1:]
get = lambda path: json.load(urllib.request.urlopen(url + path))
words = []
for source in ("bills", "federal-register", "crs-reports"):
    for record in get(f"/v1/{source}?limit=100&fields=title")["data"]:
        words += record["title"].split()
choose = random.Random(7)
questions = [urllib.parse.quote(" ".join(choose.sample(words, choose.randint(2, 5)))) for _ in range(100)]
for question in questions:
    assert get(f"/v1/search?q={question}")["results"]
with open(f"{work}/search.lua", "w") as f:
    f.write("local qs = {%s}\nrequest = function() return wrk.format('GET', '/v1/search?q=' .. qs[math.random(#qs)]) end\n" % ",".join(map(json.dumps, questions)))
P
wrk -t2 -c8 -d"${SECONDS_EACH:-15}s" --latency -s "$work/search.lua" "$url"
