"""Writes the requests of `pages.sh`: one script for wrk per kind of page, each request another.

Usage: pages.py URL FOLDER    Reads ids.json of `rows.py`; writes NAME.lua, and pages.txt with names and titles.
"""
import json, random, sys, urllib.parse, urllib.request

base, folder = sys.argv[1:]
choose = random.Random(7)
quote = urllib.parse.quote


def get(path):
    return json.load(urllib.request.urlopen(base + path))


def ids(source, most=1000):
    """The first ids of a source."""
    found, url = [], f"/v1/{source}?limit=100&fields=id"
    while url and len(found) < most:
        page = get(url)
        found += [r["id"] for r in page["data"]]
        url = page["next_cursor"] and f"/v1/{source}?limit=100&fields=id&cursor=" + page["next_cursor"]
    return found


# Each thread of wrk has a Lua state of its own: it takes its own part of the list.
SCRIPT = """
local paths = {%s}
local threads = 0
function setup(thread)
  thread:set("at", threads * math.floor(#paths / 2))
  threads = threads + 1
end
function request()
  at = at %% #paths + 1
  return wrk.format("GET", paths[at])
end
"""
titles = []


def script(name, paths, title=None):
    paths = list(dict.fromkeys(paths))
    choose.shuffle(paths)
    with open(f"{folder}/{name}.lua", "w") as out:
        out.write(SCRIPT % ",".join(map(json.dumps, paths)))
    if title:
        titles.append(f"{name} {title} ({len(paths):,})" if len(paths) > 1 else f"{name} {title}")


bills = json.load(open(f"{folder}/ids.json"))
sources = [s["key"] for s in get("/v1/sources")["data"]]
words = [w for r in get("/v1/bills?limit=100&fields=title")["data"] for w in r["title"].split() if w.isalpha() and len(w) > 3]
asked = [urllib.parse.quote_plus(" ".join(choose.sample(words, choose.randint(2, 4)))) for _ in range(40000)]
common = "act united states report secretary federal government public law year".split()
frequent = [f"{a}+{b}+{c}" for a in common for b in common for c in common if len({a, b, c}) == 3]
sponsors = [b["key"] for b in get("/v1/bills?group_by=sponsor&limit=100")["buckets"] if b["key"]]
areas = [b["key"] for b in get("/v1/bills?group_by=policy_area&limit=100")["buckets"] if b["key"]]
groups = ["status", "type", "sponsor_party", "sponsor_state", "chamber", "congress", "sponsor"]
orders = ["introduced_date", "cosponsor_count", "latest_action_date", "number"]
script("home", ["/"], "home")
script("search", [f"/search?q={q}" for q in asked], "search for two to four words of titles")
script("frequent", [f"/search?q={q}" for q in frequent], "search for three frequent words")
script("within", [f"/search?q={q}&source=bills" for q in asked], "the same within bills, six facets")
script("list", [f"/bills?sponsor={quote(s)}&sort={d}{o}" for s in sponsors for o in orders for d in ("", "-")],
       "list: bills of a sponsor in some order, seven facets")
script("bills", [f"/bills/{quote(i)}" for i in bills], "record: a bill")
script("records", [f"/{s}/{quote(i, safe='')}" for s in sources for i in ids(s)], "record: any source")
script("chart", [f"/bills?policy_area={quote(a)}&group_by={g}" for a in areas for g in groups], "chart: bills of a policy area by group")
script("time", [f"/bills?policy_area={quote(a)}&bucket_by_time=introduced_date&time_interval={t}&group_by={g}"
                for a in areas for t in ("month", "quarter", "year") for g in groups], "chart: the same over time")
# Datasette writes ':' in a primary key as ~3A.
script("datasette", ["/bills/bills/" + i.replace(":", "~3A") for i in bills])
open(f"{folder}/pages.txt", "w").write("\n".join(titles) + "\n")
