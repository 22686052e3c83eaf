"""Genuine captures of a real OpenZFS node, scenario by scenario, for any test that wants them.

`captures/scenarios*.tar.xz` hold what our collectors read from each step of each scenario, byte for byte, plus the
`COMMANDS.md` that says what was done and which disk really is bad. It is unpacked once per session.

    from agents.tests.scenarios import STEPS, step
    host = CapturedHost(step("wwid-drift/4-import-d-dev"))
"""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path

PACKS = sorted((Path(__file__).parent / "captures").glob("scenarios*.tar.xz"))  # each adds files to the same steps


@lru_cache(maxsize=1)
def root() -> Path:
    """Where the scenarios are unpacked. Gone when the session ends."""
    folder = Path(tempfile.mkdtemp(prefix="slotlight-scenarios-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for path in PACKS:
        with tarfile.open(path) as pack:
            pack.extraction_filter = getattr(tarfile, "data_filter", None)  # older versions have and need none
            pack.extractall(folder)
    return folder


def step(name: str) -> Path:
    """The folder of one step, e.g. "disk-removed/2-removed" or "healthy-raidz2"."""
    return root() / name


def steps() -> tuple[str, ...]:
    """Every step, in order of name; a scenario's steps sort in the order of time."""
    return tuple(sorted(str(p.parent.relative_to(root())) for p in root().rglob("exit_codes.json")))


def texts(pattern: str) -> tuple[tuple[str, str], ...]:
    """(path, text) of every file whose name matches, e.g. "zpool-status-P.txt"; standard error is not among them."""
    found = (p for p in sorted(root().rglob(pattern)) if not p.name.endswith(".stderr.txt"))
    return tuple((str(p.relative_to(root())), p.read_text()) for p in found)


STEPS = steps()
