"""A minimal Debian, as debootstrap makes it: the essential packages, Python and OpenSSL. No curl, no sudo, no systemd that runs.

It is made once and kept in the user's cache. SLOTLIGHT_BARE_SYSTEM names the folder of one that is there already.
"""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from lab.image import mirror
from launcher.say import Stop

RELEASE, PACKAGES = "bookworm", "python3,openssl"
MAKE_SECONDS = 600
PATH = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin"  # where Debian puts debootstrap


class NotMade(Exception):
    """The message says why there is no minimal Debian here, and what to do."""


def system() -> Path:
    """Its folder. Raises NotMade."""
    if given := os.environ.get("SLOTLIGHT_BARE_SYSTEM"):
        return Path(given)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slotlight-minimal"
    made = cache / f"debian-{RELEASE}"
    if made.is_dir():
        return made
    if os.geteuid() != 0:
        raise NotMade("a minimal Debian is made as root: the page's line was not tried in one")
    if not shutil.which("debootstrap", path=PATH):
        raise NotMade("a minimal Debian is made with debootstrap, which is not installed: the page's line was not tried in one")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        return made if made.is_dir() else _make(made)


def _make(made: Path) -> Path:
    """It appears under its name when it is whole."""
    work = made.with_suffix(".making")
    shutil.rmtree(work, ignore_errors=True)
    try:
        argv = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, str(work), mirror()]
        done = subprocess.run(
            ["unshare", "--mount", *argv],
            env={**os.environ, "PATH": PATH},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=MAKE_SECONDS,
            check=False,
        )
    except (Stop, subprocess.TimeoutExpired) as failed:
        raise NotMade(f"debootstrap made no minimal Debian, so the page's line was not tried in one: {failed}") from None
    if done.returncode:
        last = done.stdout.strip().splitlines()[-1:] or ["it printed nothing"]
        raise NotMade(f"debootstrap made no minimal Debian, so the page's line was not tried in one: {last[0]}")
    for archive in (work / "var/cache/apt/archives").glob("*.deb"):
        archive.unlink()
    return work.rename(made)
