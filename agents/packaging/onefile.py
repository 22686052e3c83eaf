"""A program in one file that any Python of its version or a newer one runs; an older one says so in one sentence.

The same files and the same version give the same bytes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Tuple

SHEBANG = b"#!/usr/bin/env python3\n"
# In the words of any Python: an older one than ours must be able to read it, to say so.
START = """\
import sys

if sys.version_info < (%(major)d, %(minor)d):
    sys.exit("%(name)s needs Python %(major)d.%(minor)d or newer, and this is Python %%d.%%d. Run it with a newer python3." %% sys.version_info[:2])

from %(module)s import main

sys.exit(main(sys.argv[1:]))
"""
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def start(name: str, module: str, python: Tuple[int, int]) -> bytes:
    """What runs first: `main` of the module, where this Python is new enough to read it."""
    return (START % {"name": name, "module": module, "major": python[0], "minor": python[1]}).encode("ascii")


def content(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, files[name])
    return SHEBANG + buffer.getvalue()


def read(root: Path, paths: list[Path]) -> dict[str, bytes]:
    return {path.as_posix(): (root / path).read_bytes() for path in paths}
