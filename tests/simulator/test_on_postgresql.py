"""The simulator's schedules and its invariants on the real portal in PostgreSQL, which dies at commits."""

import logging
import os
from collections import Counter

from app.ledger.audit import audit
from app.ledger.models import LedgerChain, LedgerEvent
from tests.simulator.on_postgresql import OnPostgresql, play, settle_in
from tests.simulator.playing import prepare, room
from tests.simulator.simulator import schedule

SEEDS = int(os.environ.get("SLOTLIGHT_SIMULATOR_SEEDS_ON_POSTGRESQL", "5"))
ACTIONS = 60


def test_it_holds_on_the_real_portal(committed_db):
    node_keys, seen = settle_in(), Counter()
    logging.disable(logging.CRITICAL)
    try:
        with room() as folder:
            shared, own = prepare(folder)
            for seed in range(SEEDS):
                own = folder / f"own-{seed}"
                own.mkdir()
                sim = OnPostgresql(shared, own, node_keys, seed)
                try:
                    seen += play(sim, schedule(seed, ACTIONS)).seen
                except Exception as error:
                    raise AssertionError("\n".join([f"Seed {seed}: {error}", *sim.trace[-80:]])) from error
    finally:
        logging.disable(logging.NOTSET)
    assert seen["run done"] >= SEEDS
    assert seen["command"] >= SEEDS
    assert LedgerEvent.objects.count() == LedgerChain.objects.count()
    found = audit()
    assert (found.tampered, found.incomplete, found.waiting) == ([], [], 0)
