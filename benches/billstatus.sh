#!/usr/bin/env bash
# BILLSTATUS files to JSON lines on one core: josh-data-build compared with lxml in Python, with the
# same files and the same fields.
# Usage: benches/billstatus.sh FOLDER-OF-BILLSTATUS-XML [COPIES]
# Needs python3; installs lxml into a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."
builder="${JOSH_DATA_BUILD:-${CARGO_TARGET_DIR:-$HOME/.cache/josh/target}/$(rustc -vV | sed -n 's/^host: //p')/release/josh-data-build}"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet lxml

# Copies the bills under other numbers, so that there are seconds of work and no duplicate records.
python3 - "$1" "${2:-10}" "$work/in/bills" <<'P'
import os, re, sys
source, copies, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.makedirs(target)
paths = sorted(os.path.join(at, n) for at, _, names in os.walk(source) for n in names if n.endswith(".xml"))
for n, path in enumerate(paths):
    text = open(path, encoding="utf-8").read()
    for copy in range(copies):
        changed = re.sub(r"<(number|billNumber)>(\d+)</\1>", lambda m: f"<{m[1]}>{copy + 1}{m[2]}</{m[1]}>", text)
        open(f"{target}/{n:03}-{copy:03}.xml", "w", encoding="utf-8").write(changed)
P
echo "$(find "$work/in" -name '*.xml' | wc -l) files, $(du -sm "$work/in" | cut -f1) MB"
cat "$work"/in/bills/* > /dev/null

best() { # name, command: the best of five runs, in user plus system seconds
    for _ in 1 2 3 4 5; do
        ( TIMEFORMAT='%U %S'; time taskset -c 0 "${@:2}" > /dev/null ) 2>&1 | tail -1
    done | awk -v name="$1" '{t = $1 + $2; if (!best || t < best) best = t} END {printf "%.2f\n", best}' > "$work/$1.time"
    printf '%-6s %6.2f s\n' "$1" "$(cat "$work/$1.time")"
}
best josh "$builder" read --from "$work/in" --out "$work/josh.jsonl"
best lxml "$work/venv/bin/python" benches/billstatus_lxml.py "$work/in/bills" "$work/lxml.jsonl"

# Both must find the same: records by source, rows by kind.
python3 - "$work/josh.jsonl" "$work/lxml.jsonl" <<'P'
import collections, json, sys
def counts(path):
    found = collections.Counter()
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        found[record["source"]] += 1
        for name, rows in record.get("rows", {}).items():
            found[f"{record['source']}/{name}"] += len(rows)
    return found
josh, lxml = counts(sys.argv[1]), counts(sys.argv[2])
for name in sorted(josh | lxml):
    print(f"  {name:<24} {josh[name]:>8} {lxml[name]:>8}{'' if josh[name] == lxml[name] else '   differ'}")
P
awk -v j="$(cat "$work/josh.time")" -v l="$(cat "$work/lxml.time")" 'BEGIN {printf "lxml / josh %.1f\n", l / j}'
