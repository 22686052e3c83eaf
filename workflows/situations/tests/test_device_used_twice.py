"""One device serves in one place. Where a text shows it in two, neither row is believed and nothing of these pools is replaced or detached."""

import pytest

from workflows.analysis.pool_fate import pool_losses
from workflows.facts import known
from workflows.situations._cures import DOES
from workflows.situations.tests.texts import READ_AT, found, status
from workflows.triage import triage
from workflows.triage.next import manuals

WWN = "/dev/disk/by-id/wwn-0x5000c500a65b20{}b-part1"
SPARES = ("spares", f"  {WWN.format('a')} INUSE currently in use")


def mirror(pool: str, first: str, second: str) -> str:
    return status("  mirror-0 ONLINE 0 0 0", f"    {first} ONLINE 0 0 0", f"    {second} ONLINE 0 0 0", pool=pool)


def stand_in(number: int, *, parent: str = "mirror") -> tuple[str, ...]:
    return (
        f"  {parent}-{number} DEGRADED 0 0 0",
        f"    {WWN.format(f'{number}1')} ONLINE 0 0 0",
        "    spare-1 DEGRADED 0 0 0",
        f"      {WWN.format(f'{number}2')} UNAVAIL 0 0 0  cannot open",
        f"      {WWN.format('a')} ONLINE 0 0 0",
    )


TWICE = {
    "a spare in two pools": status(*stand_in(0), *SPARES, state="DEGRADED") + status(*stand_in(1), *SPARES, pool="elm", state="DEGRADED"),
    "a spare in two vdevs": status(*stand_in(0), *stand_in(1), *SPARES, state="DEGRADED"),
    "a member in two pools": mirror("oak", WWN.format(1), WWN.format(2)) + mirror("elm", WWN.format(2), WWN.format(3)),
    "a member twice in one vdev": mirror("oak", WWN.format(1), WWN.format(1)),
}


@pytest.mark.parametrize("text", TWICE.values(), ids=TWICE)
def test_two_rows_of_one_device_are_one_finding_that_holds_back_every_change(text):
    every = found(text, "scrub-overdue")
    (twice,) = (one for one in every if one.slug == "device-used-twice")
    assert (twice.severity, twice.gate) == ("act", True)
    kinds = {cure.kind for one in every for cure in one.cures}
    assert kinds <= {"look", "reseat", "wait"}
    assert not {runbook for one in every for runbook in (*(answer.runbook for answer in one.answers), *manuals(one))} & set(DOES)
    assert not any("goes back by itself" in one.meaning for one in every)


@pytest.mark.parametrize("text", TWICE.values(), ids=TWICE)
def test_what_is_survived_is_not_known_meanwhile(text):
    (node,) = triage([("status.txt", text)], read_at=READ_AT).fleet.nodes.values()
    for pool in node.pools_read:
        left = pool_losses(pool.shown)
        assert not known(left)
        assert "in service in two places" in left.reason


def test_names_of_the_kernel_are_on_every_node_so_a_paste_is_asked_for_again():
    (one,) = found(mirror("oak", "sda", "sdb") + mirror("elm", "sdb", "sdc"))
    assert (one.slug, one.severity, one.sure) == ("device-used-twice", "watch", False)
    assert "two nodes" in one.meaning


def test_a_shared_spare_that_serves_one_pool_is_no_clash():
    text = status(*stand_in(0), *SPARES, state="DEGRADED") + status("  sdx ONLINE 0 0 0", *SPARES, pool="elm")
    assert "device-used-twice" not in {one.slug for one in found(text)}


def test_the_name_of_a_lost_member_may_be_another_disk_by_now():
    text = status("  mirror-0 DEGRADED 0 0 0", "    sdb UNAVAIL 0 0 0", "    sdb ONLINE 0 0 0", state="DEGRADED")
    assert "device-used-twice" not in {one.slug for one in found(text)}
