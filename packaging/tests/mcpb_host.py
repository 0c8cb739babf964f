"""A host of MCP bundles: unpacks one, fills in its manifest as the specification says, and talks to the server.

Usage: mcpb_host.py ARCHIVE FOLDER BUNDLE    (BUNDLE is what the user chose; empty: nothing)
"""

import json
import os
import sys
import zipfile

archive, folder, chosen = sys.argv[1:]
with zipfile.ZipFile(archive) as packed:
    for entry in packed.infolist():
        path = packed.extract(entry, folder)
        os.chmod(path, entry.external_attr >> 16 & 0o777)
manifest = json.load(open(os.path.join(folder, "manifest.json")))

# What the user did not set has its default.
settings = {name: setting.get("default") for name, setting in manifest["user_config"].items()}
if chosen:
    settings["bundle"] = chosen


def filled(text):
    text = text.replace("${__dirname}", folder)
    for name, value in settings.items():
        text = text.replace("${user_config.%s}" % name, value)
    if "${" in text:
        sys.exit(f"the manifest has an unknown variable: {text}")
    return text


config = manifest["server"]["mcp_config"]
command = [filled(config["command"]), *map(filled, config["args"])]
if command[0] != os.path.join(folder, manifest["server"]["entry_point"]):
    sys.exit("entry_point and command differ")
os.environ.update({name: filled(value) for name, value in config["env"].items()})
ask = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ask.py")
os.execv(sys.executable, [sys.executable, ask, "mcp", *command])
