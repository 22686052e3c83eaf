"""The processes of `docker-compose.yml`, started by hand in its order, with its commands and nothing in their environment but what it gives.

A process is no container, so four things stand elsewhere: the two servers, the port of `web`, the folder of static files, and `/keys`.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from launcher.bootstrap import ROOT
from launcher.children import popen_options
from launcher.servers import Servant, Valkey, valkey_binary
from tests.compose.recipe import PORT, Recipe
from tests.ground import SECRET, Ground

OURSELVES = Servant("ourselves", os.geteuid(), os.getegid())
ONCE_SECONDS = 300
WELL_SECONDS = 240
STOP_SECONDS = 60
PATIENCE_SECONDS = 0.2


def free_port() -> int:
    """Below those that the kernel gives to outgoing connections (ip_local_port_range): one of those takes it before the server is up."""
    for port in random.sample(range(20_000, 32_000), 100):
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            continue  # something listens there
    raise AssertionError("none of a hundred ports is free")


class Stack:
    def __init__(self, ground: Ground, database: str, folder: Path, **given: str) -> None:
        """`given` stands in .env beside the secrets."""
        self.folder, self.port, self._ground, self._database = folder, free_port(), ground, database
        secrets = dict.fromkeys(("SLOTLIGHT_SUPERUSER_PASSWORD", "SLOTLIGHT_OWNER_PASSWORD", "SLOTLIGHT_APP_PASSWORD"), SECRET)
        self.recipe = Recipe(secrets | {"SECRET_KEY": "of-this-test-only"} | given)
        self.running: dict[str, subprocess.Popen] = {}
        home = ground.user.own(ground.folder / f"compose-{database}")
        self.valkey = Valkey(ground.user.own(home / "valkey"), ground.user.own(home / "run"), ground.user, valkey_binary(ground.user))
        (folder / "keys").mkdir(mode=0o700)

    def start(self) -> None:
        self._spawn("valkey", self.valkey.argv(), {}, self._ground.user)
        self._until(self.valkey.ready, "valkey")
        self.once("migrate", *self.recipe.built())
        for name in self.recipe.ours():
            words = self.recipe.command(name)
            if self.recipe.ends(name):
                self.once(name, *words[1:])
            else:
                self._spawn(name, self._here(words), self.environment(name), OURSELVES)
        self._until(lambda: self.check("web").returncode == 0, "web")

    def once(self, service: str, *words: str, **more: str) -> str:
        """`docker compose run --rm SERVICE python WORDS`."""
        argv, environment = self._here(["python", *words]), self.environment(service) | more
        done = subprocess.run(argv, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=ONCE_SECONDS, check=False)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    def check(self, name: str) -> subprocess.CompletedProcess:
        """The health check of a service, as the file has it."""
        argv = self._here(self.recipe.health(name))
        return subprocess.run(argv, env=self.environment(name), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def stop(self) -> None:
        """In the order in which `docker compose down` does it: whoever depends on another goes first."""
        for name, process in reversed(self.running.items()):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"{name} did not stop:\n{self.log(name)[-2000:]}") from None

    def environment(self, name: str) -> dict[str, str]:
        """What the container would have, and where Python finds its own libraries."""
        found = self.recipe.environment(name)
        for key in ("DATABASE_URL", "DATABASE_OWNER_URL"):
            if key in found:
                found[key] = self._database_url(found[key])
        assert found["REDIS_URL"] == "redis://valkey:6379/0"
        found |= {"REDIS_URL": self.valkey.url, "SLOTLIGHT_STATIC": str(self.folder / "static"), "PATH": os.defpath}
        assert found["SLOTLIGHT_LEDGER_KEY"].startswith("/keys/")
        return found | {"SLOTLIGHT_LEDGER_KEY": str(self.folder / found["SLOTLIGHT_LEDGER_KEY"].lstrip("/"))}

    def _database_url(self, written: str) -> str:
        parts = urlsplit(written)
        assert (parts.hostname, parts.password, parts.path) == ("postgres", SECRET, "/slotlight")
        return self._ground.url(self._database, parts.username.removeprefix("slotlight_"))

    def _here(self, words: list[str]) -> list[str]:
        places = {"python": sys.executable, PORT: str(self.port), "0.0.0.0": "127.0.0.1"}
        return [places.get(word, word).replace(f"127.0.0.1:{PORT}", f"127.0.0.1:{self.port}") for word in words]

    def _spawn(self, name: str, argv: list[str], environment: dict[str, str], user: Servant) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                argv, env=environment, cwd=ROOT, stdout=log, stderr=log, **popen_options(user, signal.SIGTERM)
            )

    def _until(self, holds, name: str) -> None:
        end = time.monotonic() + WELL_SECONDS
        while not holds():
            goes_on = self.running[name].poll() is None and time.monotonic() < end
            assert goes_on, f"{name} is not well:\n{self.log(name)[-2000:]}"
            time.sleep(PATIENCE_SECONDS)
