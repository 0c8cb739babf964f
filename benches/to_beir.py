#!/usr/bin/env python3
"""Converts the Cranfield and CACM test collections, as published, to BEIR-style folders for
`josh-data-build eval`.

Usage: benches/to_beir.py cranfield FOLDER OUT | benches/to_beir.py cacm FOLDER OUT
"""

import json
import os
import re
import sys
import tarfile


def cranfield(folder):
    read = lambda name: open(os.path.join(folder, name), encoding="utf-8", errors="replace").read()
    field = lambda name, text: " ".join((re.search(rf"<{name}>(.*?)</{name}>", text, re.S) or [0, ""])[1].split())
    documents = [(field("docno", d), field("title", d), field("text", d)) for d in re.findall(r"<doc>(.*?)</doc>", read("cran.all.1400.xml"), re.S)]
    # The judgements number the queries by position, from 1; the queries' own numbers have gaps.
    queries = [(str(n), field("title", q)) for n, q in enumerate(re.findall(r"<top>(.*?)</top>", read("cran.qry.xml"), re.S), 1)]
    judged = [line.split() for line in read("cranqrel.trec.txt").splitlines() if line.strip()]
    # Each text begins with its title, which is removed.
    documents = [(i, t, x[len(t):].strip() if x.startswith(t) else x) for i, t, x in documents]
    return documents, queries, [(q, d, max(int(s), 0)) for q, _, d, s in judged]


def cacm(folder):
    documents = []
    with tarfile.open(os.path.join(folder, "cacm.tar.gz")) as tar:
        for member in tar.getmembers():
            if not member.name.endswith(".html"):
                continue
            text = tar.extractfile(member).read().decode("utf-8", "replace")
            text = re.sub(r"</?(html|pre)>", "", text).strip()
            # The numbers after the date of entry ("CA581203 JB ...") are citations.
            text = re.split(r"\nCA\d{6}", text)[0]
            title, _, rest = text.partition("\n\n")
            documents.append((os.path.basename(member.name)[:-5], " ".join(title.split()), " ".join(rest.split())))
    topics = open(os.path.join(folder, "topics.cacm.txt")).read()
    queries = [(n, " ".join(q.split())) for n, q in re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", topics, re.S)]
    judged = [line.split() for line in open(os.path.join(folder, "qrels.cacm.txt")) if line.strip()]
    return documents, queries, [(q, d, int(s)) for q, _, d, s in judged]


def write(out, documents, queries, judged):
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "corpus.jsonl"), "w") as f:
        f.writelines(json.dumps({"_id": i, "title": t, "text": x}) + "\n" for i, t, x in documents)
    with open(os.path.join(out, "queries.jsonl"), "w") as f:
        f.writelines(json.dumps({"_id": i, "text": x}) + "\n" for i, x in queries)
    with open(os.path.join(out, "qrels.tsv"), "w") as f:
        f.write("query-id\tcorpus-id\tscore\n")
        f.writelines(f"{q}\t{d}\t{s}\n" for q, d, s in judged)
    print(f"{out}: {len(documents)} documents, {len(queries)} queries, {len(judged)} judgements")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("cranfield", "cacm"):
        sys.exit(__doc__)
    write(sys.argv[3], *{"cranfield": cranfield, "cacm": cacm}[sys.argv[1]](sys.argv[2]))
