"""FreeBSD and illumos: no /proc, no /sys, other calls of the system. The agent says what it can and does not fall over."""

import os
from pathlib import Path

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Unparsed
from agents.host.host import LocalHost, Ran
from agents.portal.transport import Reply
from agents.reporting.reports import Reporter, everything
from agents.tests import rig

CAPTURES = Path(__file__).parent / "captures"
LINUX_ONLY = ("O_DIRECT", "posix_fadvise", "POSIX_FADV_DONTNEED", "preadv")
ANSWERS = {
    "freebsd": {"zpool status": "zpool_status/made-up--freebsd-labels.txt", "sysctl vfs.zfs": "sysctl/made-up--freebsd-14.txt"},
    "illumos": {"zpool status": "zpool_status/made-up--illumos-one-unavailable.txt"},
}


class Elsewhere(LocalHost):
    """This machine without anything of Linux: the files of an empty folder, and the commands of `system`."""

    def __init__(self, root: str, system: str) -> None:
        super().__init__()
        self._root, self._answers = root, ANSWERS[system]

    def run(self, argv, timeout_seconds):
        reported = self._answers.get(" ".join(argv[:2]))
        if reported is None:
            return Ran(tuple(argv), None, b"", b"", 0.0, "not found")
        return Ran(tuple(argv), 0, (CAPTURES / reported).read_bytes(), b"", 0.1)

    def read(self, path):
        return super().read(self._root + path)

    def list(self, pattern):
        return tuple(path[len(self._root) :] for path in super().list(self._root + pattern))

    def link(self, path):
        return super().link(self._root + path)


class Portal(rig.Intake):
    def ask(self, method, path, value):
        return Reply(200, self.take(value))


@pytest.mark.parametrize("system", ANSWERS)
def test_it_reports_what_there_is_and_names_what_there_is_not(system, tmp_path, monkeypatch):
    for name in LINUX_ONLY:
        monkeypatch.delattr(os, name, raising=False)
    host = Elsewhere(str(tmp_path), system)
    captures = everything(host)
    by_source = {kept.source: kept for kept in captures}
    assert by_source["zpool_status"].outcome == "data"
    assert not isinstance(COLLECTORS["zpool_status"].parse(by_source["zpool_status"].text), Unparsed)
    assert by_source["sysctl"].outcome == ("data" if system == "freebsd" else "nothing")
    assert all(kept.reason for kept in captures if kept.outcome == "nothing")
    portal = Portal()
    Reporter(host, rig.identity(), portal, "none.json").send(captures, {})
    assert portal.reports
