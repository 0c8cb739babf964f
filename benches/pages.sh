#!/usr/bin/env bash
# Pages with 8 clients: each beside the JSON of the same data, then pages of random bills beside Datasette's pages of
# the same rows, all in one run.
# Usage: benches/pages.sh BUNDLE   Needs wrk (Debian) and python3; installs Datasette into a temporary folder.
. "$(dirname "$0")/serve.sh"
seconds="${SECONDS_EACH:-5}"
id=$(curl -s "$josh/v1/bills?limit=1&sort=-cosponsor_count&fields=id" | python3 -c 'import json,sys; print(json.load(sys.stdin)["data"][0]["id"])')
measure() { # address, more options of wrk
    wrk -t2 -c8 -d"${seconds}s" --latency "$@" > "$work/wrk.txt"
    awk '$1=="50%"{a=$2} $1=="99%"{b=$2} /Requests\/sec/{c=$2} /Non-2xx/{bad=$NF}
        END {printf "%s | %s | %.0f%s", a, b, c, bad ? " (" bad " errors)" : ""}' "$work/wrk.txt"
}
echo '| page | p50 | p99 | pages/s | JSON p50 | p99 | per second |'
echo '|---|---|---|---|---|---|---|'
# The page of a list counts its facets, so its twin does, too.
facets='facets=year,congress,type,chamber,sponsor_party,sponsor_state,policy_area'
for pair in "/ /v1/sources" "/search?q=drinking+water /v1/search?q=drinking+water&facets=source,year" "/bills /v1/bills?$facets" \
    "/bills/$id /v1/bills/$id/dossier" "/bills?group_by=policy_area /v1/bills?group_by=policy_area"; do
    set -- $pair
    echo "| \`$1\` | $(measure "$josh$1") | $(measure "$josh$2") |"
done

python3 benches/rows.py "$josh" "$work"
python3 - "$work" <<'P'
import json, random, sys
work = sys.argv[1]
ids = random.Random(7).sample(json.load(open(f"{work}/ids.json")), 2000)
def script(name, path):
    with open(f"{work}/{name}.lua", "w") as f:
        f.write("local ids = {%s}\nmath.randomseed(7)\nrequest = function()\n  return wrk.format('GET', %s)\nend\n"
                % (",".join(map(json.dumps, ids)), path))
script("josh", "'/bills/' .. ids[math.random(#ids)]")
# Datasette writes ':' in a primary key as ~3A.
script("datasette", "'/bills/bills/' .. ids[math.random(#ids)]:gsub(':', '~3A')")
P
python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet datasette
"$work/venv/bin/datasette" serve "$work/bills.db" --port 0 --host 127.0.0.1 --setting num_sql_threads 2 > "$work/ds.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do grep -q 'running on' "$work/ds.log" && break; sleep 0.1; done
datasette=$(sed -n 's|.*running on \(http://[^ ]*\).*|\1|p' "$work/ds.log")
echo
echo "| page of a random bill | p50 | p99 | pages/s |"
echo '|---|---|---|---|'
ours=$(measure "$josh" -s "$work/josh.lua")
theirs=$(measure "${datasette%/}" -s "$work/datasette.lua")
echo "| Josh, with all that belongs to it | $ours |"
echo "| $("$work/venv/bin/datasette" --version), the row | $theirs |"
awk -v j="${ours##*| }" -v d="${theirs##*| }" 'BEGIN {printf "\nJosh / Datasette: %.0f\n", j / d}'
