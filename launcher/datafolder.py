"""The data folder: who owns it, what is in it, whether a portal already runs from it."""

import fcntl
import hashlib
import json
import os
import secrets
import signal
import subprocess
import time
from pathlib import Path
from typing import IO

from launcher.bootstrap import ROOT
from launcher.say import Stop, write
from launcher.servers import PG_MAJOR, Postgres, Valkey, postgres_bin, servant, shared, socket_folder, valkey_binary

LEFTOVER_SECONDS_MAX = 20
PG_FLAGS = ("log_line_prefix=", "max_connections=100")


class DataFolder:
    """One installation's data. `open` takes it for this process alone."""

    def __init__(self, data: Path) -> None:
        self.data = data.resolve()
        self.user = servant()
        try:
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(f"The data folder {self.data} cannot be made: {error.strerror}. Give another with --data.") from None
        if not os.access(self.data, os.W_OK | os.X_OK):
            raise Stop(f"The data folder {self.data} belongs to another user and cannot be written. Give another with --data.")
        self.home = self.data if self.user.may_enter(self.data / "any") else self._elsewhere()
        self._lock: IO[str] | None = None

    def _elsewhere(self) -> Path:
        home = shared() / hashlib.sha256(bytes(self.data)).hexdigest()[:12]
        home.mkdir(exist_ok=True)
        home.chmod(0o755)
        return home

    @property
    def moved(self) -> bool:
        """Whether the servers' data had to go where `nobody` may enter."""
        return self.home != self.data

    # Who runs from here

    def open(self) -> None:
        """Take the folder, or stop with who has it."""
        self._lock = (self.data / "lock").open("a+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            state = self.state()
            who = f" (process {state['pid']}, {state['url']})" if state else ""
            raise Stop(
                f"Slotlight already runs from {self.data}{who}. Stop that one with Ctrl-C in its terminal, or give this one another folder with --data."
            ) from None

    def is_running(self) -> bool:
        try:
            with (self.data / "lock").open() as door:
                fcntl.flock(door, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            pass
        return False

    def state(self) -> dict[str, str]:
        """What the running launcher wrote down about itself; empty when it has not come so far."""
        return _read_json(self.data / "state.json")

    def write_state(self, **state: str) -> None:
        _write_json(self.data / "state.json", state)

    # What is kept

    def secrets(self) -> dict[str, str]:
        """Generated once, readable by us alone."""
        path = self.data / "secrets.json"
        kept = _read_json(path)
        if not kept:
            kept = {name: secrets.token_urlsafe(48) for name in ("secret_key", "superuser", "owner", "app")}
            _write_json(path, kept)
        return kept

    def stamped(self, name: str, digest: str) -> bool:
        """Whether `name` was last done for exactly this."""
        return _read_json(self.data / "stamps.json").get(name) == digest

    def stamp(self, name: str, digest: str) -> None:
        _write_json(self.data / "stamps.json", _read_json(self.data / "stamps.json") | {name: digest})

    # Servers

    def postgres(self, sockets: Path) -> Postgres:
        return Postgres(self.home / "postgres", sockets, self.user, postgres_bin(self.user), PG_FLAGS)

    def valkey(self, sockets: Path) -> Valkey:
        return Valkey(self.user.own(self.home / "valkey"), sockets, self.user, valkey_binary(self.user))

    def sockets(self) -> Path:
        return socket_folder(self.home / "run", self.user)


def check_cluster(postgres: Postgres) -> bool:
    """Whether there is a cluster we can start; False when there is none yet. Stops when it is not ours to start."""
    data = postgres.data
    if not data.exists():
        return False
    owner = data.stat().st_uid
    if owner != postgres.user.uid:
        raise Stop(
            f"{data} belongs to user id {owner}, and PostgreSQL would run as {postgres.user.name} (user id {postgres.user.uid})."
            " Start as the user who made it, or give another folder with --data."
        )
    try:
        version = (data / "PG_VERSION").read_text().strip()
    except OSError:
        raise Stop(f"{data} is not a PostgreSQL data folder: it has no PG_VERSION. Move it away to start afresh.") from None
    if version != PG_MAJOR:
        raise Stop(
            f"{data} was made by PostgreSQL {version}, and this is PostgreSQL {PG_MAJOR}. Dump it with the release that made it and load the dump here,"
            " or move it away to start afresh."
        )
    clear_leftover(postgres)
    return True


def clear_leftover(postgres: Postgres) -> None:
    """Deal with the PID file of an earlier start: end a server that still runs, forget one that is dead."""
    file = postgres.data / "postmaster.pid"
    try:
        pid = int(file.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return
    if not _is_postgres(pid):
        # PostgreSQL would take any living process with this number for its own and refuse to start.
        file.unlink()
        return
    write(f"A PostgreSQL of an earlier start (process {pid}) still runs on {postgres.data}. It is stopped first.")
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + LEFTOVER_SECONDS_MAX
    while _is_postgres(pid) and file.exists():
        if time.monotonic() > deadline:
            raise Stop(f"PostgreSQL (process {pid}) does not stop. Look at what it does, end it, then start again.")
        time.sleep(0.05)


def _is_postgres(pid: int) -> bool:
    if Path("/proc/self").exists():
        try:
            return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
    output = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "postgres" in output.stdout


def tree_digest(*paths: Path) -> str:
    """One digest over the names and contents of files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def static_files() -> tuple[Path, ...]:
    own = (path for folder in (ROOT / "static", *ROOT.glob("app/*/static")) for path in folder.rglob("*") if path.is_file())
    return (*sorted(own), ROOT / "app" / "core" / "static.py", ROOT / "app" / "settings.py", ROOT / "requirements.lock")


def _read_json(path: Path) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        raise Stop(
            f"{path} is damaged: it does not hold JSON. Restore it from a backup, or move {path.parent} away to start afresh."
        ) from None
    return found


def _write_json(path: Path, value: dict[str, str]) -> None:
    making = path.with_suffix(".new")
    making.unlink(missing_ok=True)
    with open(os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(value, file, indent=1)
    making.rename(path)
