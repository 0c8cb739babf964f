#!/usr/bin/env bash
# Connects real clients by `josh connect`, as a program and over HTTP, and has each show Josh in its own list:
#
#   tests/clients/real.sh [JOSH]
#
# The clients come from npm into a folder that is kept (CLIENTS, by default in the user's cache). Their home folder is a
# temporary one: nothing of the user's is read or written. None needs an account for this. What can't be installed or does
# not start counts as SKIPPED and is named; a client that starts and does not list Josh is a failure.
set -uo pipefail
cd "$(dirname "$0")/../.."
josh=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/josh}")
clients=${CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/josh/clients}
[ -x "$josh" ] || { echo "SKIPPED real clients: there is no $josh"; exit 0; }
command -v npm >/dev/null || { echo 'SKIPPED real clients: npm is not installed here'; exit 0; }

mkdir -p "$clients"
packages=(@anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai @modelcontextprotocol/inspector)
for package in "${packages[@]}"; do
    [ -d "$clients/node_modules/$package" ] && continue
    npm install --prefix "$clients" --no-audit --no-fund "$package" >/dev/null 2>&1 || echo "SKIPPED $package: npm can't install it"
done
# Newer npm runs no install scripts unasked; two of these clients fetch their program there.
(cd "$clients" && npm install-scripts approve @anthropic-ai/claude-code opencode-ai && npm rebuild) >/dev/null 2>&1
bin=$clients/node_modules/.bin

folder=$(mktemp -d)
export HOME=$folder/home XDG_CACHE_HOME=$folder/cache XDG_STATE_HOME=$folder/state XDG_DATA_HOME=$folder/data
unset XDG_CONFIG_HOME CODEX_HOME CLAUDE_CONFIG_DIR
mkdir -p "$HOME/.gemini"
# Gemini CLI starts servers only in folders that the user trusts.
echo "{\"$HOME\": \"TRUST_FOLDER\"}" >"$HOME/.gemini/trustedFolders.json"
"$josh" serve --listen 127.0.0.1:0 2>"$folder/server" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
for _ in $(seq 100); do grep -q '^ *try ' "$folder/server" && break; sleep 0.1; done
url=$(sed -n 's#^ *web *\(.*\)/$#\1#p' "$folder/server")
[ -n "$url" ] || { cat "$folder/server"; echo 'FAILED: the server did not start'; exit 1; }
cd "$HOME"

failed=0
# client, program, arguments that list servers, what the list must say
check() {
    local client=$1 program=$2 arguments=$3 expected=$4 transport list
    if ! timeout 60 "$bin/$program" --version >/dev/null 2>&1; then echo "SKIPPED $client: it does not start here"; return; fi
    for transport in "--stdio" "--url $url"; do
        # shellcheck disable=SC2086 # several words on purpose
        "$josh" connect "$client" $transport 2>"$folder/connect" || { cat "$folder/connect"; failed=1; continue; }
        # shellcheck disable=SC2086
        list=$(timeout 120 "$bin/$program" $arguments 2>&1 | tr -d '\033')
        if grep -E 'josh' <<<"$list" | grep -qiE "$expected"; then
            echo "ok      $client $("$bin/$program" --version 2>/dev/null | tail -1), ${transport%% *}: $(grep -E 'josh' <<<"$list" | grep -iE "$expected" | head -1)"
        else
            echo "FAILED  $client, ${transport%% *}:"; echo "$list"; failed=1
        fi
    done
    "$josh" connect "$client" --remove 2>/dev/null || failed=1
}
check claude-code claude 'mcp list' 'connected'
check codex codex 'mcp list' 'enabled'
check gemini-cli gemini 'mcp list' 'connected'
check opencode opencode 'mcp list' 'connected'

# The inspector reads the file of Claude Code where it names a program; it has another word for HTTP, so there it gets the address.
if [ -x "$bin/mcp-inspector" ]; then
    "$josh" connect claude-code --stdio 2>/dev/null
    inspect() {
        local what=$1 tools; shift
        tools=$(timeout 120 "$bin/mcp-inspector" --cli "$@" --method tools/list 2>&1)
        if grep -q '"name": "get_bill"' <<<"$tools"; then
            echo "ok      inspector, $what: lists $(grep -c '"inputSchema"' <<<"$tools") tools"
        else
            echo "FAILED  inspector, $what:"; tail -5 <<<"$tools"; failed=1
        fi
    }
    inspect --stdio --config "$HOME/.claude.json" --server josh
    inspect --url "$url/mcp" --transport http
else
    echo 'SKIPPED inspector: it is not installed'
fi
exit "$failed"
