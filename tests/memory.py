"""Where tests have their folders: in memory where the machine has room for it. Thousands of journals are written and synced to disk otherwise."""

import functools
import os
from pathlib import Path

FOLDER = Path("/dev/shm")
BYTES_MIN = 4 << 30


@functools.cache
def folder() -> Path | None:
    """A folder in memory in which programs may be run; None where there is none, or not enough of it."""
    try:
        system = os.statvfs(FOLDER)
    except OSError:
        return None
    fits = system.f_bavail * system.f_frsize >= BYTES_MIN and not system.f_flag & getattr(os, "ST_NOEXEC", 0)
    return FOLDER if fits and os.access(FOLDER, os.W_OK | os.X_OK) else None
