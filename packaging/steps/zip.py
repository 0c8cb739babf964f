"""Packs a folder as a ZIP archive, the same bytes for the same files.

Usage: packaging/steps/zip.py FOLDER FILE
"""

import os
import sys
import time
import zipfile

folder, archive = sys.argv[1:]
written = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for path in files:
        entry = zipfile.ZipInfo(os.path.relpath(path, folder), written)
        entry.compress_type = zipfile.ZIP_DEFLATED
        # Unix, with the mode: the executable must stay one.
        entry.create_system = 3
        entry.external_attr = os.stat(path).st_mode << 16
        with open(path, "rb") as file:
            packed.writestr(entry, file.read(), compresslevel=9)
