"""The disk's page: the way to it, what went wrong and when, its life as bars, and the runs about it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from app.accounts.models import User
from app.fleet.ingest import intake
from app.fleet.models import Disk, LabelSeen, LeafHistory
from app.fleet.pages import disk, sas_path
from app.fleet.pages.disk_identity import Stay
from app.fleet.tests.cast import collect, node, payload
from workflows.facts import FabricFacts, Growth, LinkFacts, PhyFacts, Unknown
from workflows.tests.incident import BLANK_WWID, DISKS, NODE

BLANK = next(d for d in DISKS if d.wwid == BLANK_WWID)
LINK = LinkFacts("host6", "0000:b3:00.0", ("expander-6:0",), "end_device-6:0:70")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def phy(name, owner, far, counts=(0, 0, 0, 0), added=(0, 0, 0, 0)):
    return PhyFacts(name, owner, None, 1, far, None, "", counts, "12.0 Gbit", 12.0, Growth(added, 3600.0))


def way(*phys, link=LINK):
    fabric = FabricFacts(phys, {"host6": "mpt3sas", "expander-6:0": "SEAGATE EXOS-E 5U84 6020"}, {})
    [one] = sas_path.of_disk(replace(NODE, fabric=fabric), replace(BLANK, paths=(replace(BLANK.paths[0], link=link),)))
    return one


def test_the_way_leads_from_the_hba_to_the_bay_and_shows_both_ends_of_the_last_link():
    hops = way(phy("phy-6:0", "host6", "expander-6:0"), phy("phy-6:0:70", "expander-6:0", LINK.end, (9, 0, 0, 0), (9, 0, 0, 0))).hops
    assert [hop.kind for hop in hops] == ["HBA", "expander", "enclosure", "bay", "disk"]
    assert (hops[0].model, hops[0].errors, hops[0].tone) == ("mpt3sas at 0000:b3:00.0", "no errors", "good")
    assert hops[1].errors == "phy-6:0:70: 9 errors since its reset, 9 invalid dwords in 60 minutes added"
    assert hops[1].tone == "watch"
    assert hops[-1].phys == "port 0 phy 0: phy enabled; 12 Gbps"


def test_an_old_count_that_does_not_grow_is_told_and_convicts_nobody():
    [_, expander, *_] = way(phy("phy-6:0", "host6", "expander-6:0"), phy("phy-6:0:70", "expander-6:0", LINK.end, (9, 0, 0, 0))).hops
    assert (expander.errors, expander.tone) == ("phy-6:0:70: 9 errors since its reset", "good")


def test_a_link_without_a_phy_and_a_way_that_is_not_known_say_so():
    assert way().hops[0].errors == "no phy is known to lead on from here"
    assert way(link=Unknown("The kernel does not say which HBA leads to it.")).unknown == "The kernel does not say which HBA leads to it."


def test_the_bars_lie_between_the_first_sighting_and_now():
    def stay(since, until):
        return Stay("oss01", "sda", "", "", NOW - timedelta(hours=since), until and NOW - timedelta(hours=until), "seen")

    first, second, short = disk.bars([stay(50, None), stay(100, 50), stay(50.01, 50)], NOW)
    assert (first.x, first.width, first.open) == (500, 500, True)
    assert (second.x, second.width, second.open) == (0, 500, False)
    assert short.width == disk.SHORTEST
    assert disk.bars([], NOW) == []


@pytest.mark.django_db
def test_a_state_is_the_disks_own_only_while_it_carried_that_vdevs_label():
    here, row = node(), Disk.objects.create(wwid=BLANK_WWID, first_seen_at=NOW)
    LabelSeen.objects.create(
        disk=row, node=here, partition="sda1", vdev_guid="7", state=0, since=NOW - timedelta(days=9), until=NOW - timedelta(days=2)
    )
    for days, state in ((5, "FAULTED"), (1, "REMOVED")):
        LeafHistory.objects.create(
            node=here,
            pool_guid="1",
            pool="ost_0",
            vdev_guid="7",
            name="sda1",
            before="ONLINE",
            state=state,
            since=NOW - timedelta(days=days),
            until=NOW,
        )
    [only] = disk.troubles(row, [])
    assert (only.what, only.tone) == ("ONLINE → FAULTED", "bad")
    assert "vdev 7 of ost_0 on oss01" in only.where


@pytest.mark.django_db
def test_the_page_of_a_member_leads_to_its_bay_with_its_whole_vdev(twins):
    captures = collect(twins["oss01"])
    intake.receive(node("oss01").name, payload("oss01", captures), timezone.now())
    reader = Client()
    reader.force_login(User.objects.create_user("reader"))
    page = reader.get(reverse("disk", args=["naa:5000cca273a7d9e8"])).content.decode()
    assert "/nodes/oss01/enclosures/0x50050cc11ac016e2/?vdev=7602460441426092393" in page
    assert "Beside its vdev raidz2-3 in ost_0" in page
    assert "median of 8: " in page
    assert "No run was ever about this disk" in page
