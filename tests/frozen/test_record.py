"""The record is read as it was written, a difference names what it is about, and nothing is different from what was kept."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.frozen import record
from tests.frozen.guards import asked
from tests.frozen.unknowns import each_unknown
from workflows.engine.core import ok, refuse, unknown
from workflows.facts import known
from workflows.tests.incident import FLEET, PARAMS

ROOT = Path(__file__).resolve().parents[2]
GROUP = {"story | check": {"a_guard": "pass a; unknown b: DiskFacts.labels PoolFacts.tops; refuse c: node:oss01", "other": "pass a"}}


def test_what_is_written_is_read():
    assert record.read(record.written(GROUP)) == GROUP
    texts = {"a_guard": {"It is so.\nAnd so.", 'a "word" = x & y'}}
    assert record.read_texts(record.written_texts(texts)) == texts


def test_what_cannot_be_written_in_a_line_is_refused():
    with pytest.raises(ValueError, match="one line"):
        record.written({"s": {"a = b": "c"}})


def changed(value):
    return list(record.differences("guards", GROUP, {"story | check": {"a_guard": value, "other": "pass a"}}))


def test_a_guard_that_lets_through_what_it_did_not_is_named_with_the_field():
    assert changed("pass a; unknown b: PoolFacts.tops; refuse c: node:oss01") == [
        "guards: story | check, a_guard, without DiskFacts.labels: was unknown b, is pass a."
    ]


def test_letters_alone_are_no_difference():
    assert changed("pass a; refuse b: node:oss01; unknown c: DiskFacts.labels PoolFacts.tops") == []


def test_another_reason_than_before_is_a_difference():
    assert changed("pass a; unknown b: DiskFacts.labels; unknown c: PoolFacts.tops; refuse d: node:oss01") == [
        "guards: story | check, a_guard, without DiskFacts.labels: was unknown b, is unknown b.",
        "guards: story | check, a_guard, without PoolFacts.tops: was unknown b, is unknown c.",
    ]


def test_a_guard_that_answers_otherwise_is_named():
    assert changed("refuse a; unknown b: DiskFacts.labels PoolFacts.tops; refuse c: node:oss01") == [
        "guards: story | check, a_guard: was pass a, is refuse a."
    ]


def test_what_is_gone_and_what_is_new_are_named():
    assert list(record.differences("g", GROUP, {})) == ["g: story | check is gone."]
    assert list(record.differences("g", GROUP, {"story | check": {**GROUP["story | check"], "new": "pass a"}})) == [
        "g: story | check, new is new."
    ]


def careful(facts, params):
    node = facts.nodes.get("oss01")
    if node is None or not known(node.pools):
        return unknown("The pools are not known.")
    return ok("There is a pool.") if node.pools else refuse("There is none.")


def careless(facts, params):
    node = facts.nodes.get("oss01")
    if node is None:
        return unknown("The pools are not known.")
    return ok("There is a pool.") if not known(node.pools) or node.pools else refuse("There is none.")


def test_a_guard_that_forgets_the_unknown_case_has_another_record():
    before, now = ({"s": asked({"it": guard}, FLEET, PARAMS).section} for guard in (careful, careless))
    assert record.conditions(before["s"]["it"]) == {"": "pass a", "NodeFacts.pools": "unknown b", "node:oss01": "unknown b"}
    assert list(record.differences("guards", before, now)) == ["guards: s, it, without NodeFacts.pools: was unknown b, is pass a."]


def test_every_field_that_may_be_unknown_is_tried_wherever_it_stands():
    tried = [name for name, _ in each_unknown(FLEET)]
    assert {"NodeFacts.pools", "PoolFacts.tops", "VdevFacts.wwid", "DiskFacts.labels", "ConditionFacts.temperature", "node:oss01"} <= set(
        tried
    )
    assert len(tried) == len(set(tried)) > 50


def test_nothing_is_different_from_what_was_kept():
    """In a process of its own, which starts one for each processor."""
    done = subprocess.run([sys.executable, "-m", "tests.frozen"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
