#!/usr/bin/env bash
# GET /v1/bills/{id}: Josh, an empty actix handler, and Datasette on the same rows, one after the
# other, with the same client and the same ids.
# Usage: benches/lookup.sh BUNDLE
# Needs wrk (Debian) and python3; installs Datasette into a temporary folder.
. "$(dirname "$0")/serve.sh"
seconds="${SECONDS_EACH:-10}"
python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet datasette

# The same rows for both.
python3 benches/rows.py "$josh" "$work"
python3 - "$work" <<'P'
import json, sys, urllib.parse
work = sys.argv[1]
ids = json.load(open(f"{work}/ids.json"))
def script(name, path):
    with open(f"{work}/{name}.lua", "w") as f:
        f.write("local ids = {%s}\nmath.randomseed(7)\nrequest = function()\n  return wrk.format('GET', %s)\nend\n" % (
            ",".join(json.dumps(urllib.parse.quote(i, safe=":~")) for i in ids), path))
script("josh", "'/v1/bills/' .. ids[math.random(#ids)]")
# Datasette writes ':' in a primary key as ~3A.
script("datasette", "'/bills/bills/' .. ids[math.random(#ids)]:gsub(':', '~3A') .. '.json?_shape=objects'")
P
"$bin/examples/empty_handler" > "$work/empty.log" &
pids+=($!)
"$work/venv/bin/datasette" serve "$work/bills.db" --port 0 --host 127.0.0.1 --setting num_sql_threads 2 > "$work/ds.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do grep -q 'running on' "$work/ds.log" && [ -s "$work/empty.log" ] && break; sleep 0.1; done
datasette=$(sed -n 's|.*running on \(http://[^ ]*\).*|\1|p' "$work/ds.log")

run() { # name, lua, url
    wrk -t2 -c64 -d"${seconds}s" --latency -s "$work/$2.lua" "$3" > "$work/$1.txt"
    awk -v name="$1" '/Requests\/sec/ {rate=$2} /50%/ {p50=$2} /99%/ {p99=$2} /Non-2xx/ {bad=$NF}
        END {printf "%-12s %12.0f requests/s   p50 %-9s p99 %-9s errors %d\n", name, rate, p50, p99, bad}' "$work/$1.txt"
    awk '/Requests\/sec/ {print $2}' "$work/$1.txt" > "$work/$1.rate"
}
run empty josh "http://$(cat "$work/empty.log")"
run josh josh "$josh"
run datasette datasette "${datasette%/}"
awk -v j="$(cat "$work/josh.rate")" -v e="$(cat "$work/empty.rate")" -v d="$(cat "$work/datasette.rate")" \
    'BEGIN {printf "josh / datasette %.0f, josh / empty %.2f\n", j / d, j / e}'
