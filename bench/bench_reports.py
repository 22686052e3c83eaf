"""Reports of many nodes of 100 disks each, over HTTP, into the database that `./run` brings along.

Every request is written and signed as the agent writes it, before the clock starts; every answer's signature is checked
after it stopped. The portal, its database and whoever sends share this machine. Unchanged reports of all nodes go out at
once, each node over its own connection; changed ones too, and each is acknowledged when facts, history, situations and
ledger are committed.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import itertools
import json
import os
import re
import secrets
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from agents.collectors.base import Capture
from agents.domain.times import iso
from agents.orders.receipts import listed
from agents.portal.transport import _body
from agents.portal.wire import fingerprint, sign_request, verify_answer
from agents.reporting.capture_set import place, set_digest, spoken
from bench._hundred import captures, name_of

ROOT = Path(__file__).resolve().parent.parent
NODES = 40
HEARTBEATS = 400  # of each node
CHANGES = 8  # of each node, of each kind
GOAL_UNCHANGED, GOAL_CHANGED = 1000, 20
PATH = "/agent/v1/reports"
ABOUT = {"boot_id": "6d1fb0f0-6a2c-4b7e-9d57-0e3f6c2f0000", "version": "0.1.0", "mode": "observe"}


def main() -> int:
    print(f"load average before: {' '.join(f'{load:.2f}' for load in os.getloadavg())} on {os.cpu_count()} cores")
    folder = Path(tempfile.mkdtemp(prefix="slotlight-bench-"))
    folder.chmod(0o755)
    nodes = [Node(number, captures(folder / "twins" / str(number), number)) for number in range(1, NODES + 1)]
    portal = Portal(folder / "var")
    try:
        measure(portal, nodes)
    finally:
        portal.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"load average after: {' '.join(f'{load:.2f}' for load in os.getloadavg())}")
    return 0


def measure(portal: Portal, nodes: list[Node]) -> None:
    enrol(portal, nodes)
    first = nodes[0].collected
    print(f"{NODES} nodes, each with {len(first)} captures of {sum(len(c.text) for c in first) // 1024} KiB")
    send(portal, "first report, with every text", nodes, 1, lambda node, turn: node.full())
    one_by_one(portal, nodes[0])
    unchanged = send(portal, "unchanged", nodes, HEARTBEATS, lambda node, turn: node.unchanged())
    replayed(portal, nodes[0])
    moving = send(
        portal, "changed: a resilver moved on", nodes, CHANGES, lambda node, turn: node.changed(resilvering(node.collected, turn))
    )
    changed = send(portal, "changed: errors and a label", nodes, CHANGES, lambda node, turn: node.changed(erring(node.collected, turn)))
    check(nodes)
    goal("unchanged reports", unchanged, GOAL_UNCHANGED)
    goal("changed reports", min(moving, changed), GOAL_CHANGED)


def goal(what: str, rate: float, wanted: int) -> None:
    print(f"goal: {wanted} {what}/s; {'reached' if rate >= wanted else 'missed'} with {rate:.0f}/s")


def resilvering(collected: list[Capture], turn: int) -> list[Capture]:
    """What a resilver prints as it goes: another percentage, and nothing else is new."""
    scan = "  scan: resilver in progress since Sat Nov 21 03:00:00 2026\n\t1.2T / 187T scanned at 1.2G/s, 860G / 187T issued at 900M/s\n"
    scan_text = f" state: ONLINE\n{scan}\t28{turn}G resilvered, {turn + 0.55:.2f}% done, 12:30:0{turn % 10} to go\n"
    return [
        replace(c, text=c.text.replace(" state: ONLINE\n", scan_text, 1)) if c.source.startswith("zpool_status") else c for c in collected
    ]


def erring(collected: list[Capture], turn: int) -> list[Capture]:
    """Checksum errors on three disks and a newer label on one: what somebody will ask about."""
    healthy, sick = " ONLINE       0     0     0\n", f" ONLINE       0     0     {turn + 1}\n"
    return [_erring(capture, healthy, sick, turn) for capture in collected]


def _erring(capture: Capture, healthy: str, sick: str, turn: int) -> Capture:
    if capture.source in ("zpool_status", "zpool_status_guid"):
        head, rows = capture.text.rsplit(healthy, 3)[0], capture.text.count(healthy)
        return replace(
            capture, text=capture.text.replace(healthy, sick, rows) if not head else head + capture.text[len(head) :].replace(healthy, sick)
        )
    if (capture.source, capture.key) == ("zdb_label", "sda1"):
        return replace(capture, text=re.sub(r"(?m)^(    txg: )\d+$", rf"\g<1>{1000 + turn}", capture.text))
    return capture


@dataclass(frozen=True)
class Request:
    """A report as it goes over the wire, and what its answer is checked with."""

    data: bytes
    nonce: str
    key: bytes


class Node:
    """An agent's side: its key, its counter, what the portal knows of it."""

    def __init__(self, number: int, collected: list[Capture]) -> None:
        self.name, self.collected, self.reported = name_of(number), collected, collected
        self.key = secrets.token_bytes(32)
        self.counter = itertools.count(1)
        self.address = ""

    def full(self) -> Request:
        return self._signed(
            self._of(self.collected) | ABOUT | {"captures": listed(self.collected), "bodies": {c.digest: c.body() for c in self.collected}}
        )

    def unchanged(self) -> Request:
        return self._signed(self._of(self.reported))

    def changed(self, collected: list[Capture]) -> Request:
        fresh = [new for new, old in zip(collected, self.reported, strict=True) if new.digest != old.digest]
        self.reported = collected
        more = {"changed": listed(fresh), "gone": [], "bodies": {c.digest: c.body() for c in fresh}}
        return self._signed(self._of(collected) | ABOUT | more)

    def set(self) -> str:
        return self._of(self.reported)["set"]

    def _of(self, collected: list[Capture]) -> dict:
        places = {place(c.source, c.key): c.digest for c in collected}
        ages = spoken({source: 3.21 * n for n, source in enumerate(sorted({c.source for c in collected}))})
        return {"v": "2", "node": self.name, "taken_at": iso(time.time()), "set": set_digest(captures=places, **ABOUT), "ages": ages}

    def _signed(self, report: dict) -> Request:
        body, headers = _body(report)
        nonce = secrets.token_urlsafe(18)
        signed = sign_request(self.key, fingerprint(self.key), "POST", PATH, "", body, int(time.time()), nonce, next(self.counter))
        connection, wire = http.client.HTTPConnection(self.address), Wire()
        connection.sock = wire
        connection.request("POST", PATH, body, {**headers, **signed})
        return Request(bytes(wire.data), nonce, self.key)


class Wire:
    """A socket that keeps what is sent."""

    def __init__(self) -> None:
        self.data = bytearray()

    def sendall(self, data: bytes) -> None:
        self.data += data


class Portal:
    """`./run --no-demo` on a free port and an empty data folder."""

    def __init__(self, data: Path) -> None:
        self.data = data
        outside = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "SLOTLIGHT_DATA")
        environment = {name: value for name, value in os.environ.items() if name not in outside} | {"NO_COLOR": "1"}
        argv = [sys.executable, "-m", "launcher", "--port", "0", "--no-demo", "--data", str(data)]
        self.process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.output: list[str] = []
        for line in self.process.stdout:
            self.output.append(line)
            if found := re.search(r"is ready after .*(http://\S+/)", line):
                self.address = urlsplit(found[1]).netloc
                threading.Thread(target=self._listen, daemon=True).start()
                return
        raise SystemExit("./run did not start:\n" + "".join(self.output))

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.output.append(line)

    def environment(self) -> dict[str, str]:
        from launcher.datafolder import DataFolder
        from launcher.installation import Installation

        folder = DataFolder(self.data)
        return Installation(folder, Path(folder.state()["sockets"])).environment()

    def processor_seconds(self) -> dict[str, float]:
        """What web and PostgreSQL have used so far, with their own children."""
        lines = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
        rows = [(int(pid), int(parent), args) for pid, parent, args in (line.split(maxsplit=2) for line in lines)]
        used = {}
        for name, words in (("web", "uvicorn"), ("postgres", "postgres"), ("worker", "celery")):
            top = [pid for pid, parent, args in rows if parent == self.process.pid and words in args]
            used[name] = sum(map(_processor_seconds, [*top, *(pid for pid, parent, _ in rows if parent in top)]))
        return used

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def enrol(portal: Portal, nodes: list[Node]) -> None:
    os.environ.update(portal.environment())
    import django

    django.setup()
    from app.nodes import keys

    for node in nodes:
        node.address = portal.address
        fields = {"token": keys.issue_token(node.name, "bench"), "node": node.name, "key": base64.b64encode(node.key).decode()}
        keys.enrol(fields, datetime.now(UTC))


def send(portal: Portal, what: str, nodes: list[Node], turns: int, make: Callable[[Node, int], Request]) -> float:
    """Every node sends its own, one after the other, all nodes at once; returns reports per second."""
    requests = [[make(node, turn) for turn in range(turns)] for node in nodes]
    before = portal.processor_seconds()
    begun = time.perf_counter()
    answers = asyncio.run(_send_all(portal.address, requests))
    seconds = time.perf_counter() - begun
    used = {name: value - before[name] for name, value in portal.processor_seconds().items()}
    took = sorted(took for node in answers for took, *_ in node)
    for request, (_, status, headers, body) in zip(itertools.chain(*requests), itertools.chain(*answers), strict=True):
        if status != 200 or json.loads(body).get("missing") != []:
            raise SystemExit(f"{what}: a report was answered {status}: {body[:300]!r}\n{''.join(portal.output[-40:])}")
        verify_answer(request.key, status, headers, body, request.nonce)
    count = len(took)
    sizes = statistics.mean(len(request.data) for request in itertools.chain(*requests))
    print(f"{what}: {count} in {seconds:.1f} s, {count / seconds:.0f}/s; {sizes:.0f} bytes each on the wire, with headers and signature")
    print(f"    answered within {took[count // 2] * 1000:.1f} ms (half), {took[int(count * 0.99)] * 1000:.1f} ms (99 of 100)")
    print(f"    processor time each, ms: {', '.join(f'{name} {value * 1000 / count:.2f}' for name, value in used.items())}")
    return count / seconds


async def _send_all(address: str, requests: list[list[Request]]) -> list[list[tuple]]:
    return await asyncio.gather(*(_send(address, own) for own in requests))


async def _send(address: str, requests: list[Request]) -> list[tuple]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    answers = []
    for request in requests:
        begun = time.perf_counter()
        writer.write(request.data)
        status, headers, body = await _answer(reader)
        answers.append((time.perf_counter() - begun, status, headers, body))
    writer.close()
    return answers


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    return int(head[0].split()[1]), headers, await _content(reader, headers)


async def _content(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    found = b""
    while size := int(await reader.readline(), 16):
        found += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return found


def one_by_one(portal: Portal, node: Node) -> None:
    """How long one unchanged report takes when nothing else is under way."""
    answers = asyncio.run(_send(portal.address, [node.unchanged() for _ in range(100)]))
    took = sorted(took for took, *_ in answers)
    request = node.unchanged()
    head, _, body = request.data.partition(b"\r\n\r\n")
    print(
        f"one unchanged report: {len(request.data)} bytes on the wire, {len(body)} of them the report itself, {len(head) + 4} its headers and"
    )
    print(f"    signature; alone it is answered within {took[50] * 1000:.1f} ms (half of 100), committed")
    asyncio.run(_send(portal.address, [request]))


def replayed(portal: Portal, node: Node) -> None:
    """A report that was acknowledged is refused when it comes again, also many times at once."""
    request = node.unchanged()
    answers = asyncio.run(_send_all(portal.address, [[request]] * 8))
    statuses = sorted(status for ((_, status, *_),) in answers)
    print(f"the same report sent eight times at once was answered {statuses}")
    if statuses != [200] + [401] * 7:
        raise SystemExit("A repeat was taken.")


def check(nodes: list[Node]) -> None:
    """What the database says after all of it."""
    from app.fleet.models import Node as Row
    from app.ledger.models import LedgerEvent
    from app.nodes.models import NodeKey

    for node in nodes:
        row, key = Row.objects.get(name=node.name), NodeKey.objects.get(node__name=node.name)
        if row.report_digest != node.set() or key.counter != next(node.counter) - 1:
            raise SystemExit(f"{node.name} does not stand by what it sent last.")
    print(
        f"every node stands by what it sent last; report.changed events in the ledger: {LedgerEvent.objects.filter(type='report.changed').count()}"
    )


if __name__ == "__main__":
    sys.exit(main())
