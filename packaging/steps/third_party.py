"""Writes the licence notices and the CycloneDX bill of materials of both executables, from `cargo metadata` on standard input.

Usage: packaging/steps/third_party.py NOTICES SBOM

Not cargo-cyclonedx: the notices need the same walk over the same graph, and neither needs a compiled tool.
"""

import collections
import datetime
import json
import os
import re
import sys
import tarfile
import uuid

EXECUTABLES = ("josh", "josh-data-build")
LICENCE_FILE = re.compile(r"(?i)^(licen[cs]e|copying|notice|unlicense|copyright)([-._].*)?$")
# The spelling that crates use for "or" before SPDX expressions.
OLD_OR = re.compile(r"\s*/\s*")


def linked(metadata):
    """The packages that the executables are made of, each with those that it depends on: neither tests nor build scripts."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {}
    waiting = [package["id"] for package in metadata["packages"] if package["name"] in EXECUTABLES]
    while waiting:
        at = waiting.pop()
        if at in edges:
            continue
        needs = [d["pkg"] for d in nodes[at]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
        edges[at] = sorted(set(needs))
        waiting += needs
    return {packages[at]["id"]: (packages[at], edges[at]) for at in sorted(edges)}


def is_macro(package):
    return all("proc-macro" in target["kind"] for target in package["targets"] if target["kind"] != ["custom-build"])


def licence(package):
    return OLD_OR.sub(" OR ", package["license"] or "") or None


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def licence_texts(package):
    """The texts of the licence files of a crate, also of the C and C++ libraries in it."""
    folder = os.path.dirname(package["manifest_path"])
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in ("target", "tests", "test", "examples", "benches", ".git"))
        for name in sorted(names):
            if LICENCE_FILE.match(name) and not name.endswith((".rs", ".py", ".toml")):
                with open(os.path.join(at, name), encoding="utf-8", errors="replace") as file:
                    yield file.read().strip()


def duckdb_parts(package):
    """The libraries inside DuckDB, by the names of their folders; their own version numbers are not stated there."""
    if package["name"] != "libduckdb-sys":
        return []
    archive = os.path.join(os.path.dirname(package["manifest_path"]), "duckdb.tar.gz")
    with tarfile.open(archive) as sources:
        found = re.findall(r"(?m)^duckdb/third_party/([^/\n]+)/", "\n".join(sources.getnames()))
    return sorted(set(found))


def write_notices(path, crates):
    # Copies of a licence differ in white space; each is printed once.
    texts, users = {}, collections.defaultdict(list)
    lines = ["Josh contains the following software. The texts of the licences follow the list.", ""]
    for package, _ in crates:
        shown = f"{package['name']} {package['version']}"
        parts = duckdb_parts(package)
        with_parts = f"; contains DuckDB with {', '.join(parts)}" if parts else ""
        lines.append(f"- {shown}: {licence(package) or 'see below'}{with_parts}")
        for text in licence_texts(package):
            words = " ".join(text.split())
            texts.setdefault(words, text)
            users[words].append(shown)
    for words, text in texts.items():
        lines += ["", "=" * 80, ", ".join(dict.fromkeys(users[words])), "=" * 80, "", text]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def component(package):
    found = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
        # A macro runs in the compiler; what it leaves behind is code of its user.
        "scope": "excluded" if is_macro(package) else "required",
    }
    if licence(package):
        found["licenses"] = [{"expression": licence(package)}]
    parts = duckdb_parts(package)
    if parts:
        found["components"] = [
            {"type": "library", "bom-ref": f"duckdb/third_party/{part}", "name": part} for part in parts
        ]
    return found


def write_sbom(path, crates, version):
    written = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    others = [(p, needs) for p, needs in crates if p["name"] not in EXECUTABLES]
    by_id = {p["id"]: reference(p) for p, _ in crates}
    programs = [
        {
            "type": "application",
            "bom-ref": reference(p),
            "name": p["name"],
            "version": p["version"],
            "licenses": [{"expression": licence(p)}],
        }
        for p, _ in crates
        if p["name"] in EXECUTABLES
    ]
    components = [component(p) for p, _ in others]
    model = {
        "type": "machine-learning-model",
        "bom-ref": "model/all-MiniLM-L6-v2",
        "name": "all-MiniLM-L6-v2",
        "licenses": [{"expression": "Apache-2.0"}],
    }
    sbom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # From the content, so that the same sources give the same file.
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components) + version).urn,
        "version": 1,
        "metadata": {
            "timestamp": written.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": f"josh-{version}", "name": "Josh", "version": version},
        },
        "components": programs + components + [model],
        "dependencies": [
            {"ref": f"josh-{version}", "dependsOn": [program["bom-ref"] for program in programs]},
            *({"ref": by_id[p["id"]], "dependsOn": [by_id[need] for need in needs]} for p, needs in crates),
        ],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(sbom, file, indent=1)
        file.write("\n")


def main():
    notices, sbom = sys.argv[1:]
    metadata = json.load(sys.stdin)
    crates = sorted(linked(metadata).values(), key=lambda c: (c[0]["name"], c[0]["version"]))
    # Features of shared crates, no code.
    crates = [c for c in crates if c[0]["name"] != "workspace-hack"]
    names = {p["id"] for p, _ in crates}
    crates = [(p, [need for need in needs if need in names]) for p, needs in crates]
    version = next(p["version"] for p, _ in crates if p["name"] == "josh")
    write_notices(notices, [(p, n) for p, n in crates if p["name"] not in EXECUTABLES])
    write_sbom(sbom, crates, version)


main()
