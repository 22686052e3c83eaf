"""A pool that was too early at boot is called so where the log proves it, and leads to import-pool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors import kernel_log
from twin.scenarios import not_imported
from workflows.facts import Unknown
from workflows.runbooks.import_pool.rehearsal import not_at_boot
from workflows.situations import detect_all, import_blocked
from workflows.tests.stage import Stage

FAILED = "[   31.204117] systemd[1]: Failed to start Import ZFS pools by cache file."
FAILED_NEWER = "[   31.204117] systemd[1]: Failed to start zfs-import-cache.service - Import ZFS pools by cache file."
EARLY, LATE = 7.5, 94.25


def facts_of(tmp_path, node, lines):
    """`lines` of the log, or how many seconds after boot its disks were attached, with a unit that failed at 31 s."""
    facts = Stage(tmp_path, {"oss01": node}).facts()
    here = facts.nodes["oss01"]
    log = lines if isinstance(lines, Unknown) else kernel_log.parse("\n".join(lines) + "\n")
    return replace(facts, nodes={"oss01": replace(here, kernel_log=log)})


def attached(node, *seconds):
    """A line for each of these times, of one disk after the other."""
    paths = [path for disk in node.disks for path in disk.paths]
    return [f"[{at:12.6f}] sd {path.hctl}: [{path.name}] Attached SCSI disk" for at, path in zip(seconds, paths, strict=False)]


def situation(facts):
    (found,) = import_blocked.detect(facts)
    assert [answer.runbook for answer in found.answers] == ["import-pool"]
    return found


@pytest.mark.parametrize("failed", [FAILED, FAILED_NEWER])
def test_disks_that_were_attached_after_the_unit_had_failed_prove_it(tmp_path, failed):
    node = not_at_boot()
    found = situation(facts_of(tmp_path, node, [*attached(node, EARLY), failed, *attached(node, EARLY, LATE, LATE + 1)[1:]]))
    assert found.title == "ost_0 was not imported at boot: its disks came later"
    assert "the import unit failed 31 s after the boot began, and 2 disks of it came later, the last one at 95 s" in found.meaning
    lines = [one.line for one in found.evidence if one.source in ("kernel_log", "zdb_config")]
    assert [any(word in line for line in lines) for word in ("Failed to start", "Attached SCSI disk", "pool_guid")] == [True] * 3
    assert "zfs-import-cache.service" in str(found.cures[-1].argv)


def test_a_disk_that_was_pulled_and_put_back_was_there(tmp_path):
    node = not_at_boot()
    found = situation(facts_of(tmp_path, node, [*attached(node, EARLY), FAILED, *attached(node, 9000.0)]))
    assert found.title == "ost_0 is not imported, and this node had it last"
    assert "the log does not show when they came" in found.meaning


def test_a_log_with_dates_proves_no_order_but_that_the_unit_failed(tmp_path):
    dated = ["Nov 25 02:37:04 oss01 systemd[1]: zfs-import-cache.service: Failed with result 'exit-code'."]
    found = situation(facts_of(tmp_path, not_at_boot(), dated))
    assert "the unit that does so failed" in found.meaning
    assert found.title == "ost_0 is not imported, and this node had it last"


@pytest.mark.parametrize("lines", [Unknown("It was not read."), []])
def test_the_cache_file_alone_says_that_the_boot_imports_it(tmp_path, lines):
    found = situation(facts_of(tmp_path, not_at_boot(), lines))
    assert "The cache file of oss01 names ost_0, so its boot imports it: that did not work, or did not run." in found.meaning
    assert "systemctl" not in str([cure.argv for cure in found.cures])


def test_without_either_nothing_is_concluded(tmp_path):
    found = situation(facts_of(tmp_path, not_imported(), []))
    assert "cache file" not in found.meaning


def test_a_unit_that_failed_on_a_node_that_lacks_no_pool_is_watched_where_the_log_is_recent(tmp_path):
    """In the first minute of a boot it is not: whatever is not imported has its own situation."""
    dated = ["Nov 25 02:37:04 oss01 systemd[1]: Failed to start Import ZFS pools by device scanning."]
    node = not_at_boot()
    node.pool("ost_0").imported = True
    found = [one for one in detect_all(facts_of(tmp_path, node, dated)) if one.slug == "kernel-errors"]
    assert [(one.severity, one.subject["why"]) for one in found] == [("watch", "import-unit")]
