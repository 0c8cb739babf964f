#!/usr/bin/env python3
"""What hostile callers cost: memory, and how look-ups fare meanwhile.

    benches/exhaustion.py target/release/josh [--bundles 10000]

Starts servers of its own on free ports. Needs nothing but Python, and h2load for HTTP/2.
"""

import argparse, http.client, json, os, random, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time


class Server:
    def __init__(self, binary, *args):
        self.process = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", *args],
                                        stderr=subprocess.PIPE, text=True)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                break
        threading.Thread(target=lambda: [self.log.append(l) for l in self.process.stderr], daemon=True).start()

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) // 1024

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port))

    def post(self, body, headers={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", "/mcp", body, {"content-type": "application/json",
                           "accept": "application/json, text/event-stream", **headers})
        status = connection.getresponse().status
        connection.close()
        return status

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        started = time.time()
        self.process.wait(60)
        return time.time() - started


class Lookups(threading.Thread):
    """A caller who looks up one record after another."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.times, self.failed, self.ended = server, [], 0, False

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
        while not self.ended:
            started = time.perf_counter()
            try:
                connection.request("GET", "/v1/bills/hr:119:1")
                answer = connection.getresponse()
                answer.read()
                self.failed += answer.status != 200
            except OSError:
                self.failed += 1
                connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
            self.times.append(time.perf_counter() - started)
            time.sleep(0.002)

    def report(self):
        self.ended = True
        self.join()
        times = sorted(self.times)
        return f"{len(times)} look-ups, p99 {times[int(len(times) * 0.99)] * 1e3:.1f} ms, {self.failed} failed"


def measure(name, server, attack):
    lookups, before = Lookups(server), server.resident_mb()
    lookups.start()
    peak, done = [before], threading.Event()

    def watch():
        while not done.wait(0.05):
            peak[0] = max(peak[0], server.resident_mb())
    threading.Thread(target=watch, daemon=True).start()
    result = attack()
    time.sleep(1)
    done.set()
    print(f"{name}: {result}; {before} MB before, {peak[0]} at most, {server.resident_mb()} after; "
          f"{lookups.report()}; stopped in {server.stop():.1f} s", flush=True)


def half_sent(server, count):
    streams, part = [], b" " * 65536
    for _ in range(count):
        stream = server.connect()
        stream.settimeout(0.01)
        stream.sendall(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                       b"accept: application/json, text/event-stream\r\ncontent-length: 1048576\r\n\r\n")
        try:
            for _ in range(15):
                stream.sendall(part)
        except OSError:
            pass
        streams.append(stream)
    return f"{len(streams)} half-sent posts of 1 MB"


def idle(server, count):
    """Connections that ask once and stay."""
    streams, answered = [], 0
    for _ in range(count):
        stream = server.connect()
        stream.sendall(b"GET /v1/bills/hr:119:1 HTTP/1.1\r\nhost: localhost\r\n\r\n")
        answered += stream.recv(12) == b"HTTP/1.1 200"
        streams.append(stream)
    time.sleep(6)
    return f"{answered} of {count} connections answered and kept"


def sessions(server, count):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "x", "version": "1"},
        "capabilities": {"experimental": {"note": {"text": "x" * 15000}}}}})
    answers = [server.post(body) for _ in range(count)]
    return f"{answers.count(200)} of {count} sessions opened"


def long_arguments(server, count):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "resolve_entity", "arguments": {"entity_type": "legislators", "query": "a b " * 250000}}})
    answers, threads = [], []
    for _ in range(count):
        threads.append(threading.Thread(target=lambda: answers.append(server.post(body))))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return f"{count} arguments of 1 MB answered {sorted(set(answers))}"


def http2_streams(server, count):
    """HTTP/2 without asking, every stream at once."""
    if not shutil.which("h2load"):
        return "SKIPPED: no h2load (nghttp2-client)"
    run = subprocess.run(["h2load", f"-n{count}", "-c1", f"-m{count}", f"http://127.0.0.1:{server.port}/openapi.json"],
                         capture_output=True, text=True, timeout=120)
    return "HTTP/2: " + next(line for line in run.stdout.splitlines() if line.startswith("requests:"))


def hostile_bundles(binary, count):
    folder = tempfile.mkdtemp()
    environment = dict(os.environ, XDG_CACHE_HOME=folder)
    subprocess.run([binary, "get", "/livez"], env=environment, check=True, stdout=subprocess.DEVNULL)
    cache = os.path.join(folder, "josh")
    sample = os.path.join(cache, next(n for n in os.listdir(cache) if n.endswith(".db")))
    path, key = os.path.join(folder, "federal.db"), os.path.join(folder, "key.pem")
    shutil.copy(sample, path)
    subprocess.run([binary, "bundle", "keygen", key], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([binary, "bundle", "sign", path, "--key", key], check=True, stdout=subprocess.DEVNULL)
    with open(path, "rb") as file:
        good = file.read()
    server = Server(binary, "--bundle", path, "--verify-key", key + ".pub")
    dice, refused, taken = random.Random(20), 0, 0

    def attack():
        nonlocal refused, taken
        for number in range(count):
            bad = bytearray(good)
            kind = number % 4
            if kind == 0:    # cut
                del bad[dice.randrange(len(bad)):]
            elif kind == 1:  # a damaged end: manifest and footer
                for _ in range(dice.randrange(1, 20)):
                    bad[-1 - dice.randrange(min(len(bad), 200000))] = dice.randrange(256)
            elif kind == 2:  # the footer's own numbers
                at = len(bad) - 1 - dice.randrange(96)
                bad[at] ^= 1 << dice.randrange(8)
            else:            # a section, wherever it is
                bad[dice.randrange(len(bad) - 200000)] ^= 1 << dice.randrange(8)
            if bytes(bad) == good:
                continue
            with open(path + ".new", "wb") as file:
                file.write(bad)
            os.rename(path + ".new", path)
            seen = len(server.log)
            server.process.send_signal(signal.SIGHUP)
            deadline = time.time() + 10
            while time.time() < deadline:
                news = "".join(server.log[seen:])
                if "refused" in news or "swapped" in news:
                    break
                time.sleep(0.001)
            refused += "refused" in news
            taken += "swapped" in news
            assert server.process.poll() is None, f"the server ended at bundle {number}"
        return f"{count} damaged bundles, {refused} refused, {taken} opened"
    measure("bundles", server, attack)
    shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--bundles", type=int, default=1000)
    options = parser.parse_args()
    for name, arguments, attack in [
        ("half-sent posts", [], lambda s: half_sent(s, 2000)),
        ("idle connections", [], lambda s: idle(s, 2000)),
        ("sessions", ["--mcp-sessions", "true"], lambda s: sessions(s, 300)),
        ("long arguments", [], lambda s: long_arguments(s, 12)),
        ("streams", [], lambda s: http2_streams(s, 20000)),
    ]:
        server = Server(options.binary, *arguments)
        measure(name, server, lambda: attack(server))
    hostile_bundles(options.binary, options.bundles)
