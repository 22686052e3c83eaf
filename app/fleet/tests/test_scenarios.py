"""Every genuine step, sent to the portal as an agent sends it, is shown as the truth in its COMMANDS.md tells it.

The truth table is the one that `workflows/facts` is held to; here the way leads through the agent's own report, the
door's intake, PostgreSQL and the pages.
"""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.collectors import COLLECTORS
from agents.tests.scenarios import step
from app.accounts.models import User
from app.fleet import services
from app.fleet.ingest import intake
from app.fleet.models import Disk, Node, Sighting, Situation
from app.fleet.tests import cast
from twin.captured_host import CapturedHost
from workflows.facts import NodeFacts, known
from workflows.facts.tests.test_scenarios import LOSSES, leaves
from workflows.facts.tests.truth import NOT_RECORDED, SITUATIONS, TRUTHS

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader():
    client = Client()
    client.force_login(User.objects.create_user("reader"))
    return client


def report(name: str) -> Node:
    """The node after its agent has reported this step: first what it has, then the texts that the portal lacks."""
    host = CapturedHost(step(name))  # a step was recorded over minutes: what hung in one of them held up nothing in the others
    node, captures = cast.node(), tuple(capture for module in COLLECTORS.values() for capture in module.collect(host))
    assert set(intake.receive(node.name, cast.payload(node.name, captures, bodies=False), timezone.now())) <= {c.digest for c in captures}
    assert intake.receive(node.name, cast.payload(node.name, captures), timezone.now()) == []
    return Node.objects.get(pk=node.pk)


def shown(node: Node) -> NodeFacts:
    """As another process of the portal reads it back from the database."""
    services.forget()
    return services.fleet_facts().nodes[node.name]


@pytest.mark.parametrize("name", TRUTHS)
def test_the_portal_shows_each_step_as_it_was(name, reader):
    truth, node = TRUTHS[name], report(name)
    facts = shown(node)
    _pools_agree(facts, truth)
    _disks_agree(node, facts, truth)
    found = Situation.objects.filter(closed_at=None).order_by("pk")
    assert sorted(f"{s.slug} {s.severity}" for s in found) == sorted(SITUATIONS[name] or ())
    lost = [s.data["subject"]["vdev_guid"] for s in found if s.slug in LOSSES]
    assert lost == [str(p.bad.guid) for p in truth.pools or () if p.bad]
    _pages_open(reader, node, facts)


def _pools_agree(facts: NodeFacts, truth) -> None:
    if truth.pools is NOT_RECORDED:
        assert not known(facts.pools)
        return
    assert [(p.name, p.state, len(leaves(p))) for p in facts.pools] == [(p.name, p.state, p.leaves) for p in truth.pools]
    for pool, expected in zip(facts.pools, truth.pools, strict=True):
        bad = [(leaf.guid, leaf.state) for leaf in leaves(pool) if leaf.state != "ONLINE"]
        assert bad == ([(expected.bad.guid, expected.bad.state)] if expected.bad else [])


def _disks_agree(node: Node, facts: NodeFacts, truth) -> None:
    """Every disk the node saw is a row under its WWID, and is seen there now under its name."""
    if truth.disks is NOT_RECORDED:
        assert not known(facts.disks)
        assert not Sighting.objects.filter(node=node, until=None).exists()
        return
    assert len(facts.disks) == truth.disks
    seen = {disk.wwid: set(disk.names) for disk in facts.disks if known(disk.wwid)}
    assert set(Disk.objects.values_list("wwid", flat=True)) == set(seen)
    rows = Sighting.objects.filter(node=node, until=None).values_list("disk__wwid", "name")
    assert set(rows) == {(wwid, name) for wwid, names in seen.items() for name in names}


def _pages_open(reader: Client, node: Node, facts: NodeFacts) -> None:
    pages = [reverse("fleet"), reverse("node", args=[node.name])]
    pages += [reverse("pool", args=[node.name, pool.name]) for pool in (facts.pools if known(facts.pools) else ())]
    pages += [reverse("situation", args=[pk]) for pk in Situation.objects.values_list("pk", flat=True)]
    pages += [reverse("disk", args=[wwid]) for wwid in Disk.objects.values_list("wwid", flat=True)[:1]]
    texts = {page: reader.get(page) for page in pages}
    assert {page: answer.status_code for page, answer in texts.items()} == dict.fromkeys(pages, 200)
    for pool in facts.pools if known(facts.pools) else ():
        text = texts[reverse("pool", args=[node.name, pool.name])].content.decode()
        assert [leaf.name for leaf in leaves(pool) if leaf.name.rsplit("/", 1)[-1] not in text] == []


def test_a_situation_stays_open_until_the_node_shows_that_it_is_over(reader):
    """disk-removed, step by step: noticed, replaced (recorded without the pool), resilvering, whole again."""
    opened = []
    for name in (name for name in TRUTHS if name.startswith("disk-removed/")):
        node = report(name)
        _pages_open(reader, node, shown(node))
        opened.append(Situation.objects.filter(closed_at=None, slug__in=LOSSES).count())
    assert opened == [1, 1, 1, 1, 1, 1, 1, 0, 0]
    assert Situation.objects.filter(slug__in=LOSSES).count() == 1
