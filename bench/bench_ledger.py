"""Sealed ledger events against plain single-row inserts: 16 writers, the same server, fsync on, one row per transaction.

Two kinds of plain insert, taken in turn with the sealed ones: into a table of the event's own columns and indexes, which is what an
ordinary audit table costs, and into a bare table of a number and the bytes. Events that went by a lane are numbered before
the clock stops. Then: how fast the ledger is walked and a proof is made, and how large the bundle of a run is.
"""

import os
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

WRITERS = 16
SECONDS = 5
ROUNDS = 3
RUN_EVENTS = 40  # what a replacement leaves behind: asked, planned, approved, sealed, claimed, started, seen, verified
DATABASE = "slotlight_bench"
CAPTURES = Path(__file__).resolve().parent.parent / "agents" / "tests" / "captures"
BODY = (
    """convert_to(format('{"actor":"ann","at":"2026-11-21T10:30:00.000000Z","body":{"n":"%s","step":"replace"},"evidence":[],"""
    """"node":"oss01","run":"","run_prev":"","run_seq":"","type":"run.moved","v":"1"}', :n::text), 'UTF8')"""
)
COLUMNS = "'2026-11-21T10:30:00.000000Z', 'ann', 'run.moved', '', 'oss01'"
SCRIPTS = {
    "bare insert": f"INSERT INTO bench_bare (body) VALUES ({BODY});",
    "plain insert": (
        "INSERT INTO bench_plain (body, leaf, at, actor, type, run, node)"
        f" SELECT body, sha256(body), {COLUMNS} FROM (SELECT {BODY}) AS one (body);"
    ),
    "sealed event": f"INSERT INTO ledger_event (body) VALUES ({BODY});",
}


def main() -> None:
    django.setup()
    from tests.ground import Ground

    ground = Ground.place()
    if not ground.external:
        ground.postgres = replace(ground.postgres, flags=(f"max_connections={WRITERS + 8}",))
    ground.start(migrate)
    ground.clone(DATABASE)
    psql(ground, "CREATE TABLE bench_bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)")
    psql(ground, "CREATE TABLE bench_plain (LIKE ledger_event INCLUDING ALL)")
    try:
        show({name: [] for name in SCRIPTS}, ground)
        show_checking(ground)
    finally:
        ground.drop(DATABASE)


def show(found: dict[str, list[float]], ground) -> None:
    transactions_per_second(ground, SCRIPTS["sealed event"], 2)  # the files grow to their size first
    for _ in range(ROUNDS):  # taken in turn, so that a busy moment of the machine meets all
        for name, script in SCRIPTS.items():
            found[name].append(transactions_per_second(ground, script, SECONDS))
    events, order, forks, lanes = psql(
        ground, "SELECT count(*), max(seq), count(*) - count(DISTINCT prev), (SELECT count(*) FROM ledger_lane) FROM ledger_chain"
    )[0]
    print(f"{WRITERS} writers, {ROUNDS} rounds of {SECONDS} s, fsync on; {events} events sealed, the last is number {order}, {forks} forks")
    print(f"{100 * lanes / events:.0f} % of them found the head taken and went by a lane")
    print(f"{'':16} {'best /s':>9} {'median /s':>10} {'median ms':>10}")
    for name, rates in found.items():
        middle = statistics.median(rates)
        print(f"{name:16} {max(rates):9.0f} {middle:10.0f} {1000 * WRITERS / middle:10.1f}")
    sealed = found["sealed event"]
    for name in ("plain insert", "bare insert"):
        ratios = sorted(ours / theirs for ours, theirs in zip(sealed, found[name], strict=True))
        print(f"sealed / {name}: {100 * statistics.median(ratios):.0f} % (rounds {', '.join(f'{100 * r:.0f}' for r in ratios)})")


def show_checking(ground) -> None:
    """As the app role: walk everything, prove one event, export a run."""
    from django.conf import settings

    from app.core.database import point_at
    from app.ledger import audit, services
    from app.ledger.bundle import bundle, unpacked_size
    from app.ledger.models import LedgerEvent

    point_at(ground.url(DATABASE))
    with tempfile.TemporaryDirectory() as folder:
        settings.SLOTLIGHT_LEDGER_KEY = Path(folder) / "ledger.key"
        begun = time.perf_counter()
        size = services.checkpoint_now().size
        signed = time.perf_counter()
        found = audit.audit()
        walked = time.perf_counter()
        event = LedgerEvent.objects.order_by("-id")[1]
        for _ in range(100):
            services.inclusion(event)
        proven = time.perf_counter()
        print(f"first checkpoint over {size} events: {size / (signed - begun):.0f} events/s; every later one reads what is new only")
        print(f"ledger verify: {size / (walked - signed):.0f} events/s, exit code {found.exit_code}")
        print(f"one inclusion proof in {size} events, made and checked: {10 * (proven - walked):.1f} ms")
        events, captures = a_run(services)
        data = bundle("1", "bench")
        begun = time.perf_counter()
        from app.ledger import verify

        report = verify.Report()
        verify.check(verify.unpack(data, report), "", report)
        took = 1000 * (time.perf_counter() - begun)
        print(
            f"a run of {events} events and {captures} genuine captures: {len(data) / 1024:.0f} KiB of zip,"
            f" {unpacked_size(data, 'blobs/') / 1024:.0f} KiB of it captures; verified in {took:.0f} ms, exit code {report.exit_code}"
        )
        kept, raw = psql(ground, "SELECT sum(pg_column_size(bytes)), sum(size) FROM ledger_blob")[0]
        print(f"evidence in the database: {raw / 1024:.0f} KiB kept in {kept / 1024:.0f} KiB")


def a_run(services) -> tuple[int, int]:
    """As many events as a replacement records, naming captures of a real node."""
    paths = sorted(CAPTURES.glob("*/*.txt"), key=lambda path: path.stat().st_size, reverse=True)
    texts = [path.read_bytes() for path in paths[: RUN_EVENTS // 2]]
    digests = services.keep_all(texts, "text/plain")
    for number in range(RUN_EVENTS):
        body = {"step": "replace", "to": "VERIFY", "capture": digests[number % len(digests)]}
        services.record("run.moved", body, "ann", run="1", node="oss01")
        if number % 10 == 9:
            services.checkpoint_now()
    return RUN_EVENTS, len(set(digests))


def transactions_per_second(ground, script: str, seconds: int) -> float:
    """How many were committed and, if they are events, numbered per second."""
    script = f"\\set n random(1, 1000000000)\n{script}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        pgbench = str(ground.postgres.bin / "pgbench") if not ground.external else "pgbench"
        load = [
            pgbench,
            "--no-vacuum",
            f"--client={WRITERS}",
            "--jobs=2",
            f"--time={seconds}",
            "--protocol=prepared",
            f"--file={file.name}",
        ]
        done = subprocess.run([*load, administrator(ground)], capture_output=True, text=True, check=True)
    begun = time.perf_counter()
    psql(ground, "SELECT ledger_number()")
    rest = time.perf_counter() - begun
    count, rate = (float(re.search(form, done.stdout)[1]) for form in (r"actually processed: (\d+)", r"tps = ([0-9.]+)"))
    return count / (count / rate + rest)


def administrator(ground) -> str:
    from tests.ground import SECRET

    return ground.url(DATABASE, "owner") if ground.external else ground.postgres.url("postgres", SECRET, DATABASE)


def psql(ground, sql: str) -> list[tuple]:
    import psycopg

    with psycopg.connect(administrator(ground)) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def migrate(url: str) -> None:
    from django.core.management import call_command
    from django.db import connections

    from app.settings import database

    connections["default"].close()
    connections["default"].settings_dict.update(database(url))
    call_command("migrate", verbosity=0, interactive=False)


if __name__ == "__main__":
    main()
