"""400 searches whose callers reset the connection after 20 ms, then one normal search.
Usage: benches/abandoned.py URL   (a server of a large bundle: josh-data-build synth --passages 300000,
josh serve --queue-ms 20000)"""

import socket
import struct
import sys
import time
import urllib.parse

at = urllib.parse.urlparse(sys.argv[1])
SLOW = "/v1/search?q=the+public+federal+agency+report+program+state+act+%22of+the%22+%22to+the%22+%22in+the%22&limit=100"


def send(path):
    stream = socket.create_connection((at.hostname, at.port))
    stream.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    return stream


def timed(path):
    begun, answer = time.time(), b""
    stream = send(path)
    while part := stream.recv(65536):
        answer += part
    assert answer.startswith(b"HTTP/1.1 200"), answer[:300]
    return (time.time() - begun) * 1e3


alone = sorted(timed(SLOW) for _ in range(7))[3]
for wave in range(8):
    streams = [send(f"{SLOW}&since=19{(wave * 50 + n) % 100:02}") for n in range(50)]
    time.sleep(0.02)
    for stream in streams:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
after = timed(SLOW)
print(f"alone {alone:.0f} ms, after 400 abandoned searches {after:.0f} ms: {after / alone:.2f} times")
