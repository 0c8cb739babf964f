#!/usr/bin/env bash
# Lists, counts, sums, searches and names of Josh with 8 clients; the same lists from an actix
# handler over SQLite (benches/sqlite_lists.rs) and from Datasette; and look-ups while searches
# take all cores.
# Usage: benches/lists.sh BUNDLE [OLD_BUNDLE]   Needs wrk (Debian) and python3; installs Datasette
# into a temporary folder. OLD_BUNDLE, one without columns (format 3), is served as well: DuckDB
# answers there, as it did for all before. JOSH, EXAMPLES: binaries that are built already.
if [ -n "${JOSH:-}" ]; then
    set -euo pipefail
    bundle=$(realpath "$1")
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    work=$(mktemp -d)
    pids=()
    trap 'kill -9 "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
else
    . "$(dirname "$0")/serve.sh"
    kill "${pids[@]}" && pids=()
    JOSH="$bin/josh" EXAMPLES="$bin/examples"
fi
seconds="${SECONDS_EACH:-4}"
old=${2:+$(realpath "$2")}

start() { # bundle: starts Josh and sets `url` and `pid`
    "$JOSH" serve --bundle "$1" --listen 127.0.0.1:0 --workers 2 2> "$work/josh.log" &
    pid=$!
    pids+=($pid)
    for _ in $(seq 200); do grep -q '  try ' "$work/josh.log" && break; sleep 0.05; done
    url=$(sed -n 's|^ *web *\(http://[^/]*\)/|\1|p' "$work/josh.log")
}
load() { # server, what, clients, url [wrk options]: one line of the table
    local server=$1 what=$2 clients=$3 at=$4
    shift 4
    wrk -t2 -c"$clients" -d"${seconds}s" --latency "$@" "$at" > "$work/wrk.txt"
    awk -v server="$server" -v what="$what" '
        /Requests\/sec/ {rate=$2} /50%/ {p50=$2} /99%/ {p99=$2} /Non-2xx/ {bad=$NF}
        END {printf "| %-16s | %-32s | %8.0f | %-9s | %-9s | %d |\n", server, what, rate, p50, p99, bad}' "$work/wrk.txt"
}
josh() { # name of the server
    load "$1" 'bills, congress and status' 8 "$url/v1/bills?congress=119&status=enacted"
    load "$1" 'bills by cosponsor_count' 8 "$url/v1/bills?sort=-cosponsor_count"
    load "$1" 'count by policy_area' 8 "$url/v1/bills?aggregate=count&group_by=policy_area"
    load "$1" 'sum of amount by client' 8 "$url/v1/lda-filings?aggregate=sum&sum_field=amount&group_by=client"
    load "$1" 'Record by speaker' 8 "$url/v1/congressional-record?speakers=S000148"
    load "$1" 'search in bills, repeated' 8 "$url/v1/search?q=water+infrastructure&source=bills"
    load "$1" 'search in bills' 8 "$url" -s "$work/searches.lua"
    load "$1" 'search in bills of one Congress' 8 "$url" -s "$work/filtered.lua"
    load "$1" 'bills of a sponsor, each another' 8 "$url" -s "$work/sponsors.lua"
    load "$1" 'names, misspelt' 8 "$url" -s "$work/names.lua"
    load "$1" 'look-ups alone' 16 "$url" -s "$work/records.lua"
    wrk -t2 -c16 -d"$((seconds + 2))s" -s "$work/searches.lua" "$url" > /dev/null &
    sleep 1
    load "$1" 'look-ups beside searches' 16 "$url" -s "$work/records.lua"
    wait $!
    awk -v server="$1" '/^VmRSS/ {all=$2} /^RssAnon/ {own=$2}
        END {printf "| %-16s | resident %d MB, %d of them its own | | | | |\n", server, all / 1000, own / 1000}' "/proc/$pid/status"
}

start "$bundle"
python3 - "$url" "$work" <<'P'
import json, random, sys, urllib.parse, urllib.request
url, work = sys.argv[1:]
get = lambda path: json.load(urllib.request.urlopen(url + path))
choose = random.Random(7)
def script(name, paths):
    with open(f"{work}/{name}.lua", "w") as f:
        f.write("local paths = {%s}\nmath.randomseed(7)\nrequest = function() return wrk.format('GET', paths[math.random(#paths)]) end\n"
                % ",".join(map(json.dumps, paths)))
words = [w for r in get("/v1/bills?limit=100&fields=title")["data"] for w in r["title"].split() if w.isalpha() and len(w) > 3]
asked = [urllib.parse.quote_plus(" ".join(choose.sample(words, choose.randint(2, 4)))) for _ in range(20000)]
script("searches", [f"/v1/search?q={q}&source=bills" for q in asked])
script("filtered", [f"/v1/search?q={q}&source=bills&congress=119" for q in asked])
members = []
page = get("/v1/legislators?current=true&limit=100")
while True:
    members += page["data"]
    if not page["next_cursor"]:
        break
    page = get("/v1/legislators?current=true&limit=100&cursor=" + page["next_cursor"])
script("sponsors", [f"/v1/bills?sponsor={m['id']}&sort=-{f}" for m in members for f in ("introduced_date", "cosponsor_count", "latest_action_date", "number")])
def misspelt(name):
    at = choose.randrange(1, max(2, len(name) - 1))
    return name[:at] + choose.choice("aeiourlnst") + name[at:]
titles = {"senate": "Sen.", "house": "Rep."}
script("names", ["/v1/legislators?q=" + urllib.parse.quote_plus(f"{titles.get(m['chamber'], '')} {misspelt(m['last'])} from {m['state']}")
                 for m in members for _ in range(20)])
ids = [r["id"] for r in get("/v1/bills?limit=100&sort=number")["data"]]
script("records", [f"/v1/bills/{i}" for i in ids])
P
echo '| server | request | requests/s | p50 | p99 | errors |'
echo '|---|---|---|---|---|---|'
python3 benches/lists_rows.py "$url" "$work"
# The copy read the whole file: memory is that of a server without it.
kill "$pid"
start "$bundle"
josh Josh
kill "$pid"
if [ -n "$old" ]; then
    start "$old"
    josh 'Josh, DuckDB'
    kill "$pid"
fi

"$EXAMPLES/sqlite_lists" "$work/lists.db" > "$work/sqlite.log" &
pids+=($!)
python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet datasette
"$work/venv/bin/datasette" serve "$work/lists.db" --port 0 --host 127.0.0.1 --setting num_sql_threads 2 > "$work/ds.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do grep -q 'running on' "$work/ds.log" && [ -s "$work/sqlite.log" ] && break; sleep 0.1; done
sqlite="http://$(cat "$work/sqlite.log")"
datasette=$(sed -n 's|.*running on \(http://[^ ]*\).*|\1|p' "$work/ds.log")
datasette=${datasette%/}
for what in filtered sorted count sum speaker; do
    load 'actix + SQLite' "$what" 8 "$sqlite/$what"
done
load Datasette filtered 8 "$datasette/lists/bills.json?congress=119&status=enacted&_size=20&_shape=objects"
load Datasette sorted 8 "$datasette/lists/bills.json?_sort_desc=cosponsor_count&_size=20&_shape=objects"
group='select+policy_area,count(*)+from+bills+group+by+1+order+by+2+desc+limit+20'
load Datasette count 8 "$datasette/lists.json?sql=$group"
group='select+client,sum(amount)+from+filings+group+by+1+order+by+2+desc+limit+20'
load Datasette sum 8 "$datasette/lists.json?sql=$group"
