"""Builds the command line into one file that any Python 3.11 runs: cli/ and the ledger's verifier. The same source gives the same bytes."""

import io
import zipfile
from pathlib import Path

NAME = "slotlight.pyz"
LEFT_OUT = {"tests", "__pycache__"}
SHEBANG = b"#!/usr/bin/env python3\n"
START = b"import sys\n\nfrom cli.commands import main\n\nsys.exit(main(sys.argv[1:]))\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def content(root: Path) -> bytes:
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sources(root)}
    files |= {"cli/verify.py": (root / "app" / "ledger" / "verify.py").read_bytes(), "__main__.py": START}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, files[name])
    return SHEBANG + buffer.getvalue()


def sources(root: Path) -> list[Path]:
    return sorted(path for path in (root / "cli").rglob("*.py") if not LEFT_OUT.intersection(path.parts))
