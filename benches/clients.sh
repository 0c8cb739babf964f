#!/usr/bin/env bash
# Load over HTTP with 8 clients: GET /v1/search (hybrid) with 100 queries made of words in the
# bundle, whose vectors are cached, or GET /v1/bills/{id}/dossier of 1,000 bills.
# Usage: benches/clients.sh BUNDLE search|dossier   Needs wrk (Debian) and python3.
. "$(dirname "$0")/serve.sh"
what=${2:-search}
python3 - "$josh" "$work" "$what" <<'P'
import json, random, sys, urllib.parse, urllib.request
url, work, what = sys.argv[1:]
get = lambda path: json.load(urllib.request.urlopen(url + path))
def paths():
    choose = random.Random(7)
    if what == "dossier":
        ids = []
        for congress in {s["id"].split(":")[1] for s in get("/v1/bills?limit=100")["data"]}:
            page = get(f"/v1/bills?congress={congress}&limit=100&sort=-cosponsor_count")
            while len(ids) < 1000:
                ids += [r["id"] for r in page["data"]]
                if not page["next_cursor"]:
                    break
                page = get(f"/v1/bills?congress={congress}&limit=100&sort=-cosponsor_count&cursor={page['next_cursor']}")
        return [f"/v1/bills/{i}/dossier" for i in ids[:1000]]
    words = []
    for source in ("bills", "federal-register", "crs-reports"):
        for record in get(f"/v1/{source}?limit=100&fields=title")["data"]:
            words += record["title"].split()
    asked = [urllib.parse.quote(" ".join(choose.sample(words, choose.randint(2, 5)))) for _ in range(100)]
    return [f"/v1/search?q={q}" for q in asked]
all_paths = paths()
for path in all_paths[:100]:
    get(path)
with open(f"{work}/paths.lua", "w") as f:
    f.write("local paths = {%s}\nrequest = function() return wrk.format('GET', paths[math.random(#paths)]) end\n" % ",".join(map(json.dumps, all_paths)))
P
wrk -t2 -c8 -d"${SECONDS_EACH:-15}s" --latency -s "$work/paths.lua" "$josh"
