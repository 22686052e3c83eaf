"""Every page at two sizes of fleet, over HTTP from one web process as `./run` starts it: how long, how many queries, how that grows.

The fleet is generated (`./run manage load_fleet`). Times are of whole answers, one after the other; query counts are asked of the same
views in this process. SLOTLIGHT_BENCH_NODES sets other sizes, the smallest first, SLOTLIGHT_BENCH_DISKS other disks of each node.
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
from itertools import cycle
from pathlib import Path

from bench.bench_reports import ROOT, Portal

SIZES = [int(size) for size in os.environ.get("SLOTLIGHT_BENCH_NODES", "10,1000").split(",")]
DISKS = int(os.environ.get("SLOTLIGHT_BENCH_DISKS", "100"))
ROUNDS, WARM_UP = 40, 3
GOAL_MS = 150

Pages = dict[str, list[str]]  # what it is -> addresses, taken in turn


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
    cookie, found = sign_in(), {}
    for size in SIZES:
        load(portal, size)
        _load_average(f"with {size} nodes")
        found[size] = {name: (timed(portal.address, cookie, paths), counted(cookie, paths[0])) for name, paths in pages().items()}
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

    from app.fleet.models import Disk, Node, PoolNow, Situation

    Node.objects.update(last_report_at=timezone.now())  # else all are silent, and nothing else is said of them
    disk, pool = Disk.objects.order_by("?").first(), PoolNow.objects.select_related("node").first()
    nodes, some = Node.objects.order_by("?"), list(Disk.objects.order_by("?")[: ROUNDS + WARM_UP])
    others = list(nodes[: ROUNDS + WARM_UP])  # read by nobody before, where there are so many
    pools = list(PoolNow.objects.select_related("node").exclude(node__in=others).order_by("?")[: ROUNDS + WARM_UP]) or [pool]
    return {
        "fleet": ["/"],
        "fleet, its last page": ["/?page=9999"],
        "fleet, narrowed": ["/?severity=act&node=load"],
        "node, the same": [f"/nodes/{nodes.first().name}/"],
        "node, another: its top": [f"/nodes/{node.name}/" for node in others],
        "node, another: all of it": [f"/nodes/{node.name}/?whole=1" for node in others],
        "pool, another each time": [f"/nodes/{one.node.name}/pools/{one.name}/" for one in pools],
        "disk, another each time": [f"/disks/{one.wwid}/" for one in some],
        "pool": [f"/nodes/{pool.node.name}/pools/{pool.name}/"],
        "disk": [f"/disks/{disk.wwid}/"],
        "situation": [f"/situations/{pk}/" for pk in Situation.objects.filter(closed_at=None).values_list("pk", flat=True)[:ROUNDS]],
        "search: a WWID": [f"/search/?q={one.wwid[4:].upper()}" for one in some],
        "search: part of a serial": [f"/search/?q={one.serial[-6:]}" for one in some],
        "search: four digits": ["/search/?q=5000"],
        "search: sdX": ["/search/?q=sdab"],
        "search: a bay": [f"/search/?q={pool.node.name}+bay+7"],
        "runs": ["/runs/"],
        "approvals": ["/approvals/"],
        "ledger": ["/ledger/"],
        "open loops": ["/open-loops/"],
    }


def timed(address: str, cookie: str, paths: list[str]) -> list[float]:
    """Milliseconds of each answer, sorted."""
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    turn = cycle(paths)
    took = [_ask(connection, next(turn), cookie) for _ in range(ROUNDS + WARM_UP)]
    connection.close()
    return sorted(took[WARM_UP:])


def _ask(connection: http.client.HTTPConnection, path: str, cookie: str) -> float:
    begun = time.perf_counter()
    connection.request("GET", path, headers={"Cookie": f"sessionid={cookie}"})
    answer = connection.getresponse()
    answer.read()
    if answer.status not in (200, 302):
        raise SystemExit(f"{path} was answered {answer.status}")
    return (time.perf_counter() - begun) * 1000


def counted(cookie: str, path: str) -> int:
    """How many queries the page asks, in this process; the second time, when what is parsed once is parsed."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    client.cookies["sessionid"] = cookie
    client.get(path)
    with CaptureQueriesContext(connection) as asked:
        client.get(path)
    return len(asked)


def resident(portal: Portal) -> float:
    """MiB of the web process."""
    lines = subprocess.run(["ps", "-eo", "ppid,rss,args"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    rows = [line.split(maxsplit=2) for line in lines]
    return sum(int(rss) for parent, rss, args in rows if int(parent) == portal.process.pid and "uvicorn" in args) / 1024


def table(found: dict[int, dict[str, tuple[list[float], int]]]) -> None:
    small, large = found[SIZES[0]], found[SIZES[-1]]
    print(f"{'':28}" + "".join(f"{f'{size} nodes':>27}" for size in (SIZES[0], SIZES[-1])) + f"{'ratio of p50':>15}")
    print(f"{'':28}" + f"{'p50':>9}{'p95':>9}{'queries':>9}" * 2)
    for name, (took, queries) in large.items():
        before, queries_before = small[name]
        columns = [p(before, 0.5), p(before, 0.95), queries_before, p(took, 0.5), p(took, 0.95), queries]
        print(f"{name:28}" + "{:9.1f}{:9.1f}{:9d}{:9.1f}{:9.1f}{:9d}".format(*columns) + f"{p(took, 0.5) / p(before, 0.5):15.2f}")
    worst = max(((p(took, 0.95), name) for name, (took, _) in large.items()), key=lambda one: one[0])
    print(
        f"goal: p95 at most {GOAL_MS} ms; {'reached' if worst[0] <= GOAL_MS else 'missed'}: the slowest is {worst[1]} with {worst[0]:.0f} ms"
    )
    grown = [name for name, (_, queries) in large.items() if queries > small[name][1]]
    print(f"goal: as many queries, however large the fleet; {f'missed by {_listed(grown)}' if grown else 'reached'}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def p(ordered: list[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


if __name__ == "__main__":
    sys.exit(main())
