"""Multiplies an input: every record so often, each time under another id, as hand-written records.

    josh-data-build read --from ../shared/data --ignore-unknown-folders --out records.jsonl
    python3 benches/many_times.py records.jsonl 1 one-time
    python3 benches/many_times.py records.jsonl 10 ten-times

A copy's id is the id with one more digit. Ids that do not end in a digit, and ids of sources whose
numbers have a fixed length, are written once. A third argument of 0.2 takes every fifth record.
"""

import json
import pathlib
import sys

FIXED_LENGTH = {"legislators", "committees", "crs-reports", "federal-register", "lda-filings", "saps"}

records, times, out = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
every = round(1 / float(sys.argv[4])) if len(sys.argv) > 4 else 1
out.mkdir(exist_ok=True)
files = {}
for at, line in enumerate(open(records, encoding="utf-8")):
    if at % every:
        continue
    record = json.loads(line)
    source, id = record.pop("source"), record["id"]
    if source not in files:
        files[source] = open(out / f"{source}.josh.jsonl", "w", encoding="utf-8")
    copies = range(times) if id[-1].isdigit() and source not in FIXED_LENGTH else [None]
    for copy in copies:
        record["id"] = id if copy is None else f"{id}{copy}"
        files[source].write(json.dumps(record, ensure_ascii=False) + "\n")
