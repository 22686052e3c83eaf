"""What each entry of the list of damaged data is, and what brings it back."""

import pytest

from agents.collectors.zpool_status_errors import snapshots
from workflows.analysis.damaged_data import DATASET, FILE, GONE, IN_SNAPSHOT, NAMED, OBJECT, POOL, groups, kind_of


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("/mnt/oss/with space", FILE),
        ("/mnt/a@b:/c", FILE),
        ("tank/oss:/a/b", FILE),
        ("tank/oss@daily:/a", IN_SNAPSHOT),
        ("tank@auto-2026-11-27_00:00:/a:b", IN_SNAPSHOT),
        ("tank/oss@daily:<0x1f>", IN_SNAPSHOT),
        ("tank/oss:<0x1f>", OBJECT),
        ("tank/oss:<0x0>", DATASET),
        ("tank/oss:<metadata>", DATASET),
        ("<metadata>:<0x31>", POOL),
        ("<0x8e>:<0x1f>", GONE),
        ("a word that is none of these", FILE),
    ],
)
def test_an_entry_is_of_its_kind(entry, kind):
    assert kind_of(entry) is kind


def test_a_snapshot_is_named_once_and_a_file_with_its_letters_is_none():
    entries = ("tank/oss@daily:/a", "/mnt/x@y:/z", "tank@auto_00:00:/b", "tank/oss@daily:<0x2>", "tank/oss:/a@b:/c")
    assert snapshots(entries) == ("tank/oss@daily", "tank@auto_00:00")


def test_the_gravest_kind_comes_first_and_a_long_list_is_counted():
    found = groups([*(f"/tank/{number}" for number in range(NAMED + 3)), "<metadata>:<0x1>"])
    assert [group.kind for group in found] == [POOL, FILE]
    assert f"{NAMED + 3} files: /tank/0, " in found[1].words
    assert "and 3 more. Restore" in found[1].words
