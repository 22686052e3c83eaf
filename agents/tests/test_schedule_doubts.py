"""That a pool is gone from what can be imported is asked once more, soon: on a real node it was said of a pool that was there."""

from __future__ import annotations

import pytest

from agents.collectors import zpool_import
from agents.collectors.base import Capture
from agents.collectors.zpool_import import DOUBT_SECONDS, NONE, doubtful
from agents.tests.questions import source
from agents.tests.scenarios import step

LISTED = step("active-on-other-host/zpool-import.txt").read_text()


def listing(text, outcome="data"):
    return (Capture("zpool_import", "", outcome, text),)


@pytest.mark.parametrize(
    ("before", "text", "doubted"),
    [
        (listing(LISTED), listing(NONE + "\n"), True),
        (listing(LISTED), listing(""), True),
        (listing(LISTED), listing(LISTED), False),
        (listing(NONE), listing(NONE), False),
        (listing(NONE), listing(LISTED), False),
        (listing(LISTED), listing("", "failed"), False),
        (listing("", "failed"), listing(NONE), False),
        ((), listing(NONE), False),
    ],
)
def test_only_a_listing_that_became_empty_is_doubted(before, text, doubted):
    assert doubtful(before, text) is doubted


@pytest.fixture
def asked(make, clock):
    """A schedule of `zpool import` alone, what it will say, and when it was asked."""
    texts, when = [], []

    def collect(host):
        when.append(clock.now)
        return listing(texts[min(len(when), len(texts)) - 1])

    module = source("zpool_import", zpool_import.EVERY_SECONDS, collect=collect, doubtful=doubtful, DOUBT_SECONDS=DOUBT_SECONDS)
    return make(module), texts, when


def rounds(schedule, clock, seconds, every=5.0):
    for _ in range(int(seconds / every)):
        schedule.round()
        clock.now += every


def test_it_is_asked_once_more_and_then_at_its_own_pace(asked, clock):
    schedule, texts, when = asked
    texts += [LISTED, NONE]
    rounds(schedule, clock, 2.5 * zpool_import.EVERY_SECONDS)
    _, empty, again, *later = when
    assert 0 < again - empty <= DOUBT_SECONDS + 5.0
    assert all(at - again > 100.0 for at in later)


def test_what_a_run_asked_and_heard_is_doubted_too(asked, clock):
    schedule, texts, when = asked
    texts += [LISTED]
    rounds(schedule, clock, 10.0)
    schedule.learn("zpool_import", listing(NONE), schedule.now())
    rounds(schedule, clock, DOUBT_SECONDS + 10.0)
    assert len(when) == 2
    assert LISTED in [kept.text for kept in schedule.captures()]
