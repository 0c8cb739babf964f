#!/usr/bin/env bash
# tools/call over HTTP: get_bill of Josh, an empty tool behind the same MCP stack, and execute_sql of
# datasette-mcp on the same rows, one after the other, with the same client and the same ids.
# Usage: benches/mcp.sh BUNDLE
# Needs wrk (Debian) and python3; installs datasette-mcp into a temporary folder.
. "$(dirname "$0")/serve.sh"
seconds="${SECONDS_EACH:-10}"
python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet datasette-mcp

python3 benches/rows.py "$josh" "$work"
python3 - "$work" <<'P'
import json, sys
work = sys.argv[1]
ids = json.load(open(f"{work}/ids.json"))
def script(name, tool, arguments):
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    before, _, after = call.partition("ID")
    with open(f"{work}/{name}.lua", "w") as f:
        f.write("local ids = {%s}\nmath.randomseed(7)\n" % ",".join(map(json.dumps, ids)))
        f.write("wrk.headers['content-type'] = 'application/json'\nwrk.headers['accept'] = 'application/json, text/event-stream'\n")
        f.write("local before, after = %s, %s\n" % (json.dumps(before), json.dumps(after)))
        f.write("request = function()\n  local id = %s\n  return wrk.format('POST', nil, nil, before .. id .. after)\nend\n" % (
            "ids[math.random(#ids)]" if after else "''"))
script("josh", "get_bill", {"bill_id": "ID"})
script("empty", "test_simple_text", {})
script("datasette", "execute_sql", {"database": "bills", "sql": "select * from bills where id = 'ID'"})
P
"$bin/examples/conformance_server" > "$work/empty.log" &
pids+=($!)
"$work/venv/bin/datasette" serve "$work/bills.db" --port 0 --host 127.0.0.1 --setting num_sql_threads 2 > "$work/ds.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do grep -q 'running on' "$work/ds.log" && [ -s "$work/empty.log" ] && break; sleep 0.1; done
datasette=$(sed -n 's|.*running on \(http://[^ ]*\).*|\1|p' "$work/ds.log")

run() { # name, url
    # Starts a session if the server requires one, and checks one response: errors are fast, too.
    python3 - "$2" "$work/$1.lua" <<'P'
import json, re, sys, urllib.error, urllib.request
url, lua = sys.argv[1:]
text = open(lua).read()
headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
def post(body):
    return urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers))
about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
begun = post(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}))
if session := begun.headers.get("mcp-session-id"):
    headers["mcp-session-id"] = session
    post(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    open(lua, "a").write(f"wrk.headers['mcp-session-id'] = '{session}'\n")
before, after = json.loads("[" + re.search(r"local before, after = (.*)", text).group(1) + "]")
first = json.loads("[" + re.search(r"local ids = \{(.*)\}", text).group(1) + "]")[0] if after else ""
answer = post(before + first + after).read().decode()
assert '"isError":true' not in answer and '"error":' not in answer, answer[:500]
P
    wrk -t2 -c64 -d"${seconds}s" --latency -s "$work/$1.lua" "$2" > "$work/$1.txt"
    awk -v name="$1" '/Requests\/sec/ {rate=$2} /50%/ {p50=$2} /99%/ {p99=$2} /Non-2xx/ {bad=$NF}
        END {printf "%-12s %12.0f calls/s   p50 %-9s p99 %-9s errors %d\n", name, rate, p50, p99, bad}' "$work/$1.txt"
    awk '/Requests\/sec/ {print $2}' "$work/$1.txt" > "$work/$1.rate"
}
run empty "$(cat "$work/empty.log")"
run josh "$josh/mcp"
run datasette "${datasette%/}/-/mcp"
awk -v j="$(cat "$work/josh.rate")" -v e="$(cat "$work/empty.rate")" -v d="$(cat "$work/datasette.rate")" \
    'BEGIN {printf "josh / datasette-mcp %.0f, josh / empty tool %.2f\n", j / d, j / e}'
