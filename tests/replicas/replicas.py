"""Three replicas behind HAProxy; see tests/replicas/run. Everything runs on loopback addresses of its own."""

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

PROGRAMS, LONG = Path(sys.argv[1]).resolve(), "--long" in sys.argv[2:]
JOSH, BUILDER = PROGRAMS / "josh", PROGRAMS / "josh-data-build"
CONFIG = Path("packaging/haproxy/haproxy.cfg")
# Below the ports that the system gives to clients.
PORT = random.randint(20000, 30000)
REPLICAS = 3
# The replicas and the proxy are .1 to .4, a server alone is .5; callers have addresses of their own.
NET = ".".join(["127", str(random.randint(16, 250)), str(random.randint(0, 255))])
PROXY, ALONE = f"{NET}.4", f"{NET}.5"
CALLERS = [f"{NET}.{n}" for n in range(100, 108)]
# No machine is so busy that this is too short; it bounds the test if something hangs.
PATIENCE = 120
TOOK = re.compile(rb'(\\?"(?:took_)?ms\\?":)[0-9.]+')


def wait_for(what, test):
    end = time.monotonic() + PATIENCE
    while not (value := test()):
        if time.monotonic() > end:
            raise SystemExit(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)
    return value


class Replica:
    def __init__(self, folder, address, settings):
        self.folder, self.address, self.settings, self.process = folder, address, settings, None
        folder.mkdir()
        self.bundle = folder / "federal.db"

    def put(self, bundle):
        """Puts a bundle in place the way the docs say: by renaming."""
        shutil.copyfile(bundle, self.folder / ".next.db")
        (self.folder / ".next.db").rename(self.bundle)

    def start(self):
        log = open(self.folder / "log", "ab")
        command = [JOSH, "serve", "--listen", f"{self.address}:{PORT}", "--bundle", self.bundle, *self.settings]
        self.process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)
        wait_for(f"{self.address} is ready", self.is_ready)

    def is_ready(self):
        if self.process.poll() is not None:
            raise SystemExit(f"josh ended: {(self.folder / 'log').read_text()}")
        return self.status("/readyz") == 200

    def ask(self, path):
        connection = http.client.HTTPConnection(self.address, PORT, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            return None, b""
        finally:
            connection.close()

    def status(self, path):
        return self.ask(path)[0]

    def bundle_id(self):
        status, body = self.ask("/health")
        return json.loads(body)["bundle"]["id"] if status == 200 else None

    def stop(self, name):
        self.process.send_signal(name)
        return self.process.wait(PATIENCE)


class Caller:
    """A client with one connection to a server, from an address of its own. It opens a new connection if the server closed the one that
    it had kept, as every HTTP client does, and asks again if an answer broke off, which no proxy can mend."""

    def __init__(self, key, server=PROXY, address=CALLERS[0]):
        self.key, self.server, self.address = key, server, address
        self.connection, self.cut = None, 0

    def send(self, method, path, body=None, headers=()):
        headers = {"Authorization": f"Bearer {self.key}", "X-Request-Id": "replicas", **dict(headers)}
        headers = {name: value for name, value in headers.items() if value is not None}
        for _ in range(3):
            is_new = self.connection is None
            if is_new:
                self.connection = http.client.HTTPConnection(
                    self.server, PORT, timeout=PATIENCE, source_address=(self.address, 0))
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                return answer.status, TOOK.sub(rb"\g<1>0", answer.read()), answer.headers
            except (http.client.IncompleteRead, OSError, http.client.HTTPException) as error:
                self.close()
                if isinstance(error, http.client.IncompleteRead):
                    self.cut += 1
                elif is_new:
                    return None, repr(error).encode(), {}
        return None, b"three connections broke", {}

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def get(self, path):
        return self.send("GET", path)

    def call(self, tool, arguments, headers=()):
        return self.rpc("tools/call", {"name": tool, "arguments": arguments}, headers)

    def rpc(self, method, params, headers=()):
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        return self.send("POST", "/mcp", json.dumps(message), {**kinds, **dict(headers)})


WORDS = "health+services+report"
QUESTIONS = [lambda c, p=path: c.get(p) for path in [
    "/v1/bills/hr:110:1",
    "/v1/bills/hr:113:2?fields=title",
    "/v1/fetch/R40001",
    "/v1/bills/hr:999:1",
    "/v1/bills?congress=112,113&sort=-introduced_date&limit=20",
    "/v1/bills?congress=114&format=csv",
    "/v1/bills/hr:110:1/body?limit=3",
    "/v1/bills/hr:110:1/dossier",
    "/v1/lda-filings?aggregate=sum&sum_field=amount&group_by=client",
    "/v1/bills?bucket_by_time=introduced_date&time_interval=year&aggregate=count",
    f"/v1/search?q={WORDS}&limit=5",
    f"/v1/search?q={WORDS}&mode=semantic&source=bills&limit=5",
    f"/v1/search?q={WORDS}&mode=lexical&congress=113",
    "/v1/sources",
]] + [lambda c, t=tool, a=arguments: c.call(t, a) for tool, arguments in [
    ("get_bill", {"bill_id": "hr:110:1"}),
    ("list_records", {"resource": "bills", "filters": {"congress": 112}, "limit": 5}),
    ("search", {"query": "public law and national committee", "limit": 3}),
    ("count", {"resource": "bills", "group_by": "congress"}),
    ("get_bill", {"bill_id": "hr:999:1"}),
]]


def list_pages(caller, address, cursor):
    more = f"&cursor={cursor}" if cursor else ""
    status, body, _ = caller.get(address + more)
    if status != 200:
        return status, body, None, None
    page = json.loads(body)
    items = page.get("data", page.get("results"))
    return status, body, [item["id"] for item in items], page.get("next_cursor")


def tool_pages(caller, arguments, cursor):
    more = {"cursor": cursor} if cursor else {}
    status, body, _ = caller.call("list_records", {**arguments, **more})
    if status != 200:
        return status, body, None, None
    result = json.loads(body)["result"]
    if result.get("isError"):
        return 400, body, None, None
    page = result["structuredContent"]
    return status, body, [item["id"] for item in page["data"]], page.get("next_cursor")


WALKS = [
    lambda c, cursor: list_pages(c, "/v1/bills?sort=-introduced_date&limit=25", cursor),
    lambda c, cursor: list_pages(c, f"/v1/search?q={WORDS}&limit=20&source=bills,federal-register", cursor),
    lambda c, cursor: tool_pages(c, {"resource": "federal-register", "limit": 25}, cursor),
]


def walk(pages, callers):
    """All ids of a list, its pages asked for by these callers in turn; or what came instead."""
    ids, cursor, at = [], None, 0
    while True:
        status, body, more, cursor = pages(callers[at % len(callers)], cursor)
        if status != 200:
            return None, (status, body)
        ids.extend(more)
        at += 1
        if cursor is None:
            return ids, None


class Expected:
    """What one server alone says with a bundle."""

    def __init__(self, folder, name, bundle, settings, key, children):
        server = Replica(folder / f"alone-{name}", ALONE, settings)
        children.append(server)
        server.put(bundle)
        server.start()
        self.path, self.id = bundle, server.bundle_id()
        caller = Caller(key, ALONE)
        self.answers = [question(caller)[:2] for question in QUESTIONS]
        self.walks = [walk(pages, [caller])[0] for pages in WALKS]
        server.stop(signal.SIGKILL)
        assert all(status in (200, 404) for status, _ in self.answers), self.answers[0]
        assert all(len(ids) == len(set(ids)) > 50 for ids in self.walks), [len(ids) for ids in self.walks]


class Load:
    """Callers that ask until they are told to stop, and compare."""

    def __init__(self, key, expected):
        self.key, self.expected = key, expected
        self.counts, self.wrong, self.lock = Counter(), [], threading.Lock()
        self.over = threading.Event()
        self.callers = []
        self.threads = [threading.Thread(target=self.ask, args=(address,)) for address in CALLERS[:5]]
        self.threads += [threading.Thread(target=self.follow, args=(address,)) for address in CALLERS[5:]]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def note(self, what, problem=None):
        with self.lock:
            self.counts[what] += 1
            if problem:
                self.wrong.append((time.strftime("%H:%M:%S"), what, problem))

    def caller(self, address):
        caller = Caller(self.key, PROXY, address)
        with self.lock:
            self.callers.append(caller)
        return caller

    def cut(self):
        return sum(caller.cut for caller in self.callers)

    def ask(self, address):
        caller, mine = self.caller(address), random.Random(address)
        while not self.over.is_set():
            at = mine.randrange(len(QUESTIONS))
            answer = QUESTIONS[at](caller)[:2]
            is_right = any(answer == expected.answers[at] for expected in self.expected)
            self.note("answers", None if is_right else (at, answer[0], answer[1][:300]))
            time.sleep(0.004)

    def follow(self, address):
        caller, mine = self.caller(address), random.Random(address)
        while not self.over.is_set():
            at = mine.randrange(len(WALKS))
            ids, instead = walk(WALKS[at], [caller])
            if ids is not None:
                is_right = any(ids == expected.walks[at] for expected in self.expected)
                self.note("lists followed to the end", None if is_right else (at, len(ids)))
            elif instead[0] == 400 and b"invalid_cursor" in instead[1] and b"another bundle" in instead[1]:
                self.note("lists begun again with another bundle")
            else:
                self.note("pages", (at, instead[0], instead[1][:300]))


class Proxy:
    def __init__(self, folder, replicas):
        text = CONFIG.read_text()
        self.socket = str(folder / "admin.sock")
        changes = [(r"bind :443 .*", f"bind {PROXY}:{PORT}"), (r"/run/haproxy/admin\.sock", self.socket)]
        changes += [(rf"10\.0\.0\.1{n}:8080", f"{replica.address}:{PORT}") for n, replica in enumerate(replicas, 1)]
        for pattern, new in changes:
            text, count = re.subn(pattern, new, text)
            assert count == 1, f"{CONFIG} has {pattern} {count} times"
        path = folder / "haproxy.cfg"
        path.write_text(text)
        self.log = open(folder / "haproxy.log", "ab")
        self.process = subprocess.Popen(["haproxy", "-db", "-f", path], stdout=self.log, stderr=self.log)
        wait_for("HAProxy sees all replicas", lambda: self.up() == REPLICAS)

    def statistics(self):
        if self.process.poll() is not None:
            raise SystemExit(f"HAProxy ended: {Path(self.log.name).read_text()}")
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PATIENCE)
                connection.connect(self.socket)
                connection.sendall(b"show stat\n")
                text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return []
        names, *rows = [line.split(",") for line in text.lstrip("# ").splitlines() if line]
        return [row for row in (dict(zip(names, row)) for row in rows) if row["pxname"] == "replicas"]

    def state(self, number):
        rows = [row["status"] for row in self.statistics() if row["svname"] == f"josh{number}"]
        return rows[0] if rows else None

    def up(self):
        return sum(row["status"] == "UP" for row in self.statistics() if row["svname"].startswith("josh"))

    def summary(self):
        total = next(row for row in self.statistics() if row["svname"] == "BACKEND")
        return {name: int(total[name] or 0) for name in ("wretr", "wredis", "hrsp_5xx", "econ", "eresp")}


def difference(one, other):
    """Where two answers begin to differ."""
    at = next((at for at, pair in enumerate(zip(one[1], other[1])) if pair[0] != pair[1]), min(len(one[1]), len(other[1])))
    return [(status, at, body[max(0, at - 200):at + 200]) for status, body in (one, other)]


def settled(key, expected):
    """Every replica has this bundle: whoever asks gets its answers, and pages of one list may come from all of them."""
    callers = [Caller(key, PROXY, address) for address in CALLERS]
    for at, question in enumerate(QUESTIONS):
        answer = question(callers[at % len(callers)])[:2]
        assert answer == expected.answers[at], difference(answer, expected.answers[at])
    for at, pages in enumerate(WALKS):
        ids, instead = walk(pages, callers)
        assert ids == expected.walks[at], (at, instead)
    for caller in callers:
        caller.close()


def swap_by_renaming(replicas, new):
    for replica in replicas:
        replica.put(new.path)
        replica.process.send_signal(signal.SIGHUP)
        wait_for(f"{replica.address} has the new bundle", lambda: replica.bundle_id() == new.id)


def swap_by_restarting(replicas, new, proxy):
    """As Kubernetes does it, and as for a new version of Josh. The proxy must have sent callers elsewhere before the replica ends."""
    for number, replica in enumerate(replicas, 1):
        replica.put(new.path)
        replica.process.send_signal(signal.SIGTERM)
        wait_for(f"HAProxy leaves josh{number} out", lambda: proxy.state(number) != "UP")
        code = replica.process.wait(PATIENCE)
        assert code == 0, f"{replica.address} ended with {code}"
        replica.start()
        wait_for(f"HAProxy sees josh{number}", lambda: proxy.state(number) == "UP")


def kill_one(replicas, proxy, number):
    replica = replicas[number - 1]
    replica.stop(signal.SIGKILL)
    wait_for(f"HAProxy leaves josh{number} out", lambda: proxy.state(number) != "UP")
    time.sleep(1)
    replica.start()
    wait_for(f"HAProxy sees josh{number}", lambda: proxy.state(number) == "UP")


def check_what_one_replica_knows(replicas, proxy, key):
    """A sign-in, and a session of MCP: known to one replica only, and found again from any address."""
    for number, replica in enumerate(replicas, 1):
        assert replica.stop(signal.SIGKILL) is not None
        replica.settings = [*replica.settings, "--mcp-sessions"]
        replica.start()
        wait_for(f"HAProxy sees josh{number}", lambda: proxy.state(number) == "UP")
    callers = [Caller(key, PROXY, address) for address in CALLERS]
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "replicas", "version": "1"}}
    status, body, headers = callers[0].rpc("initialize", about)
    assert status == 200 and headers["Mcp-Session-Id"], (status, body)
    session = {"Mcp-Session-Id": headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    status, body, headers = callers[0].send("POST", "/login", f"key={key}", form)
    assert status == 303, (status, body)
    cookie = {"Cookie": headers["Set-Cookie"].split(";")[0], "Authorization": None}
    for caller in callers:
        status, body, _ = caller.call("get_bill", {"bill_id": "hr:110:1"}, session)
        assert status == 200 and b'"result"' in body, (caller.address, status, body[:300])
        status, body, _ = caller.send("GET", "/v1/bills/hr:110:1", None, cookie)
        assert status == 200, (caller.address, status, body[:300])


def run(folder, children):
    keys = folder / "keys.json"
    added = subprocess.run([JOSH, "keys", "add", "replicas", "--keys", keys], capture_output=True, text=True, check=True)
    key = re.search(r"josh_[\w-]+", added.stdout)[0]
    bundles = [folder / "one.db", folder / "two.db"]
    for seed, bundle in enumerate(bundles, 1):
        synth = [BUILDER, "synth", "--passages", "2000", "--seed", str(seed), "--out", bundle]
        subprocess.run(synth, check=True, capture_output=True)
    settings = ["--public-url", f"http://{PROXY}:{PORT}", "--mcp-hosts", ALONE, "--trusted-proxies", f"{NET}.0/24", "--auth", "keys", "--keys", keys]
    # A busy machine is no reason to refuse.
    settings += ["--drain-ms", "5000", "--queue-ms", "20000", "--log", "warn"]
    expected = [Expected(folder, name, bundle, settings, key, children) for name, bundle in zip("ab", bundles)]
    assert expected[0].id != expected[1].id and expected[0].walks != expected[1].walks
    replicas = [Replica(folder / f"josh{n}", f"{NET}.{n}", settings) for n in range(1, REPLICAS + 1)]
    children.extend(replicas)
    for replica in replicas:
        replica.put(expected[0].path)
        replica.start()
    proxy = Proxy(folder, replicas)
    children.append(proxy)
    settled(key, expected[0])
    renames, restarts, kills = (10, 10, 10) if LONG else (2, 1, 1)
    began, cut_by_kills = time.monotonic(), 0
    with Load(key, expected) as load:
        try:
            turn = 0
            for _ in range(renames):
                turn += 1
                swap_by_renaming(replicas, expected[turn % 2])
                settled(key, expected[turn % 2])
            for _ in range(restarts):
                turn += 1
                swap_by_restarting(replicas, expected[turn % 2], proxy)
                settled(key, expected[turn % 2])
            before = load.cut()
            for number in range(kills):
                kill_one(replicas, proxy, number % REPLICAS + 1)
            time.sleep(1)
            cut_by_kills = load.cut() - before
        finally:
            load.over.set()
    took = time.monotonic() - began
    print(f"{renames} new bundles by renaming, {restarts} by restarting, {kills} replicas killed, {took:.0f} s of load")
    print(", ".join(f"{count} {what}" for what, count in sorted(load.counts.items())))
    print(f"answers that broke off and were asked for again: {load.cut()}, of these {cut_by_kills} while replicas were killed")
    print(f"HAProxy: {proxy.summary()}")
    for wrong in load.wrong[:20]:
        print("WRONG", *wrong)
    assert not load.wrong, f"{len(load.wrong)} wrong or lost"
    # Each caller waits for one answer at a time, so a kill can break off no more.
    assert load.cut() == cut_by_kills <= kills * len(CALLERS), "answers broke off"
    # A caller keeps its replica: a list is begun again when that gets a new bundle or ends and comes back, not with every page.
    again, most = load.counts["lists begun again with another bundle"], 10 * 3 * (renames + restarts)
    assert again <= most, f"{again} lists were begun again, {most} are many"
    assert load.counts["answers"] > 100 and load.counts["lists followed to the end"] > 3, "too little was asked"
    check_what_one_replica_knows(replicas, proxy, key)
    print("replicas: 0 wrong, 0 lost")


def main():
    children = []
    # Also when CI's time is over: nothing is left running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="josh-replicas-") as folder:
        # Nothing of the user's is read or written.
        for name in [name for name in os.environ if name.startswith("JOSH_")]:
            del os.environ[name]
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            os.environ[name] = folder
        try:
            run(Path(folder), children)
        except BaseException:
            for path in sorted(Path(folder).glob("**/*log")):
                print(f"--- {path}", *path.read_text().splitlines()[-15:], sep="\n")
            raise
        finally:
            for child in children:
                if child.process and child.process.poll() is None:
                    child.process.kill()
                    child.process.wait()


main()
