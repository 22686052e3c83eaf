"""The real stack as child processes that can be killed: Valkey, web, worker and the agent of oss01 on its twin.

The listening socket is ours, as it is the launcher's in `./run`: it stays while web dies and comes back. Whoever is
killed is killed with everything it started, as the launcher's supervisor does. PostgreSQL is the tests' own ground.
"""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from app.nodes.keys import issue_token
from launcher.children import popen_options
from launcher.servers import Servant, Valkey, valkey_binary
from launcher.up import listen
from tests.ground import ROOT, Ground
from twin import demo
from twin.host import TwinHost
from twin.model import Knobs

NODE = "oss01"
OURSELVES = Servant("ourselves", os.geteuid(), os.getegid())
CELERY = ("-m", "celery", "--quiet", "-A", "app.celery:celery")
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
        home = ground.user.own(ground.folder / f"faults-{database}")
        self.user = ground.user
        self.valkey = Valkey(ground.user.own(home / "valkey"), ground.user.own(home / "run"), ground.user, valkey_binary(ground.user))
        more = {"REDIS_URL": self.valkey.url, "DJANGO_SETTINGS_MODULE": "tests.faults.settings", "PYTHONPATH": str(ROOT)}
        self.environment = {**os.environ, **ground.environment(database), **more}
        self.listener = listen("127.0.0.1", 0)
        self.port = self.listener.getsockname()[1]
        self.children: dict[str, subprocess.Popen] = {}
        self.twin = _twin(folder, replace_seconds)
        (folder / "token").write_text(issue_token(NODE, "test"))

    def start(self, *names: str, failpoint: str = "") -> None:
        ways = {
            "valkey": self.valkey.argv(),
            "web": [sys.executable, "-m", "uvicorn", "app.asgi:application", "--fd", str(self.listener.fileno()), "--log-level", "warning"],
            "worker": [sys.executable, *CELERY, "worker", "--concurrency=1", "--without-gossip", "--without-mingle", "--loglevel=WARNING"],
            "agent": [sys.executable, "-m", "twin", "--dir", str(self.folder), "--node", NODE, *self._portal()],
        }
        for name in names:
            self._spawn(name, ways[name], failpoint if name == "agent" else "")

    def _portal(self) -> tuple[str, ...]:
        return ("--portal", f"http://127.0.0.1:{self.port}", "--token-file", str(self.folder / "token"))

    def _spawn(self, name: str, argv: list[str], failpoint: str) -> None:
        options = popen_options(self.user if name == "valkey" else OURSELVES, signal.SIGKILL)
        environment = {**self.environment, "SLOTLIGHT_FAILPOINT": failpoint, "SLOTLIGHT_PORTAL_FAILPOINT": str(self.folder / "failpoint")}
        with (self.folder / f"{name}.log").open("ab") as log:
            self.children[name] = subprocess.Popen(
                argv, env=environment, cwd=ROOT, stdout=log, stderr=log, pass_fds=(self.listener.fileno(),), **options
            )
        if name == "valkey":
            until(self.valkey.ready)

    def dies_at(self, point: str) -> None:
        """The next time web comes to `<name>:<before or after>`; see `tests/faults/failing`."""
        (self.folder / "failpoint").write_text(point)

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
        return (self.folder / f"{name}.log").read_text()

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
