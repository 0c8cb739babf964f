#!/usr/bin/env python3
"""Every kind of request on two or more bundles of `josh-data-build synth`, in turns: start, memory, median and p99. No two requests are equal, so
that nothing is answered by what was kept from before.

Usage: benches/scale.py JOSH SMALL LARGE [...]
"""

import http.client
import json
import os
import random
import subprocess
import sys
import time
from urllib.parse import quote

TURNS = 60


class Server:
    def __init__(self, josh, bundle):
        begun = time.perf_counter()
        command = [josh, "serve", "--listen", "127.0.0.1:0", "--bundle", bundle, "--log", "error", "--queue-ms", "20000"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.strip().startswith("web"):
                self.host = line.split("http://")[1].split("/")[0]
            if line.strip().startswith("try"):
                break
        self.connection = http.client.HTTPConnection(self.host)
        self.get("/v1/bills/hr:110:1")
        self.start, self.size = time.perf_counter() - begun, os.path.getsize(bundle)
        self.records = json.loads(self.get("/health")[1])["bundle"]["records"]
        # Words of its own, frequent and rare ones.
        page = json.loads(self.get("/v1/federal-register?limit=100&fields=title")[1])
        self.words = sorted({word for record in page["data"] for word in record["title"].split()})
        begun = time.perf_counter()
        self.get(f"/v1/search?q={self.words[0]}&mode=semantic")
        self.first_search = time.perf_counter() - begun

    def get(self, path, body=None):
        begun = time.perf_counter()
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} if body else {}
        self.connection.request("POST" if body else "GET", path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, (path, body, answer.status, text[:300])
        return (time.perf_counter() - begun) * 1e3, text

    def memory(self):
        lines = dict(line.split(":", 1) for line in open(f"/proc/{self.process.pid}/status"))
        return tuple(int(lines[name].split()[0]) / 1000 for name in ("VmRSS", "RssAnon"))


def bill(n):
    return f"hr:{110 + n % 10}:{n // 10 + 1}"


def query(server, n):
    return quote(" ".join(random.Random(n).sample(server.words, 3)))


def call(tool, **arguments):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


KINDS = {
    "record": lambda s, n: (f"/v1/bills/{bill(n)}",),
    "body of a record": lambda s, n: (f"/v1/bills/{bill(n)}/body",),
    "dossier": lambda s, n: (f"/v1/bills/{bill(n)}/dossier",),
    "list, filtered": lambda s, n: (f"/v1/bills?congress=113&number.gte={n}",),
    "list, filtered and sorted": lambda s, n: (f"/v1/bills?congress=113&cosponsor_count.gte={n}&sort=-introduced_date",),
    "count by group": lambda s, n: (f"/v1/bills?aggregate=count&group_by=policy_area&number.gte={n}",),
    "sum by client": lambda s, n: (f"/v1/lda-filings?aggregate=sum&sum_field=amount&group_by=client&amount.gte={n}",),
    "series by month": lambda s, n: (f"/v1/bills?aggregate=count&bucket_by_time=introduced_date&number.gte={n}",),
    "names of filings": lambda s, n: (f"/v1/lda-filings?q={random.Random(n).choice(s.words)}+{n}",),
    "search, lexical": lambda s, n: (f"/v1/search?mode=lexical&q={query(s, n)}",),
    "search, semantic": lambda s, n: (f"/v1/search?mode=semantic&q={query(s, n)}",),
    "search, hybrid": lambda s, n: (f"/v1/search?q={query(s, n)}",),
    "search, hybrid, one Congress of bills": lambda s, n: (f"/v1/search?source=bills&congress=113&q={query(s, n)}",),
    "tool get_bill": lambda s, n: ("/mcp", call("get_bill", bill_id=bill(n))),
    "tool search": lambda s, n: ("/mcp", call("search", query=" ".join(random.Random(n).sample(s.words, 4)))),
}


def main(josh, *bundles):
    servers = []
    try:
        servers += [Server(josh, bundle) for bundle in bundles]
        for server in servers:
            print(f"{server.records:,} records, {server.size / 1e9:.2f} GB: first answer {server.start * 1e3:.0f} ms after the start, "
                  f"first search {server.first_search * 1e3:.0f} ms")
        for kind, request in KINDS.items():
            times = [[] for _ in servers]
            # The first ones read pages of the file that nobody has read yet.
            for n in range(TURNS + 5):
                for at, server in enumerate(servers):
                    times[at].append(server.get(*request(server, n + 1))[0])
            medians = []
            for series in times:
                kept = sorted(series[5:])
                medians.append((kept[len(kept) // 2], kept[-1 - len(kept) // 100]))
            text = "   ".join(f"{p50:8.2f} ms (p99 {p99:8.2f})" for p50, p99 in medians)
            print(f"{kind:40} {text}   x {medians[-1][0] / medians[0][0]:.2f}", flush=True)
        for server in servers:
            print("resident {:.0f} MB, its own {:.0f} MB".format(*server.memory()))
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait()


main(*sys.argv[1:])
