"""Open pages and waiting agents on one web process: memory, threads, and how long a ring takes to reach every browser.

2,000 event streams follow the fleet and one node each, 1,000 agents wait for orders in signed long polls and begin the next when one
ends. Then the fleet is rung, which everybody hears, and single nodes, which few do. From the ring, in this process, to the line read
from the socket, in this process too: one clock. Whoever listens shares the machine with the portal.
SLOTLIGHT_BENCH_STREAMS and SLOTLIGHT_BENCH_POLLS set other numbers.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import os
import re
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from agents.portal.wire import fingerprint, sign_request
from bench.bench_pages import p, sign_in
from bench.bench_reports import Portal

STREAMS = int(os.environ.get("SLOTLIGHT_BENCH_STREAMS", "2000"))
POLLS = int(os.environ.get("SLOTLIGHT_BENCH_POLLS", "1000"))
ROUNDS, PAUSE_SECONDS = 10, 2.0
AT_ONCE = 50  # connections that are being opened
PATH, WAIT_SECONDS = "/agent/v1/orders", 25
GOAL_MS = 200


def main() -> int:
    _load_average("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * (STREAMS + POLLS))), hard))
    folder = Path(tempfile.mkdtemp(prefix="slotlight-bench-"))
    folder.chmod(0o755)
    portal = Portal(folder / "var")
    try:
        os.environ.update(portal.environment())
        import django

        django.setup()
        cookie, agents = sign_in(), enrol()
        asyncio.run(measure(portal, cookie, agents))
    finally:
        portal.stop()
        shutil.rmtree(folder, ignore_errors=True)
    _load_average("after")
    return 0


def _load_average(when: str) -> None:
    print(f"load average {when}: {' '.join(f'{load:.2f}' for load in os.getloadavg())} on {os.cpu_count()} cores", flush=True)


def enrol() -> list[Agent]:
    from app.nodes import keys

    agents = [Agent(f"poll{number:04d}") for number in range(POLLS)]
    for agent in agents:
        fields = {"token": keys.issue_token(agent.name, "bench"), "node": agent.name, "key": base64.b64encode(agent.key).decode()}
        keys.enrol(fields, datetime.now(UTC))
    return agents


class Agent:
    """An agent that waits for orders, one poll after the other."""

    def __init__(self, name: str) -> None:
        self.name, self.key, self.counter = name, secrets.token_bytes(32), itertools.count(1)
        self.waits = False

    async def wait(self, address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address)
        while True:
            query = f"wait={WAIT_SECONDS}&size=0"
            nonce = secrets.token_urlsafe(18)
            headers = sign_request(self.key, fingerprint(self.key), "GET", PATH, query, b"", int(time.time()), nonce, next(self.counter))
            writer.write(_request(f"{PATH}?{query}", headers))
            self.waits = True
            status, length = await _head(reader)
            if status not in (200, 204):
                raise SystemExit(f"{self.name}: a poll was answered {status}")
            await reader.readexactly(length)


class Browser:
    """An open page: what it hears, and when."""

    def __init__(self, number: int) -> None:
        self.node = f"poll{number % max(1, POLLS):04d}"
        self.events: dict[str, float] = {}
        self.open = asyncio.Event()

    async def listen(self, address: tuple[str, int], cookie: str) -> None:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(_request(f"/events?topics=fleet,node:{self.node},alarms,approvals", {"Cookie": f"sessionid={cookie}"}))
        status, _ = await _head(reader)
        if status != 200:
            raise SystemExit(f"an event stream was answered {status}")
        self.open.set()
        while line := await reader.readline():
            if line.startswith(b"event: "):
                self.events[line[7:].decode().strip()] = time.perf_counter()


def _request(path: str, headers: dict[str, str]) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


async def _head(reader: asyncio.StreamReader) -> tuple[int, int]:
    """The status, and how long the content is."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?im)^content-length: (\d+)", head)
    if length is None and "chunked" in head.lower() and " 200 " in head and "event-stream" not in head:
        size = int(await reader.readline(), 16)
        await reader.readexactly(size + 2)
        await reader.readline()
        await reader.readline()
    return int(head.split()[1]), int(length[1]) if length else 0


async def measure(portal: Portal, cookie: str, agents: list[Agent]) -> None:
    host, _, port = portal.address.rpartition(":")
    address, web = (host, int(port)), web_of(portal)
    print(f"web at rest: {resident(web):.0f} MiB, {threads(web)} threads", flush=True)
    browsers = [Browser(number) for number in range(STREAMS)]
    begun = time.perf_counter()
    tasks = await _open(browsers, address, cookie)
    print(f"{STREAMS} streams open after {time.perf_counter() - begun:.1f} s: {resident(web):.0f} MiB, {threads(web)} threads", flush=True)
    tasks += [asyncio.create_task(agent.wait(address)) for agent in agents]
    await asyncio.sleep(3)
    print(f"and {sum(a.waits for a in agents)} agents waiting: {resident(web):.0f} MiB, {threads(web)} threads", flush=True)
    everybody, few = [], []
    for turn in range(ROUNDS):
        everybody += await rung("fleet", browsers)
        few += await rung(f"node:{browsers[turn].node}", [b for b in browsers if b.node == browsers[turn].node])
    for task in tasks:
        if task.done() and not task.cancelled():
            task.result()
        task.cancel()
    report("the fleet, heard by all", everybody, STREAMS * ROUNDS)
    report("a node, heard by few", few, len(few))
    worst = p(sorted(everybody), 0.95)
    _load_average("while measuring")
    print(f"goal: p95 at most {GOAL_MS} ms from the ring to the browser; {'reached' if worst <= GOAL_MS else 'missed'} with {worst:.0f} ms")


async def _open(browsers: list[Browser], address: tuple[str, int], cookie: str) -> list[asyncio.Task]:
    seats, tasks = asyncio.Semaphore(AT_ONCE), []

    async def one(browser: Browser) -> None:
        async with seats:
            tasks.append(asyncio.create_task(browser.listen(address, cookie)))
            opened = asyncio.create_task(browser.open.wait())
            await asyncio.wait([tasks[-1], opened], return_when=asyncio.FIRST_COMPLETED)

    await asyncio.gather(*map(one, browsers))
    return tasks


async def rung(topic: str, browsers: list[Browser]) -> list[float]:
    """Milliseconds until each of them heard it."""
    from app.realtime.publish import ring

    for browser in browsers:
        browser.events.pop(topic, None)
    begun = time.perf_counter()
    await asyncio.to_thread(ring, topic)
    await asyncio.sleep(PAUSE_SECONDS)
    return [(browser.events[topic] - begun) * 1000 for browser in browsers if topic in browser.events]


def report(what: str, took: list[float], wanted: int) -> None:
    took = sorted(took)
    text = f"{len(took)} of {wanted} heard"
    print(f"{what:26} {text:>22}  p50 {p(took, 0.5):7.1f}  p95 {p(took, 0.95):7.1f}  max {took[-1]:7.1f}  ms", flush=True)


def web_of(portal: Portal) -> int:
    lines = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    rows = [line.split(maxsplit=2) for line in lines]
    return next(int(pid) for pid, parent, args in rows if int(parent) == portal.process.pid and "uvicorn" in args)


def resident(pid: int) -> float:
    return _status(pid, "VmRSS") / 1024


def threads(pid: int) -> int:
    return _status(pid, "Threads")


def _status(pid: int, name: str) -> int:
    return int(re.search(rf"(?m)^{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


if __name__ == "__main__":
    sys.exit(main())
