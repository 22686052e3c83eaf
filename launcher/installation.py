"""One installation: its data folder, its servers (ours, or those in DATABASE_URL and REDIS_URL), and who runs what."""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from launcher.bootstrap import ROOT
from launcher.datafolder import DataFolder, check_cluster
from launcher.say import Stop
from launcher.servers import Postgres, Servant, Valkey, package
from launcher.supervisor import Child, Supervisor

DATABASE = "slotlight"
SERVERS, PORTAL, AGENTS = 0, 1, 2  # tiers: agents stop first, servers last
POSTGRES_CHATTER = r"^LOG:  (starting|listening|received|shutting|aborting|background worker|checkpoint|database system (is|was shut down))|^HINT:  Future log"
VALKEY_CHATTER = r"overcommit_memory|scheduling shutdown|ready to exit"
# What one process must not learn from another's environment.
OURS = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "SLOTLIGHT_AS_OWNER", "DJANGO_SETTINGS_MODULE")


def portal_user(servers: Servant) -> tuple[Servant, str]:
    """Who web, worker, beat and the twins run as. As root that is `nobody`, unless something is in the way: then, what."""
    root = Servant("root", 0, 0)
    if os.geteuid() != 0:
        return servers, ""
    needed = (Path(sys.executable).resolve(), Path(os.__file__), package("django") / "__init__.py", ROOT / "app" / "settings.py")
    for path in needed:
        if not (servers.may_enter(path) and path.stat().st_mode & 0o004):
            return root, f"web, worker and beat run as root: {servers.name} may not read {path}."
    return servers, ""


class Installation:
    """Where everything is, and the environment of each process."""

    def __init__(self, folder: DataFolder, sockets: Path | None = None) -> None:
        self.folder = folder
        self.outside_database = os.environ.get("DATABASE_URL", "")
        self.outside_redis = os.environ.get("REDIS_URL", "")
        self.secrets = folder.secrets()
        self.user, self.why_root = portal_user(folder.user)
        self.keys = self.user.own(folder.home / "keys")
        self.static = self.user.own(folder.home / "static")
        self.demo = folder.home / "demo"
        self.sockets = sockets or folder.sockets()
        self.postgres: Postgres | None = None if self.outside_database else folder.postgres(self.sockets)
        self.valkey: Valkey | None = None if self.outside_redis else folder.valkey(self.sockets)

    # The environment of processes

    def url(self, role: str) -> str:
        if self.postgres:
            return self.postgres.url(f"slotlight_{role}", self.secrets[role], DATABASE)
        return os.environ.get("DATABASE_OWNER_URL", self.outside_database) if role == "owner" else self.outside_database

    def environment(self) -> dict[str, str]:
        """For web, worker and beat. The owner's password is not in it."""
        return {
            **{name: value for name, value in os.environ.items() if name not in OURS},
            "DJANGO_SETTINGS_MODULE": "app.settings",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "DATABASE_URL": self.url("app"),
            "REDIS_URL": self.valkey.url if self.valkey else self.outside_redis,
            "SECRET_KEY": os.environ.get("SECRET_KEY") or self.secrets["secret_key"],
            "SLOTLIGHT_STATIC": str(self.static),
            "SLOTLIGHT_LEDGER_KEY": os.environ.get("SLOTLIGHT_LEDGER_KEY") or str(self.keys / "ledger.key"),
        }

    def owner_environment(self) -> dict[str, str]:
        """For migrations and `./run manage`."""
        return self.environment() | {"DATABASE_OWNER_URL": self.url("owner")}

    def agent_environment(self) -> dict[str, str]:
        """For the twins, which must know no more than an agent on a storage node does."""
        values = {name: value for name, value in os.environ.items() if name.startswith("SLOTLIGHT_TWIN_")}
        return values | {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "LC_ALL": "C.UTF-8"}

    # Servers

    def identity(self) -> str:
        """What distinguishes this database from one made later in its place."""
        return str((self.postgres.data / "PG_VERSION").stat().st_mtime_ns) if self.postgres else self.outside_database

    def make_cluster(self) -> bool:
        """Make sure there is a PostgreSQL cluster that can be started; True when it was made just now."""
        if not self.postgres or check_cluster(self.postgres):
            return False
        self.postgres.make(self.secrets["superuser"])
        return True

    def make_roles(self) -> None:
        """Make sure that the running cluster has our two roles and the database. Only for servers of our own."""
        if self.postgres is None:
            raise Stop("The roles of an outside database are made by whoever runs it.")
        self.postgres.psql(
            ROOT / "launcher" / "roles.sql",
            self.secrets["superuser"],
            SLOTLIGHT_DATABASE=DATABASE,
            SLOTLIGHT_OWNER_PASSWORD=self.secrets["owner"],
            SLOTLIGHT_APP_PASSWORD=self.secrets["app"],
        )

    async def start_servers(self, supervisor: Supervisor) -> None:
        await supervisor.start(*self._servers())

    def _servers(self) -> list[Child]:
        # PostgreSQL: SIGINT is its fast shutdown, which does not wait for clients. It asks for no password.
        plain = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
        found = []
        if self.postgres:
            server = Child("postgres", self.postgres.argv(), plain, self.folder.user, SERVERS, ready=self.postgres.ready)
            found.append(replace(server, farewell=signal.SIGINT, patience_seconds=30, hide=POSTGRES_CHATTER))
        if self.valkey:
            ready = self.valkey.ready
            found.append(
                Child("valkey", self.valkey.argv(), plain, self.folder.user, SERVERS, ready=lambda pid: ready(), hide=VALKEY_CHATTER)
            )
        return found
