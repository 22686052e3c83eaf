"""What a run holds, nobody else takes."""

import re
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from app.fleet.models import Node, Sighting
from app.runs import services
from app.runs.models import ResourceLock, Run
from app.runs.ordering import locks
from app.runs.tests.cast import RUNBOOK, act, incident, walk_to
from workflows import runbooks
from workflows.engine import events as ev

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_on_one")]
NOW = timezone.now()


@pytest.fixture
def runs(oss01, ann) -> list[Run]:
    params = incident().data["answers"][0]["params"]
    return [services.start_run(ann, RUNBOOK, params, f"situation {n}") for n in range(4)]


def test_two_runs_do_not_hold_one_thing(runs):
    locks.take(runs[0], ("pool:1", "disk:a"), NOW)
    for keys in (("pool:1",), ("disk:b", "pool:1"), ("disk:a",)):
        with pytest.raises(locks.Held, match=f"Run {runs[0].pk} of ann holds"):
            locks.take(runs[1], keys, NOW)
    assert set(ResourceLock.objects.values_list("key", flat=True)) == {"pool:1", "disk:a"}, "all or none"


def test_a_later_holder_has_a_higher_fence(runs):
    first = locks.take(runs[0], ("pool:1",), NOW)
    locks.give_back(runs[0])
    assert locks.take(runs[1], ("pool:1",), NOW) > first


def test_only_so_many_pools_are_in_repair_at_once(runs, settings):
    settings.POOLS_IN_REPAIR_MAX = 2
    locks.take(runs[0], ("pool:1",), NOW)
    locks.take(runs[1], ("pool:2",), NOW)
    with pytest.raises(locks.Held, match="2 pools of the fleet are in repair"):
        locks.take(runs[2], ("pool:3",), NOW)
    locks.take(runs[3], ("disk:b",), NOW)


def test_a_run_that_meets_a_lock_is_refused_and_stays_as_it_was(oss01, ann, bob, runs):
    pool_guid = runs[0].params["pool_guid"]
    locks.take(runs[0], (f"pool:{pool_guid}",), NOW)
    run = walk_to("replace", oss01, ann, bob)
    with pytest.raises(services.RunRefused, match="holds pool:"):
        act(run, ev.ExecuteAsked, ann)
    run.refresh_from_db()
    assert (run.step, run.status) == ("replace", "open")
    locks.give_back(runs[0])
    act(run, ev.ExecuteAsked, ann)
    assert ResourceLock.objects.filter(run=run).count() == 3


@pytest.mark.parametrize("key", ["tunables:oss01", "modes:oss01"])
def test_what_is_held_of_a_node_as_a_whole_is_held_once(runs, key):
    """As the runbooks that tune a node and change the modes of its drives ask for it."""
    locks.take(runs[0], ("pool:1", key), NOW)
    assert ResourceLock.objects.get(key=key).run == runs[0]
    with pytest.raises(locks.Held, match=f"Run {runs[0].pk} of ann holds {key}"):
        locks.take(runs[1], (key,), NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        ResourceLock.objects.create(key=key, run=runs[1], fence=10**9, taken_at=NOW)
    locks.take(runs[1], (key.replace("oss01", "oss02"),), NOW)


def test_every_lock_a_runbook_asks_for_is_of_a_kind_that_pages_show():
    source = "\n".join(path.read_text() for path in Path(runbooks.__file__).parent.rglob("*.py"))
    kinds = set(re.findall(r'f"([a-z]+):\{', source))
    assert {"pool", "disk", "bay"} | set(locks.OF_A_NODE) == kinds


def test_the_holder_is_on_the_pages_of_pool_disk_and_node(oss01, ann, runs, client):
    run, guid = runs[0], runs[0].params["pool_guid"]
    sighting = Sighting.objects.filter(until__isnull=True, node__name="oss01").exclude(enclosure_id="").select_related("disk").first()
    bay = f"{sighting.enclosure_id}/{sighting.slot}"
    client.force_login(ann)
    pages = ["/nodes/oss01/", "/nodes/oss01/pools/ost_0/", f"/disks/{sighting.disk.wwid}/"]
    text = f'Held by <a href="{run.get_absolute_url()}">run {run.pk}</a> of ann'
    assert not [url for url in pages if text in client.get(url).content.decode()]
    locks.take(run, (f"pool:{guid}", f"bay:{bay}"), NOW)
    for url in pages:
        page = client.get(url).content.decode()
        assert text in page, url
        assert f">{NOW:%Y-%m-%d %H:%M:%S} UTC</time>" in page
        assert bay in page
    assert text not in client.get("/nodes/oss01/pools/ost_0/").content.decode().replace(text, "", 1), "once"
    locks.give_back(run)
    assert not [url for url in pages if text in client.get(url).content.decode()]


def test_several_disks_are_held_only_where_the_plan_names_each():
    keys = ("disk:naa:1", "disk:naa:2", "pool:1")
    locks.check(keys, ("naa:1", "naa:2"))
    for several in ((), ("naa:1",), ("naa:1", "naa:3")):
        with pytest.raises(locks.Held, match="touches one disk"):
            locks.check(keys, several)
    with pytest.raises(locks.Held, match="touches one pool"):
        locks.check((*keys, "pool:2"), ("naa:1", "naa:2"))


def test_what_is_held_of_a_node_by_a_run_elsewhere_is_on_its_page(oss01, ann, runs, client):
    Node.objects.create(name="oss09", state=Node.State.ENROLLED)
    locks.take(runs[0], ("modes:oss09",), NOW)
    client.force_login(ann)
    assert "modes" in client.get("/nodes/oss09/").content.decode()
