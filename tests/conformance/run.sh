#!/usr/bin/env bash
# The official MCP conformance suite against a server: one line a scenario, then totals. Exit code 1 when a revision's
# requirements are not met.
# Usage: tests/conformance/run.sh URL [REVISION...]   BASELINE=FILE names the failures that are expected. Needs npm.
set -euo pipefail
suite=0.2.0-alpha.12
url="${1:?usage: $0 URL [REVISION...]}"
shift
[ $# -gt 0 ] || set -- 2025-11-25 2026-07-28
work="${XDG_CACHE_HOME:-$HOME/.cache}/josh/conformance/$suite"

# The suite wants a newer node than distributions have, so it gets its own. The mark is set last: half an installation
# is done again.
if [ ! -e "$work/installed" ]; then
    command -v npm >/dev/null || { echo 'install npm first: apt-get install npm' >&2; exit 2; }
    mkdir -p "$work"
    npm install --prefix "$work" --no-audit --no-fund --loglevel=error \
        node@22 "@modelcontextprotocol/conformance@$suite" >&2
    touch "$work/installed"
fi
export PATH="$work/node_modules/.bin:$PATH"

failed=0
for revision; do
    echo "== $revision: $url"
    results="$work/results/$revision"
    rm -rf "$results" && mkdir -p "$results"
    conformance server --url "$url" --requirements "$revision" --output-dir "$results" \
        ${BASELINE:+--expected-failures "$BASELINE"} > "$results/log" 2>&1 || failed=1
    # What comes before the summary names each scenario as it begins.
    grep -q '^=== SUMMARY' "$results/log" || { tail -20 "$results/log" >&2; exit 1; }
    sed -e '1,/^=== SUMMARY/d' -e 's/\x1b\[[0-9;]*m//g' "$results/log"
    echo "   each check: $results"
done
exit $failed
