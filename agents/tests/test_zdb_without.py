"""Trying whether a pool opens without one disk: masked for zdb alone, over every path, and told apart from what could not be tried."""

from __future__ import annotations

import copy
import re
from pathlib import Path as FilePath

import pytest

from agents.host.host import Ran
from agents.operations import zdb_without
from twin import scenarios
from twin.model import Path

WWID = "naa:5000c500a65b203b"
GENUINE = FilePath(__file__).parent / "captures" / "zdb_without"


def host(tmp_path, change=lambda node: None):
    node = scenarios.diverged_disk()
    change(node)
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(at):
    return {"pool": "ost_0", "pool_guid": str(at.view().node.pool("ost_0").guid), "wwid": WWID}


def answered(at):
    ran = zdb_without.perform(at, params(at))
    return ran.exit_code, ran.stdout.decode().partition("\n")[0]


def second_at_fault(node):
    node.pool("ost_0").blocked_by.append(node.disks[0].wwid)


def without_a_fault(node):
    node.pool("ost_0").blocked_by = []


def three_away(node):
    for disk in list(node.disks[:2]):
        scenarios.take_away(node, disk.wwid)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda node: None, "ost_0 opens without it only."),
        (without_a_fault, "ost_0 opens with it too."),
        (second_at_fault, "ost_0 does not open without it either."),
        (three_away, "ost_0 does not open without it either."),
    ],
)
def test_it_tells_what_the_disk_is_to_the_pool(tmp_path, change, text):
    assert answered(host(tmp_path, change)) == (0, text)


def test_the_disk_is_hidden_over_every_path_with_its_partitions(tmp_path):
    def second_path(node):
        disk = node.disk(WWID)
        disk.paths.append(Path("sdzz", "3:0:7:0", 77, "0x5000c500a65b203c", copy.copy(disk.paths[0].phys_path)))

    at = host(tmp_path, second_path)
    asked = []
    real, at.run = at.run, lambda argv, seconds: asked.append(argv) or real(argv, seconds)
    zdb_without.perform(at, params(at))
    whole, masked = [argv for argv in asked if argv[0] == "systemd-run"]
    assert [word for word in masked if word not in whole] == [word for word in masked if word.startswith("InaccessiblePaths=")]
    (hidden,) = [word for word in masked if word.startswith("InaccessiblePaths=")]
    assert {"/dev/sdd", "/dev/sdd1", "/dev/sdd9", "/dev/sdzz", "/dev/sdzz1"} <= set(hidden.partition("=")[2].split(" "))
    assert masked[-6:] == zdb_without.zdb(params(at))


def test_nothing_is_written(tmp_path):
    at = host(tmp_path)
    before = at.store.path.read_bytes()
    zdb_without.perform(at, params(at))
    assert (list(at.store.logged()), at.store.path.read_bytes()) == ([], before)


def test_without_systemd_it_was_not_tried(tmp_path):
    at = host(tmp_path, lambda node: node.faults.absent.append("systemd-run"))
    ran = zdb_without.perform(at, params(at))
    assert (ran.exit_code, ran.stdout) == (1, b"")
    assert "It could not be tried without" in ran.stderr.decode()


def test_systemd_that_fails_is_not_taken_for_zdb_that_fails(tmp_path):
    at = host(tmp_path)
    real = at.run

    def run(argv, seconds):
        ran = real(argv, seconds)
        if argv[0] != "systemd-run":
            return ran
        return type(ran)(argv, 1, b"", b"Failed to connect to bus: No such file or directory\n", 0.1)

    at.run = run
    ran = zdb_without.perform(at, params(at))
    assert ran.exit_code == 1
    assert "Failed to connect to bus" in ran.stderr.decode()


def test_only_the_hidden_devices_differ_between_the_two(tmp_path):
    """Where zdb cannot be run at all with the disk, that it opens without it proves nothing."""
    at = host(tmp_path)
    real = at.run

    def run(argv, seconds):
        hides = any(word.startswith("InaccessiblePaths=") for word in argv)
        return real(argv, seconds) if hides or argv[0] != "systemd-run" else type(real(argv, seconds))(argv, 1, b"", b"no memory\n", 0.1)

    at.run = run
    ran = zdb_without.perform(at, params(at))
    assert (ran.exit_code, ran.stdout) == (1, b"")
    assert f"It could not be tried with {WWID}: no memory" in ran.stderr.decode()


def test_a_disk_on_which_zdb_hangs_until_its_time_is_up_does_not_open(tmp_path):
    at = host(tmp_path)
    real = at.run

    def run(argv, seconds):
        ran = real(argv, seconds)
        if argv[0] != "systemd-run" or any(word.startswith("InaccessiblePaths=") for word in argv):
            return ran
        return type(ran)(argv, 1, b"", b"", zdb_without.TRIAL_SECONDS)

    at.run = run
    assert zdb_without.perform(at, params(at)).stdout.startswith(b"ost_0 opens without it only.")


def test_an_imported_pool_is_not_tried(tmp_path):
    at = host(tmp_path, lambda node: setattr(node.pool("ost_0"), "imported", True))
    pre = zdb_without.preconditions(at, params(at))
    assert any("What zdb reads of such a pool means nothing" in reason for outcome, reason in zdb_without.guards(pre, params(at)))


def test_a_trial_leaves_no_trace_so_it_may_be_made_again(tmp_path):
    at = host(tmp_path)
    assert zdb_without.probe(at, params(at), {}).result == "did_not"


def without_figures(text: str) -> str:
    return re.sub(r"[0-9]+(\.[0-9]+)?[KM]?", "N", text)


def test_the_twin_prints_what_a_real_node_printed(tmp_path):
    """Genuine, of one pool: with all its disks, and where the diverged one was masked."""
    at = host(tmp_path)
    whole = at.run(zdb_without.trial(params(at)), 1.0)
    masked = at.run(zdb_without.trial(params(at), ("sdd", "sdd1", "sdd9")), 1.0)
    opens, does_not = (GENUINE / f"zdb-2.1.11--{what}.txt" for what in ("opens-without-the-diverged-disk", "does-not-open-with-it"))
    assert without_figures(masked.stdout.decode()) == without_figures(opens.read_text())
    assert without_figures(whole.stderr.decode()) == without_figures(does_not.read_text())
    assert zdb_without._opens(Ran((), 0, opens.read_bytes(), b"", 1.0))
    assert not zdb_without._opens(Ran((), 1, b"", does_not.read_bytes(), 1.0))
