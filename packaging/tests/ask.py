"""Starts a Josh and asks it something.

Usage: ask.py serve COMMAND...    starts `josh serve`, asks for the record that its banner names, stops it with SIGTERM
       ask.py mcp COMMAND...      starts `josh mcp`, lists the tools and calls one

SINCE, the time in nanoseconds at which the installation began, makes it also check that the first answer came in time.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

# From the first command of an installation to the first answer. A machine that does other things at the same time may need more.
MOST_SECONDS = float(os.environ.get("MOST_SECONDS", 5))
TITLE = "One Big Beautiful Bill Act"


def check(condition, message):
    if not condition:
        sys.exit(f"{message}")


def report():
    since = os.environ.get("SINCE")
    if since:
        seconds = time.time() - int(since) / 1e9
        print(f"note: install to first answer: {seconds:.1f} s", flush=True)
        check(seconds < MOST_SECONDS, f"the first answer took {seconds:.1f} s, more than {MOST_SECONDS}")


def serve(command):
    # A port that is free on this machine; the package's own default is asserted in the tests of josh.
    env = dict(os.environ, JOSH_LISTEN=os.environ.get("JOSH_LISTEN", "127.0.0.1:0"))
    server = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(30, server.kill)
    timer.start()
    try:
        lines = []
        for line in server.stderr:
            lines.append(line)
            found = re.match(r"\s+try\s+curl (http://\S+)", line)
            if found:
                break
        else:
            sys.exit("it did not start:\n" + "".join(lines))
        address = found[1].replace("0.0.0.0", "127.0.0.1")
        with urllib.request.urlopen(address, timeout=10) as answer:
            record = json.load(answer)
        check(record["data"]["title"] == TITLE, f"unexpected answer: {record}")
        report()
        server.send_signal(signal.SIGTERM)
        check(server.wait(10) == 0, f"it ended with {server.returncode}")
        check(server.stdout.read() == "", "it wrote to standard output")
    finally:
        timer.cancel()
        server.kill()


def mcp(command):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(30, server.kill)
    timer.start()

    def send(message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    def call(number, method, params):
        send({"id": number, "method": method, "params": params})
        line = server.stdout.readline()
        check(line, f"it ended during {method}")
        # Every byte on standard output belongs to the protocol: the first line is the first answer.
        answer = json.loads(line)
        check(answer.get("id") == number and "result" in answer, f"{method}: {answer}")
        return answer["result"]

    try:
        client = {"name": "packaging-test", "version": "1"}
        start = call(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        check(start["serverInfo"]["name"] == "josh", f"{start}")
        check(start["serverInfo"]["version"] == os.environ["VERSION"], f"{start}")
        send({"method": "notifications/initialized"})
        names = [tool["name"] for tool in call(2, "tools/list", {})["tools"]]
        check("get_bill" in names, f"{names}")
        bill = call(3, "tools/call", {"name": "get_bill", "arguments": {"bill_id": "hr:119:1"}})
        check(TITLE in json.dumps(bill), f"unexpected answer: {bill}")
        report()
        server.stdin.close()
        check(server.wait(10) == 0, f"it ended with {server.returncode}")
    finally:
        timer.cancel()
        server.kill()


{"serve": serve, "mcp": mcp}[sys.argv[1]](sys.argv[2:])
