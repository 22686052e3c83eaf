"""The whole of Slotlight as ./run starts it: servers, portal, worker and the demo fleet's agents, in a folder of its own."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.said import ProcessOutput
from launcher.say import Stop

ROOT = Path(__file__).resolve().parent.parent.parent
RESILVER_SECONDS = 12
START_SECONDS = 300  # the first start after a change installs and compiles; one that fails ends sooner
STOP_SECONDS = 40
PEOPLE = 5  # whom the demo makes
OURS = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "SLOTLIGHT_LEDGER_KEY")


class Stack:
    """A running ./run. The passwords are those it printed."""

    def __init__(self, *more: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slotlight-browser-"))
        self.folder.chmod(0o755)  # as root the portal runs as somebody else, who must reach it
        self.data = self.folder / "data"
        environment = {name: value for name, value in os.environ.items() if name not in OURS}
        environment |= {"NO_COLOR": "1", "SLOTLIGHT_TWIN_RESILVER_SECONDS": str(RESILVER_SECONDS)}
        argv = [str(ROOT / "run"), *more, "--port", "0", "--data", str(self.data)]
        self.process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, umask=0o022)
        output = ProcessOutput(self.process, START_SECONDS)
        try:
            self.url = output.find(r"ready after .* (http://\S+?)/?$")[1]
            self.passwords = dict(output.find(r"Sign in as (\S+) with (\S+)").groups() for _ in range(PEOPLE))
        except Stop:
            self.stop()
            raise

    @contextmanager
    def hung(self) -> Iterator[None]:
        """The portal takes requests and answers none."""
        [web] = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit() and self._is_web(folder)]
        os.kill(web, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(web, signal.SIGCONT)

    def _is_web(self, process: Path) -> bool:
        try:
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            return parent == str(self.process.pid) and b"app.asgi:application" in (process / "cmdline").read_bytes()
        except OSError:  # it ended while we looked
            return False

    def commands(self, node: str, *words: str) -> list[list[str]]:
        """Every command that the twin was given and that begins with these words."""
        log = self.data / "demo" / node / "commands.log"
        lines = [json.loads(line)["argv"] for line in log.read_text().splitlines()] if log.exists() else []
        return [argv for argv in lines if argv[: len(words)] == list(words)]

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
