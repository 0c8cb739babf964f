#!/usr/bin/env python3
"""Compares what josh-data-build reads from BILLSTATUS files with what lxml finds in them, field by field.

Usage: billstatus_check.py ZIPS-OR-FOLDER RECORDS.jsonl
RECORDS.jsonl is the output of `josh-data-build read --from FOLDER`, where the same files are in FOLDER/bills.
Needs lxml. Prints how many values were compared and how many differ, by field; exits with 1 if any does.

Not compared: what the reader derives by judgement (status, short title, stage of an estimate).
Left out on both sides, and counted: actions without a text, which are slips of the files or repeat another
action under its code.
"""
import collections, html, json, os, re, sys, zipfile
from datetime import datetime
from zoneinfo import ZoneInfo
from lxml import etree
from lxml import html as lxml_html

WASHINGTON = ZoneInfo("America/New_York")
TYPES = {"hr", "s", "hjres", "sjres", "hres", "sres", "hconres", "sconres"}
left_out = collections.Counter()


def files(place):
    """The XML documents in ZIPs and folders, in any order."""
    for at, _, names in os.walk(place):
        for name in sorted(names):
            path = os.path.join(at, name)
            if name.endswith(".zip"):
                with zipfile.ZipFile(path) as archive:
                    for member in archive.namelist():
                        yield archive.read(member)
            elif name.endswith(".xml"):
                with open(path, "rb") as file:
                    yield file.read()


def text(node, path):
    found = node.findtext(path) if node is not None else None
    return found.strip() if found and found.strip() else None


def number(node, path):
    found = text(node, path)
    return int(found) if found else None


def day(moment):
    """The day in Washington; midnight UTC to the second is a date without a time."""
    if not moment:
        return None
    if len(moment) == 10 or moment.endswith("T00:00:00Z"):
        return moment[:10]
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).astimezone(WASHINGTON).date().isoformat()


def squeeze(value):
    """Text without white space, for fields whose line breaks are the reader's own."""
    return re.sub(r"\s+", "", value) if value else value


def plain(source):
    if not source:
        return None
    body = lxml_html.fragment_fromstring(source, create_parent="div")
    return squeeze("".join(body.itertext())) or None


def measure(node):
    kind = (text(node, "type") or "").lower()
    return f"{kind}:{text(node, 'congress')}:{text(node, 'number')}" if node is not None else None


def member(node):
    if node is None:
        return {}
    full = text(node, "fullName")
    if full is None:
        return {"bioguide": None, "name": text(node, "name"), "party": None, "state": None, "district": None}
    name, seat = re.fullmatch(r"(?:Rep|Sen|Del|Rescom)\. (.*) \[(.*)\]", full).groups()
    last, first, *suffix = [part.strip() for part in name.split(",")]
    name = f"{first} {last}" + "".join((" " if re.fullmatch("[IVX]+", s) else ", ") + s for s in suffix)
    party, state, *_ = seat.split("-")
    district = text(node, "district") or (seat.split("-")[2] if seat.count("-") > 1 else None)
    return {"bioguide": text(node, "bioguideId"), "name": name, "party": text(node, "party") or party,
            "state": text(node, "state") or state, "district": int(district) if district and district.isdigit() else None}


def committee(code):
    code = (code or "").upper()
    if not re.fullmatch(r"[HSJ][A-Z]{3}\d\d", code):
        return None
    return code[:4] if code.endswith("00") else code


def chamber_of(node):
    system, code = text(node, "sourceSystem/name") or "", text(node, "actionCode") or ""
    if system[:1] in ("H", "S"):
        return {"H": "house", "S": "senate"}[system[0]]
    if code.startswith("H") or code == "Intro-H" or re.fullmatch(r"\d{4}|7[1-9]\d{3}", code):
        return "house"
    return "senate" if code == "Intro-S" or re.fullmatch(r"1[0-8]\d{3}|9[1-9]\d{3}", code) else None


def actions(items, with_time):
    found = []
    for item in items:
        votes = [":".join([text(v, "chamber").lower(), text(v, "congress"), text(v, "sessionNumber"), text(v, "rollNumber")])
                 for v in item.iterfind("recordedVotes/recordedVote")]
        codes = dict.fromkeys(filter(None, (committee(text(c, "systemCode")) for c in item.iterfind("committees/item"))))
        found.append(((text(item, "actionDate"), text(item, "actionTime") or "" if with_time else ""), {
            "date": text(item, "actionDate"), "text": text(item, "text"), "type": text(item, "type"), "code": text(item, "actionCode"),
            "chamber": chamber_of(item), "committees": list(codes) or None, "vote_id": votes[0] if votes else None}))
    found.sort(key=lambda pair: pair[0], reverse=True)
    rows = [row for _, row in found]
    left_out["actions without text"] += sum(row["text"] is None for row in rows)
    return [row for row in rows if row["text"]]


def latest(node, rows, newer):
    said = text(node, "latestAction/actionDate")
    if rows and newer(said or "", rows[0]["date"]):
        return rows[0]["text"], rows[0]["date"]
    return text(node, "latestAction/text"), said


def amendment(node, bill):
    kind, congress, n = text(node, "type").lower(), number(node, "congress"), number(node, "number")
    rows = actions(node.iterfind("actions/actions/item"), True)
    who = member(node.find("sponsors/item"))
    action, date = latest(node, rows, lambda said, newest: said < newest)
    amended = node.find("amendedAmendment")
    return {"id": f"{kind}:{congress}:{n}", "congress": congress, "type": kind, "number": n,
            "chamber": {"h": "house", "s": "senate"}[kind[0]], "bill_id": measure(node.find("amendedBill")) or bill,
            "amends_amendment_id": measure(amended), "sponsor": who.get("bioguide"), "sponsor_name": who.get("name"),
            "sponsor_party": who.get("party"), "sponsor_state": who.get("state"),
            "submitted_date": day(text(node, "submittedDate") or text(node, "proposedDate")),
            "purpose": text(node, "purpose") or text(node, "description"), "latest_action": action, "latest_action_date": date,
            "rows": {"actions": rows}}


def activities(node, chamber, rows):
    code = committee(text(node, "systemCode"))
    for item in node.findall("activities/item") or [None]:
        rows.append({"committee": code, "name": text(node, "name"), "chamber": chamber, "activity": text(item, "name"), "date": day(text(item, "date"))})


def records(document):
    bill = etree.fromstring(document).find("bill")
    kind, congress, n = text(bill, "type").lower(), number(bill, "congress"), number(bill, "number")
    ident = f"{kind}:{congress}:{n}"
    for node in bill.iterfind("amendments/amendment"):
        yield "amendments", amendment(node, ident)
    for node in bill.iterfind("cboCostEstimates/item"):
        yield "cbo-estimates", {"id": "cbo:" + re.search(r"/publication/(\d+)", text(node, "url"))[1], "bill_id": ident,
                                "title": html.unescape(text(node, "title")), "published_date": day(text(node, "pubDate"))}
    rows = actions(bill.iterfind("actions/item"), False)
    cosponsors = [dict(member(c), date=text(c, "sponsorshipDate"), original=text(c, "isOriginalCosponsor") == "True",
                       withdrawn_date=text(c, "sponsorshipWithdrawnDate")) for c in bill.iterfind("cosponsors/item")]
    standing = [c["bioguide"] for c in cosponsors if not c["withdrawn_date"]]
    area = text(bill, "policyArea/name") or text(bill, "subjects/policyArea/name")
    names = list(dict.fromkeys(text(s, "name") for s in bill.iterfind("subjects/legislativeSubjects/item")))
    committees = []
    for node in bill.iterfind("committees/item"):
        chamber = text(node, "chamber").lower()
        activities(node, chamber, committees)
        for sub in node.iterfind("subcommittees/item"):
            activities(sub, chamber, committees)
    related = [{"bill_id": measure(r), "title": text(r, "title"), "relationship": text(d, "type"), "identified_by": text(d, "identifiedBy")}
               for r in bill.iterfind("relatedBills/item") if text(r, "type").lower() in TYPES for d in r.iterfind("relationshipDetails/item")]
    summaries = [{"version": text(s, "actionDesc"), "date": text(s, "actionDate"), "text": plain(text(s, "text") or text(s, "cdata/text"))}
                 for s in bill.iterfind("summaries/summary")]
    law = bill.find("laws/item")
    public = law is not None and text(law, "type") == "Public Law"
    who = member(bill.find("sponsors/item"))
    action, date = latest(bill, rows, lambda said, newest: said <= newest)
    display = [text(t, "title") for t in bill.iterfind("titles/item") if text(t, "titleType") == "Display Title"]
    if public:
        yield "public-laws", {"id": "pl:" + text(law, "number").replace("-", ":"), "bill_id": ident}
    yield "bills", {
        "id": ident, "congress": congress, "type": kind, "number": n, "chamber": {"h": "house", "s": "senate"}[kind[0]],
        "title": display[0] if display else text(bill, "title"), "introduced_date": text(bill, "introducedDate"), "policy_area": area,
        "is_law": law is not None, "law_number": f"{text(law, 'type')} {text(law, 'number')}" if law is not None else None,
        "law_id": "pl:" + text(law, "number").replace("-", ":") if public else None,
        "sponsor": who["bioguide"], "sponsor_name": who["name"], "sponsor_party": who["party"], "sponsor_state": who["state"],
        "cosponsors": list(dict.fromkeys(standing)) or None, "cosponsor_count": len(standing), "latest_action": action,
        "latest_action_date": date, "subjects": names or None, "committees": list(dict.fromkeys(c["committee"] for c in committees)) or None,
        "rows": {"cosponsors": cosponsors, "actions": rows, "summaries": [s for s in summaries if s["text"]], "committees": committees,
                 "related": related, "subjects": [{"name": area, "kind": "policy_area"}] * bool(area) + [{"name": s, "kind": "subject"} for s in names]}}


class Comparison:
    def __init__(self):
        self.compared, self.differ, self.shown = collections.Counter(), collections.Counter(), collections.Counter()

    def value(self, field, ident, expected, got):
        self.compared[field] += 1
        if expected != got:
            self.differ[field] += 1
            if self.shown[field] < 3:
                self.shown[field] += 1
                print(f"{ident} {field}:\n  file   {str(expected)[:300]}\n  reader {str(got)[:300]}")

    def record(self, source, expected, got):
        ident = f"{source} {expected['id']}"
        for field, value in expected.items():
            if field != "rows":
                self.value(f"{source}.{field}", ident, value, got.get(field))
        for name, rows in expected.get("rows", {}).items():
            found = got["rows"].get(name, [])
            self.value(f"{source}/{name} (rows)", ident, len(rows), len(found))
            for one, other in zip(rows, found):
                for field, value in one.items():
                    read = other.get(field)
                    self.value(f"{source}/{name}.{field}", ident, value, squeeze(read) if name == "summaries" and field == "text" else read)


def main():
    place, path = sys.argv[1:3]
    read = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        if record["source"] != "committee-reports":
            read[record["source"], record["id"]].append(record)
    comparison, count = Comparison(), 0
    for document in files(place):
        count += 1
        for source, expected in records(document):
            found = read.get((source, expected["id"]))
            comparison.value(f"{source} (records)", expected["id"], True, bool(found))
            if found:
                comparison.record(source, expected, found.pop(0))
    for (source, ident), rest in read.items():
        for _ in rest:
            comparison.value(f"{source} (records)", ident, None, "only the reader has it")
    print(f"{count} files")
    for field in sorted(comparison.compared):
        print(f"{field:<44} {comparison.compared[field]:>9} compared {comparison.differ[field]:>7} differ")
    for reason, n in left_out.items():
        print(f"left out: {n} {reason}")
    total = sum(comparison.differ.values())
    print(f"{sum(comparison.compared.values())} values compared, {total} differ")
    sys.exit(total > 0)


main()
