"""The real stack as child processes that can be killed: Valkey, web, worker and the agent of oss01 on its twin.

The listening socket is ours, as it is the launcher's in `./run`: it stays while web dies and comes back. Whoever is
killed is killed with everything it started, as the launcher's supervisor does. PostgreSQL is the tests' own ground.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from app.nodes.keys import issue_token
from launcher.children import popen_options
from launcher.servers import Valkey, valkey_binary
from launcher.up import listen
from tests.faults.forked import OURSELVES, Child, forks
from tests.ground import ROOT, Ground
from twin import demo
from twin.host import TwinHost
from twin.model import Knobs

NODE = "oss01"
CELERY = ("celery", "--quiet", "-A", "app.celery:celery")
ALL = ("web", "worker", "agent")


def until(what, otherwise: str = "", seconds: float = 60.0):
    """The first true answer of `what()`."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, otherwise or f"{what} was never so in {seconds:g} s"
        time.sleep(0.02)
    return found


class Stack:
    """One incident on one twin, and the processes that can be killed in the middle of it."""

    def __init__(self, ground: Ground, database: str, folder: Path, replace_seconds: float) -> None:
        self.folder = folder
        home = ground.folder / f"faults-{database}"
        shutil.rmtree(home, ignore_errors=True)  # of the stack before this one
        ground.user.own(home)
        self.user = ground.user
        self.failpoint = home / "failpoint"
        self.valkey = Valkey(ground.user.own(home / "valkey"), ground.user.own(home / "run"), ground.user, valkey_binary(ground.user))
        more = {"REDIS_URL": self.valkey.url, "DJANGO_SETTINGS_MODULE": "tests.faults.settings", "PYTHONPATH": str(ROOT)}
        more["SLOTLIGHT_PORTAL_FAILPOINT"] = str(self.failpoint)
        self.environment = {**os.environ, **ground.environment(database), **more}
        self.listener = listen("127.0.0.1", 0)
        self.port = self.listener.getsockname()[1]
        self.children: dict[str, subprocess.Popen | Child] = {}
        self.twin = _twin(folder, replace_seconds)
        (folder / "token").write_text(issue_token(NODE, "test"))

    def start(self, *names: str, failpoint: str = "") -> None:
        """The portal's processes are forked with their modules loaded; Valkey and the agent are started as they are."""
        listener = self.listener.fileno()
        for name in names:
            if name == "web":
                self._fork(name, ["uvicorn", "app.asgi:application", "--fd", str(listener), "--log-level", "warning"])
            elif name == "worker":
                self._fork(name, [*CELERY, "worker", "--concurrency=1", "--without-gossip", "--without-mingle", "--loglevel=WARNING"])
            elif name == "agent":
                self._spawn(name, [sys.executable, "-m", "twin", "--dir", str(self.folder), "--node", NODE, *self._portal()], failpoint)
            else:
                self._spawn(name, self.valkey.argv())
                until(self.valkey.ready)

    def _portal(self) -> tuple[str, ...]:
        return ("--portal", f"http://127.0.0.1:{self.port}", "--token-file", str(self.folder / "token"))

    def _fork(self, name: str, argv: list[str]) -> None:
        self.children[name] = forks(self.environment).start(argv, self._log(name), self.listener.fileno())

    def _spawn(self, name: str, argv: list[str], failpoint: str = "") -> None:
        options = popen_options(self.user if name == "valkey" else OURSELVES, signal.SIGKILL)
        environment = {**self.environment, "SLOTLIGHT_FAILPOINT": failpoint}
        with self._log(name).open("ab") as log:
            self.children[name] = subprocess.Popen(argv, env=environment, cwd=ROOT, stdout=log, stderr=log, **options)

    def dies_at(self, point: str) -> None:
        """The next time web comes to `<name>:<before or after>`; see `tests/faults/failing`."""
        self.failpoint.write_text(point)

    def kill(self, name: str) -> None:
        """kill -9, with all that it started."""
        child = self.children.pop(name)
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it is dead, by a failpoint
        child.wait(10)

    @property
    def broker(self) -> str:
        """Where the worker's queue is, as Celery writes it."""
        return f"redis+socket://{self.valkey.socket}?virtual_host=0"

    def answers(self) -> bool:
        """Whether web has loaded all it needs: an agent's first request must not wait for that on a busy machine."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/sign-in/", timeout=60) as answer:
                return answer.status == 200
        except OSError:
            return False

    def end(self) -> None:
        for name in tuple(self.children):
            self.kill(name)
        self.listener.close()

    def log(self, name: str) -> str:
        return self._log(name).read_text()

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def replaces(self) -> list[list[str]]:
        """Every `zpool replace` the node was ever given, written down before it acted."""
        return [line["argv"] for line in self.twin.store.logged()]

    def took_effect(self) -> bool:
        """Whether the new disk is in the pool, by the twin's own state."""
        return any(demo.BLANK_WWN in (leaf.path or "") for pool in self.twin.store.view().node.imported for leaf in pool.leaves())


def _twin(folder: Path, replace_seconds: float) -> TwinHost:
    demo.make(folder)
    host = TwinHost(demo.state_path(folder, NODE))
    with host.store.changing() as node:
        node.knobs = Knobs(replace_seconds=replace_seconds, resilver_seconds=0.5)
    return host
