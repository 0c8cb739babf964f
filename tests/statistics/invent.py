"""Writes answers of the Bank of Japan with invented values: invent.py FOLDER SERIES POINTS

One database (FM08) of monthly series S00001, S00002 …, each with as many months from January 1980 on, in the documented
shapes: the list of the database, and the values of 250 series a file. Used by run (clients) and benches/series.sh.
"""
import json
import os
import random
import sys

folder, count, points = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
folder = os.path.join(folder, "statistical-series")
os.makedirs(folder, exist_ok=True)
choose = random.Random(7)
months = [(1980 + at // 12) * 100 + at % 12 + 1 for at in range(points)]


def series(number):
    code = f"S{number:05}"
    return {
        "SERIES_CODE": code, "NAME_OF_TIME_SERIES": f"Price of tea, kind {number}", "UNIT": "Yen",
        "NAME_OF_TIME_SERIES_J": f"茶の価格 {number}", "UNIT_J": "円", "FREQUENCY": "MONTHLY", "CATEGORY": "Tea",
        "CATEGORY_J": "茶", "LAST_UPDATE": "20260219",
    }


def write(name, answer):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump({"STATUS": 200, "MESSAGEID": "M181000I", "MESSAGE": "", "DATE": "", **answer}, file, ensure_ascii=False)


rows = []
for number in range(1, count + 1):
    layers = {"LAYER1": 1 + number // 250, "LAYER2": 1 + number % 250, "LAYER3": 0, "LAYER4": 0, "LAYER5": 0}
    ends = {"START_OF_THE_TIME_SERIES": str(months[0]), "END_OF_THE_TIME_SERIES": str(months[-1])}
    rows.append({**series(number), **layers, **ends, "NOTES": "Invented", "NOTES_J": "架空"})
write("list.json", {"DB": "FM08", "RESULTSET": rows})
for first in range(1, count + 1, 250):
    rows = []
    for number in range(first, min(first + 250, count + 1)):
        # A walk with two decimals, as prices are; every fiftieth month has none.
        value, values = choose.uniform(50, 5000), []
        for at in range(points):
            value = max(1.0, value * choose.uniform(0.97, 1.03))
            values.append(None if at % 50 == 49 else round(value, 2))
        rows.append({**series(number), "VALUES": {"SURVEY_DATES": months, "VALUES": values}})
    write(f"data-{first:05}.json", {"PARAMETER": {"DB": "FM08"}, "NEXTPOSITION": None, "RESULTSET": rows})
