"""Taking a disk away from the kernel, when its names move between one write and the next: no other disk is ever deleted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.operations import disk_delete
from twin import scenarios
from twin.scenarios import Clock


@pytest.fixture
def twin(tmp_path):
    """The disk that blocks the pool has a second path."""
    node = scenarios.diverged_disk()
    disk = node.disk(node.pool("ost_0").blocked_by[0])
    disk.paths.append(replace(disk.paths[0], name="sdy", hctl="2:0:99:0"))
    return scenarios.host(tmp_path, node, Clock())


def params(twin) -> dict[str, str]:
    pool = twin.view().node.pool("ost_0")
    return {"pool": "ost_0", "pool_guid": str(pool.guid), "wwid": pool.blocked_by[0]}


def names(twin, wwid: str) -> list[str]:
    return [path.name for disk in twin.view().node.disks if disk.wwid == wwid for path in disk.paths]


def writes(twin) -> list[str]:
    return [line["argv"][1] for line in twin.store.logged() if line["argv"][0] == "write"]


def test_every_path_is_deleted_while_it_leads_to_the_disk(twin):
    first, second = names(twin, params(twin)["wwid"])
    ran = disk_delete.perform(twin, params(twin))
    assert (ran.exit_code, ran.stdout) == (0, f"{first}: deleted\n{second}: deleted\n".encode())


class Moving:
    """The twin, whose second name is another disk's once the first has been deleted."""

    def __init__(self, twin, name: str, leads_to: bytes | None) -> None:
        self._twin, self._name, self._leads_to, self._moved = twin, name, leads_to, False

    def __getattr__(self, name):
        return getattr(self._twin, name)

    def write(self, path: str, data: bytes) -> None:
        self._twin.write(path, data)
        self._moved = True

    def read(self, path: str) -> bytes:
        if self._moved and path in (f"/sys/block/{self._name}/device/wwid", f"/sys/block/{self._name}/wwid"):
            if self._leads_to is None:
                raise FileNotFoundError(path)
            return self._leads_to
        return self._twin.read(path)


@pytest.mark.parametrize(
    ("leads_to", "expected"),
    [
        (b"naa.5000c500a65b206b\n", "is naa:5000c500a65b206b by now"),
        (None, "does not report which disk it is any more"),
        (b"\n", "does not report"),
    ],
)
def test_a_name_that_has_gone_to_another_disk_is_not_deleted_and_what_was_is_said(twin, leads_to, expected):
    wwid = params(twin)["wwid"]
    first, second = names(twin, wwid)
    ran = disk_delete.perform(Moving(twin, second, leads_to), params(twin))
    assert ran.exit_code == 1
    assert ran.stdout == f"{first}: deleted\n".encode()
    assert f"{second} {expected}" in ran.stderr.decode()
    assert "It was not deleted" in ran.stderr.decode()
    assert writes(twin) == [f"/sys/block/{first}/device/delete"]
    assert names(twin, wwid) == [second]


def test_what_was_half_done_is_for_people(twin):
    before = disk_delete.preconditions(twin, params(twin))
    _, second = names(twin, params(twin)["wwid"])
    disk_delete.perform(Moving(twin, second, None), params(twin))
    probe = disk_delete.probe(twin, params(twin), before)
    assert (probe.result, second in probe.reason) == ("cannot_tell", True)
