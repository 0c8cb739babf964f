#!/usr/bin/env python3
"""A test collection from GPO's BILLSTATUS ZIPs: titles of bills as questions, summaries as documents.

    benches/bill_titles.py FOLDER-WITH-ZIPS OUT
    josh-data-build eval --queries OUT/queries.jsonl

Needs lxml.
"""

import collections, glob, json, os, random, re, sys, zipfile

from lxml import etree

folder, out = sys.argv[1:3]
bills = {}
for path in sorted(glob.glob(f"{folder}/**/BILLSTATUS*.zip", recursive=True)):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            bill = etree.fromstring(archive.read(name)).find("bill") if name.endswith(".xml") else None
            if bill is None or bill.find("summaries") is None:
                continue
            title = (bill.findtext("title") or "").strip()
            texts = [summary.findtext(".//text") or "" for summary in bill.find("summaries").iter("summary")]
            plain = [re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", text)).strip() for text in texts]
            longest = max(plain, key=len, default="")
            if title and len(longest) >= 40:
                bills[bill.findtext("type") + bill.findtext("number")] = (title, longest)
ids = sorted(bills)
random.Random(7).shuffle(ids)
ids = ids[:3000]
same = collections.Counter(bills[id][0] for id in ids)
asked = [id for id in ids if same[bills[id][0]] == 1 and len(bills[id][0]) < 200][:400]
os.makedirs(out, exist_ok=True)
with open(f"{out}/corpus.jsonl", "w") as file:
    for id in ids:
        file.write(json.dumps({"_id": id, "title": "", "text": bills[id][1]}) + "\n")
with open(f"{out}/queries.jsonl", "w") as file:
    for id in asked:
        file.write(json.dumps({"_id": f"q{id}", "text": bills[id][0]}) + "\n")
with open(f"{out}/qrels.tsv", "w") as file:
    file.write("query-id\tcorpus-id\tscore\n")
    for id in asked:
        file.write(f"q{id}\t{id}\t1\n")
print(f"{len(bills)} bills with summaries, {len(ids)} documents, {len(asked)} questions")
