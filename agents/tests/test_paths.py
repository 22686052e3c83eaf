"""Disks on two paths: what is asked of the disk, and what of each path."""

import errno
import fnmatch

import pytest

from agents.collectors import drive_modes, sg_logs, smart, zdb_label, zdb_uberblocks
from agents.host.host import Ran

NAA = "naa.5000c500a65b20%02x\n"
STATUS = """  pool: tank
config:

\tNAME           STATE     READ WRITE CKSUM
\ttank           ONLINE       0     0     0
\t  mirror-0     ONLINE       0     0     0
\t    /dev/sdc1  ONLINE       0     0     0
\t    /dev/sdd3  ONLINE       0     0     0
"""


class Node:
    """sysfs of some disks, each with a first partition, and a pool on the second path to the first of them."""

    def __init__(self, **wwids: str) -> None:
        self.files = {}
        for disk, wwid in wwids.items():
            about = {"vendor": "SEAGATE \n", "sas_address": "0x5000c500a65b2001\n", "state": "running\n", "wwid": wwid}
            self.files.update({f"/sys/block/{disk}/device/{name}": value for name, value in about.items() if value})
            self.files[f"/sys/block/{disk}/{disk}1"] = ""

    def read(self, path):
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, "no such attribute", path)
        return self.files[path].encode()

    def list(self, pattern):
        depth = pattern.count("/")
        paths = {"/".join(path.split("/")[: depth + 1]) for path in self.files if path.count("/") >= depth}
        return tuple(sorted(fnmatch.filter(paths, pattern)))

    def run(self, argv, timeout_seconds):
        assert argv == zdb_uberblocks.MEMBERS
        return Ran(argv, 0, STATUS.encode(), b"", 0.1)


@pytest.fixture
def node():
    return Node(sda=NAA % 1, sdb=NAA % 2, sdc=NAA % 1, sdd=NAA % 2, sde=NAA % 3)


@pytest.mark.parametrize("module", [sg_logs, drive_modes])
def test_what_the_disk_keeps_is_asked_through_one_path_that_runs(node, module):
    assert module.keys(node) == ("sda", "sdb", "sde")
    node.files["/sys/block/sda/device/state"] = "offline\n"
    assert module.keys(node) == ("sdc", "sdb", "sde")
    node.files["/sys/block/sdc/device/state"] = "blocked\n"
    assert module.keys(node) == ("sda", "sdb", "sde")


@pytest.mark.parametrize("wwid", ["", "naa.0000000000000000\n", "\n"])
def test_what_has_no_identity_is_a_disk_of_its_own(wwid):
    assert sg_logs.keys(Node(sda=wwid, sdb=wwid)) == ("sda", "sdb")


def test_what_can_hang_on_one_path_is_asked_through_each(node):
    assert smart.keys(node) == ("sda", "sdb", "sdc", "sdd", "sde")
    assert zdb_label.keys(node) == ("sda1", "sdb1", "sdc1", "sdd1", "sde1")


def test_a_member_of_an_imported_pool_is_one_on_its_other_path_too(node):
    """The pool names sdc1, and sda1 is the same disk. Of sdd and sdb it has the third partition only."""
    assert zdb_uberblocks.keys(node) == ("sdb1", "sdd1", "sde1")


@pytest.mark.parametrize(
    ("uuid", "asked"),
    [
        ("part1-mpath-35000c500a65b2003\n", ("sdb1", "sdd1")),
        ("mpath-35000c500a65b2003\n", ("sdb1", "sdd1", "sde1")),  # the whole disk, and not its partition
        ("LVM-3\n", ("sdb1", "sdd1", "sde1")),
    ],
)
def test_the_paths_below_a_member_are_members(node, monkeypatch, uuid, asked):
    node.files["/sys/block/dm-4/dm/uuid"] = uuid
    monkeypatch.setattr("agents.tests.test_paths.STATUS", STATUS + "\t    /dev/dm-4  ONLINE       0     0     0\n")
    assert zdb_uberblocks.keys(node) == asked


def test_without_identity_only_the_path_that_the_pool_names_is_its_member():
    assert zdb_uberblocks.keys(Node(sda="", sdc="")) == ("sda1",)
