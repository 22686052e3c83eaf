"""How long ago a pool was scrubbed: read from the scan line and from the history, said before a disk is taken out, and no reason to refuse."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents.collectors.zpool_history import Entry, History
from workflows.analysis.scrubs import DAY, last_scrub, of_the_last_scrub, the_last_scrub_is_long_ago
from workflows.engine.core import warnings
from workflows.facts import FleetFacts, ScanFacts, Unknown, known
from workflows.runbooks import RUNBOOKS
from workflows.tests.incident import FLEET, NODE
from workflows.tests.readable import assert_readable
from workflows.tests.test_registry import NOTHING, OTHERS, params_of

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
NOW_SECONDS = NOW.timestamp()
POOL = NODE.pools[0]
PARAMS = {"node": NODE.node, "pool": POOL.name, "pool_guid": str(POOL.guid)}
WARNING = [pytest.param(warns, book, id=warns.__name__) for book in RUNBOOKS.values() for step in book.steps for warns in step.warns]

# scan lines as OpenZFS 0.8 to 2.4 prints them; the node is asked in UTC
SCRUBBED = "scrub repaired 0B in 00:08:11 with 0 errors on Sat Nov 21 08:37:21 2026"
IN_MAY = "scrub repaired 1.50M in 1 days 02:03:04 with 0 errors on Fri May  1 04:03:02 2026"
RESILVERED = "resilvered 1.20T in 11:02:13 with 0 errors on Sat Nov 21 08:37:21 2026"
ERRORS_SCRUBBED = "scrubbed 3 error blocks in 00:00:01 on Sat Nov 21 08:37:21 2026"


def scan(text: str, state: str = "finished") -> ScanFacts:
    return ScanFacts(text.split("ed ")[0].split(" ")[0].removesuffix("ed"), state, text)


def history(*entries: tuple[str, str, int | None]) -> History:
    return History(POOL.name, tuple(Entry(at, "internal" if txg else "command", text, txg) for at, text, txg in entries))


BORN = ("2026-01-02.03:04:05", "create pool version 5000", 4)
SCRUB = ("2026-09-01.00:00:00", "scan setup func=1 mintxg=0 maxtxg=99", 99), ("2026-09-01.12:00:00", "scan done errors=0", 300)
CANCELLED = ("2026-11-01.00:00:00", "scan setup func=1 mintxg=0 maxtxg=99", 99), ("2026-11-01.12:00:00", "scan cancelled errors=0", 300)
CANCELLED_OLD = ("2026-11-01.00:00:00", "scan setup func=1 mintxg=0 maxtxg=99", 99), ("2026-11-01.12:00:00", "scan done complete=0", 300)


def fleet(*scans: ScanFacts, past: History | Unknown | None = None, at=NOW_SECONDS) -> FleetFacts:
    pools = (replace(POOL, scans=scans), *NODE.pools[1:])
    histories = {} if past is None else {POOL.name: past}
    return replace(FLEET, nodes={**FLEET.nodes, NODE.node: replace(NODE, pools=pools, histories=histories)}, at=at)


@pytest.mark.parametrize(
    ("facts", "days", "found"),
    [
        (fleet(scan(SCRUBBED)), 1, True),
        (fleet(scan(IN_MAY)), 205, True),
        (fleet(scan(RESILVERED), past=history(BORN, *SCRUB)), 81, True),
        (fleet(scan(IN_MAY), past=history(BORN, *SCRUB)), 81, True),
        (fleet(scan(SCRUBBED), past=history(BORN, *SCRUB)), 1, True),
        (fleet(scan(RESILVERED), past=history(BORN, *CANCELLED)), 324, False),
        (fleet(scan(RESILVERED), past=history(BORN, *CANCELLED_OLD)), 324, False),
        (fleet(scan(ERRORS_SCRUBBED), past=history(BORN)), 324, False),
        (fleet(past=history(BORN)), 324, False),
    ],
)
def test_it_is_the_newest_that_came_to_its_end_wherever_that_is_told(facts, days, found):
    last = last_scrub(facts, PARAMS)
    assert known(last), last
    assert (last.days, last.found) == (days, found)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (fleet(scan(RESILVERED)), "history of ost_0 was not read"),
        (fleet(scan(RESILVERED), past=Unknown("zpool_history failed.")), "zpool_history failed."),
        (fleet(past=history(("2026-11-01.00:00:00", "zpool scrub ost_0", None))), "without what the pool did by itself"),
        (fleet(scan(SCRUBBED), at=NOW.timestamp() - 40 * DAY), "yet to come. Check the clock of oss01."),
        (fleet(scan(SCRUBBED), at=Unknown("The present time was not given.")), "present time"),
        (NOTHING, "oss01"),
    ],
)
def test_it_is_not_known_and_the_warning_says_why(facts, why):
    last = last_scrub(facts, PARAMS)
    assert not known(last)
    assert why in last.reason
    assert why in of_the_last_scrub(facts, PARAMS)["last"]
    assert f"When ost_0 was last scrubbed is not known: {last.reason}" in the_last_scrub_is_long_ago(facts, PARAMS)


@pytest.mark.parametrize(("days", "warned"), [(0, False), (34.9, False), (35, False), (35.1, True), (400, True)])
def test_it_is_warned_of_above_35_days(days, warned):
    at = datetime(2026, 11, 21, 8, 37, 21, tzinfo=UTC).timestamp() + days * DAY
    text = the_last_scrub_is_long_ago(fleet(scan(SCRUBBED), at=at), PARAMS)
    assert bool(text) == warned
    if warned:
        assert_readable(text)
        assert f"The last scrub of ost_0 ended {int(days)} days ago, on 2026-11-21" in text
        assert "run `zpool scrub ost_0` to its end first" in text


def test_a_pool_that_was_never_scrubbed_is_told_by_its_whole_history():
    text = the_last_scrub_is_long_ago(fleet(past=history(BORN)), PARAMS)
    assert "No scrub of ost_0 came to its end in the 324 days that its history covers, since 2026-01-02." in text


def test_a_scrub_that_runs_is_to_be_waited_for():
    running = ScanFacts("scrub", "running", "scrub in progress since Sun Nov 22 08:00:00 2026")
    assert "let the scrub that has begun end first" in the_last_scrub_is_long_ago(fleet(running, past=history(BORN)), PARAMS)


# --- of every warning of every runbook


@pytest.mark.parametrize(("warns", "book"), WARNING)
@pytest.mark.parametrize("facts", [NOTHING, OTHERS], ids=["nothing", "other-nodes"])
def test_not_knowing_is_warned_of_in_a_sentence(warns, book, facts):
    assert_readable(warns(facts, params_of(book)))


@pytest.mark.parametrize(("warns", "book"), WARNING)
def test_a_warning_answers_for_whatever_parameters(warns, book):
    for params in ({}, {"node": ""}, {"node": "oss01"}, {**params_of(book), "pool_guid": "x"}):
        assert isinstance(warns(FLEET, params), str)


def test_what_has_nothing_to_say_is_not_among_the_warnings():
    step = RUNBOOKS["blink-and-replace"].step("check")
    assert warnings(step, fleet(scan(SCRUBBED)), PARAMS) == ()
    assert len(warnings(step, fleet(scan(IN_MAY)), PARAMS)) == 1
