"""Sealed ledger events against plain single-row inserts: 16 writers, the same server, fsync on, one row per transaction.

What sealing costs is that commits queue for one row, so the plain inserts' group commit is what is lost.
"""

import os
import re
import statistics
import subprocess
import tempfile
from dataclasses import replace

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

WRITERS = 16
SECONDS = 3
ROUNDS = 3
DATABASE = "slotlight_bench"
BODY = (
    """convert_to(format('{"actor":"ann","at":"2026-11-21T10:30:00.000000Z","body":{"step":"replace","n":"%s"},"evidence":[],"""
    """"node":"oss01","run":"","run_prev":"","run_seq":"","type":"run.moved","v":"1"}', :n::text), 'UTF8')"""
)
SCRIPTS = {
    "plain insert": f"\\set n random(1, 1000000000)\nINSERT INTO bench_plain (body) VALUES ({BODY});\n",
    "sealed event": f"\\set n random(1, 1000000000)\nINSERT INTO ledger_event (body) VALUES ({BODY});\n",
}


def main() -> None:
    django.setup()
    from tests.ground import Ground

    ground = Ground.place()
    if not ground.external:
        ground.postgres = replace(ground.postgres, flags=(f"max_connections={WRITERS + 8}",))
    ground.start(migrate)
    ground.clone(DATABASE)
    psql(ground, "CREATE TABLE bench_plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)")
    try:
        show({name: [] for name in SCRIPTS}, ground)
    finally:
        ground.drop(DATABASE)


def show(found: dict[str, list[float]], ground) -> None:
    for _ in range(ROUNDS):  # taken in turn, so that a busy moment of the machine meets both
        for name, script in SCRIPTS.items():
            found[name].append(transactions_per_second(ground, script))
    events, order = psql(ground, "SELECT count(*), max(seq) FROM ledger_chain")[0]
    print(f"{WRITERS} writers, {ROUNDS} rounds of {SECONDS} s, fsync on; {events} events sealed, the last is number {order}")
    print(f"{'':16} {'best /s':>9} {'median /s':>10} {'median ms':>10}")
    for name, rates in found.items():
        middle = statistics.median(rates)
        print(f"{name:16} {max(rates):9.0f} {middle:10.0f} {1000 * WRITERS / middle:10.1f}")
    plain, sealed = (statistics.median(rates) for rates in found.values())
    print(f"a plain insert is {plain / sealed:.1f} x as fast as a sealed event; {sealed / 50:.0f} x the 50 events/s a busy fleet writes")


def transactions_per_second(ground, script: str) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        pgbench = str(ground.postgres.bin / "pgbench") if not ground.external else "pgbench"
        load = [
            pgbench,
            "--no-vacuum",
            f"--client={WRITERS}",
            "--jobs=2",
            f"--time={SECONDS}",
            "--protocol=prepared",
            f"--file={file.name}",
        ]
        done = subprocess.run([*load, administrator(ground)], capture_output=True, text=True, check=True)
    return float(re.search(r"tps = ([0-9.]+)", done.stdout)[1])


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
