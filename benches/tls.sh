#!/usr/bin/env bash
# The same record over plain HTTP and over HTTPS with keep-alive, alternating, with the same client.
# Usage: benches/tls.sh BUNDLE   Needs wrk (Debian).
. "$(dirname "$0")/serve.sh"
seconds="${SECONDS_EACH:-10}"
XDG_DATA_HOME="$work" "$bin/josh" serve --bundle "$bundle" --listen 127.0.0.1:0 --workers 2 --tls self-signed 2> "$work/tls.log" &
pids+=($!)
for _ in $(seq 100); do grep -q '  try ' "$work/tls.log" && break; sleep 0.05; done
secure=$(sed -n 's|^ *web *\(https://[^/]*\)/|\1|p' "$work/tls.log")
run() { wrk -t2 -c64 -d"${seconds}s" "$1/v1/bills/hr:119:1" | awk '/Requests\/sec/ {print $2}'; }
for turn in 1 2 3; do
    plain=$(run "$josh"); tls=$(run "$secure")
    awk -v turn=$turn -v plain="$plain" -v tls="$tls" \
        'BEGIN {printf "%d  plain %9.0f/s   TLS %9.0f/s   TLS/plain %.2f\n", turn, plain, tls, tls / plain}'
done
