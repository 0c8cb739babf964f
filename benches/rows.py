"""Copies all bills of a running Josh into a SQLite table with a primary key, so that other servers
can be measured on the same rows.

Usage: rows.py URL FOLDER    Writes bills.db and ids.json into the folder.
"""
import json, sqlite3, sys, urllib.request

base, folder = sys.argv[1:]
rows, url = [], "/v1/bills?limit=100"
while url:
    page = json.load(urllib.request.urlopen(base + url))
    rows += page["data"]
    url = page["next_cursor"] and "/v1/bills?limit=100&cursor=" + page["next_cursor"]
db = sqlite3.connect(f"{folder}/bills.db")
columns = list(rows[0])
db.execute("CREATE TABLE bills (%s, PRIMARY KEY (id))" % ", ".join(f'"{c}"' for c in columns))
text = lambda v: json.dumps(v) if isinstance(v, (list, dict)) else v
db.executemany("INSERT INTO bills VALUES (%s)" % ",".join("?" * len(columns)), [[text(r[c]) for c in columns] for r in rows])
db.commit()
json.dump([r["id"] for r in rows], open(f"{folder}/ids.json", "w"))
