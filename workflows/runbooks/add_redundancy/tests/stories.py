"""Walks of add-redundancy: the first one is its transcript."""

from __future__ import annotations

from workflows.analysis import manual_start
from workflows.engine.core import Option
from workflows.facts import FleetFacts
from workflows.runbooks.add_redundancy import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """Nothing was ordered: nothing is changed before the disk is attached."""
    assert walk.commands() == []


def the_fittest(options: tuple[Option, ...]) -> str:
    return options[0].value


def from_its_page(facts: FleetFacts):
    """No situation is about a log of one disk: a person begins it at the pool."""
    return next(one.params for one in manual_start.of_pool(facts, "oss01", "ost_0") if one.runbook.slug == "add-redundancy")


def scanned(walk: Walk) -> str:
    return walk.node.disk(walk.state.params["wwid"]).serial


def story(name: str, role: str, **more) -> Story:
    fields = {
        "runbook": "add-redundancy",
        "twins": lambda: {"oss01": rehearsal.single(role)},
        "params": lambda facts: answer(facts, "add-redundancy"),
        "choices": {"choose": the_fittest},
        "hands": {"scan": scanned},
        "restored": as_it_was,
        "name": name,
    }
    return Story(**{**fields, **more})


DATA = story("", "data")
SPECIAL = story("add-redundancy, a special vdev", "special")
LOG = story("add-redundancy, a log", "log", params=from_its_page)
NVME = story("add-redundancy, a special vdev on NVMe disks", "special", twins=lambda: {"oss01": rehearsal.single_on_nvme("special")})
STORIES = (DATA, SPECIAL, LOG, NVME)
