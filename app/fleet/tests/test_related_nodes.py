"""A question about one node hears every node that bears on it, and every one that may for all that is known."""

import json
import time
from datetime import UTC, datetime

import pytest

from app.fleet import generated, services, situations
from app.fleet.ingest import intake, related_nodes
from app.fleet.models import Node, Sighting, Standing, Touch
from app.fleet.tests.cast import node, payload

pytestmark = pytest.mark.django_db
DISKS = 10


@pytest.fixture(autouse=True)
def _fleet():
    generated.load((1, 2, 14, 15), DISKS)


def near(*words):
    return set(services.facts_near(words).nodes)


def take_in(name, change):
    """The node reports the captures of load0002, changed."""
    lines = [change(c) for c in generated.captures_of(2, DISKS, time.time())]
    intake.receive(node(name).name, payload(name, [c for c in lines if c is not None]), datetime.now(UTC))


def test_a_node_alone_is_asked_alone():
    assert near("load0001") == {"load0001"}


def test_who_sees_the_same_shelf_is_asked_too():
    assert near("load0014") == near("load0015") == near("ZL0014003") == {"load0014", "load0015"}


def test_what_somebody_typed_is_looked_for_everywhere():
    assert near("load0001", "S/N: ZL0002003") == {"load0001", "load0002"}
    assert near("load0001", "wwn-0x5000c50000020033") == {"load0001", "load0002"}
    assert near("load0001", "load0002 load0014") == {"load0001", "load0002", "load0014", "load0015"}


def test_a_node_that_does_not_say_which_disks_it_sees_is_always_asked():
    take_in("dark", lambda c: None if c.source in ("block", "lsscsi") else c)
    assert related_nodes.Touch.objects.filter(node__name="dark", thing="any disk", binds=False).exists()
    assert "dark" in near("load0001")


def test_a_retired_node_is_not():
    take_in("dark", lambda c: None if c.source in ("block", "lsscsi") else c)
    Node.objects.filter(name="dark").update(state=Node.State.RETIRED)
    assert near("load0001") == {"load0001"}


def test_a_node_of_an_older_form_is_asked_until_it_is_written_down_anew():
    Node.objects.filter(name="load0002").update(touched=0)
    Touch.objects.filter(node__name="load0002").delete()
    Sighting.objects.filter(node__name="load0002").update(sas_address="")
    assert near("load0001") == {"load0001", "load0002"}
    situations.catch_up_after_migrating()
    assert near("load0001") == {"load0001"}
    assert near("ZL0002003") == {"load0002"}
    assert not Sighting.objects.filter(node__name="load0002", sas_address="").exists()
    assert Sighting.objects.filter(node__name="load0002").count() == DISKS  # no new history for a thing that did not change


def test_the_rows_say_what_the_facts_say():
    for one in related_nodes.reporting():
        facts = services.parsed(one, datetime.now(UTC))
        assert related_nodes.of(one) == facts.touches
        assert Touch.objects.filter(node=one).count() == len(facts.touches | facts.doubts)


def test_a_large_fleet_is_looked_at_in_turns():
    before = dict(Standing.objects.values_list("node__name", "settled_at"))
    for _ in before:
        situations.settle_all(datetime.now(UTC) + situations.JUST_SETTLED, seconds=0)
    assert all(at > before[name] for name, at in Standing.objects.values_list("node__name", "settled_at"))


def test_whose_report_was_settled_within_the_minute_is_not_looked_at_again():
    now, last_at = datetime.now(UTC), Node.objects.get(name="load0001")
    assert situations.settle_all(now, seconds=60) == 0, "all have just reported"
    Node.objects.filter(pk=last_at.pk).update(set_at=now - situations.JUST_SETTLED)
    settled = situations.settle_all(now, seconds=60)
    assert settled >= 1
    assert Standing.objects.get(node=last_at).settled_at == now
    Node.objects.filter(pk=last_at.pk).update(set_at=now + situations.JUST_SETTLED)
    assert situations.settle_all(now, seconds=60) >= 1, "a time to come proves nothing"


def test_a_node_nobody_remembers_is_taken_in_the_same():
    """Its former facts are not read again; what it left behind is."""
    services.forget()
    assert json.dumps(sorted(related_nodes.of(Node.objects.get(name="load0001"))))
    take_in("load0001", lambda c: c)
    assert near("ZL0001003") == set()
    assert near("ZL0002003") == {"load0001", "load0002"}
