"""Reads BILLSTATUS files with lxml and writes the fields that josh-data-build reads as JSON lines.

Usage: billstatus_lxml.py FOLDER OUT. Written for speed, as far as Python allows: each file is parsed
once, no XPath, `find` and `iterfind` on direct children. It leaves out what the reader does besides
extracting fields (status, checks).
"""
import json, os, re, sys
from lxml import etree

TAG = re.compile(r"<[^>]+>")
SPACE = re.compile(r"\s+")
TYPES = {"hr", "s", "hjres", "sjres", "hres", "sres", "hconres", "sconres"}
ID = re.compile(r"(\d+)-(\d+)")


def text(node, name):
    found = node.findtext(name) if node is not None else None
    return found.strip() if found else ""


def items(node, *path):
    """The item elements of a list, in the structure of any schema version."""
    if node is None:
        return []
    for name in path:
        inner = node.find(name)
        if inner is not None:
            node = inner
    return node.findall("item")


def plain(html):
    return SPACE.sub(" ", TAG.sub(" ", html)).strip()


def member(node):
    full = text(node, "fullName")
    name = full.split("[")[0]
    parts = [p.strip() for p in name.split(",")]
    return {"bioguide": text(node, "bioguideId"), "name": " ".join(reversed(parts[:2])), "party": text(node, "party"),
            "state": text(node, "state"), "district": text(node, "district") or None}


def vote(node):
    for v in node.iterfind("recordedVotes/recordedVote"):
        return ":".join([text(v, "chamber").lower(), text(v, "congress"), text(v, "sessionNumber"), text(v, "rollNumber")])


def code(node):
    c = text(node, "systemCode").upper()
    return c[:-2] if c.endswith("00") else c


def actions(parent):
    node = parent.find("actions")
    if node is None:
        return []
    inner = node.find("actions")
    rows = []
    for a in (inner if inner is not None else node).iterfind("item"):
        committees = [code(c) for c in a.iterfind("committees/item")] + [code(c) for c in a.iterfind("committee")]
        rows.append({"date": text(a, "actionDate")[:10], "time": text(a, "actionTime"), "text": text(a, "text"), "type": text(a, "type"),
                     "code": text(a, "actionCode"), "chamber": text(a.find("sourceSystem"), "name")[:1].lower(),
                     "committees": [c for c in dict.fromkeys(committees) if c], "vote_id": vote(a)})
    rows.sort(key=lambda r: r["date"], reverse=True)
    return rows


def sponsor(parent):
    for s in parent.iterfind("sponsors/item"):
        return member(s)
    return {}


def amendment(node, bill):
    kind, congress, number = text(node, "type").lower(), text(node, "congress"), text(node, "number")
    done = actions(node)
    latest = node.find("latestAction")
    amended, above = node.find("amendedBill"), node.find("amendedAmendment")
    who = sponsor(node)
    purpose = text(node, "purpose") or text(node, "description")
    return {"source": "amendments", "id": f"{kind}:{congress}:{number}", "congress": congress, "type": kind, "number": number,
            "title": f"{kind} {number} to {bill}: {purpose}",
            "bill_id": ":".join([text(amended, "type").lower(), text(amended, "congress"), text(amended, "number")]) if amended is not None else bill,
            "purpose": purpose, "amends_amendment_id": ":".join([text(above, "type").lower(), text(above, "congress"), text(above, "number")]) if above is not None else None,
            "sponsor": who.get("bioguide"), "sponsor_name": who.get("name"), "sponsor_party": who.get("party"), "sponsor_state": who.get("state"),
            "submitted_date": (text(node, "submittedDate") or text(node, "proposedDate"))[:10],
            "latest_action": done[0]["text"] if done else text(latest, "text"),
            "latest_action_date": done[0]["date"] if done else text(latest, "actionDate"),
            "rows": {"actions": [a for a in done if a["text"]]}}


def committees(bill):
    rows = []
    def one(c, chamber):
        done = c.findall("activities/item")
        for a in done or [None]:
            rows.append({"committee": code(c), "name": text(c, "name"), "chamber": chamber, "activity": text(a, "name"), "date": text(a, "date")[:10]})
    for c in items(bill.find("committees"), "billCommittees"):
        chamber = text(c, "chamber").lower()
        one(c, chamber)
        for s in c.iterfind("subcommittees/item"):
            one(s, chamber)
    return rows


def read(root, out):
    bill = root.find("bill")
    kind = (text(bill, "type") or text(bill, "billType")).lower()
    congress, number = text(bill, "congress"), text(bill, "number") or text(bill, "billNumber")
    bid = f"{kind}:{congress}:{number}"
    lines = [amendment(a, bid) for a in bill.iterfind("amendments/amendment")]
    for e in bill.iterfind("cboCostEstimates/item"):
        url = text(e, "url") or text(e, "rptUrl")
        if not url.rsplit("/", 1)[-1].isdigit():
            continue
        lines.append({"source": "cbo-estimates", "id": "cbo:" + url.rsplit("/", 1)[-1], "bill_id": bid, "title": text(e, "title") or text(e, "rptTitle"),
                      "published_date": (text(e, "pubDate") or text(e, "rptPubDate"))[:10], "stage": text(e, "description")})
    reports = {}
    for r in bill.iterfind("committeeReports/committeeReport"):
        cited = ID.search(text(r, "citation"))
        if cited:
            reports[cited.group(0)] = {"source": "committee-reports", "id": cited.group(0), "congress": cited.group(1), "number": cited.group(2), "bill_ids": [bid]}
    lines.extend(reports.values())
    done = actions(bill)
    rows_c = [dict(member(c), date=text(c, "sponsorshipDate"), original=text(c, "isOriginalCosponsor"), withdrawn_date=text(c, "sponsorshipWithdrawnDate")) for c in bill.iterfind("cosponsors/item")]
    titles = [(text(t, "titleType"), text(t, "title")) for t in bill.iterfind("titles/item")]
    summaries = bill.find("summaries")
    if summaries is not None and summaries.find("billSummaries") is not None:
        summaries = summaries.find("billSummaries")
    found = [] if summaries is None else summaries.findall("summary") + summaries.findall("item")
    rows_s = [{"version": text(s, "actionDesc") or text(s, "name"), "date": text(s, "actionDate"), "text": plain(text(s, "text") or (s.findtext("cdata/text") or ""))} for s in found]
    subjects = bill.find("subjects")
    if subjects is not None and subjects.find("billSubjects") is not None:
        subjects = subjects.find("billSubjects")
    names = [] if subjects is None else [text(i, "name") for i in subjects.iterfind("legislativeSubjects/item")] + [text(i, "name") for i in subjects.iterfind("otherSubjects/item")]
    area = text(bill.find("policyArea"), "name") or (text(subjects.find("policyArea"), "name") or text(subjects.find("primarySubject"), "name") if subjects is not None else "")
    related = []
    for r in bill.iterfind("relatedBills/item"):
        if text(r, "type").lower() not in TYPES:
            continue
        for d in r.iterfind("relationshipDetails/item"):
            related.append({"bill_id": ":".join([text(r, "type").lower(), text(r, "congress"), text(r, "number")]), "title": text(r, "title") or text(r, "latestTitle"),
                            "relationship": text(d, "type"), "identified_by": text(d, "identifiedBy")})
    laws = [text(l, "number") for l in bill.iterfind("laws/item") if text(l, "type") == "Public Law"]
    rows_k = committees(bill)
    who = sponsor(bill)
    latest = bill.find("latestAction")
    if laws:
        lines.append({"source": "public-laws", "id": "pl:" + laws[0].replace("-", ":"), "bill_id": bid, "title": text(bill, "title")})
    lines.append({"source": "bills", "id": bid, "congress": congress, "type": kind, "number": number,
                  "title": next((t for k, t in titles if k == "Display Title"), text(bill, "title")),
                  "short_title": next((t for k, t in titles if "Short Title" in k), None),
                  "introduced_date": text(bill, "introducedDate"), "policy_area": area, "law_id": laws[0] if laws else None,
                  "sponsor": who.get("bioguide"), "sponsor_name": who.get("name"), "sponsor_party": who.get("party"), "sponsor_state": who.get("state"),
                  "cosponsors": [c["bioguide"] for c in rows_c if not c["withdrawn_date"]], "cosponsor_count": len(rows_c),
                  "latest_action": done[0]["text"] if done else text(latest, "text"), "latest_action_date": done[0]["date"] if done else text(latest, "actionDate"),
                  "subjects": names, "committees": list(dict.fromkeys(r["committee"] for r in rows_k)),
                  "rows": {"cosponsors": rows_c, "actions": [a for a in done if a["text"]], "summaries": rows_s,
                           "subjects": [{"name": n, "kind": "policy_area" if n is area else "subject"} for n in [area] * bool(area) + names],
                           "committees": rows_k, "related": related}})
    for line in lines:
        out.write(json.dumps(line, ensure_ascii=False))
        out.write("\n")


def main():
    folder, target = sys.argv[1:3]
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".xml"))
    with open(target, "w", encoding="utf-8", buffering=1 << 20) as out:
        for path in paths:
            read(etree.parse(path).getroot(), out)


main()
