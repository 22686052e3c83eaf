"""The ground under tests: private servers, one migrated template database, and clones of it.

Migrating takes seconds and cloning a tenth of one, so the migrated cluster is kept in `var/ground/` under a name made
from everything that shapes the schema. With DATABASE_URL set (and DATABASE_OWNER_URL, a role that may create
databases), that server is used instead and nothing is kept.
"""

import atexit
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from launcher.children import popen_options
from launcher.schema import schema_files
from launcher.servers import Postgres, Servant, Valkey, postgres_bin, servant, socket_folder, valkey_binary
from tests import memory

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "var" / "ground"
KEPT_MAX = 3
SECRET = "only-on-a-private-socket"
TEMPLATE = "slotlight"
MARK = "SLOTLIGHT_TEST_GROUND"  # in an environment that a ground has made: the servers it names belong to that one
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=60", "autovacuum=off")


class Ground:
    """Where the test servers are; nothing runs until `start`."""

    @staticmethod
    @functools.cache
    def place() -> "Ground":
        return Ground()

    def __init__(self) -> None:
        given = {} if MARK in os.environ else os.environ
        self.external = given.get("DATABASE_URL", "")
        self.owner = given.get("DATABASE_OWNER_URL", "") or self.external
        self.redis = given.get("REDIS_URL", "")
        self.template = f"slotlight_template_{os.getpid()}" if self.external else TEMPLATE
        self.children: list[subprocess.Popen] = []
        self.user: Servant = servant()
        self.folder = self.user.own(Path(tempfile.mkdtemp(prefix="slotlight-test-", dir=memory.folder())))
        atexit.register(self.stop)
        if not (self.external and self.redis):
            self._prepare()

    def _prepare(self) -> None:
        sockets = socket_folder(self.folder / "run", self.user)
        self.postgres = Postgres(self.folder / "postgres", sockets, self.user, postgres_bin(self.user), FAST)
        self.valkey = Valkey(self.user.own(self.folder / "valkey"), sockets, self.user, valkey_binary(self.user), durable=False)

    def url(self, database: str, role: str = "app") -> str:
        """How `role` ("app", or "owner" who migrates) connects to `database`."""
        if not self.external:
            return self.postgres.url(f"slotlight_{role}", SECRET, database)
        parts = urlsplit(self.owner if role == "owner" else self.external)
        return urlunsplit(parts._replace(path=f"/{database}"))

    def environment(self, database: str = TEMPLATE) -> dict[str, str]:
        """What a child process needs to run on this ground with `database`, with the portal's own settings."""
        return {
            "DATABASE_URL": self.url(database),
            "DATABASE_OWNER_URL": self.url(database, "owner"),
            "REDIS_URL": self.redis or self.valkey.url,
            "SECRET_KEY": SECRET,
            "SLOTLIGHT_LEDGER_KEY": str(self.folder / "ledger.key"),
            "SLOTLIGHT_IDENTITY_KEY": str(self.folder / "identity.key"),  # tests that take another folder for the ledger keep their people
            "DJANGO_SETTINGS_MODULE": "app.settings",
            "SLOTLIGHT_LOCAL_CHANNELS": "1",  # the services that tests are told by
            MARK: str(self.folder),
        }

    def start(self, migrate: Callable[[str], None]) -> None:
        """Bring the servers up with a migrated template; `migrate(url)` is called only when none was kept."""
        if not self.redis:
            self._run(self.valkey.argv(), "valkey", lambda pid: self.valkey.ready())
        if self.external:
            self._administer(f'CREATE DATABASE "{self.template}"')
            migrate(self.url(self.template, "owner"))
            return
        kept = KEPT / _schema_digest()
        if kept.is_dir():
            _copy(kept, self.postgres.data)
            self._run(self.postgres.argv(), "postgres", self.postgres.ready)
            return
        self.postgres.make(SECRET)
        server = self._run(self.postgres.argv(), "postgres", self.postgres.ready)
        names = {"SLOTLIGHT_DATABASE": TEMPLATE, "SLOTLIGHT_OWNER_PASSWORD": SECRET, "SLOTLIGHT_APP_PASSWORD": SECRET}
        self.postgres.psql(ROOT / "launcher" / "roles.sql", SECRET, **names)
        migrate(self.url(TEMPLATE, "owner"))
        self._end(server, signal.SIGINT)
        _keep(self.postgres.data, kept)
        self._run(self.postgres.argv(), "postgres", self.postgres.ready)

    def clone(self, name: str) -> None:
        """A fresh database like the template. FILE_COPY needs no write-ahead log of its own and is the faster one here."""
        self.drop(name)
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE "{self.template}" STRATEGY FILE_COPY')

    def drop(self, name: str) -> None:
        self._administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def _administer(self, sql: str) -> None:
        import psycopg

        url = self.owner if self.external else self.postgres.url("postgres", SECRET, "postgres")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql)

    def _run(self, argv: list[str], name: str, ready: Callable[[int], bool]) -> subprocess.Popen:
        log = self.folder / f"{name}.log"
        with log.open("ab") as out:
            child = subprocess.Popen(argv, cwd="/", stdout=out, stderr=out, **popen_options(self.user, signal.SIGQUIT))
        self.children.append(child)
        deadline = time.monotonic() + 30
        while not ready(child.pid):
            if child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{name} did not start: {log.read_text()[-2000:]}")
            time.sleep(0.01)
        return child

    def _end(self, child: subprocess.Popen, sign: signal.Signals) -> None:
        child.send_signal(sign)
        child.wait(30)
        self.children.remove(child)

    def stop(self) -> None:
        """End the servers and leave nothing behind."""
        for child in tuple(self.children):
            self._end(child, signal.SIGQUIT if "postgres" in child.args[0] else signal.SIGTERM)
        if self.external:
            self.drop(self.template)
        shutil.rmtree(self.folder, ignore_errors=True)


def _schema_digest() -> str:
    digest = hashlib.sha256(str(os.geteuid()).encode())
    for path in (*schema_files(ROOT), Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _copy(source: Path, target: Path) -> None:
    # `cp -a` keeps the owner, which shutil does not, and clones blocks where the file system can.
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def _keep(data: Path, kept: Path) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=KEPT))
    _copy(data, making / "data")
    try:
        (making / "data").rename(kept)
    except OSError:  # another test run kept the same one meanwhile
        pass
    shutil.rmtree(making, ignore_errors=True)
    for old in sorted(_clusters(), key=lambda path: path.stat().st_mtime, reverse=True)[KEPT_MAX:]:
        shutil.rmtree(old, ignore_errors=True)


def _clusters() -> Iterator[Path]:
    return (path for path in KEPT.iterdir() if (path / "PG_VERSION").is_file())
