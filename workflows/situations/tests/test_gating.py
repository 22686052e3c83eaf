"""Whatever a tree looks like: while its pool is gated, no situation of it has anything that replaces."""

import random
from dataclasses import replace

import pytest

from workflows.analysis.pool_fate import fate
from workflows.engine.core import Cure, Situation
from workflows.situations import detect_all
from workflows.situations._cures import REPLACING
from workflows.situations._gating import GATED_BY, gated, gates, is_gated
from workflows.situations.tests.texts import commands, found, status
from workflows.tests.incident import FLEET, POOL, with_pool
from workflows.tests.test_pool_fate import NO_SCAN, SCANS, grown
from workflows.triage import manuals


def replaces(one: Situation) -> bool:
    return bool(REPLACING & {*(answer.runbook for answer in one.answers), *(cure.runbook for cure in one.cures), *manuals(one)}) or any(
        cure.kind == "replace" for cure in one.cures
    )


@pytest.mark.parametrize("seed", range(150))
def test_no_tree_whose_pool_is_gated_has_anything_that_replaces(seed):
    dice = random.Random(seed)
    tops = tuple((dice.choice(("data", "data", "special", "log")), grown(dice)) for _ in range(dice.randint(1, 3)))
    state = dice.choice(("ONLINE", "DEGRADED", "DEGRADED", "FAULTED", "UNAVAIL", "SUSPENDED"))
    facts = with_pool(tops=tops, state=state, scans=dice.choice(SCANS), row_state=state, suspended=state == "SUSPENDED")
    found = detect_all(facts)
    stands = any(one.gate for one in found) or fate(facts.nodes["oss01"], facts.nodes["oss01"].pools[0], facts).gates
    for one in found:
        # What nobody understands offers no replacement that could be held back.
        assert is_gated(one) == stands or one.subject.get("pool") != "ost_0" or one.slug == "unexplained"
        assert not (stands and replaces(one))


def test_the_incident_is_not_gated_and_keeps_its_runbook():
    assert any(replaces(one) for one in detect_all(FLEET))
    assert not any(is_gated(one) for one in detect_all(FLEET))


def test_a_gated_situation_says_what_comes_first_and_points_to_it():
    (found,) = [one for one in detect_all(with_pool(properties={**POOL.properties, "readonly": "on"})) if one.slug == "wwid-mismatch"]
    assert found.subject[GATED_BY] == "pool-read-only:oss01:ost_0"
    assert "First: ost_0 is imported read-only. Until that is settled take no disk of ost_0 out" in found.meaning
    assert not replaces(found)


def test_where_no_situation_gates_the_verdict_itself_is_named():
    (found,) = [one for one in detect_all(with_pool(state="PONDERING", scans=NO_SCAN)) if one.slug == "wwid-mismatch"]
    assert found.subject[GATED_BY] == "fate"
    assert "PONDERING" in found.meaning


def one(slug, gate=False, **subject):
    cure = Cure("replace", "Replace it.")
    return Situation(slug, slug, "oss01", "act", slug, f"{slug}.", (), subject=subject, gate=gate, cures=(cure,))


def test_a_gate_binds_its_own_pools_and_no_other():
    both = (one("a", gate=True, pools="ost_1 ost_2"), one("b", pool="ost_2"), one("c", pool="ost_3"))
    assert [replaces(each) for each in gated(FLEET, both)] == [False, False, True]


def test_a_gate_without_a_pool_binds_every_pool_of_its_node():
    elsewhere = replace(one("c", pool="ost_3"), node="oss02")
    both = (one("hba", gate=True), one("b", pool="ost_2"), elsewhere)
    assert [replaces(each) for each in gated(FLEET, both)] == [False, False, True]


def test_of_a_pool_that_serves_nothing_is_gated():
    assert gates(FLEET, ()) == {}


@pytest.mark.parametrize("member", ["/dev/disk/by-id/ata-ACME_480_S{}-part3", "ada{}p3"])
def test_while_a_pool_is_gated_no_disk_is_prepared_for_it(member):
    rows = ("  mirror-0 DEGRADED 0 0 0", f"    {member.format(1)} ONLINE 0 0 0", f"    {member.format(2)} REMOVED 0 0 0")
    whole = status(*rows, state="DEGRADED")
    assert "NEW" in " ".join(commands(found(whole)[0]))
    beheaded = whole.partition("config:")[2]
    assert found(beheaded)
    assert not any("NEW" in command for one in found(beheaded) for command in commands(one))


@pytest.mark.parametrize("state", ["SUSPENDED", "FAULTED", "PONDERING"])
def test_a_disk_whose_pool_is_not_known_is_not_replaced_while_a_pool_of_its_node_is_gated(state):
    reported = one("disk-failing", node="oss01")
    alone = next(each for each in detect_all(FLEET, (reported,)) if each.key == reported.key)
    assert replaces(alone)
    facts = with_pool(state=state, row_state=state, suspended=state == "SUSPENDED")
    found = next(each for each in detect_all(facts, (reported,)) if each.key == reported.key)
    assert not replaces(found)
    assert [cure.kind for cure in found.cures] == ["wait"]


def test_what_replaces_nothing_is_not_called_gated_by_a_pool_that_it_does_not_name():
    reported = replace(one("enclosure-fault", node="oss01"), cures=(Cure("cooling", "Look at the fans."),))
    facts = with_pool(state="FAULTED", row_state="FAULTED")
    found = next(each for each in detect_all(facts, (reported,)) if each.key == reported.key)
    assert (found.cures, is_gated(found)) == (reported.cures, False)


@pytest.mark.parametrize("state", ["SUSPENDED", "FAULTED", "ONLINE"])
@pytest.mark.parametrize(
    "argv", [("zpool", "checkpoint", "-d", "ost_0"), ("zfs", "set", "direct=disabled", "ost_0/x"), ("zpool", "upgrade", "ost_0")]
)
def test_no_setting_is_changed_of_a_pool_that_does_not_serve(state, argv):
    reported = replace(one("checkpoint-held", node="oss01", pool="ost_0"), cures=(Cure("other", "Do it.", (argv,)), Cure("look", "Look.")))
    facts = with_pool(state=state, row_state=state, suspended=state == "SUSPENDED")
    found = next(each for each in detect_all(facts, (reported,)) if each.key == reported.key)
    assert [cure.kind for cure in found.cures] == (["other", "look"] if state == "ONLINE" else ["look"])
