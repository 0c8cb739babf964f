#!/usr/bin/env bash
# Pages of the explorer with 8 clients, no two requests of a row equal but for home; then pages of random bills beside
# Datasette's pages of the same rows, in turns, all in one run.
# Usage: benches/pages.sh BUNDLE   Needs wrk (Debian) and python3; installs Datasette into a temporary folder.
# JOSH: a binary that is built already. DATASETTE: one that is installed. SECONDS_EACH: 5 by default.
. "$(dirname "$0")/serve.sh"
seconds="${SECONDS_EACH:-5}"
python3 benches/rows.py "$josh" "$work"
python3 benches/pages.py "$josh" "$work"
if [ -z "${DATASETTE:-}" ]; then
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet datasette
    DATASETTE="$work/venv/bin/datasette"
fi
measure() { # name of a script, address of a server: sets p50, p99, rate
    wrk -t2 -c8 -d"${seconds}s" --latency -s "$work/$1.lua" "$2" > "$work/wrk.txt"
    read -r p50 p99 rate < <(awk '$1=="50%"{a=$2} $1=="99%"{b=$2} /Requests\/sec/{c=$2} /Non-2xx/{bad=$NF}
        END {printf "%s %s %.0f%s\n", a, b, c, bad ? "(" bad "_errors)" : ""}' "$work/wrk.txt")
}
echo '| page | p50 | p99 | pages/s |'
echo '|---|---|---|---|'
while read -r name title; do
    measure "$name" "$josh"
    echo "| $title | $p50 | $p99 | $rate |"
done < "$work/pages.txt"

"$DATASETTE" serve "$work/bills.db" --port 0 --host 127.0.0.1 --setting num_sql_threads 2 > "$work/ds.log" 2>&1 &
pids+=($!)
for _ in $(seq 200); do grep -q 'running on' "$work/ds.log" && break; sleep 0.1; done
datasette=$(sed -n 's|.*running on \(http://[^ ]*\).*|\1|p' "$work/ds.log")
echo
echo "| page of a random bill | p50 | p99 | pages/s | Josh / Datasette |"
echo '|---|---|---|---|---|'
for _ in 1 2 3; do
    measure bills "$josh"
    ours=$rate
    echo "| Josh, with all that belongs to it | $p50 | $p99 | $rate | |"
    measure datasette "${datasette%/}"
    ratio=$(awk -v j="$ours" -v d="$rate" 'BEGIN {printf "%.1f", j / d}')
    echo "| $("$DATASETTE" --version | sed 's/, version//'), the row | $p50 | $p99 | $rate | $ratio |"
done
