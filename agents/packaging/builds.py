"""What distinguishes builds: a number that rises with each change of the sources, and a digest over them.

The number is the time of the newest change, as 20261125.124128 in UTC, so that dpkg and a person order builds alike. For what is
committed git says it, and every clone says the same: the date at which the change came into the line of HEAD, for a change that was
merged is newer than its own date. What is not committed, and sources without git, have the times of their files. Where the sources
were copied without git, `SLOTLIGHT_SOURCE_DATE` may say it, in seconds since 1970.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import FrozenSet, Optional, Tuple

DIGITS = 12
GIT_SECONDS = 30
# Whoever serves the portal may be another user than the one who checked it out.
GIT = ("git", "-c", "safe.directory=*", "--no-optional-locks")


@dataclass(frozen=True)
class Sources:
    """The Python files at and below `where` that no folder of the name of one that is `left_out` holds."""

    where: Tuple[str, ...]
    left_out: FrozenSet[str]

    def files(self, root: Path) -> list[Path]:
        found = (path.relative_to(root) for name in self.where for path in _python(root / name))
        return sorted(path for path in found if not (self.left_out | {"__pycache__"}).intersection(path.parts))

    def build(self, root: Path) -> str:
        """NUMBER.DIGEST."""
        return f"{time.strftime('%Y%m%d.%H%M%S', time.gmtime(self.changed_at(root)))}.{self.digest(root)}"

    def digest(self, root: Path) -> str:
        """The first digits of a digest over every file, by name."""
        digest = hashlib.sha256()
        for path in self.files(root):
            digest.update(path.as_posix().encode() + b"\0" + hashlib.sha256((root / path).read_bytes()).digest())
        return digest.hexdigest()[:DIGITS]

    def changed_at(self, root: Path) -> int:
        """When they were changed last, in seconds since 1970."""
        if source_date := os.environ.get("SLOTLIGHT_SOURCE_DATE"):
            return int(source_date)
        paths = (*self.where, *(f":(exclude,glob)**/{name}/**" for name in sorted(self.left_out)))
        committed = _git(root, "log", "-1", "--first-parent", "--format=%ct", "--", *paths)
        if committed and not _git(root, "status", "--porcelain", "--", *paths):
            return int(committed)
        return max(int(committed or 0), *(int((root / path).stat().st_mtime) for path in self.files(root)))


def _python(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


def _git(root: Path, *words: str) -> Optional[str]:
    """What it says; None where there is no git or no repository, or git fails."""
    try:
        ran = subprocess.run([*GIT, "-C", str(root), *words], capture_output=True, text=True, timeout=GIT_SECONDS, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None
