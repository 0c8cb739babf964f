"""Prints version, repository and address of a release as shell variables, from `cargo metadata` on standard input."""

import json
import shlex
import sys

packages = json.load(sys.stdin)["packages"]
josh = next(package for package in packages if package["name"] == "josh")
if {package["version"] for package in packages} != {josh["version"]}:
    sys.exit("the crates of the workspace have different versions")
facts = {
    "VERSION": josh["version"],
    "DESCRIPTION": josh["description"],
    "REPOSITORY": josh["repository"],
    "RELEASE": f"{josh['repository']}/releases/download/v{josh['version']}",
}
for name, value in facts.items():
    print(f"export {name}={shlex.quote(value)}")
