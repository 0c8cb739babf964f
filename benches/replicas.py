#!/usr/bin/env python3
"""Three replicas behind HAProxy beside the sum of three alone, on a machine that has fewer cores than that needs: a control group gives each
replica a share of a core, so that proxy and client find room beside them. The processor time of a request does not depend on who else is busy.

Usage: benches/replicas.py JOSH BUNDLE [SHARE]     SHARE of a core for each replica (0.2); needs root, cgroups 1, haproxy and wrk
"""

import json
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
SECONDS, CONNECTIONS, PORT = 6, 8, 8080
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


def processor_time(processes):
    """Seconds that these have used so far."""
    fields = [Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split() for process in processes]
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def wrk(address, script, connections, processes):
    """Requests per second, and for each group of processes the microseconds of a request."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}", "--timeout", "30s", "-s", script, f"http://{address}:{PORT}"]
    before = [processor_time(group) for group in processes]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    count = int(re.search(r"(\d+) requests in", said)[1])
    used = [1e6 * (processor_time(group) - start) / count for group, start in zip(processes, before)]
    return float(re.search(r"Requests/sec: +([0-9.]+)", said)[1]), used


def main():
    with urllib.request.urlopen(f"http://{PROXY}:{PORT}/v1/bills?limit=100&fields=id") as answer:
        ids = [record["id"] for record in json.load(answer)["data"]]
    kinds = {
        "a record": "'/v1/bills/' .. ids[n % #ids + 1]",
        "a list": "'/v1/bills?sort=-introduced_date&limit=20&number.gte=' .. n",
        "a search": "'/v1/search?mode=lexical&q=' .. words[n % 7 + 1] .. '+' .. words[n % 5 + 1] .. '+' .. n",
    }
    tables = "local ids = {%s}\n" % ",".join(f"'{id}'" for id in ids)
    tables += "local words = {'health', 'water', 'report', 'public', 'national', 'code', 'state'}\nlocal n = math.random(1000)\n"
    print(f"each replica has {SHARE} of a core; {CONNECTIONS} connections for each replica, {SECONDS} s")
    for name, path in kinds.items():
        script = FOLDER / "script.lua"
        script.write_text(f"{tables}request = function() n = n + 1; return wrk.format('GET', {path}) end\n")
        alone = [wrk(address, script, CONNECTIONS, [[process]]) for process, address, _ in REPLICAS]
        replicas = [process for process, _, _ in REPLICAS]
        rate, (cost, proxying) = wrk(PROXY, script, CONNECTIONS * len(REPLICAS), [replicas, [HAPROXY]])
        total, usual = sum(rate for rate, _ in alone), sum(used[0] for _, used in alone) / len(alone)
        print(f"{name}: alone {', '.join(f'{rate:.0f}' for rate, _ in alone)}/s, {usual:.0f} us each; together {rate:.0f}/s, {cost:.0f} us each and "
              f"{proxying:.0f} us of HAProxy; {rate / total:.2f} of the sum, {usual / cost:.2f} by processor time", flush=True)


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
        HAPROXY = proxy()
        running = [process for process, _, _ in REPLICAS] + [HAPROXY]
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
