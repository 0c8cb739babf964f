#!/usr/bin/env bash
# Time series from a bundle: 5,000 invented series of 400 months (2 million values), what they add to a bundle, and how
# fast they are read over REST and by the tools, each request another series, by one client and by 64.
# Usage: benches/series.sh   Needs wrk (Debian) and python3. BIN: a folder with josh and josh-data-build, built already.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${BIN:-}" ]; then
    cargo build --release --workspace --locked
    BIN="${CARGO_TARGET_DIR:-target}/$(rustc -vV | sed -n 's/^host: //p')/release"
fi
seconds="${SECONDS_EACH:-5}" series="${SERIES:-5000}" points="${POINTS:-400}"
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

python3 tests/statistics/invent.py "$work/in" "$series" "$points"
python3 tests/statistics/invent.py "$work/few" 1 "$points"
for input in in few; do
    "$BIN/josh-data-build" build --from "$work/$input" --out "$work/$input.db" --embed none --cache "$work/cache" 2> "$work/build.log" ||
        { cat "$work/build.log"; exit 1; }
done
size() { stat -c %s "$work/$1.db"; }
echo "$((series * points)) values in $series series take $((($(size in) - $(size few) + 500000) / 1000000)) MB"

"$BIN/josh" serve --bundle "$work/in.db" --listen 127.0.0.1:0 --workers 2 --toolsets policy,statistics 2> "$work/josh.log" &
pids+=($!)
for _ in $(seq 200); do grep -q '  try ' "$work/josh.log" && break; sleep 0.05; done
url=$(sed -n 's|^ *web *\(http://[^/]*\)/|\1|p' "$work/josh.log")

python3 - "$work" "$series" "$url" "$points" <<'P'
import json, sys, urllib.request
work, series, url, points = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
def script(name, request):
    with open(f"{work}/{name}.lua", "w") as f:
        f.write("math.randomseed(7)\n" + "".join(f"wrk.headers['{n}'] = '{v}'\n" for n, v in headers.items()))
        f.write(f"local code = function() return string.format('S%05d', math.random({series})) end\n")
        f.write(f"request = function() return {request} end\n")
def rest(name, query):
    script(name, f"wrk.format('GET', '/v1/statistical-series/boj:FM08:' .. code() .. '/observations{query}')")
def tool(name, tool, arguments):
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    before, _, after = call.partition("CODE")
    script(name, f"wrk.format('POST', '/mcp', nil, {json.dumps(before)} .. code() .. {json.dumps(after)})")
    # Errors are fast, too: one answer is looked at.
    request = urllib.request.Request(url + "/mcp", (before + "S00001" + after).encode(), headers)
    result = json.load(urllib.request.urlopen(request))["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]
rest("rest_20", "")
rest("rest_100", "?limit=100")
rest("rest_since", "?since=2005-01-01&limit=100")
data = tool("tool", "boj_get_data_code", {"db": "FM08", "codes": ["CODE"], "lang": "en"})
assert len(data["series"][0]["points"]) == points, data
tool("get_series", "get_series", {"series_id": "boj:FM08:CODE", "limit": 100})
P
load() { # what, clients, script
    wrk -t"$(($2 > 1 ? 2 : 1))" -c"$2" -d"${seconds}s" --latency -s "$work/$3.lua" "$url" > "$work/wrk.txt"
    awk -v what="$1" -v clients="$2" '/Requests\/sec/ {rate=$2} /50%/ {p50=$2} /99%/ {p99=$2} /Non-2xx/ {bad=$NF}
        END {printf "| %-44s | %2d | %8.0f | %-9s | %-9s | %d |\n", what, clients, rate, p50, p99, bad}' "$work/wrk.txt"
}
echo '| request | clients | requests/s | p50 | p99 | errors |'
echo '|---|---|---|---|---|---|'
for clients in 1 64; do
    load "boj_get_data_code, $points values" "$clients" tool
    load 'get_series, 100 values' "$clients" get_series
    load 'observations, 20 values' "$clients" rest_20
    load 'observations, 100 values' "$clients" rest_100
    load 'observations since a day, 100 values' "$clients" rest_since
done
