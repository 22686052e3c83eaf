"""What a run holds, nobody else takes."""

import pytest
from django.utils import timezone

from app.runs import locks, services
from app.runs.models import ResourceLock, Run
from app.runs.tests.cast import RUNBOOK, act, incident, walk_to
from workflows import events as ev

pytestmark = pytest.mark.django_db
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
