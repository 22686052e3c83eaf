"""What a paste alone tells of a cause: names that moved, kernel logs, events, one text each."""

from pathlib import Path

import pytest

from workflows.situations import zfs_events
from workflows.triage import triage

CASES = Path(__file__).parent / "cases"


def found(*names: str):
    return triage([(name, (CASES / f"{name}.txt").read_text()) for name in names]).situations


TREE = """  pool: tank
 state: DEGRADED
status: One or more devices could not be used because the label is missing or
\tinvalid.  Sufficient replicas exist for the pool to continue
\tfunctioning in a degraded state.
action: Replace the device using 'zpool replace'.
  scan: none requested
config:

\tNAME                      STATE     READ WRITE CKSUM
\ttank                      DEGRADED     0     0     0
\t  raidz1-0                DEGRADED     0     0     0
\t    sda                   ONLINE       0     0     0
\t    {lost}   FAULTED      0     0     0  was {was}
\t    {now}                   ONLINE       0     0     0

errors: No known data errors
"""


@pytest.mark.parametrize(
    ("was", "now"), [("/dev/sdc1", "sdc"), ("/dev/sdc1", "/dev/sdc1"), ("/dev/nvme1n1p1", "nvme1n1"), ("/dev/disk/by-vdev/A3-part1", "A3")]
)
def test_an_old_name_that_a_healthy_member_has_today_is_seen_in_the_tree_alone(was, now):
    (one,) = triage([("p", TREE.format(lost="7473835970016080094", was=was, now=now))]).situations
    assert (one.slug, one.severity) == ("wwid-mismatch", "act")
    assert (one.subject["vdev_guid"], one.subject["now_vdev_name"]) == ("7473835970016080094", now)
    assert "Neither pull that disk nor replace anything with it" in one.meaning


def test_a_name_that_nobody_has_today_is_no_clash():
    (one,) = triage([("p", TREE.format(lost="7473835970016080094", was="/dev/sdq1", now="sdc"))]).situations
    assert one.slug == "disk-missing"


def test_a_disk_replaced_in_its_own_bay_is_no_clash():
    replacing = TREE.replace("\t    {lost}   FAULTED", "\t    replacing-1  DEGRADED  0     0     0\n\t      {lost}   FAULTED").replace(
        "\t    {now} ", "\t      {now} "
    )
    assert "wwid-mismatch" not in {
        one.slug for one in triage([("p", replacing.format(lost="7473835970016080094", was="/dev/sdc1", now="sdc"))]).situations
    }


def test_rows_grepped_out_of_a_tree_beside_lsscsi_name_the_healthy_member():
    (one,) = found("wwid-mismatch-status-and-lsscsi")
    assert (one.slug, one.severity) == ("wwid-mismatch", "act")
    assert (one.subject["vdev_guid"], one.subject["now_wwid"]) == ("14718944552882581455", "naa:5000c500a6754abb")


def test_two_children_with_one_device_id_prove_nothing_by_it():
    (one,) = found("wwid-mismatch-zdb-children")
    assert (one.subject["vdev_guid"], one.subject["now_vdev_guid"]) == ("14718944552882581455", "7602460441426092393")
    assert "bears the same id, so it proves nothing" in one.meaning


def test_a_disk_that_alone_opens_no_pool_is_named():
    (one,) = found("import-one-device-zdb")
    assert "asked with sddi alone" in one.meaning


def slugs(name: str) -> list[tuple[str, str, bool]]:
    return [(one.slug, one.severity, one.gate) for one in found(name) if not one.cause]


@pytest.mark.parametrize(
    ("name", "roots"),
    [
        ("m12-kernel-suspended", [("pool-suspended", "act", True)]),
        ("m13-kernel-medium-errors", [("kernel-errors", "act", False)]),
        ("m14-kernel-hba-fault", [("hba-fault", "act", True)]),
        ("task-aborts-and-mmp-suspension", [("pool-suspended", "act", True), ("disk-hangs", "act", False)]),
        ("branch-of-devices-offline", [("hba-fault", "act", True)]),
    ],
)
def test_a_kernel_log_alone_is_judged(name, roots):
    assert slugs(name) == roots


def test_slot_address_and_command_in_the_log_are_told():
    hangs = next(one for one in found("task-aborts-and-mmp-suspension") if one.slug == "disk-hangs")
    for words in ("0x5000cca2736aaadd", "bay 30 of enclosure 0x50050cc11ac016e2", "a 32-byte CDB"):
        assert words in hangs.meaning


def test_a_medium_error_is_told_with_its_sector_and_is_the_disks_own():
    (one,) = found("m13-kernel-medium-errors")
    assert "12345" in one.title
    assert "neither the cable nor the HBA" in one.meaning


STAMPS = {
    "dmesg": "[{n:>5}.000001] ",
    "dmesg -T": "[Tue Nov 25 02:37:{n:02} 2025] ",
    "syslog": "Nov 25 02:37:{n:02} oss01 kernel: ",
    "syslog with the kernel's stamp": "Nov 25 02:37:{n:02} oss01 kernel: [138671.4163{n:02}] ",
    "journald short-precise": "Nov 25 02:37:{n:02}.123456 oss01 kernel: ",
    "journald short-iso": "2025-11-25T02:37:{n:02}+0000 oss01 kernel: ",
    "rsyslog": "2025-11-25T02:37:{n:02}.123456+01:00 oss01 kernel: ",
    "dmesg --time-format=iso": "2025-11-25T02:37:{n:02},123456+00:00 ",
    "journald short-monotonic": "[  138.0000{n:02}] oss01 kernel: ",
    "journald short-full": "Tue 2025-11-25 02:37:{n:02} UTC oss01 kernel: ",
    "dmesg -r": "<4>[  138.0000{n:02}] ",
    "dmesg -x": "kern  :warn  : [  138.0000{n:02}] ",
    "with the thread": "[  138.0000{n:02}][  T123] ",
    "none": "",
}
LINES = [
    "sd 6:0:1:0: [sdb] tag#1 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE",
    "sd 6:0:1:0: [sdb] tag#1 Sense Key : Medium Error [current]",
    "sd 6:0:1:0: [sdb] tag#1 Add. Sense: Unrecovered read error",
    "blk_update_request: critical medium error, dev sdb, sector 12345 op 0x0:(READ) flags 0x700 phys_seg 1 prio class 0",
]


@pytest.mark.parametrize("stamp", STAMPS)
def test_every_stamp_is_read_and_kept(stamp):
    text = "".join(
        f"{STAMPS[stamp].format(n=61 - 10 + n if stamp == 'dmesg' else n)}{line}\n"
        for n, line in enumerate(LINES, 70 if stamp == "dmesg" else 10)
    )
    answer = triage([("p", text)])
    (one,) = answer.situations
    assert (one.slug, one.subject["name"], one.subject["why"]) == ("kernel-errors", "sdb", "medium")
    if stamp not in ("none",):
        assert all(line.line.startswith("[") for line in one.evidence)


OTHERS = {
    "nvme nvme0: I/O 12 QID 3 timeout, aborting": ("nvme0", "timeout"),
    "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff": ("nvme0", "dropped"),
    "ata3.00: failed command: READ FPDMA QUEUED": ("ata3.00", "io"),
    "ata3: hard resetting link": ("ata3", "link"),
    "Buffer I/O error on dev sdb1, logical block 7, async page read": ("sdb", "io"),
    "end_request: I/O error, dev sdq, sector 5": ("sdq", "io"),
    "sd 1:0:3:0: Device offlined - not ready after error recovery": ("1:0:3:0", "gone"),
    "(da7:ahd0:0:7:0): MEDIUM ERROR info:1f7a0 asc:11,0": ("da7", "medium"),
    "(da7:ahd0:0:7:0): ABORTED COMMAND asc:47,3": ("da7", "link"),
    "(da7:mps0:0:7:0): SCSI sense: ABORTED COMMAND asc:4b,3 (ACK/NAK timeout)": ("da7", "link"),
    "zio pool=tank vdev=/dev/disk/by-id/wwn-0x5000c500a65b200b-part1 error=5 type=1 offset=270336 size=8192 flags=180880": (
        "wwn-0x5000c500a65b200b",
        "io",
    ),
    "(da5:mps0:0:13:0): SCSI sense: MEDIUM ERROR asc:11,0 (Unrecovered read error)": ("da5", "medium"),
    "(ada1:ahcich1:0:0:0): CAM status: Command timeout": ("ada1", "timeout"),
}


@pytest.mark.parametrize("line", OTHERS)
def test_each_kind_of_error_of_a_disk_is_told_by_its_kind(line):
    (one,) = triage([("p", f"Nov 25 02:37:04 oss01 kernel: {line}\n")]).situations
    assert (one.subject["name"], one.subject["why"], one.severity) == (*OTHERS[line], "act")


OF_THE_NODE = {
    "VERIFY3(0 == remove_reference(hdr, NULL, tag)) failed (0 == 1)": ("panic", "act", True),
    "PANIC: zfs: adding existent segment to range tree (offset=1 size=2)": ("panic", "act", True),
    "INFO: task txg_sync:3911 blocked for more than 120 seconds.": ("hung", "act", False),
    "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)": ("memory", "watch", False),
    "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)": ("memory", "act", True),
    "Out of memory: Killed process 4711 (zpool) total-vm:1kB": ("oom", "act", False),
    "WARNING: ZFS replay transaction error 5, dataset tank/a, seq 0x12, txtype 9": ("log-replay", "act", False),
}


@pytest.mark.parametrize("line", OF_THE_NODE)
def test_what_the_node_itself_suffers_is_told(line):
    (one,) = triage([("p", f"Nov 25 02:37:04 oss01 kernel: {line}\n")]).situations
    assert (one.slug, one.subject["why"], one.severity, one.gate) == ("kernel-errors", *OF_THE_NODE[line])


def test_many_disks_with_errors_of_the_way_are_one_trouble_and_a_gate():
    text = "".join(f"Nov 25 02:37:0{n} oss01 kernel: blk_update_request: I/O error, dev sd{'bcdef'[n]}, sector {n}\n" for n in range(5))
    (one,) = triage([("p", text)]).situations
    assert (one.slug, one.severity, one.gate) == ("kernel-errors", "act", True)
    assert "look at what they share" in one.meaning


def test_resets_of_several_disks_at_once_are_a_storm_and_those_of_disks_just_attached_are_none():
    storm = [f"[ 2000.00000{n}] sd 0:0:{n}:0: Power-on or device reset occurred" for n in range(7)]
    (one,) = triage([("p", "\n".join(storm) + "\n")]).situations
    assert (one.slug, one.severity, one.gate) == ("hba-fault", "act", True)
    attached = [f"[ 2001.00000{n}] sd 0:0:{n}:0: [sd{'abcdefg'[n]}] Attached SCSI disk" for n in range(7)]
    assert not triage([("p", "\n".join(storm + attached) + "\n")]).situations


BOOT = """[    1.000001] mpt3sas_cm0: sending diag reset !!
[    2.000001] mpt3sas_cm0: diag reset: SUCCESS
[    3.000001] sd 0:0:0:0: Power-on or device reset occurred
[    3.100001] sd 0:0:0:0: [sda] Attached SCSI disk
[    9.000001] ZFS: Loaded module v2.3.2-1, ZFS pool version 5000, ZFS filesystem version 5
[   10.000001] zfs: module license 'CDDL' taints kernel.
[  500.000001] mpt3sas_cm0: log_info(0x31120303): originator(PL), code(0x12), sub_code(0x0303)
"""


def test_a_boot_and_one_note_of_a_link_are_no_trouble():
    (found,) = triage([("p", BOOT)]).situations
    assert (found.slug, found.severity) == ("hba-fault", "info")
    assert "commands were aborted" in found.meaning


def record(kind: str, eid: int, guid: int = 0xFA97EC025E68D695, pool: str = "tank", **more: str) -> str:
    fields = {
        "class": f'"{kind}"',
        "pool": f'"{pool}"',
        "pool_guid": "0x13397ca7eb4857cc",
        "vdev_guid": f"{guid:#x}",
        **more,
        "time": "0x5a7e1115 0x20a0e913 ",
        "eid": f"{eid:#x}",
    }
    return f"Feb  9 2018 22:22:29.547416339 {kind}\n" + "".join(f"        {name} = {value}\n" for name, value in fields.items()) + "\n"


HEADING = "TIME                           CLASS\n"
CHANGED = "resource.fs.zfs.statechange"


def of_events(*records: str, tree: str = ""):
    return triage([("events", HEADING + "".join(records)), ("tree", tree)]).situations


def test_a_member_that_an_event_calls_faulted_is_named_by_its_guid():
    (one,) = found("m20-events-statechange-faulted")
    assert (one.slug, one.severity, one.subject["vdev_guid"]) == ("disk-faulted", "act", "18057160725883311765")
    assert "whether it is still so is not known" in one.meaning


@pytest.mark.parametrize(
    ("state", "slug"), [("FAULTED", "disk-faulted"), ("DEGRADED", "disk-faulted"), ("REMOVED", "disk-missing"), ("UNAVAIL", "disk-missing")]
)
def test_each_state_is_its_own_situation(state, slug):
    (one,) = of_events(record(CHANGED, 1, vdev_state=f'"{state}" (0x5)'))
    assert (one.slug, one.subject["state"]) == (slug, state)


def test_a_member_that_came_back_later_is_no_trouble():
    assert not of_events(record(CHANGED, 1, vdev_state='"FAULTED" (0x5)'), record(CHANGED, 2, vdev_state='"ONLINE" (0x7)'))


WELL = (
    TREE.format(lost="sdb                ", was="x", now="sdc")
    .replace("FAULTED      0     0     0  was x", "ONLINE       0     0     0")
    .replace("DEGRADED", "ONLINE")
)
WELL = WELL.replace(WELL[WELL.index("status:") : WELL.index("  scan:")], "")


def test_an_old_event_of_a_pool_that_is_whole_today_is_none():
    found = of_events(record(CHANGED, 1, vdev_state='"FAULTED" (0x5)'), record("ereport.fs.zfs.checksum", 2), tree=WELL)
    assert [one.slug for one in found] == ["scrub-overdue"]  # its tree says that it was never scrubbed


def test_errors_of_one_member_are_watched_and_of_many_are_one_cause_and_a_gate():
    (few,) = of_events(record("ereport.fs.zfs.checksum", 1))
    assert (few.slug, few.severity, few.gate) == ("zfs-events", "watch", False)
    (many,) = of_events(*(record("ereport.fs.zfs.checksum", n, guid=n) for n in (1, 2, 3)))
    assert (many.slug, many.severity, many.gate) == ("zfs-events", "act", True)
    assert "have one cause" in many.meaning


@pytest.mark.parametrize(
    "kind", ["probe_failure", "deadman", "vdev.open_failed", "vdev.corrupt_data", "vdev.bad_label", "log_replay", "data"]
)
def test_a_grave_error_is_acted_on(kind):
    (one,) = of_events(record(f"ereport.fs.zfs.{kind}", 1))
    assert (one.slug, one.severity) == ("zfs-events", "act")


def test_a_suspension_is_seen_in_events_alone_until_it_was_cleared():
    stopped = record("ereport.fs.zfs.io_failure", 1)
    (one,) = of_events(stopped)
    assert (one.slug, one.subject["pool"]) == ("pool-suspended", "tank")
    assert not of_events(stopped, record("sysevent.fs.zfs.vdev_clear", 2))


def test_events_without_their_fields_are_read_and_what_they_cannot_say_is_said():
    lines = [
        "Nov 25 2025 02:37:04.123456789  sysevent.fs.zfs.config_sync",
        "Nov 25 2025 02:37:05.123456789  ereport.fs.zfs.checksum",
        "Nov 25 2025 02:37:06.123456789  resource.fs.zfs.statechange",
    ]
    (one,) = triage([("p", "# zpool events\n" + HEADING + "\n".join(lines) + "\n")]).situations
    assert (one.slug, one.severity) == ("zfs-events", "watch")
    assert "`zpool events -v` shows which one" in one.meaning


def test_what_zed_writes_to_the_system_log_is_an_event_too():
    (one,) = triage(
        [("p", "Nov 25 02:37:04 oss01 zed[4711]: eid=12 class=statechange pool='tank' vdev=sdb1 vdev_state=FAULTED\n")]
    ).situations
    assert (one.slug, one.subject["pool"], one.subject["was"]) == ("disk-faulted", "tank", "sdb1")


def test_a_disk_that_takes_a_minute_for_inquiry_hangs_now_and_then():
    (one,) = found("slow-inquiry-62s")
    assert (one.slug, one.severity, one.subject["seconds"]) == ("slow-inquiry", "act", "62.1")
    for words in ("23 of 252 bytes", "multihost", "milliseconds"):
        assert words in one.meaning


def test_an_inquiry_that_is_answered_at_once_is_no_trouble():
    text = (CASES / "slow-inquiry-62s.txt").read_text().replace("1m2.095s", "0m0.012s")
    answer = triage([("p", text)])
    assert not answer.situations
    assert {read.source for read in answer.reads} == {"sg_inq"}


def test_a_line_of_zfs_that_no_pattern_knows_is_kept_as_unexplained():
    answer = triage([("p", "Nov 25 02:37:04 oss01 kernel: ZFS: the moon is full\nNov 25 02:37:05 oss01 kernel: usb 1-1: new device\n")])
    (node,) = answer.fleet.nodes.values()
    assert node.kernel_log.counted() == (("unexplained", "ZFS: the moon is full"),)


def test_an_event_of_a_class_that_nobody_knew_is_kept_as_unexplained():
    answer = triage([("p", HEADING + record("ereport.fs.zfs.moon", 1))])
    (node,) = answer.fleet.nodes.values()
    assert zfs_events.unexplained(node) == (("ereport.fs.zfs.moon", "ereport.fs.zfs.moon of tank"),)


def test_a_disk_that_linux_2_6_gives_up_is_named_as_a_newer_one_says_it():
    (one,) = triage(
        [("p", "Nov 25 02:37:04 oss01 kernel: scsi 0:1:7:0: scsi: Device offlined - not ready after error recovery\n")]
    ).situations
    assert (one.slug, one.subject["name"], one.subject["why"]) == ("kernel-errors", "0:1:7:0", "gone")
