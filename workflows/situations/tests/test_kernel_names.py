"""kernel-names is found where it is so, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin.scenarios import drifted, tiny
from workflows.facts import PoolFacts, Unknown
from workflows.facts.model import NO_AGES
from workflows.runbooks.rename_members.rehearsal import under_kernel_names
from workflows.situations import kernel_names as situation
from workflows.tests.stage import Stage


@pytest.fixture
def facts(tmp_path):
    return Stage(tmp_path, {"oss01": under_kernel_names()}).facts()


def with_pool(facts, **changes):
    here = facts.nodes["oss01"]
    return replace(facts, nodes={"oss01": replace(here, pools=tuple(replace(pool, **changes) for pool in here.pools))})


def test_it_names_the_members_and_offers_the_runbook(facts):
    (found,) = situation.detect(facts)
    assert found.severity == "info"
    assert found.title == "ost_0: 6 members stand under kernel names"
    assert "(sda1, sdb1, sdc1, sdd1, sde1, sdf1)" in found.meaning
    (answer,) = found.answers
    assert (answer.runbook, answer.params["cachefile"]) == ("rename-members", "default")


def test_a_pool_under_stable_names_is_none(tmp_path):
    assert situation.detect(Stage(tmp_path, {"oss01": tiny()}).facts()) == ()


def test_a_lost_member_comes_first(tmp_path):
    assert situation.detect(Stage(tmp_path, {"oss01": drifted()}).facts()) == ()


def test_a_text_that_a_person_brought_is_none(facts):
    brought = replace(facts, nodes={"oss01": replace(facts.nodes["oss01"], ages=NO_AGES)})
    assert situation.detect(brought) == ()


@pytest.mark.parametrize(("value", "cachefile"), [("-", "default"), ("none", "none"), ("/etc/zfs/other.cache", "")])
def test_the_cache_file_is_the_one_it_has(facts, value, cachefile):
    (pool,) = facts.nodes["oss01"].pools
    changed = with_pool(facts, properties={**pool.properties, "cachefile": value})
    (found,) = situation.detect(changed)
    assert [answer.params["cachefile"] for answer in found.answers] == ([cachefile] if cachefile else [])


def test_without_its_properties_nothing_is_offered(facts):
    (found,) = situation.detect(with_pool(facts, properties=Unknown("It was not read.")))
    assert found.answers == ()


def test_vdevs_that_were_not_read_are_none(facts):
    assert situation.detect(with_pool(facts, tops=Unknown("It was not read."))) == ()


def test_bare_names_of_a_paste_are_none():
    pool = PoolFacts(name="tank", guid=1, state="ONLINE", suspended=False, scans=(), tops=())
    assert situation.moving(pool) == ()
