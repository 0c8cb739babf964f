# Sourced by the other scripts, with a BUNDLE as the first argument. Builds Josh, serves the bundle
# with two workers, and sets `josh` (its address), `bin` (the folder of the binaries), `work` (a
# temporary folder) and `pids` (processes to stop).
set -euo pipefail
bundle=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/josh/target}"
work=$(mktemp -d)
pids=()
# -9: Datasette would wait for its sessions to end.
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
command -v wrk >/dev/null || { echo 'install wrk first: apt-get install wrk' >&2; exit 2; }
# JOSH: a binary that is built already.
[ -n "${JOSH:-}" ] || cargo build --release --quiet --workspace --all-targets
bin="$CARGO_TARGET_DIR/$(rustc -vV | sed -n 's/^host: //p')/release"
"${JOSH:-$bin/josh}" serve --bundle "$bundle" --listen 127.0.0.1:0 --workers 2 2> "$work/josh.log" &
pids+=($!)
for _ in $(seq 100); do grep -q '  try ' "$work/josh.log" && break; sleep 0.05; done
josh=$(sed -n 's|^ *web *\(http://[^/]*\)/|\1|p' "$work/josh.log")
