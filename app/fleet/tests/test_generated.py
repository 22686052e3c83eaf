"""A generated fleet is one: each node's identities are its own, and what it leaves behind is what the intake leaves."""

import re
import time

import pytest
from django.core.management import CommandError, call_command

from app.fleet import generated
from app.fleet.models import Disk, Node, PoolNow, Sighting, Situation, Standing
from app.fleet.tests.cast import node
from twin.many import PARTNER, PATTERN, _hostid, kind_of

pytestmark = pytest.mark.django_db
DISKS = 20
NUMBERS = (1, 7, 11, 14, 15, 19, 33)  # one of each kind, and a pair


@pytest.mark.parametrize("number", [1, 7, 14, 15])
def test_nothing_of_the_pattern_is_left_in_what_a_node_says(number):
    left = re.compile("|".join(str(x) for n in (PATTERN, PARTNER) for x in (n, f"{_hostid(n):08x}", f"50{n:05x}", f"c{n:05x}")))
    assert not [c.source for c in generated.captures_of(number, DISKS, time.time()) if left.search(c.text)]


def test_every_kind_is_loaded_with_its_troubles():
    assert generated.load(NUMBERS, DISKS) == len(NUMBERS)
    assert generated.load(NUMBERS, DISKS) == 0
    assert Standing.objects.count() == PoolNow.objects.count() == len(NUMBERS)
    assert Disk.objects.count() == DISKS * len(NUMBERS) - 1
    assert Sighting.objects.values("disk").distinct().count() == Disk.objects.count()
    by_kind = {kind_of(int(s.node.name[4:])): s.slug for s in Situation.objects.filter(rank=0).select_related("node")}
    assert by_kind.keys() >= {"missing", "faulted", "outage"}
    (cause,) = Situation.objects.filter(slug="many-disks-offline")
    assert Situation.objects.filter(cause_key=cause.key).count() > 1
    healthy = Standing.objects.get(node__name="load0001")
    assert (healthy.tone, healthy.disks) == ("good", DISKS)


def test_a_database_with_a_real_node_is_refused():
    node("oss01")
    with pytest.raises(CommandError, match="oss01, which is not generated"):
        call_command("load_fleet", nodes=1, disks=10)
    assert Node.objects.count() == 1
