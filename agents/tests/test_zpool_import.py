from pathlib import Path

import pytest

from agents.collectors import zpool_import
from agents.collectors.base import Unparsed
from agents.collectors.zpool_import import Importable, parse
from agents.host.host import Ran
from agents.operations import zpool_import_without_log
from agents.operations._importing import FORCE, status_of
from agents.operations.base import Unread
from agents.tests.scenarios import step, texts

CAPTURES = Path(__file__).parent / "captures" / "zpool_import"
GENUINE = [(name, text) for name, text in texts("zpool-import*.txt") if "pool: " in text]


def importable(name: str) -> tuple[Importable, ...]:
    pools = parse((step(name)).read_text())
    assert not isinstance(pools, Unparsed), pools
    return pools


@pytest.mark.parametrize(("name", "text"), GENUINE, ids=[name for name, _ in GENUINE])
def test_it_reads_a_genuine_listing(name, text):
    pools = parse(text)
    assert not isinstance(pools, Unparsed), pools
    assert len(pools) == text.count("pool: ")
    assert all(pool.guid and pool.action and pool.vdevs.children for pool in pools)


def test_it_reads_two_pools_and_what_is_wrong_with_one():
    ost_3, oldpool = importable("import-blocked-labels/3-other-pool-label/zpool-import.txt")
    assert (ost_3.name, ost_3.guid, ost_3.state) == ("ost_3", 6695069603816003176, "DEGRADED")
    assert ost_3.see.endswith("ZFS-8000-4J")
    bad = ost_3.vdevs.children[0].children[1]
    assert (bad.name, bad.state, bad.note, bad.errors) == ("wwn-0x5000c500a65b201b", "FAULTED", "corrupted data", None)
    assert oldpool.vdevs.children[0].name == bad.name


def test_it_reads_that_another_host_has_the_pool():
    (pool,) = importable("active-on-other-host/zpool-import.txt")
    assert (pool.state, pool.vdevs.note) == ("UNAVAIL", "currently in use")
    assert "must be exported from oss09 (hostid=abcdef) before" in pool.action


def test_it_reads_the_alignment_of_2_3():
    (pool,) = importable("wwid-drift-zfs2.3/2-booted-not-imported/zpool-import.txt")
    assert pool.vdevs.children[0].children[1].name == "sdb"


def test_it_tells_a_destroyed_pool():
    (pool,) = importable("import-rewind/4-healthy-pool/zpool-import-D.txt")
    assert (pool.state, pool.destroyed) == ("ONLINE", True)


MADE_UP = """\
   pool: tank
     id: 1234567890123456789
  state: UNAVAIL
 status: One or more devices are missing from the system.
 action: The pool cannot be imported. Attach the missing
\tdevices and try again.
comment: the big one
    see: http://zfsonlinux.org/msg/ZFS-8000-6X
 config:

\ttank        UNAVAIL  missing device
\t  mirror-0  ONLINE
\t    sda     ONLINE
\t    sdb     ONLINE
\tcache
\t  sdc
\tspares
\t  sdd
\tlogs
\t  sde       ONLINE

\tAdditional devices are known to be part of this pool, though their
\texact configuration cannot be determined.
"""


def test_it_reads_sections_without_state_and_the_warning_below():
    """Made up from the format strings of 0.8: spares and caches have no state, and `see:` has four blanks before it."""
    (pool,) = parse(MADE_UP)
    assert [(heading, [(vdev.name, vdev.state) for vdev in vdevs]) for heading, vdevs in pool.sections] == [
        ("cache", [("sdc", "")]),
        ("spares", [("sdd", "")]),
        ("logs", [("sde", "ONLINE")]),
    ]
    assert (pool.more_devices, pool.comment, pool.see) == (True, "the big one", "http://zfsonlinux.org/msg/ZFS-8000-6X")


def test_it_refuses_a_pool_without_id():
    assert isinstance(parse(MADE_UP.replace("     id: 1234567890123456789\n", "")), Unparsed)


class Answers:
    def __init__(self, ran: Ran) -> None:
        self.ran = ran

    def run(self, argv, timeout_seconds):
        return self.ran

    def list(self, pattern):
        return ()  # nobody else is at work


@pytest.mark.parametrize(
    ("exit_code", "stdout", "stderr", "outcome"),
    [
        (0, b"", b"no pools available to import\n", "data"),
        (1, b"", b"no pools available to import\n", "data"),
        (1, b"no pools available to import\n", b"", "data"),
        (0, b"", b"", "failed"),
        (1, b"", b"cannot discover pools: permission denied\n", "failed"),
        (2, b"", b"invalid option\n", "failed"),
    ],
)
def test_only_the_words_make_none_an_answer(exit_code, stdout, stderr, outcome):
    (capture,) = zpool_import.collect(Answers(Ran(zpool_import.ARGV, exit_code, stdout, stderr, 0.1)))
    assert capture.outcome == outcome
    assert bool(capture.reason) == (outcome == "failed")
    if outcome == "data":
        assert parse(capture.text) == ()


@pytest.mark.parametrize("release", ["2.1.11", "2.3.2"])
def test_a_diverged_disk_of_another_host_looks_like_a_damaged_pool_with_all_disks_online(release):
    """From the lab; no word of it says which disk, and the `-f` that it advises would follow the wrong story."""
    (pool,) = parse((CAPTURES / f"zpool-import-{release}--diverged-disk-of-another-host.txt").read_text())
    assert (pool.state, pool.vdevs.note, pool.status) == ("FAULTED", "corrupted data", "The pool was last accessed by another system.")
    assert {leaf.state for leaf in pool.vdevs.children[0].children} == {"ONLINE"}
    assert status_of(pool) == FORCE


def test_a_lost_log_alone_hides_nothing_although_more_devices_are_spoken_of():
    (pool,) = parse((Path(__file__).parent / "captures" / "zpool_import" / "zpool-import-2.1.11--lost-log.txt").read_text())
    assert (pool.state, pool.more_devices, pool.lacks_a_log) == ("UNAVAIL", True, True)
    assert zpool_import_without_log.absent_beside_the_logs(pool) == "none"
    assert zpool_import_without_log.lost_logs(pool) == "wwn-0x5000c50090700043"
    assert zpool_import_without_log.state_without_logs(pool) == "DEGRADED"
    (other,) = parse(MADE_UP)
    assert not other.lacks_a_log
    with pytest.raises(Unread):
        zpool_import_without_log.lost_logs(other)
