"""Where the lab keeps its images and its machines: outside the repository, so that every checkout shares one cache."""

import os
from pathlib import Path


def home() -> Path:
    """SLOTLIGHT_LAB, else the user's cache folder."""
    setting = os.environ.get("SLOTLIGHT_LAB")
    if setting:
        return Path(setting).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slotlight-lab"


def images() -> Path:
    return home() / "images"


def asleep() -> Path:
    return home() / "asleep"


def machines() -> Path:
    return home() / "machines"
