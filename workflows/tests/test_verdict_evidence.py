"""An answer and the captures it was read from: noting what is read changes no answer, and what is noted is what was read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.analysis import verdict_evidence
from workflows.engine.core import ask, ok
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, known
from workflows.runbooks import RUNBOOKS
from workflows.tests.incident import BLANK_WWID, FLEET, PARAMS

SOURCES = ("node", "zpool_status", "zpool_status_guid", "block", "disk_links", "mounts", "enclosure", "lsscsi", "sas_topology")
STEPS = [pytest.param(step, id=f"{book.slug}/{step.slug}") for book in RUNBOOKS.values() for step in book.steps if step.guards]


def with_digests(node: NodeFacts) -> NodeFacts:
    keyed = [f"{source}/{name}" for disk in node.disks for name in disk.names for source in ("zdb_label", "smart")]
    return replace(node, digests={where: f"digest of {where}" for where in (*SOURCES, *keyed)})


WITH_DIGESTS = FleetFacts({name: with_digests(node) for name, node in FLEET.nodes.items()})


def rests_on(guard) -> set[str]:
    [one] = verdict_evidence.answered((guard,), WITH_DIGESTS, PARAMS)
    return {ground.source for ground in one.grounds}


@pytest.mark.parametrize("step", STEPS)
def test_noting_what_is_read_changes_no_answer(step):
    assert tuple(one.verdict for one in verdict_evidence.answered(step.guards, WITH_DIGESTS, PARAMS)) == ask(
        step.guards, WITH_DIGESTS, PARAMS
    )


@pytest.mark.parametrize(("mapping", "facts"), [(verdict_evidence.OF_A_NODE, NodeFacts), (verdict_evidence.OF_A_DISK, DiskFacts)])
def test_every_field_it_speaks_of_is_there(mapping, facts):
    assert set(mapping) <= set(facts.__dataclass_fields__)


def test_an_answer_about_one_disk_rests_on_that_disks_captures():
    def the_new_disk_is_well(facts, params):
        disk = next(d for d in facts.nodes["oss01"].disks if known(d.wwid) and d.wwid == BLANK_WWID)
        return ok(f"{disk.health}")

    name = next(d for d in WITH_DIGESTS.nodes["oss01"].disks if known(d.wwid) and d.wwid == BLANK_WWID).names[0]
    assert rests_on(the_new_disk_is_well) == {"block", f"smart/{name}"}


def test_an_answer_about_all_labels_rests_on_all_of_them():
    def no_node_has_it(facts, params):
        return ok(f"{[disk.labels for disk in facts.nodes['oss01'].disks]}")

    assert rests_on(no_node_has_it) == {w for w in WITH_DIGESTS.nodes["oss01"].digests if w.startswith("zdb_label/")}


def test_an_answer_that_reads_no_capture_rests_on_none():
    assert rests_on(lambda facts, params: ok(f"{facts.nodes['oss01'].age_seconds}")) == set()


def test_what_the_next_answer_rests_on_is_its_own():
    first, second = verdict_evidence.answered(
        (lambda f, p: ok(f"{f.nodes['oss01'].pools}"), lambda f, p: ok(f"{f.nodes['oss01'].bays}")), WITH_DIGESTS, PARAMS
    )
    assert {g.source for g in first.grounds} == {"zpool_status", "zpool_status_guid"}
    assert {g.source for g in second.grounds} == {"enclosure"}
