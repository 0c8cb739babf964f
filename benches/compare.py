"""Medians of a few kinds of requests, old and new in turns. Run by compare.sh."""

import http.client
import json
import statistics
import sys
import time
import urllib.parse

old, new, work = sys.argv[1:4]
bill = next(i for i in json.load(open(f"{work}/ids.json")) if i.startswith("hr:119:"))
words = ["clean water act funding", "veterans health care", "artificial intelligence", "tax credit for children"]
KINDS = {
    "search": [f"/v1/search?q={urllib.parse.quote(q)}&limit=10" for q in words],
    "search, filtered": ["/v1/search?q=health+care&source=bills&congress=119&limit=10"],
    "list, filtered": ["/v1/bills?status=enacted&sort=-latest_action_date&limit=20"],
    "sub-resource": [f"/v1/bills/{bill}/actions?limit=20"],
    "dossier": [f"/v1/bills/{bill}/dossier", "/v1/legislators/M000133/dossier"],
    "dossier, congress": ["/v1/legislators/M000133/dossier?congress=119"],
    "count": ["/v1/bills?aggregate=count&congress=119", "/v1/bills?aggregate=count"],
    "count by group": ["/v1/bills?aggregate=count&group_by=policy_area"],
    "sum by group": ["/v1/lda-filings?aggregate=sum&sum_field=amount&group_by=registrant"],
    "series": ["/v1/bills?aggregate=count&bucket_by_time=introduced_date&time_interval=month"],
    "names": ["/v1/legislators?q=Markley", "/v1/lda-filings?q=pfizer&limit=5", "/v1/committees?q=HELP"],
}


def connect(url):
    at = urllib.parse.urlparse(url)
    return http.client.HTTPConnection(at.hostname, at.port)


def timed(connection, path):
    begun = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, (path, answer.status, body[:300])
    return (time.perf_counter() - begun) * 1e3


servers = connect(old), connect(new)
for kind, paths in KINDS.items():
    times = [], []
    for turn in range(40):
        for path in paths:
            for which in (0, 1) if turn % 2 else (1, 0):
                times[which].append(timed(servers[which], path))
    before, after = map(statistics.median, times)
    print(f"{kind:18} old {before:7.2f} ms   new {after:7.2f} ms   new / old {after / before:.2f}")
