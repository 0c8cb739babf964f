#!/usr/bin/env bash
# p50, p95 and p99 of the operations on clients with 100 concurrent callers, each of which sends its next request as soon as
# it has an answer; over REST, and get_config over MCP. Fails if a p95 is over its bound (300 ms get_config, 200 ms others).
# Usage: benches/client_configs.sh JOSH_BINARY [SECONDS]
# Needs wrk (Debian).
set -euo pipefail
josh=$(realpath "$1"); seconds=${2:-5}
work=$(mktemp -d)
export HOME=$work XDG_CACHE_HOME=$work XDG_DATA_HOME=$work XDG_CONFIG_HOME=$work
"$josh" serve --listen 127.0.0.1:0 --workers 2 --toolsets policy,clients 2>"$work/log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do grep -q '^ *try ' "$work/log" && break; sleep 0.1; done
url=$(sed -n 's#^ *web *\(.*\)/$#\1#p' "$work/log")

cat >"$work/report.lua" <<'L'
done = function(summary, latency)
    local errors = summary.errors
    io.write(string.format("%.2f %.2f %.2f %.0f %d\n", latency:percentile(50) / 1000, latency:percentile(95) / 1000,
        latency:percentile(99) / 1000, summary.requests / summary.duration * 1e6,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
L
cat >"$work/call.lua" <<'L'
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["accept"] = "application/json, text/event-stream"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_config","arguments":{"client_id":"vscode"}}}'
L
cat "$work/report.lua" >>"$work/call.lua"

failed=0
run() { # name, bound, path, script
    local p50 p95 p99 rate errors
    read -r p50 p95 p99 rate errors < <(wrk -t2 -c100 -d"${seconds}s" -s "$4" "$url$3" | tail -1)
    printf '%-22s p50 %7s ms   p95 %7s ms   p99 %7s ms   %7s requests/s   errors %s\n' "$1" "$p50" "$p95" "$p99" "$rate" "$errors"
    awk -v p="$p95" -v b="$2" -v e="$errors" 'BEGIN {exit !(p < b && e == 0)}' || { echo "over its bound of $2 ms, or with errors"; failed=1; }
}
plain=$work/report.lua
run list_clients 200 /v1/clients "$plain"
run list_profiles 200 /v1/clients/cursor/profiles "$plain"
run get_config 300 /v1/clients/vscode/config "$plain"
run diff_config 200 "/v1/clients/cursor/diff?local_artifact_id=$(printf '0%.0s' $(seq 64))" "$plain"
run 'get_config over MCP' 300 /mcp "$work/call.lua"
exit "$failed"
