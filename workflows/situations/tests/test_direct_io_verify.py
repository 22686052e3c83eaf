"""A count of DIO is explained: a program's doing, and no disk's."""

from workflows.situations.tests.texts import found, only, status, words

DISKS = [f"/dev/disk/by-id/wwn-0x5000c500a65b20{n}b-part1" for n in range(1, 4)]


def counted(count: str) -> str:
    text = status(f"  raidz1-0 ONLINE 0 0 0 {count}", *(f"    {disk} ONLINE 0 0 0 -" for disk in DISKS))
    return text.replace("WRITE CKSUM", "WRITE CKSUM  DIO").replace("oak ONLINE 0 0 0", "oak ONLINE 0 0 0 -")


def test_a_count_names_the_vdev_and_blames_no_disk():
    one = only(counted("12"))
    assert (one.slug, one.severity) == ("direct-io-verify", "watch")
    assert "raidz1-0 12" in one.title
    assert "disks are not at fault" in words(one)
    assert {cure.kind for cure in one.cures} == {"look", "other"}


def test_none_is_silent():
    assert found(counted("0")) == []
