"""The whole of Slotlight as ./run starts it: servers, portal, worker and the demo fleet's agents, in a folder of its own."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from queue import Empty, Queue

ROOT = Path(__file__).resolve().parent.parent.parent
RESILVER_SECONDS = 12
START_SECONDS = 120  # the first start after a change installs and compiles
STOP_SECONDS = 40
PEOPLE = 5  # whom the demo makes
OURS = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "SLOTLIGHT_LEDGER_KEY")


class Stack:
    """A running ./run. What it printed is in `said`; the passwords are those it printed."""

    def __init__(self, *more: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slotlight-browser-"))
        self.folder.chmod(0o755)  # as root the portal runs as somebody else, who must reach it
        self.data = self.folder / "data"
        environment = {name: value for name, value in os.environ.items() if name not in OURS}
        environment |= {"NO_COLOR": "1", "SLOTLIGHT_TWIN_RESILVER_SECONDS": str(RESILVER_SECONDS)}
        argv = [str(ROOT / "run"), *more, "--port", "0", "--data", str(self.data)]
        self.process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, umask=0o022)
        self.said: list[str] = []
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.url = self._wait_for(r"ready after .* (http://\S+?)/?$")[1]
        self.passwords = dict(self._wait_for(r"Sign in as (\S+) with (\S+)").groups() for _ in range(PEOPLE))

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.said.append(line)
            self._lines.put(line)
        self._lines.put("")

    def _wait_for(self, pattern: str) -> re.Match:
        while True:
            try:
                line = self._lines.get(timeout=START_SECONDS)
            except Empty:
                line = ""
            if not line:
                self.stop()
                raise AssertionError(f"./run never said {pattern!r}. It said:\n{''.join(self.said)}")
            if found := re.search(pattern, line.rstrip()):
                return found

    def replaces(self, node: str) -> list[list[str]]:
        """Every `zpool replace` the twin was given, as words."""
        log = self.data / "demo" / node / "commands.log"
        told = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [line["argv"] for line in told if line["argv"][:2] == ["zpool", "replace"]]

    def at_the_rack(self, node: str, *doing: str) -> str:
        """`./run rack`: what somebody before the rack sees, or what the hands did."""
        argv = [str(ROOT / "run"), "rack", node, "--data", str(self.data), *doing]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def manage(self, *args: str) -> str:
        """One `./run manage` on the running portal."""
        environment = os.environ | {"SLOTLIGHT_DATA": str(self.data), "NO_COLOR": "1"}
        environment = {name: value for name, value in environment.items() if name not in OURS}
        done = subprocess.run(
            [str(ROOT / "run"), "manage", *args], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            shutil.rmtree(self.folder, ignore_errors=True)
