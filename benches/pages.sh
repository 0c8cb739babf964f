#!/usr/bin/env bash
# Pages beside the JSON of the same data: 8 clients, each pair in the same run, and how many times longer the page takes.
# Usage: benches/pages.sh BUNDLE   Needs wrk (Debian) and python3.
. "$(dirname "$0")/serve.sh"
id=$(curl -s "$josh/v1/bills?limit=1&sort=-cosponsor_count&fields=id" | python3 -c 'import json,sys; print(json.load(sys.stdin)["data"][0]["id"])')
measure() { wrk -t2 -c8 -d"${SECONDS_EACH:-5}s" --latency "$josh$1" | awk '$1=="50%"{a=$2} $1=="99%"{b=$2} /Requests\/sec/{c=$2} END{print a, b, c}'; }
echo 'page p50 p99 per_second / JSON p50 p99 per_second'
# The page of a list counts its facets, so its twin does, too.
facets='facets=year,congress,type,chamber,sponsor_party,sponsor_state,policy_area'
for pair in "/ /v1/sources" "/search?q=drinking+water /v1/search?q=drinking+water&facets=source,year" "/bills /v1/bills?$facets" \
    "/bills/$id /v1/bills/$id/dossier" "/bills?group_by=policy_area /v1/bills?group_by=policy_area"; do
    set -- $pair
    echo "$1: $(measure "$1") / $(measure "$2")"
done
