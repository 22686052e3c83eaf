"""illumos' disks, boot and mounts. The texts are made up after the functions that print them; none was taken on illumos."""

import pytest

from agents.collectors import _illumos, block, disk_links, mounts, node
from agents.collectors._boot_of_illumos import boot_id_of
from agents.collectors.base import Unparsed
from agents.domain.disk_identity import doubt
from agents.domain.disk_uses import NOT_BLANK, way_on, ways_on
from agents.domain.listed_disks import FREE
from agents.domain.wwid import (
    as_other_systems_name,
    by_id_path,
    device_path,
    is_unit_of,
    normalise,
    of_vhci,
    strip_partition,
    unit_of,
    without_slice,
)

ONE, TWO, PORT = "c0t5000C500A65B207Bd0", "c0t5000C500A65B208Bd0", "c2t3d0"
LISTED = f"""\
SCSI\t{ONE}\tSEAGATE\tST4000NM0023\tZ1Z0ABCD0000C9200AAA\t4000787030016\t----\t0,-1
SCSI\t{TWO}\tHGST\tHUS724040ALS640\tPCGABCDE\t4000787030016\t---S\t0,-1
SATA\t{PORT}\tATA\tINTEL SSDSC2BB08\tBTWL0000\t80026361856\t---S\t-1,-1
"""
LINKS = f"""\
total 60
lrwxrwxrwx   1 root     root          48 Nov 29 21:04 {ONE} -> ../../devices/scsi_vhci/disk@g5000c500a65b207b:wd,raw
lrwxrwxrwx   1 root     root          48 Nov 29 21:04 {ONE}p0 -> ../../devices/scsi_vhci/disk@g5000c500a65b207b:q,raw
lrwxrwxrwx   1 root     root          48 Nov 29 21:04 {ONE}s0 -> ../../devices/scsi_vhci/disk@g5000c500a65b207b:a,raw
lrwxrwxrwx   1 root     root          48 Nov 29 21:04 {TWO}s0 -> ../../devices/scsi_vhci/disk@g5000c500a65b208b:a,raw
lrwxrwxrwx   1 root     root          57 Mar  3  2025 {PORT}s0 -> ../../devices/pci@0,0/pci15d9,86d@17/disk@3,0:a,raw
drwxr-xr-x   2 root     sys            4 Mar  3  2025 md
"""
USERS = {ONE: " [zfs,dev=(83,128),dev_path=/scsi_vhci/disk@g5000c500a65b207b:a]    412o.", TWO: ".", PORT: ""}  # fmt: skip
TABLE = "       0      4    00          256  7814020495  7814020750\n       8     11    00   7814020751       16384  7814037134\n"


def behind(question, answer):
    return "".join(f"{question}:{line}\n" for line in answer.rstrip("\n").split("\n"))


def text(listed=LISTED, links=LINKS, users=USERS, table=TABLE, exported=_illumos.NO_EXPORTS):
    parts = [
        behind("diskinfo -Hcp", listed),
        behind("ls -l /dev/rdsk", links),
        *(behind(f"fuser -d {name}", answer) for name, answer in users.items()),
    ]
    return "".join(
        (*parts, *([behind(f"prtvtoc -h {ONE}", table)] if table else []), behind("stmfadm list-lu -v", exported) if exported else "")
    )


def disks(**parts):
    found = block.parse(text(**parts))
    assert not isinstance(found, Unparsed), found
    return {disk.name: disk for disk in found}


def test_a_disk_has_its_identity_size_slices_and_who_has_it_open():
    found = disks()
    assert list(found) == [ONE, TWO, PORT]
    one, two, port = found.values()
    assert (one.wwid, one.serial, one.size_bytes, one.state, one.model) == (
        f"dsk:{ONE}",
        "Z1Z0ABCD0000C9200AAA",
        4000787030016,
        "live",
        "SEAGATE ST4000NM0023",
    )
    assert ([part.name for part in one.partitions], one.mode, one.holders) == ([f"{ONE}s0", f"{ONE}s8"], "zfs and process 412", ())
    assert (two.wwid, two.partitions, two.mode) == (f"dsk:{TWO}", (), FREE[1])
    assert (port.wwid, port.mode, port.holders) == (None, "", None), "a name by its place is no identity, and what has it open is not known"


def test_names_below_dev_dsk_lead_to_disks_and_slices():
    links = dict(disk_links.parse(text(users={}, table="", exported="")))
    assert links == {f"/dev/dsk/{ONE}": ONE, f"/dev/dsk/{ONE}s0": f"{ONE}s0", f"/dev/dsk/{TWO}": TWO}


UNKNOWN = {
    "COMSTAR was not asked": {"exported": ""},
    "an answer that nobody prints": {"users": USERS | {TWO: " something else."}},
    "an answer that was cut": {"users": USERS | {TWO: " [zfs"}},
    "it was not asked": {"users": {}},
}


@pytest.mark.parametrize("parts", UNKNOWN.values(), ids=UNKNOWN)
def test_who_has_it_open_is_not_known(parts):
    assert (disks(**parts)[TWO].mode, disks(**parts)[TWO].holders) == ("", None)


def test_what_comstar_exports_is_in_use():
    assert disks(exported=f"    Data File         : /dev/rdsk/{TWO}s0\n")[TWO].mode == "COMSTAR"
    assert disks(exported=f"    Data File         : /dev/rdsk/{TWO[:-2]}Ad0\n")[TWO].mode == FREE[1]


def test_names_that_lead_to_two_devices_are_no_identity():
    links = LINKS.replace(
        f"{ONE}s0 -> ../../devices/scsi_vhci/disk@g5000c500a65b207b", f"{ONE}s0 -> ../../devices/scsi_vhci/disk@g5000c500a65b208b"
    )
    assert disks(links=links)[ONE].wwid is None


@pytest.mark.parametrize(
    "parts",
    [
        {"listed": LISTED.replace("4000787030016", "3.64 TiB", 1)},
        {"listed": LISTED + LISTED.splitlines()[0] + "\n"},
        {"listed": LISTED.replace("\t0,-1", "", 1)},
        {"table": "       0      4    00     whole\n"},
    ],
)
def test_what_cannot_be_read_is_refused(parts):
    assert isinstance(block.parse(text(**parts)), Unparsed)
    assert isinstance(block.parse(text() + "sysctl:kern\n"), Unparsed)
    assert isinstance(block.parse(text()[:-1]), Unparsed)


def test_an_identity_is_made_of_the_name_of_the_unit_alone():
    wwid = f"dsk:{ONE}"
    assert of_vhci(ONE, "/scsi_vhci/disk@g5000c500a65b207b") == normalise(wwid) == wwid
    assert of_vhci(ONE, "/scsi_vhci/disk@g5000c500a65b207c") is None
    assert of_vhci(ONE, "/pci@0,0/pci15d9,808@0/iport@f/disk@w5000c500a65b207b,0") is None
    assert of_vhci("c0t5000C500A65B207Bd1", "/scsi_vhci/disk@g5000c500a65b207b") is None
    assert (by_id_path(wwid), unit_of(wwid), as_other_systems_name(wwid)) == (f"/dev/dsk/{ONE}", "5000c500a65b207b", "naa:5000c500a65b207b")
    assert is_unit_of("naa:5000c500a65b207b", wwid)
    assert not is_unit_of("naa:5000c500a65b207c", wwid)
    assert (strip_partition(f"/dev/dsk/{ONE}s0"), without_slice(f"{ONE}p0"), without_slice("sda1")) == ((f"/dev/dsk/{ONE}", 0), ONE, "sda1")
    assert [device_path(name) for name in (ONE, f"{ONE}s0", "c2d0", "sda1")] == [
        f"/dev/rdsk/{ONE}p0",
        f"/dev/rdsk/{ONE}s0",
        "/dev/rdsk/c2d0p0",
        "/dev/sda1",
    ]
    assert doubt(wwid, (disks()[ONE],)) == ""


MADE = "2026 11 29 21 04 11 123456789", "2026 11 29 21 04 11 654321098"
PROC = """\
dr-x--x--x   5 root     root         864 2026-11-29 21:04:11.123456789 +0000 /proc/0
dr-x--x--x   5 root     root         864 2026-11-29 21:04:11.654321098 +0000 /proc/3
"""


def parsed(proc=PROC, zone="global", kind="illumos", release="omnios-r151050-0d3ac2b1f7"):
    lines = {"hostid": "007f0101", "uname -o": kind, "uname -n": "oss01", "uname -v": release, "zonename": zone}
    found = node.parse("".join(f"{name}:{value}\n" for name, value in lines.items()) + behind("ls -dE /proc/0 /proc/3", proc))
    assert not isinstance(found, Unparsed), found
    return found


def test_the_boot_is_known_by_the_times_of_two_processes():
    found = parsed()
    assert (found.system, found.hostname, found.hostid, found.boot_id) == (
        "illumos",
        "oss01",
        "007f0101",
        "20261129-2104-1112-3456-789654321098",
    )
    assert (found.kernel, found.zfs_module, found.zfs_userland) == (
        "5.11 omnios-r151050-0d3ac2b1f7",
        *["illumos omnios-r151050-0d3ac2b1f7"] * 2,
    )
    assert len({boot_id_of(*pair) for pair in ((MADE[0], MADE[1]), (MADE[1], MADE[0]), (MADE[0], MADE[0]))}) == 3


DOUBTS = {
    "a clock that had lost its time": {"proc": PROC.replace("2026-11-29", "1987-01-01")},
    "no fraction": {"proc": PROC.replace(".654321098", ".000000000")},
    "another zone of time": {"proc": PROC.replace("+0000", "-0800")},
    "one process alone": {"proc": PROC.splitlines()[0] + "\n"},
    "an ls without fractions": {"proc": PROC.replace(".123456789 +0000", "")},
    "another process": {"proc": PROC.replace("/proc/3", "/proc/1")},
    "not the global zone": {"zone": "web"},
}


@pytest.mark.parametrize("parts", DOUBTS.values(), ids=DOUBTS)
def test_doubt_is_no_boot_id(parts):
    assert (parsed(**parts).boot_id, parsed(**parts).system) == (None, "illumos")


def test_oracles_solaris_is_none():
    found = parsed(kind="Solaris", release="11.4.0.15.0")
    assert (found.system, found.boot_id, found.zfs_module, found.hostname) == (None, None, None, None)


MNTTAB = "/etc/mnttab:rpool/ROOT/omnios\t/\tzfs\trw,dev=4310002\t1795248000\n/etc/mnttab:/dev/dsk/c2t3d0s7\t/old\tufs\trw\t1795248000\n"


def test_mounts_and_swap():
    found = mounts.parse(
        f"{MNTTAB}swap -l:swapfile             dev    swaplo   blocks     free\nswap -l:/dev/dsk/c2t3d0s1 229,1 8 2097144 2097144\n"
    )
    assert found.mounts[1] == ("/dev/dsk/c2t3d0s7", "/old", "ufs")
    assert found.swaps == ("/dev/dsk/c2t3d0s1",)
    assert mounts.parse(f"{MNTTAB}swap -l:{mounts.NO_SWAP}\n").swaps == ()
    assert isinstance(mounts.parse(f"{MNTTAB}swap -l:permission denied\n"), Unparsed)


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("held by what has it open (zfs and process 412)", "fuser -d /dev/rdsk/c0t5000C500A65B207Bd0p0"),
        ("held by what has it open (COMSTAR)", "stmfadm delete-lu"),
        ("swap (c0t5000C500A65B207Bd0)", "swap -d"),
        ("mounted on /old (c2t3d0)", "fuser -c /old"),
        (NOT_BLANK, "a disk that was never used"),
        ("anything else", "prtvtoc"),
    ],
)
def test_how_each_use_is_ended(use, expected):
    text = way_on(use, f"/dev/dsk/{ONE}")
    assert expected in text
    assert not any(word in text for word in ("lsblk", "wipefs", "{"))
    assert expected.split(" ", 1)[-1] in ways_on((use,), f"/dev/dsk/{ONE}")
