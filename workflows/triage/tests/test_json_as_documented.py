"""docs/guide/triage-json.md names every field of the JSON answer, and no other; and every word that a field of a closed set can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from workflows.analysis.pool_fate import Verdict
from workflows.engine.core import CureKind
from workflows.triage import json_answer, triage
from workflows.triage.tests.test_triage import outputs

HERE = Path(__file__).parent
PAGE = (HERE.parents[2] / "docs/guide/triage-json.md").read_text()
INSIDE = (
    "errors",
    "health",
    "bay",
    "unsupported_features",
    "unexplained",
    "evidence",
    "lines",
    "error",
    "other_lines",
    "unread",
)  # small objects, told in one row


def documented(heading: str) -> dict[str, str]:
    """Field -> what the page says of it, of the table below a heading."""
    below = PAGE.split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", below, re.MULTILINE))


@cache
def answers() -> tuple[dict[str, Any], ...]:
    """Of every known case, and of a whole node with its disks and bays."""
    files = sorted((HERE / "known_cases").rglob("*.txt"))
    node = json_answer.answer(triage(outputs("healthy-mixed")))
    both = [json_answer.answer(triage([(path.name, path.read_text(errors="replace"))])) for path in files]
    silent = json_answer.answer(
        triage([("silent", "root@oss01:~# zpool status\nroot@oss01:~# zpool list\nroot@oss01:~# hostid\n4a2b9c01\n")])
    )
    return (*both, node, silent)


def objects(heading: str) -> Iterator[dict[str, Any]]:
    for answer in answers():
        yield from {
            "## The object": [answer],
            "### A text": answer["texts"],
            "### A pool": [pool for pool in answer["pools"] if pool["imported"]],
            "### A pool that `zpool import` lists": [pool for pool in answer["pools"] if not pool["imported"]],
            "### A scan": [scan for pool in answer["pools"] for scan in pool["scans"]],
            "### A vdev": [vdev for pool in answer["pools"] for vdev in below(pool["vdevs"])],
            "### A disk": answer["disks"],
            "### A situation": answer["situations"],
            "### An advice": [advice for one in answer["situations"] for advice in one["advice"]],
        }[heading]


def below(vdevs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for vdev in vdevs:
        yield vdev
        yield from below(vdev["children"])


HEADINGS = re.findall(r"^(## The object|### An? .*)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_fields_are_those_of_the_page(heading):
    names = set(documented(heading)) | (set(documented("### A pool")) if heading.startswith("### A pool that") else set())
    found = list(objects(heading))
    assert found
    assert [set(one) for one in found if set(one) != names] == []


def test_an_answer_that_was_stopped_has_the_same_fields():
    assert set(json_answer.stopped("cpu", "Too long.")) == set(documented("## The object"))


@pytest.mark.parametrize("name", INSIDE)
def test_what_a_small_object_holds_stands_in_its_row(name):
    lines = [(heading, documented(heading)[name]) for heading in HEADINGS if name in documented(heading)]
    assert lines
    for heading, words in lines:
        values = [one[name] for one in (*objects(heading), json_answer.stopped("cpu", "Too long.")) if one.get(name)]
        inside = [each for value in values for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]
        assert {field for each in inside for field in each} <= set(re.findall(r"`(\w+)`", words))


@pytest.mark.parametrize(
    ("heading", "field", "values"),
    [
        ("### A text", "outcome", set(json_answer.OUTCOMES.values())),
        ("### A pool", "verdict", {*get_args(Verdict), "not imported"}),
        ("### A vdev", "role", set(json_answer.ROLES)),
    ],
)
def test_every_word_of_a_field_is_told(heading, field, values):
    assert values <= set(re.findall(r"`([\w ]+)`", documented(heading)[field]))
    assert {one[field] for one in objects(heading)} <= values


def test_every_kind_of_advice_is_told():
    listed = set(re.findall(r"`([\w-]+)`", PAGE.split("`kind` is one of", 1)[1].split("\n\n", 1)[0]))
    assert listed == set(get_args(CureKind))


def test_a_command_that_printed_nothing_is_among_the_other_lines():
    silent = answers()[-1]
    assert [(one["first"], one["last"]) for one in silent["other_lines"]] == [(1, 1), (2, 2)]
    assert [(text["source"], text["first"]) for text in silent["texts"]] == [("node", 4)]
