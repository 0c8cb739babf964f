#!/usr/bin/env python3
"""Three replicas behind HAProxy beside the sum of three alone, on a machine that has fewer cores than that needs: a control group gives each
replica a share of a core, so that proxy and client find room beside them.

Usage: benches/replicas.py JOSH BUNDLE [SHARE]     SHARE of a core for each replica (0.2); needs root, cgroups 1, haproxy and wrk
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

JOSH, BUNDLE = sys.argv[1:3]
SHARE = float(sys.argv[3]) if len(sys.argv) > 3 else 0.2
SECONDS, CONNECTIONS, PORT = 6, 4, 8080
GROUPS = Path("/sys/fs/cgroup/cpu")
PROXY = "127.77.0.4"


def ready(address):
    for _ in range(200):
        try:
            return urllib.request.urlopen(f"http://{address}:{PORT}/readyz").read()
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{address} is not ready")


def start(number):
    address, group = f"127.77.0.{number}", GROUPS / f"josh-replicas-{number}"
    group.mkdir()
    (group / "cpu.cfs_quota_us").write_text(str(int(SHARE * 100_000)))
    join = lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    # Its log would be most of the work of so small a share.
    command = [JOSH, "serve", "--bundle", BUNDLE, "--listen", f"{address}:{PORT}", "--workers", "1", "--searches", "1", "--log", "error"]
    process = subprocess.Popen([*command, "--queue-ms", "20000"], preexec_fn=join, stderr=subprocess.DEVNULL)
    ready(address)
    return process, address, group


def wrk(address, script, connections):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}", "--latency", "-s", script, f"http://{address}:{PORT}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    return float(re.search(r"Requests/sec: +([0-9.]+)", said)[1]), re.search(r"99% +(\S+)", said)[1]


def main():
    with urllib.request.urlopen(f"http://{PROXY}:{PORT}/v1/bills?limit=100&fields=id") as answer:
        ids = re.findall(r'"id":"([^"]+)"', answer.read().decode())
    kinds = {
        "a record": "'/v1/bills/' .. ids[n % #ids + 1]",
        "a list": "'/v1/bills?sort=-introduced_date&limit=20&number.gte=' .. n",
        "a search": "'/v1/search?mode=lexical&q=' .. words[n % 7 + 1] .. '+' .. words[n % 5 + 1] .. '+' .. n",
    }
    tables = "local ids = {%s}\n" % ",".join(f"'{id}'" for id in ids)
    tables += "local words = {'health', 'water', 'report', 'public', 'national', 'code', 'state'}\nlocal n = math.random(1000)\n"
    print(f"each replica has {SHARE} of a core; {CONNECTIONS} connections for each replica, {SECONDS} s; requests/s (p99)")
    for name, path in kinds.items():
        script = FOLDER / "script.lua"
        script.write_text(f"{tables}request = function() n = n + 1; return wrk.format('GET', {path}) end\n")
        alone = [wrk(address, script, CONNECTIONS) for _, address, _ in REPLICAS]
        together = wrk(PROXY, script, CONNECTIONS * len(REPLICAS))
        total = sum(rate for rate, _ in alone)
        each = ", ".join(f"{rate:.0f} ({p99})" for rate, p99 in alone)
        print(f"{name}: alone {each}; together {together[0]:.0f} ({together[1]}), {together[0] / total:.2f} of the sum")


def proxy():
    text = Path("packaging/haproxy/haproxy.cfg").read_text()
    for old, new in [(r"bind :443 .*", f"bind {PROXY}:{PORT}"), (r"/run/haproxy/admin\.sock", f"{FOLDER}/admin.sock"),
                     # All of wrk's connections come from one address.
                     (r"balance source\n.*", "balance roundrobin"), (r"10\.0\.0\.1(\d)", r"127.77.0.\1")]:
        text = re.sub(old, new, text)
    (FOLDER / "haproxy.cfg").write_text(text)
    return subprocess.Popen(["haproxy", "-db", "-f", FOLDER / "haproxy.cfg"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


with tempfile.TemporaryDirectory() as folder:
    FOLDER, REPLICAS, running = Path(folder), [], []
    try:
        for number in (1, 2, 3):
            REPLICAS.append(start(number))
        running = [process for process, _, _ in REPLICAS] + [proxy()]
        ready(PROXY)
        time.sleep(2)
        main()
    finally:
        for process in running or [process for process, _, _ in REPLICAS]:
            process.kill()
            process.wait()
        for number in (1, 2, 3):
            group = GROUPS / f"josh-replicas-{number}"
            if group.exists():
                time.sleep(0.2)
                group.rmdir()
