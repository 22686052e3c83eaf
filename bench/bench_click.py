"""From an operator's click to the node's answer on the page, over the whole stack as `./run` starts it.

One click is what the browser does: POST the form by htmx, which is mostly answered with the answer itself; else hear
`looks:oss01` on the event stream and fetch it. Server time is from sealing the order to its receipt, as the page itself says. The peer, where it is
installed, is an ad-hoc command of ansible on this very machine without any network in between.
"""

import http.client
import os
import queue
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

ROOT = Path(__file__).resolve().parent.parent
CLICKS, WARM_UP, PLAIN_CLICKS = 200, 10, 50
PEER_ROUNDS = 5
NODE, SOURCE = "oss01", "zpool_status"
PAUSE_SECONDS = 0.02  # nobody clicks in the same millisecond in which the answer came
GOAL_MS = 25


def main() -> int:
    print(f"load average before: {' '.join(f'{load:.2f}' for load in os.getloadavg())} on {os.cpu_count()} cores")
    folder = Path(tempfile.mkdtemp(prefix="slotlight-bench-"))
    folder.chmod(0o755)
    launcher = Launcher(folder / "var")
    try:
        measure(launcher)
    finally:
        launcher.stop()
        shutil.rmtree(folder, ignore_errors=True)
    peer()
    print(f"load average after: {' '.join(f'{load:.2f}' for load in os.getloadavg())}")
    return 0


def measure(launcher: "Launcher") -> None:
    operator = Operator(launcher.url, launcher.password("operator"))
    operator.wait_for_node()
    for _ in range(WARM_UP):
        operator.click()
    before = launcher.processor_seconds()
    took = [operator.click() for _ in range(CLICKS)]
    used = {name: seconds - before[name] for name, seconds in launcher.processor_seconds().items()}
    print(f"{CLICKS} looks at {SOURCE} of {NODE}, one after the other")
    print(f"{'':34} {'p50':>8} {'p90':>8} {'max':>8}  ms")
    row("click to answer on the page", [click[0] for click in took])
    row("  of it: sealed to receipt", [click[1] for click in took])
    print(f"answered at once, without waiting for the bell: {sum(click[2] for click in took)} of {CLICKS}")
    text = ", ".join(f"{name} {seconds * 1000 / CLICKS:.1f}" for name, seconds in used.items())
    print(f"processor time for each click, ms: {text}; no matter how busy the machine is otherwise")
    row(f"without scripts, {PLAIN_CLICKS} times", [operator.click(scripts=False)[0] for _ in range(PLAIN_CLICKS)])
    p50 = statistics.median(click[0] for click in took)
    print(f"goal: p50 at most {GOAL_MS} ms; {'reached' if p50 <= GOAL_MS else 'missed'} with {p50:.1f} ms")


def row(name: str, milliseconds: list[float]) -> None:
    ordered = sorted(milliseconds)
    print(f"{name:34} {statistics.median(ordered):8.1f} {ordered[int(len(ordered) * 0.9)]:8.1f} {ordered[-1]:8.1f}")


class Launcher:
    """`./run` on a free port and an empty data folder."""

    def __init__(self, data: Path) -> None:
        outside = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "SLOTLIGHT_DATA")
        environment = {name: value for name, value in os.environ.items() if name not in outside} | {"NO_COLOR": "1"}
        argv = [sys.executable, "-m", "launcher", "--port", "0", "--data", str(data)]
        self.process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.output: list[str] = []
        self.url = self._until_ready()
        threading.Thread(target=self._listen, daemon=True).start()
        self._until(lambda: any("Sign in as approver" in line for line in self.output))

    def _until_ready(self) -> str:
        for line in self.process.stdout:
            self.output.append(line)
            if found := re.search(r"is ready after .*(http://\S+/)", line):
                return found[1]
        raise SystemExit("./run did not start:\n" + "".join(self.output))

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.output.append(line)

    def _until(self, so) -> None:
        deadline = time.monotonic() + 30
        while not so():
            if time.monotonic() > deadline:
                raise SystemExit("./run did not say what is waited for:\n" + "".join(self.output))
            time.sleep(0.05)

    def password(self, name: str) -> str:
        return next(found[1] for line in self.output if (found := re.search(rf"Sign in as {name} with (\S+)", line)))

    def processor_seconds(self) -> dict[str, float]:
        """What each part has used so far, with its own children."""
        lines = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
        rows = [(int(pid), int(parent), args) for pid, parent, args in (line.split(maxsplit=2) for line in lines)]
        used = {}
        for name, words in (("web", "uvicorn"), ("agent", f"--node {NODE}"), ("postgres", "postgres"), ("valkey", "valkey-server")):
            top = [pid for pid, parent, args in rows if parent == self.process.pid and words in args]
            used[name] = sum(_processor_seconds(pid) for pid in [*top, *(pid for pid, parent, _ in rows if parent in top)])
        return used

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Operator:
    """A browser without the browser: keep-alive connection, cookies, and an event stream on the side."""

    def __init__(self, url: str, password: str) -> None:
        self.address = urlsplit(url).netloc
        self.connection = http.client.HTTPConnection(self.address, timeout=30)
        self.cookies: dict[str, str] = {}
        self.rung: queue.Queue[float] = queue.Queue()
        form = {"csrfmiddlewaretoken": self._csrf("/sign-in/"), "login": "operator", "password": password, "next": "/"}
        status, _, _ = self._ask("POST", "/sign-in/", form)
        if status != 302:
            raise SystemExit(f"signing in was answered {status}")

    def _csrf(self, path: str) -> str:
        return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self._ask("GET", path)[2])[1]

    def _ask(self, method: str, path: str, form: dict[str, str] | None = None, partial: bool = False) -> tuple[int, str, str]:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if partial:
            headers["HX-Request"] = "true"
        self.connection.request(method, path, urlencode(form) if form else None, headers)
        response = self.connection.getresponse()
        text = response.read().decode()
        for cookie in response.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, response.headers.get("Location", ""), text

    def wait_for_node(self) -> None:
        """Until its page is there with pools, and the stream is open."""
        deadline = time.monotonic() + 60
        while "ost_0" not in self._ask("GET", f"/nodes/{NODE}/")[2]:
            if time.monotonic() > deadline:
                raise SystemExit(f"{NODE} did not report")
            time.sleep(0.2)
        self.csrf = self._csrf(f"/nodes/{NODE}/")
        stream = http.client.HTTPConnection(self.address, timeout=600)
        stream.request("GET", f"/events?topics=looks:{NODE}", headers={"Cookie": f"sessionid={self.cookies['sessionid']}"})
        response = stream.getresponse()
        if response.status != 200:
            raise SystemExit(f"the event stream was answered {response.status}")
        threading.Thread(target=self._hear, args=(response,), daemon=True).start()

    def _hear(self, response: http.client.HTTPResponse) -> None:
        while line := response.readline():
            if line.startswith(b"event: looks:"):
                self.rung.put(time.perf_counter())

    def click(self, scripts: bool = True) -> tuple[float, float, bool]:
        """Milliseconds: all of it, and the server's own; and whether the answer came without asking again."""
        time.sleep(PAUSE_SECONDS)
        while not self.rung.empty():
            self.rung.get()
        begun = time.perf_counter()
        form = {"csrfmiddlewaretoken": self.csrf, "source": SOURCE}
        status, where, page = self._ask("POST", f"/nodes/{NODE}/look/", form, partial=scripts)
        if status == 302:
            status, _, page = self._ask("GET", where)
        if status != 200:
            raise SystemExit(f"the click was answered {status}: {page[:300]}")
        at_once = "is asked for" not in page
        while again := re.search(r'hx-get="(/looks/[^"]+)"', page):
            try:
                self.rung.get(timeout=1)  # the page itself asks again after a second
            except queue.Empty:
                pass
            page = self._ask("GET", again[1], partial=scripts)[2]
        ended = time.perf_counter()
        found = re.search(r"answered in (\d+) ms", page)
        if found is None or "ost_0" not in page:
            raise SystemExit(f"the page does not hold the answer: {page[:500]}")
        return (ended - begun) * 1000, float(found[1]), at_once


def peer() -> None:
    command = shutil.which("ansible", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if command is None:
        print("ansible is not installed here, so there is no peer. To have one: pip install ansible-core")
        return
    argv = [command, "localhost", "-c", "local", "-m", "command", "-a", "true"]
    seconds = []
    for _ in range(PEER_ROUNDS + 1):
        begun = time.perf_counter()
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "ANSIBLE_LOCALHOST_WARNING": "0"})
        if done.returncode:
            print(f"ansible ended with exit code {done.returncode}: {done.stderr.strip()[-300:]}")
            return
        seconds.append(time.perf_counter() - begun)
    row(f"ansible ad-hoc `true`, {PEER_ROUNDS} times", [value * 1000 for value in seconds[1:]])


if __name__ == "__main__":
    sys.exit(main())
