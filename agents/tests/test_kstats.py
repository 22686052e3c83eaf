"""What the kernel's statistics say of pools, on genuine files and where no capture shows it on composed ones."""

from pathlib import Path

import pytest

from agents.collectors import dbgmsg, kstat_dmu_tx, kstat_pools, kstat_txgs, zpool_history
from agents.collectors.base import Unparsed
from agents.collectors.kstat_pools import Importing, KernelPool
from agents.tests import lab_nodes
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost

MADE_UP = Path(__file__).parent / "captures"


def made_up(source: str, name: str) -> str:
    return (MADE_UP / source / f"made-up--{name}.txt").read_text()


def pools(name: str):
    (capture,) = kstat_pools.collect(CapturedHost(step(name)))
    return kstat_pools.parse(capture.text)


def writes(name: str, pool: str):
    return kstat_txgs.parse(kstat_txgs.collect_one(CapturedHost(step(name)), pool).text)


@pytest.mark.parametrize(
    ("name", "pool"),
    [
        ("mmp-suspended/1-before", KernelPool("ost_5", "ONLINE", None)),
        ("mmp-suspended/2-suspended", KernelPool("ost_5", "SUSPENDED", None)),
        ("healthy-mixed-zfs2.3", KernelPool("tank", "ONLINE", 2041595502068262595)),
        ("disk-removed/2-removed", KernelPool("ost_0", "DEGRADED", None)),
    ],
)
def test_it_reads_the_state_of_a_genuine_pool(name, pool):
    assert pools(name).pools == (pool,)


def test_a_node_without_the_module_has_nothing():
    (capture,) = kstat_pools.collect(CapturedHost(step("active-on-other-host")))
    assert (capture.outcome, "not loaded" in capture.reason) == ("nothing", True)


@pytest.mark.parametrize(("release", "note"), [("2.1.11", None), ("2.3.2", "Checking MMP activity, 65219 ms remaining")])
def test_it_reads_how_long_a_genuine_import_still_listens(release, note):
    """A real node that imports a pool with multihost that another host did not export; it looks, and has no txg in mind yet."""
    (one,) = kstat_pools.parse(lab_nodes.body(release, "importing", "kstat_pools")["text"]).importing
    assert (one.name, one.load_state, one.max_txg, one.notes) == ("ost_4", "tryimport", None, note)
    assert one.multihost_seconds > 0


def test_it_reads_imports_under_way():
    """Composed: two at once, and a name with a blank."""
    read = kstat_pools.parse(made_up("kstat_pools", "two-pools-one-import"))
    assert [p.name for p in read.pools] == ["ost_0", "tank 2"]
    assert read.importing == (
        Importing(15498746923132605816, "import", 14, None, "ost_4"),
        Importing(4384816311869892781, "recover", 0, 4711008, None),
    )


def test_it_reads_the_notes_of_2_4_behind_short_and_long_names():
    read = kstat_pools.parse(made_up("kstat_pools", "import-with-notes"))
    assert [(i.name, i.notes) for i in read.importing or ()] == [
        ("ost_4", "Loading checkpoint txg"),
        ("archive_of_the_year_2019", "Checking other hosts"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "/proc/spl/kstat/zfs/ost_0/state:ON",
        "/proc/spl/kstat/zfs/ost_0/state:PARTYING\n",
        "/proc/spl/kstat/zfs/ost_0/guid:12\n",
        "/proc/spl/kstat/zfs/ost_0/state:ONLINE\n/proc/spl/kstat/zfs/ost_0/state:SUSPENDED\n",
        "/proc/spl/kstat/zfs/ost_0/state:ONLINE\n/proc/spl/kstat/zfs/ost_0/guid:1.2E\n",
    ],
)
def test_it_refuses_what_it_does_not_know(text):
    assert isinstance(kstat_pools.parse(text), Unparsed)


def test_it_reads_genuine_transaction_groups():
    read = writes("mmp-suspended/2-suspended", "ost_5")
    assert (read.txgs[0].txg, read.txgs[0].sync_ns) == (5, 639864450)
    assert [(t.txg, t.state) for t in read.txgs][-2:] == [(24, "committed"), (25, "open")]
    assert read.multihost == ()  # zfs_multihost_history is 0 by default
    assert read.waits == ()


def test_it_reads_how_long_writers_waited():
    assert writes("healthy-mixed-zfs2.3", "tank").waits[-1] == (536870912, 1)


@pytest.mark.parametrize("release", lab_nodes.RELEASES)
def test_it_reads_a_genuine_multihost_history(release):
    read = kstat_txgs.parse(lab_nodes.body(release, "busy", "kstat_txgs", "ost_4")["text"])
    assert len(read.multihost) >= 20  # of the 30 that the node was told to keep
    assert len({row.vdev_guid for row in read.multihost}) == 4
    assert all(row.path.startswith("/dev/disk/by-id/wwn-0x") for row in read.multihost)
    assert read.waits[-1][1] > 0


def test_a_skipped_multihost_write_has_no_member():
    """Composed after the kernel's own format: where a guid stands otherwise, a skipped row has a count."""
    read = kstat_txgs.parse(made_up("kstat_txgs", "multihost-in-trouble"))
    fine, failed, slow, skipped = read.multihost
    assert (fine.error, fine.vdev_guid) == (0, 10102976728982430211)
    assert (failed.error, slow.duration_ns) == (5, 9914592890)
    assert (skipped.vdev_guid, skipped.skipped, skipped.error, skipped.path) == (None, 17, 2, None)


def test_the_newest_rows_are_kept_below_their_heading():
    class Host:
        def read(self, path):
            if not path.endswith("/txgs"):
                raise FileNotFoundError(path)
            rows = [f"{n} 1 C 0 0 0 0 0 1 1 1 1" for n in range(100)]
            return "\n".join([" ".join(kstat_txgs.TXG_COLUMNS), *rows]).encode() + b"\n"

    read = kstat_txgs.parse(kstat_txgs.collect_one(Host(), "tank").text)
    assert [read.txgs[0].txg, read.txgs[-1].txg, len(read.txgs)] == [76, 99, 24]
    assert read.multihost is None


def test_a_pool_that_went_away_gives_nothing():
    assert kstat_txgs.collect_one(CapturedHost(step("healthy-raidz2")), "gone").outcome == "nothing"


def test_what_zpool_import_looks_at_is_no_pool():
    """Seen on a real node: the portal takes no report with a key like that, so none came while the list of importable pools was read."""

    class Host:
        def list(self, pattern):
            return [pattern.replace("*", name) for name in ("$import", "$import-ffff8a3-ost_5", "ost_5")]

    assert kstat_pools.pool_names(Host()) == kstat_txgs.keys(Host()) == zpool_history.keys(Host()) == ("ost_5",)


def test_it_reads_why_writers_waited():
    read = kstat_dmu_tx.parse(lab_nodes.body("2.3.2", "busy", "kstat_dmu_tx")["text"])
    assert (read.count("dirty_delay"), read.count("dirty_over_max"), read.count("nothing")) == (359, 31, None)


def test_it_reads_the_genuine_debug_log():
    (capture,) = dbgmsg.collect(CapturedHost(step("mmp-suspended/2-suspended")))
    last = dbgmsg.parse(capture.text)[-1]
    assert (last.at, last.where) == (1795250282, "mmp.c:663:mmp_thread()")
    assert last.text.startswith("MMP suspending pool 'ost_5': gethrtime 75374214110")


def test_a_message_of_the_debug_log_may_have_further_lines_and_a_thread():
    first, second = dbgmsg.parse("1795253318   ff110b2e3e80c200 vdev.c:184:vdev_dbgmsg(): probe\n  more\n1795253319   plain\n")
    assert (first.where, first.text, second.where) == ("vdev.c:184:vdev_dbgmsg()", "probe\n  more", "")
