#!/usr/bin/env python3
"""Measures the time from start to the first response, the time of the first requests for records,
and resident memory.

Usage: benches/start.py JOSH [BUNDLE ...]    (without a bundle: the embedded sample)
"""

import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import time


def measure(josh, bundle):
    args = [josh, "serve", "--listen", "127.0.0.1:0", "--workers", "2"] + (["--bundle", bundle] if bundle else [])
    started = time.perf_counter()
    server = subprocess.Popen(args, stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            if line.strip().startswith("web"):
                host = line.split("http://")[1].split("/")[0]
            if line.strip().startswith("try"):
                path = line.split(host)[1].strip()
                break
        connection = http.client.HTTPConnection(host)
        get(connection, path)
        ready = time.perf_counter() - started
        ids = []
        for source in ("bills", "legislators", "public-laws", "federal-register", "crs-reports"):
            page = json.loads(get(connection, f"/v1/{source}?limit=100&fields=id")[1])
            ids += [record["id"] for record in page["data"]]
        random.Random(7).shuffle(ids)
        firsts = [get(connection, f"/v1/fetch/{i}")[0] for i in ids[:200]]
        with open(f"/proc/{server.pid}/status") as status:
            rss = next(int(l.split()[1]) for l in status if l.startswith("VmRSS")) / 1000
        size = os.path.getsize(bundle) / 1e6 if bundle else 0
        print(f"{bundle or 'sample':<24} {size:8.1f} MB   start to first answer {ready * 1000:6.1f} ms   first requests: "
              f"median {statistics.median(firsts) * 1000:.2f} ms, most {max(firsts) * 1000:.2f} ms   resident {rss:.0f} MB")
    finally:
        server.terminate()
        server.wait()


def get(connection, path):
    started = time.perf_counter()
    connection.request("GET", path)
    body = connection.getresponse().read().decode()
    return time.perf_counter() - started, body


if __name__ == "__main__":
    for bundle in sys.argv[2:] or [None]:
        for _ in range(3):
            measure(sys.argv[1], bundle)
