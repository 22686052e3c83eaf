"""Every page at two sizes of fleet, over HTTP from one web process as `./run` starts it: how long, how many queries, how that grows.

The fleet is generated (`./run manage load_fleet`). Times are of whole answers, one after the other, and beside them what the web process
computed for each. Queries are counted in this process, of the same views with the same things, those of the smallest fleet. "Another" is a
thing of a node that the process has not read, where there are so many. In the smaller fleet every list that is shown a page at a time
already fills its page, so what grows from there grows with the fleet. SLOTLIGHT_BENCH_NODES sets other sizes, the smallest first,
SLOTLIGHT_BENCH_DISKS other disks of each node.
"""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from bench.bench_reports import ROOT, Portal

SIZES = [int(size) for size in os.environ.get("SLOTLIGHT_BENCH_NODES", "100,1000").split(",")]
DISKS = int(os.environ.get("SLOTLIGHT_BENCH_DISKS", "100"))
ROUNDS, WARM_UP = 40, 3
GOAL_MS = 150

ASKED = ROUNDS + WARM_UP

Pages = dict[str, list[str]]  # what it is -> addresses, taken in turn


@dataclass(frozen=True)
class Timed:
    """Milliseconds, sorted: until each whole answer was there, and what the web process computed for it."""

    wall: list[float]
    processor: list[float]
    queries: int


def main() -> int:
    _load_average("before")
    folder = Path(tempfile.mkdtemp(prefix="slotlight-bench-"))
    folder.chmod(0o755)
    portal = Portal(folder / "var")
    try:
        measure(portal)
    finally:
        portal.stop()
        shutil.rmtree(folder, ignore_errors=True)
    _load_average("after")
    return 0


def _load_average(when: str) -> None:
    print(f"load average {when}: {' '.join(f'{load:.2f}' for load in os.getloadavg())} on {os.cpu_count()} cores", flush=True)


def measure(portal: Portal) -> None:
    os.environ.update(portal.environment())
    import django

    django.setup()
    cookie, found, same = sign_in(), {}, {}
    for size in SIZES:
        load(portal, size)
        _load_average(f"with {size} nodes")
        web, now = web_process(portal), pages()
        same = same or now  # the things of the smallest fleet are in the larger ones, too: queries are counted for the same ones
        found[size] = {name: timed(portal.address, web, cookie, paths, same[name]) for name, paths in now.items()}
        print(f"web holds {resident(portal):.0f} MiB", flush=True)
    table(found)


def sign_in() -> str:
    """The session of somebody who may look at everything and act on nothing."""
    from django.test import Client

    from app.accounts.models import User

    client = Client()
    client.force_login(User.objects.create_user("bench"))
    return client.cookies["sessionid"].value


def load(portal: Portal, nodes: int) -> None:
    argv = [sys.executable, str(ROOT / "manage.py"), "load_fleet", f"--nodes={nodes}", f"--disks={DISKS}"]
    subprocess.run(argv, check=True, cwd=ROOT, env={**os.environ, **portal.environment()})


def pages() -> Pages:
    """The pages with the things that are there, and those that everybody has in hand when something is wrong."""
    from django.utils import timezone

    from app.fleet.models import NOW, Disk, Node, PoolNow, Sighting, Situation

    Node.objects.update(last_report_at=timezone.now())  # else all are silent, and nothing else is said of them
    disk, pool = Disk.objects.order_by("?").first(), PoolNow.objects.select_related("node").first()
    nodes, some = list(Node.objects.order_by("?")), list(Disk.objects.order_by("?")[:ASKED])
    apart = [nodes[first : first + ASKED] or nodes[:ASKED] for first in range(0, 4 * ASKED, ASKED)]  # read by no row before
    there = (
        Sighting.objects.filter(NOW).exclude(enclosure_id="").select_related("node", "disk").order_by("node_id", "name").distinct("node_id")
    )
    pools = PoolNow.objects.filter(node__in=apart[1]).select_related("node")
    return {
        "fleet": ["/"],
        "fleet, its last page": ["/?page=9999"],
        "fleet, narrowed": ["/?severity=act&node=load"],
        "node": [f"/nodes/{pool.node.name}/?whole=1"],
        **_another("node", [f"/nodes/{node.name}/" for node in apart[0]]),
        **_another("pool", [f"/nodes/{one.node.name}/pools/{one.name}/" for one in pools]),
        **_another("disk", [f"/disks/{one.disk.wwid}/" for one in there.filter(node__in=apart[2])]),
        **_another("enclosure", [f"/nodes/{one.node.name}/enclosures/{one.enclosure_id}/" for one in there.filter(node__in=apart[3])]),
        "pool": [f"/nodes/{pool.node.name}/pools/{pool.name}/"],
        "disk": [f"/disks/{disk.wwid}/"],
        "enclosure": [f"/nodes/{one.node.name}/enclosures/{one.enclosure_id}/" for one in there[:1]],
        "situation": [f"/situations/{pk}/" for pk in Situation.objects.filter(closed_at=None).values_list("pk", flat=True)[:ROUNDS]],
        "search: a WWID": [f"/search/?q={one.wwid[4:].upper()}" for one in some],
        "search: part of a serial": [f"/search/?q={one.serial[-6:]}" for one in some],
        "search: part of a guid": [f"/search/?q={one.guid[:9]}" for one in pools],
        "search: four digits": ["/search/?q=5000"],
        "search: sdX": ["/search/?q=sdab"],
        "search: a bay": [f"/search/?q={pool.node.name}+bay+7"],
        "runs": ["/runs/"],
        "approvals": ["/approvals/"],
        "ledger": ["/ledger/"],
        "open loops": ["/open-loops/"],
    }


def _another(what: str, paths: list[str]) -> Pages:
    """What is answered at once, and what the page asks for then."""
    return {f"{what}, another: its top": paths, f"{what}, another: all of it": [f"{path}?whole=1" for path in paths]}


def timed(address: str, web: int, cookie: str, paths: list[str], count: list[str]) -> Timed:
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    turn = cycle(paths)
    took = [_ask(connection, web, next(turn), cookie) for _ in range(ASKED)][WARM_UP:]
    connection.close()
    return Timed(sorted(wall for wall, _ in took), sorted(computed for _, computed in took), max(counted(cookie, path) for path in count))


def _ask(connection: http.client.HTTPConnection, web: int, path: str, cookie: str) -> tuple[float, float]:
    begun, computed = time.perf_counter(), _computed(web)
    connection.request("GET", path, headers={"Cookie": f"sessionid={cookie}"})
    answer = connection.getresponse()
    answer.read()
    _must_be_there(path, answer.status, answer.headers.get("Location", ""))
    return (time.perf_counter() - begun) * 1000, (_computed(web) - computed) / 1e6


def _computed(pid: int) -> int:
    """Nanoseconds on a processor so far, of all its threads."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def web_process(portal: Portal) -> int:
    return next(int(pid) for pid, parent, _, args in _processes() if int(parent) == portal.process.pid and "uvicorn" in args)


def _processes() -> list[list[str]]:
    lines = subprocess.run(["ps", "-eo", "pid,ppid,rss,args"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return [line.split(maxsplit=3) for line in lines]


def counted(cookie: str, path: str) -> int:
    """How many queries the page asks, in this process; the second time, when what is parsed once is parsed.

    Nothing is held from the page before: a node that was read for another would not be answered with its top. Of several alike the one
    that asks most is told: a node with a situation asks more than one without.
    """
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from app.fleet import services

    services.forget()
    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    client.cookies["sessionid"] = cookie
    client.get(path)
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(path)
    _must_be_there(path, answer.status_code, answer.headers.get("Location", ""))
    return len(asked)


def _must_be_there(path: str, status: int, to: str) -> None:
    """A search may lead to the one thing found; to the sign-in page nothing may, it would be measured in place of every other."""
    from django.conf import settings
    from django.shortcuts import resolve_url

    if status not in (200, 302) or to.startswith(resolve_url(settings.LOGIN_URL)):
        raise SystemExit(f"{path} was answered {status} {to}".rstrip())


def resident(portal: Portal) -> float:
    """MiB of the web process."""
    web = web_process(portal)
    return sum(int(rss) for pid, _, rss, _ in _processes() if int(pid) == web) / 1024


def table(found: dict[int, dict[str, Timed]]) -> None:
    small, large = found[SIZES[0]], found[SIZES[-1]]
    print(f"{'':28}" + "".join(f"{f'{size} nodes':>45}" for size in (SIZES[0], SIZES[-1])) + f"{'ratio of p50':>15}")
    print(f"{'':28}" + f"{'p50':>9}{'p95':>9}{'cpu p50':>9}{'cpu p95':>9}{'queries':>9}" * 2)
    for name, now in large.items():
        ratio = p(now.wall, 0.5) / p(small[name].wall, 0.5)
        print(f"{name:28}{_columns(small[name])}{_columns(now)}{ratio:15.2f}")
    worst = max((p(one.wall, 0.95), name) for name, one in large.items() if not name.endswith("all of it"))
    print(
        f"goal: p95 at most {GOAL_MS} ms; {'reached' if worst[0] <= GOAL_MS else 'missed'}: the slowest is {worst[1]} with {worst[0]:.0f} ms"
    )
    rest = max((p(one.wall, 0.95), name) for name, one in large.items() if name.endswith("all of it"))
    print(f"what comes after the top of a page, of a node that the process had not read: at most {rest[0]:.0f} ms ({rest[1]})")
    grown = [name for name, one in large.items() if one.queries > small[name].queries]
    print(f"goal: as many queries, however large the fleet; {f'missed by {_listed(grown)}' if grown else 'reached'}")


def _columns(one: Timed) -> str:
    times = [p(took, part) for took in (one.wall, one.processor) for part in (0.5, 0.95)]
    return "{:9.1f}{:9.1f}{:9.1f}{:9.1f}{:9d}".format(*times, one.queries)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def p(ordered: list[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


if __name__ == "__main__":
    sys.exit(main())
