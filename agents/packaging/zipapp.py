"""Builds the agent into one file that any Python 3.9 runs: agents/ without its tests and without the twin.

The same source gives the same bytes, so a node's file can be compared with one built elsewhere.
"""

import hashlib
import io
import zipfile
from pathlib import Path

NAME = "slotlight-agent.pyz"
LEFT_OUT = {"tests", "twin", "packaging", "__pycache__"}  # a storage node has no use for a simulated one
SHEBANG = b"#!/usr/bin/env python3\n"
START = b"import sys\n\nfrom agents.__main__ import main\n\nsys.exit(main(sys.argv[1:]))\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def build(root: Path) -> tuple[Path, str]:
    """Write dist/slotlight-agent.pyz and return it with its SHA-256."""
    target = root / "dist" / NAME
    target.parent.mkdir(exist_ok=True)
    data = content(root)
    target.write_bytes(data)
    target.chmod(0o755)
    return target, hashlib.sha256(data).hexdigest()


def content(root: Path) -> bytes:
    """The file itself."""
    return SHEBANG + _archive(root)


def sources(root: Path) -> list[Path]:
    found = (path.relative_to(root) for path in (root / "agents").rglob("*.py"))
    return sorted(path for path in found if not LEFT_OUT.intersection(path.parts))


def _archive(root: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sources(root):
            archive.writestr(_entry(path.as_posix()), (root / path).read_bytes())
        archive.writestr(_entry("__main__.py"), START)
    return buffer.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
