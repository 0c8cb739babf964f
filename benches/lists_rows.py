"""Copies the rows that `lists.sh` asks for from a running Josh into SQLite, with the indexes that
its questions need.

Usage: lists_rows.py URL FOLDER    Writes lists.db into the folder.
"""
import json, sqlite3, sys, urllib.request

base, folder = sys.argv[1:]


def records(path):
    joint = "&" if "?" in path else "?"
    with urllib.request.urlopen(f"{base}{path}{joint}format=ndjson") as answer:
        return [json.loads(line) for line in answer]


db = sqlite3.connect(f"{folder}/lists.db")
db.executescript("""
CREATE TABLE bills (ord INTEGER PRIMARY KEY, id, congress, status, cosponsor_count, policy_area, data);
CREATE TABLE filings (ord INTEGER PRIMARY KEY, client, amount);
CREATE TABLE record (ord INTEGER PRIMARY KEY, data);
CREATE TABLE speakers (speaker, ord);
""")
fields = ("id", "congress", "status", "cosponsor_count", "policy_area")
rows = [[ord, *(bill[f] for f in fields), json.dumps(bill)] for ord, bill in enumerate(records("/v1/bills"))]
db.executemany("INSERT INTO bills VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
# As Josh sums them: without those that a later filing replaces.
filings = [f for f in records("/v1/lda-filings") if not f.get("superseded")]
db.executemany("INSERT INTO filings VALUES (?, ?, ?)", [(n, f["client"], f["amount"]) for n, f in enumerate(filings)])
for ord, granule in enumerate(records("/v1/congressional-record")):
    db.execute("INSERT INTO record VALUES (?, ?)", (ord, json.dumps(granule)))
    db.executemany("INSERT INTO speakers VALUES (?, ?)", [(s, ord) for s in granule["speakers"] or []])
db.executescript("""
CREATE INDEX by_status ON bills (congress, status, ord);
CREATE INDEX by_cosponsors ON bills (cosponsor_count DESC, ord);
CREATE INDEX by_policy_area ON bills (policy_area);
CREATE INDEX by_client ON filings (client, amount);
CREATE INDEX by_speaker ON speakers (speaker, ord);
ANALYZE;
""")
db.commit()
