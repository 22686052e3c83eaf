"""A count of slow I/Os is never silent: where no disk stands out among its peers the pool says who counted how many."""

import pytest

from workflows.situations.tests.texts import found, only, status, words

DISKS = [f"/dev/disk/by-id/wwn-0x5000c500a65b20{n}b-part1" for n in range(1, 6)]


def counted(vdev: str, *counts: str) -> str:
    rows = (f"    {disk} ONLINE 0 0 0 {count}" for disk, count in zip(DISKS, counts, strict=False))
    text = status(f"  {vdev} ONLINE 0 0 0 -", *rows)
    return text.replace("WRITE CKSUM", "WRITE CKSUM  SLOW").replace("oak ONLINE 0 0 0", "oak ONLINE 0 0 0 -")


@pytest.mark.parametrize(
    ("counts", "severity"),
    [(("0", "1"), "info"), (("0", "4"), "info"), (("5", "0"), "watch"), (("0", "1.2K"), "watch"), (("9", "9"), "watch")],
)
def test_one_of_two_disks_is_named_although_nothing_tells_which_is_usual(counts, severity):
    one = only(counted("mirror-0", *counts))
    assert (one.slug, one.severity) == ("slow-ios", severity)
    assert all(count in one.title for count in counts if count != "0")
    assert not any(cure.kind == "replace" for cure in one.cures)


def test_none_is_silent():
    assert found(counted("mirror-0", "0", "0")) == []


def test_what_all_count_is_what_they_share():
    one = only(counted("raidz1-0", "40", "38", "41"))
    assert one.slug == "slow-ios"
    assert "look for what they share" in words(one)


def test_the_one_that_stands_out_is_told_once():
    one = only(counted("raidz2-0", "0", "0", "77", "0"))
    assert one.slug == "slow-disk"


def test_beside_the_one_that_stands_out_the_others_are_told():
    both = found(counted("raidz2-0", "0", "2", "77", "0"))
    assert [one.slug for one in both] == ["slow-disk", "slow-ios"]
    assert DISKS[1] in {vdev for one in both[1:] for vdev in one.vdevs}
