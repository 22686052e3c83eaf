"""What the twin refuses of `zpool add` as zpool_vdev.c and the kernel do, and what it makes of what they take."""

from __future__ import annotations

import pytest

from twin import adding
from twin.build import by_id
from twin.scenarios import Clock, host
from workflows.runbooks.add_special import rehearsal


def asked(node, count: int, role: str = "special", *first: str) -> tuple[str, ...]:
    blank = [disk for disk in node.disks if not disk.partitions][:count]
    return ("zpool", "add", *first, "ost_0", role, "mirror", *(by_id(disk).removesuffix("-part1") for disk in blank))


@pytest.mark.parametrize(
    ("node", "count", "words"),
    [
        (lambda: rehearsal.beside_a_raidz(2), 2, "raidz and mirror vdevs, 2 vs. 1 (2-way)"),
        (lambda: rehearsal.beside_a_raidz(1), 3, "raidz and mirror vdevs, 1 vs. 2 (3-way)"),
        (lambda: rehearsal.beside_mirrors(2), 3, "pool uses 2-way mirror and new vdev uses 3-way mirror"),
        (lambda: rehearsal.beside_mirrors(1), 2, "pool uses disk and new vdev is mirror"),
    ],
)
@pytest.mark.parametrize("first", [("-n", "-P"), ()])
def test_a_mirror_that_survives_another_number_of_losses_is_refused_with_n_and_without(tmp_path, node, count, words, first):
    made = node()
    ran = host(tmp_path, made, Clock()).run(asked(made, count, "special", *first), 5.0)
    assert (ran.exit_code, "mismatched replication level" in ran.stderr.decode(), words in ran.stderr.decode()) == (1, True, True)


@pytest.mark.parametrize(("release", "code"), [("2.2.3-1", 0), ("2.2.4-1", 1)])
def test_since_2_2_4_another_ashift_is_refused(tmp_path, release, code):
    node = rehearsal.beside_a_raidz(1)
    node.zfs_userland = node.zfs_module = release
    twin = host(tmp_path, node, Clock())
    assert twin.run(asked(node, 2, "special", "-o", "ashift=9"), 5.0).exit_code == code
    assert [top.ashift for top in twin.view().node.pool("ost_0").tops] == ([12, 9] if code == 0 else [12])


@pytest.mark.parametrize(
    "words",
    [
        "ost_0 special /dev/disk/by-id/a /dev/disk/by-id/b",  # no mirror: each by itself
        "ost_0 special mirror /dev/disk/by-id/a",
        "ost_0 log mirror /dev/disk/by-id/a /dev/disk/by-id/b",
        "ost_0 mirror /dev/disk/by-id/a /dev/disk/by-id/b",
        "-f ost_0 special mirror /dev/disk/by-id/a /dev/disk/by-id/b",
        "ost_0 special mirror /dev/sda /dev/sdb",
        "-o ashift=x ost_0 special mirror /dev/disk/by-id/a /dev/disk/by-id/b",
    ],
)
def test_it_has_no_answer_to_what_no_runbook_gives(words):
    assert adding.parse(words.split(" ")) is None
