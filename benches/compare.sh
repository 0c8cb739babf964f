#!/usr/bin/env bash
# Two versions of Josh on the same bundle, one after the other: records over REST beside an empty actix
# handler, get_bill over MCP beside an empty tool behind the same mount, then the times of searches,
# lists, dossiers and sums (compare.py).
# Usage: benches/compare.sh BUNDLE OLD_JOSH
# Needs wrk (Debian) and python3.
. "$(dirname "$0")/serve.sh"
seconds="${SECONDS_EACH:-5}"
old_binary=$(realpath "$2")
"$old_binary" serve --bundle "$bundle" --listen 127.0.0.1:0 --workers 2 > /dev/null 2> "$work/old.log" &
pids+=($!)
"$bin/examples/empty_handler" > "$work/empty.log" &
pids+=($!)
"$bin/examples/conformance_server" > "$work/tool.log" &
pids+=($!)
for _ in $(seq 100); do grep -q 'try ' "$work/old.log" && [ -s "$work/empty.log" ] && [ -s "$work/tool.log" ] && break; sleep 0.1; done
old=$(sed -n 's|^ *web *\(http://[^ ]*\)/$|\1|p' "$work/old.log")

python3 benches/rows.py "$josh" "$work"
python3 - "$work" <<'P'
import json, sys
work = sys.argv[1]
ids = ",".join(map(json.dumps, json.load(open(f"{work}/ids.json"))))
head = f"local ids = {{{ids}}}\nmath.randomseed(7)\n"
with open(f"{work}/record.lua", "w") as f:
    f.write(head + "request = function() return wrk.format('GET', '/v1/bills/' .. ids[math.random(#ids)]) end\n")
for name, tool, arguments in [("tool", "test_simple_text", {}), ("get_bill", "get_bill", {"bill_id": "ID"})]:
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    before, _, after = call.partition("ID")
    with open(f"{work}/{name}.lua", "w") as f:
        f.write(head + "wrk.headers['content-type'] = 'application/json'\nwrk.headers['accept'] = 'application/json, text/event-stream'\n")
        f.write(f"request = function() return wrk.format('POST', nil, nil, {json.dumps(before)} .. {'ids[math.random(#ids)]' if after else chr(39) * 2} .. {json.dumps(after)}) end\n")
P
run() { # name, lua, url
    wrk -t2 -c64 -d"${seconds}s" --latency -s "$work/$2.lua" "$3" |
        awk -v name="$1" '/Requests\/sec/ {rate=$2} /99%/ {p99=$2} /Non-2xx/ {bad=$NF}
            END {printf "%-18s %10.0f/s   p99 %-9s errors %d\n", name, rate, p99, bad}'
}
run "empty handler" record "http://$(cat "$work/empty.log")"
run "record, old" record "$old"
run "record, new" record "$josh"
run "empty tool" tool "$(cat "$work/tool.log")"
run "get_bill, old" get_bill "$old/mcp"
run "get_bill, new" get_bill "$josh/mcp"
python3 benches/compare.py "$old" "$josh" "$work"
