"""Makes `.venv` hold exactly what a lock file says, and does nothing when it already does."""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launcher.say import Stop, write

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "slotlight-locks"
RUNTIME, DEVELOPMENT = "requirements.lock", "requirements-dev.lock"
# The development lock holds everything the runtime lock holds, at the same versions.
COVERED_BY = {RUNTIME: (RUNTIME, DEVELOPMENT), DEVELOPMENT: (DEVELOPMENT,)}


def ensure(lock: str) -> None:
    """Install `lock` unless it is installed, then continue inside the venv: this may replace the process."""
    if not _installed(lock):
        with _alone():
            if not _installed(lock):
                _install(lock)
    if Path(sys.prefix) != VENV:
        os.execv(PYTHON, [str(PYTHON), "-m", "launcher", *sys.argv[1:]])


def _digest(lock: str) -> str:
    return f"{lock} {hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()}"


def _installed(lock: str) -> bool:
    if not (STAMP.is_file() and os.access(PYTHON, os.X_OK)):
        return False
    return STAMP.read_text() in {_digest(name) for name in COVERED_BY[lock]}


@contextmanager
def _alone() -> Iterator[None]:
    """Two launchers started together must not install into one folder."""
    with (ROOT / "pyproject.toml").open() as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        yield


def _install(lock: str) -> None:
    write(f"Installing what {lock} lists into .venv.")
    STAMP.unlink(missing_ok=True)
    uv = shutil.which("uv")
    if uv:
        _with_uv(uv, lock)
    else:
        _with_pip(lock)
    STAMP.write_text(_digest(lock))


def _base_python() -> str:
    return getattr(sys, "_base_executable", None) or sys.executable


def _with_uv(uv: str, lock: str) -> None:
    if not os.access(PYTHON, os.X_OK):
        _call([uv, "venv", "--quiet", "--clear", "--python", _base_python(), str(VENV)], lock)
    # Compiling now, on every core, is cheaper than in each process that starts first.
    _call([uv, "pip", "sync", "--quiet", "--require-hashes", "--compile-bytecode", "--python", str(PYTHON), lock], lock)


def _with_pip(lock: str) -> None:
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        raise Stop(
            "This Python has no venv module, and uv is not on PATH. Install one of them"
            " (Debian, Ubuntu: apt install python3-venv), then start again."
        )
    _call([_base_python(), "-m", "venv", "--clear", str(VENV)], lock)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    # The lock is the whole truth, so pip need not resolve anything.
    _call([str(PYTHON), "-m", "pip", "install", *quiet, "--require-hashes", "--no-deps", "--requirement", lock], lock)


def _call(argv: list[str], lock: str) -> None:
    if subprocess.run(argv, cwd=ROOT, check=False).returncode:
        raise Stop(f"{Path(argv[0]).name} could not install {lock}; its own words are above. Check the network, then start again.")
