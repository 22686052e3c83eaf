"""Suspended pools, tunables left raised, versions that do not match: their truth over all genuine steps, and what no step shows."""

from dataclasses import replace
from pathlib import Path

import pytest

import agents.tests
from agents.collectors.base import Capture
from workflows.facts import FleetFacts, ScanFacts, Unknown, node_facts
from workflows.facts.tests.played import captures, played
from workflows.facts.tests.test_kernel_facts import LOG, hung
from workflows.situations import pool_suspended, tunables_left_raised, version_mismatch

TEXTS = Path(agents.tests.__file__).parent / "captures"
MULTIHOST = TEXTS / "kstat_txgs" / "made-up--multihost-in-trouble.txt"
STATUS_23 = TEXTS / "zpool_status" / "zpool-status-2.3.2--multihost-suspended.txt"
LOG_23 = TEXTS / "kernel_log" / "dmesg-6.1.0--multihost-suspended-and-resumed-zfs-2.3.2.txt"
VALUES = "/sys/module/zfs/parameters"


def one(module, facts, **others):
    (found,) = module.detect(FleetFacts({"oss01": facts, **others}))
    return found


@pytest.mark.parametrize("name", ["mmp-suspended/2-suspended", "mmp-suspended/4-stall-over"])
def test_the_genuine_suspension_is_of_multihost(name):
    """Its log has the line of I/O failures as well; no disk is bad, and none is named."""
    found = one(pool_suspended, played(name))
    assert (found.subject["kind"], found.sure, found.key) == ("mmp", True, "pool-suspended:oss01:ost_5")
    assert "OpenZFS 2.1.11 refuses it" in found.meaning
    assert "names a disk" in found.meaning
    assert {"zpool_status", "kernel_log"} <= {line.source for line in found.evidence}


def test_it_is_seen_when_zpool_hangs():
    found = one(pool_suspended, hung("mmp-suspended/2-suspended"))
    assert (found.subject["kind"], found.severity) == ("mmp", "act")
    assert "`zpool status` gives no answer" in found.meaning
    assert [line.source for line in found.evidence] == ["kstat_pools", "kernel_log", "kernel_log"]


def test_the_genuine_suspension_of_2_3_is_of_multihost_and_may_be_cleared():
    log = "".join(line for line in LOG_23.read_text().splitlines(keepends=True) if "is being resumed" not in line)
    state = "/proc/spl/kstat/zfs/ost_12/state:SUSPENDED\n"
    texts = {"zpool_status": STATUS_23.read_text(), "kernel_log": log, "kstat_pools": state}
    collected = captures("healthy-raidz2-zfs2.3") | {name: Capture(name, "", "data", text) for name, text in texts.items()}
    found = one(pool_suspended, node_facts("oss01", collected, 1.0, ()))
    assert (found.subject["kind"], found.subject["pool"], found.sure) == ("mmp", "ost_12", True)
    assert "OpenZFS 2.3.2 lets `zpool clear ost_12` resume it after a look" in found.meaning
    assert [line.source for line in found.evidence] == ["kstat_pools", "zpool_status", "kernel_log"]


def test_a_status_that_was_read_before_is_no_evidence_of_it():
    """As a node of 2.3.2 reported it: the kernel's word came at once, and what `zpool status` had said a minute ago was `state: ONLINE`."""
    before = {name: value for name, value in captures("mmp-suspended/1-before").items() if name.startswith("zpool_status")}
    found = one(pool_suspended, node_facts("oss01", captures("mmp-suspended/2-suspended") | before, 1.0, ()))
    sources = {line.source for line in found.evidence}
    assert "kstat_pools" in sources
    assert "zpool_status" not in sources


def suspended(**changes):
    return replace(played("mmp-suspended/2-suspended"), **changes)


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("0.7.13-1", "Do not use `zpool clear`"),
        ("0.8.0-1", "does not help"),
        ("2.1.16-1", "does not help"),
        ("2.2.3-1", "does not help"),
        ("2.2.4-1", "may be tried once"),
        ("2.3.2-1", "may be tried once"),
    ],
)
def test_what_clear_means_depends_on_the_release(module, expected):
    assert expected in one(pool_suspended, suspended(zfs_module=module)).meaning


def test_a_partner_that_has_the_pool_is_named_first():
    partner = replace(suspended(), node="oss02", pools=tuple(replace(p, suspended=False) for p in suspended().pools))
    assert "oss02 has ost_5 imported: do not resume it here" in one(pool_suspended, suspended(), oss02=partner).meaning


def test_a_partner_that_does_not_say_is_not_taken_for_innocent():
    silent = replace(played("healthy-raidz2"), node="oss02", pools=hung("mmp-suspended/4-stall-over").pools)
    found = pool_suspended.detect(FleetFacts({"oss01": suspended(), "oss02": silent}))[0]
    assert "oss02 has imported it is not known" in found.meaning


def io(log: str):
    """The genuine pool, with the text and the log of a suspension by I/O; composed, as the lab had none."""
    facts = node_facts("oss01", captures("mmp-suspended/2-suspended") | {"kernel_log": Capture("kernel_log", "", "data", log)}, 1.0, ())
    status = "One or more devices are faulted in response to IO failures."
    return replace(facts, pools=tuple(replace(p, status=status) for p in facts.pools))


def by_io(multihost: str | None, module: str):
    facts = io(LOG.replace("'a'", "'ost_5'").split("[  130")[0])
    read = Unknown("zpool_get was not read.") if multihost is None else {"multihost": multihost}
    return one(pool_suspended, replace(facts, zfs_module=module, pools=tuple(replace(p, properties=read) for p in facts.pools)))


@pytest.mark.parametrize(
    ("multihost", "module", "kinds", "expected"),
    [
        ("on", "0.7.13-1", ("clear",), "0.7 does not look whether another host has"),
        ("on", "0.8.0-1", ("other",), "Reboot this node"),
        ("on", "2.2.3-1", ("other",), "Reboot this node"),
        ("on", "2.2.4-1", ("clear",), "resume ost_5, once"),
        ("off", "2.2.3-1", ("clear",), "Multihost is off: only your own look at the other hosts shows"),
        (None, "2.2.3-1", ("clear",), "is refused (invalid argument) where multihost is on"),
        (None, "2.3.2-1", ("clear",), "resume ost_5, once"),
    ],
)
def test_what_resumes_it_after_io_depends_on_multihost_and_the_release(multihost, module, kinds, expected):
    found = by_io(multihost, module)
    mine = [cure for cure in found.cures if cure.kind in ("clear", "other")]
    assert tuple(cure.kind for cure in mine) == kinds
    assert expected in f"{mine[0].text} {mine[0].needs}"
    assert ("invalid argument" in mine[0].text) == ((multihost is None and module < "2.2.4") or module < "0.8")
    assert ("does not help here" in found.meaning) == (kinds == ("other",))


@pytest.mark.parametrize(("multihost", "kind"), [("off", "io"), ("on", "not known"), (None, "not known")])
def test_a_pool_without_multihost_was_suspended_by_io_whatever_else_is_known(multihost, kind):
    facts = suspended(kernel_log=Unknown("kernel_log: dmesg: not permitted."))
    read = Unknown("zpool_get was not read.") if multihost is None else {"multihost": multihost}
    facts = replace(facts, pools=tuple(replace(p, status="", properties=read) for p in facts.pools))
    assert one(pool_suspended, facts).subject["kind"] == kind


def test_a_suspension_by_io_names_the_disks_of_the_log_and_may_be_cleared():
    found = by_io("off", "2.1.11-1")
    assert found.subject["kind"] == "io"
    assert "sdev, named in 2 lines" in found.meaning
    assert "sdb (today sdb (naa:5000c500a65b201b))" in found.meaning
    assert "bay 30 of enclosure 0x50050cc11ac016e2" in found.meaning
    assert "`zpool clear ost_5` resumes it" in found.meaning
    assert "another host" not in found.meaning


def test_without_text_and_log_it_is_taken_for_multihost():
    facts = hung("mmp-suspended/2-suspended")
    found = one(pool_suspended, replace(facts, kernel_log=Unknown("kernel_log: dmesg: not permitted.")))
    assert (found.sure, found.subject["kind"]) == (False, "not known")
    assert "take it for multihost" in found.meaning
    assert "refuses it after any suspension while multihost is on" in found.meaning


def test_the_multihost_history_names_the_member():
    """Composed after the kernel's format: one write failed, one took ten seconds, some were skipped."""
    text = MULTIHOST.read_text().replace("/ost_0/", "/ost_5/")
    collected = captures("mmp-suspended/2-suspended") | {"kstat_txgs/ost_5": Capture("kstat_txgs", "ost_5", "data", text)}
    found = one(pool_suspended, node_facts("oss01", collected, 1.0, ()))
    assert "10822205804649836120" in found.meaning
    assert "took 9914 ms" in found.meaning
    assert any("17 writes skipped" in line.line for line in found.evidence)


def tuned(text: str, **changes):
    collected = captures("disk-removed/6-resilver-running") | {"parameters": Capture("parameters", "", "data", text)}
    return replace(node_facts("oss01", collected, 1.0, ()), **changes)


def test_a_frozen_resilver_is_urgent():
    facts = tuned(f"{VALUES}/zfs_scan_suspend_progress:1\n")
    assert any(isinstance(s, ScanFacts) and s.function == "resilver" for p in facts.pools for s in p.scans)
    found = one(tunables_left_raised, facts)
    assert (found.severity, "no resilver gets any further" in found.title) == ("act", True)


def test_a_value_that_is_meant_to_stay_is_no_situation():
    text = f"{VALUES}/zfs_resilver_min_time_ms:5000\n/etc/modprobe.d/zfs.conf:options zfs zfs_resilver_min_time_ms=5000\n"
    assert tunables_left_raised.detect(FleetFacts({"oss01": tuned(text)})) == ()


def test_a_raised_value_says_what_the_boot_makes_of_it():
    found = one(tunables_left_raised, tuned(f"{VALUES}/zfs_resilver_min_time_ms:5000\n{VALUES}/zfs_multihost_fail_intervals:0\n"))
    assert found.severity == "watch"
    assert found.title == "oss01: zfs_resilver_min_time_ms is 5000 and 1 more; the next boot makes it 3000 (default)"
    assert "safe only where partners are fenced" in found.meaning


def test_a_setting_that_is_ignored_is_worth_knowing():
    text = f"{VALUES}/zio_slow_io_ms:30000\n/etc/modprobe.d/zfs.conf:options zfs zfs_scrub_delay=0\n"
    found = one(tunables_left_raised, tuned(text))
    assert (found.severity, "zfs_scrub_delay" in found.title) == ("info", True)


@pytest.mark.parametrize(
    ("userland", "module", "severity"),
    [
        ("2.1.11-1+deb12u1", "2.1.11-1", None),
        ("2.3.2-1", "2.1.11-1", "watch"),
        ("2.1.12-1", "2.1.11-1", "watch"),
        ("2.2.9-1", "2.2.9-1", None),
        ("2.0.7-1", "2.0.7-1", "info"),
        ("0.8.6-1", "0.8.6-1", "info"),
    ],
)
def test_versions_are_compared_by_release(userland, module, severity):
    found = version_mismatch.detect(FleetFacts({"oss01": replace(played("healthy-raidz2"), zfs_userland=userland, zfs_module=module)}))
    assert [s.severity for s in found] == ([] if severity is None else [severity])
    assert all(module.split("-")[0] in s.title for s in found)


@pytest.mark.parametrize(
    ("userland", "module", "expected"),
    [
        ("2.3.4-1", "2.3.2-1", "No order differs between these two"),
        (
            "2.1.15-1",
            "2.1.11-1",
            "is refused: zpool_replace, zpool_replace_serving, zpool_replace_partition, zpool_online, zpool_bring_back, zpool_clear, zpool_attach, zpool_add, zpool_add_class, zpool_import_without_log.",
        ),
        ("2.3.2-1", "2.1.11-1", "no runbook changes a pool there"),
        ("2.0.7-1", "2.0.7-1", "Not ordered on oss01: zpool_set_path."),
        ("0.8.6-1", "0.8.6-1", "Not ordered on oss01: "),
        ("0.7.13-1", "0.7.13-1", "whatever changes a pool"),
        ("2.5.0-1", "2.5.0-1", "This release was not read"),
    ],
)
def test_it_says_what_is_ordered_there_and_what_is_not(userland, module, expected):
    (found,) = version_mismatch.detect(FleetFacts({"oss01": replace(played("healthy-raidz2"), zfs_userland=userland, zfs_module=module)}))
    assert expected in found.meaning, found.meaning
