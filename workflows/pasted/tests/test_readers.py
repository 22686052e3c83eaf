"""What people paste besides: each tool's output is known by its own text, read, and judged where it says of trouble."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest

from agents.collectors.base import Unparsed
from workflows.pasted import READERS, asked, begins
from workflows.triage import triage

CASES = Path(__file__).parent / "cases"

# case -> (reader, what is told of it)
EXPECTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "alerts-cleared": ("alerts", ()),
    "alerts-new": ("alerts", ("disk-failing watch", "vdev-degraded act")),
    "alerts-online": (
        "alerts",
        ("disk-errors watch", "enclosure-fault act", "pool-filling watch", "scrub-paused watch", "unexplained watch"),
    ),
    "alerts-suspended": ("alerts", ("pool-suspended act",)),
    "alerts-unknown_state": ("alerts", ("unexplained act",)),
    "arcconf-config": ("arcconf", ("disk-failing act", "hba-fault act", "hba-fault watch", "hba-fault watch")),
    "arcconf-counts": ("arcconf", ("hba-fault act", "hba-fault act")),
    "arcconf-pd": ("arcconf", ("disk-failing act",)),
    "arcconf-status": ("arcconf", ()),
    "blkid-export": ("blkid", ("identity-conflict watch",)),
    "blkid-twins": ("blkid", ("identity-conflict watch",)),
    "blkid-udev": ("blkid", ()),
    "camcontrol-devlist": ("camcontrol", ()),
    "camcontrol-identify": ("camcontrol", ()),
    "cciss-failed": ("cciss", ("disk-failing act", "hba-fault watch", "hba-fault watch")),
    "cciss-well": ("cciss", ()),
    "field-background-scan": ("smart", ("background-scan info",)),
    "field-btt-d2c": ("btt", ("slow-disk act",)),
    "field-freebsd-iostat-x": ("iostat_text", ("slow-disk watch",)),
    "field-freebsd-zpool-iostat": ("zpool_iostat_text", ()),
    "field-illumos-mdb": ("mdb", ("tunable-written info",)),
    "field-kstat-dmu_tx": ("kstat_dmu_tx", ("writers-throttled info",)),
    "field-kstat-txgs": ("txgs", ()),
    "field-sas-tree-phy-counters": ("sas_tree", ("phy-errors info",)),
    "field-zpool-iostat-latency": ("zpool_iostat_text", ()),
    "field-zpool-status-c-temp": ("status_rows", ("disk-errors watch",)),
    "geom_list-disk": ("geom_list", ()),
    "geom_list-multipath": ("geom_list", ("path-lost act",)),
    "geom_status-label": ("geom_status", ()),
    "geom_status-multipath": ("geom_status", ("path-lost act",)),
    "hdparm-I": ("hdparm", ()),
    "hwraid-megaclisas": ("hwraid", ("disk-failing act", "hba-fault act", "hba-fault watch")),
    "hwraid-well": ("hwraid", ()),
    "iostat_errors-En": ("iostat_errors", ("disk-failing act",)),
    "iostat_text-en": ("iostat_text", ("disk-failing watch",)),
    "iostat_text-illumos": ("iostat_text", ("disk-failing watch",)),
    "iostat_text-linux": ("iostat_text", ("slow-disk watch",)),
    "iostat_text-stuck": ("iostat_text", ("disk-hangs act",)),
    "iostat_text-sysstat10": ("iostat_text", ()),
    "lsblk-default": ("lsblk", ("disk-failing watch",)),
    "lsblk-S": ("lsblk", ()),
    "lsblk-f": ("lsblk", ()),
    "lsblk-json": ("lsblk", ("path-lost act",)),
    "lsblk-numbered": ("lsblk", ("disk-failing watch",)),
    "lsblk-pairs": ("lsblk", ("path-lost act",)),
    "lsblk-state": ("lsblk", ("path-lost act",)),
    "lsscsi-long": ("lsscsi", ("path-lost act",)),
    "lsscsi-unknown_state": ("lsscsi", ("unexplained watch",)),
    "lvm-lvs": ("lvm", ("vdev-degraded watch",)),
    "lvm-missing": ("lvm", ("disk-missing watch",)),
    "machine_events-controller": ("machine_events", ("disk-missing watch", "unexplained watch", "vdev-degraded act")),
    "machine_events-megaraid": ("machine_events", ("disk-failing act", "disk-hangs watch")),
    "machine_events-sel": ("machine_events", ("disk-failing act", "disk-missing watch", "enclosure-fault watch")),
    "md-detail": ("md", ("disk-failing act",)),
    "md-mail": ("md", ("disk-failing act",)),
    "md-stopped": ("md", ("disk-missing act", "disk-missing watch")),
    "md-well": ("md", ()),
    "megacli-battery": ("megacli", ("hba-fault watch",)),
    "megacli-battery_well": ("megacli", ()),
    "megacli-ldinfo": ("megacli", ("hba-fault act",)),
    "megacli-none": ("megacli", ()),
    "megacli-pdlist": ("megacli", ("disk-failing act",)),
    "multipath_ll-blanks": ("multipath_ll", ("path-lost act",)),
    "multipath_ll-ghost": ("multipath_ll", ()),
    "multipath_ll-gone": ("multipath_ll", ("path-lost act",)),
    "multipath_ll-host": ("multipath_ll", ("path-lost act",)),
    "multipath_ll-old": ("multipath_ll", ("path-lost act",)),
    "multipath_ll-one-path": ("multipath_ll", ("path-lost act",)),
    "nvme-healthy": ("nvme", ()),
    "nvme-json": ("nvme", ("disk-failing act",)),
    "nvme-list": ("nvme", ()),
    "nvme-list_empty": ("nvme", ()),
    "nvme-list_json": ("nvme", ()),
    "nvme-smart": ("nvme", ("disk-failing act", "disk-worn act")),
    "redfish-drives": ("redfish", ("disk-failing act", "disk-missing watch", "hba-fault act")),
    "redfish-log": ("redfish", ("hba-fault watch",)),
    "redfish-python": ("redfish", ("disk-failing act",)),
    "sas_ircu-display": ("sas_ircu", ("disk-failing act",)),
    "sas_ircu-no_volumes": ("sas_ircu", ()),
    "ses-id_alone": ("ses", ()),
    "sesutil-map": ("sesutil", ("enclosure-fault act", "enclosure-fault watch")),
    "sesutil-show": ("sesutil", ()),
    "sg_map-plain": ("sg_map", ()),
    "smart_scan-open": ("smart_scan", ()),
    "smartd-log": (
        "smartd",
        (
            "disk-errors watch",
            "disk-failing act",
            "disk-failing act",
            "disk-failing watch",
            "disk-hot watch",
            "disk-missing watch",
            "unexplained watch",
        ),
    ),
    "smartd-mail": ("smartd", ("disk-failing act",)),
    "smartd-test_mail": ("smartd", ()),
    "ssacli-arrays": ("ssacli", ("hba-fault act",)),
    "ssacli-config": ("ssacli", ("disk-failing act", "disk-failing act", "hba-fault act")),
    "ssacli-detail": ("ssacli", ("unexplained watch",)),
    "ssacli-warning": ("ssacli", ("hba-fault watch", "hba-fault watch", "hba-fault watch")),
    "ssacli-wearing": ("ssacli", ("disk-failing act",)),
    "multipath_ll-nvme": ("multipath_ll", ("path-lost act",)),
    "nvme_subsys-json": ("nvme_subsys", ("path-lost act",)),
    "nvme_subsys-lost": ("nvme_subsys", ("path-lost act", "path-lost act")),
    "nvme_subsys-standby": ("nvme_subsys", ("path-lost watch",)),
    "nvme_subsys-topology": ("nvme_subsys", ("path-lost act",)),
    "nvme_subsys-well": ("nvme_subsys", ()),
    "zpool_iostat_r-pool": ("zpool_iostat_r", ()),
    "zpool_iostat_text-bare": ("zpool_iostat_text", ()),
    "storcli-detail": ("storcli", ("disk-failing act", "disk-failing watch")),
    "storcli-json": ("storcli", ("disk-failing act",)),
    "storcli-show": ("storcli", ("disk-failing act",)),
    "storcli-topology": ("storcli", ("disk-failing act", "hba-fault act", "hba-fault watch")),
    "storcli-two": ("storcli", ("disk-failing act",)),
    "areca-disk": ("areca", ("disk-failing act",)),
    "areca-drive": ("areca", ("disk-failing watch",)),
    "areca-sets": ("areca", ("hba-fault act",)),
    "areca-volumes": ("areca", ("hba-fault watch",)),
    "fmadm-faulty": ("fmadm", ("disk-faulted act",)),
    "fmadm-log": ("fmadm", ("disk-faulted watch",)),
    "megacli-adapter": ("megacli", ("hba-fault act",)),
    "megasasctl-ill": ("megasasctl", ("disk-failing watch", "hba-fault watch")),
    "megasasctl-plain": ("megasasctl", ("disk-failing watch", "hba-fault act")),
    "mfiutil-battery": ("mfiutil", ("hba-fault watch",)),
    "mfiutil-config": ("mfiutil", ("disk-failing act", "hba-fault act")),
    "mfiutil-drives": ("mfiutil", ("disk-failing act",)),
    "mfiutil-volumes": ("mfiutil", ("hba-fault act",)),
    "tw_cli-alarms": ("tw_cli", ("hba-fault watch",)),
    "tw_cli-battery": ("tw_cli", ("hba-fault watch",)),
    "tw_cli-info": ("tw_cli", ("hba-fault act",)),
    "tw_cli-port": ("tw_cli", ("disk-failing watch",)),
    "tw_cli-show": ("tw_cli", ("disk-failing act", "disk-failing act", "hba-fault act")),
    "tw_cli-well": ("tw_cli", ()),
    "udevadm-info": ("udevadm", ()),
    "zed_mail-data": ("zed_mail", ("data-errors act",)),
    "zed_mail-faulted": ("zed_mail", ("disk-faulted act",)),
    "zed_mail-spare": ("zed_mail", ("spare-in-use watch",)),
    "zed_mail-trim": ("zed_mail", ()),
    "zpool_get-H": ("zpool_get", ("pool-filling watch", "vdev-degraded act")),
    "zpool_get-all": ("zpool_get", ("pool-filling watch", "vdev-degraded act")),
    "zpool_get-readonly": ("zpool_get", ("pool-read-only watch",)),
    "zpool_get-well": ("zpool_get", ()),
    "zpool_iostat_text-q": ("zpool_iostat_text", ()),
    "zpool_iostat_text-slow": ("zpool_iostat_text", ("slow-disk watch",)),
    "zpool_list_text-full": (
        "zpool_list_text",
        ("checkpoint-held info", "pool-filling act", "pool-filling info", "vdev-degraded act"),
    ),
    "zpool_list_text-old": ("zpool_list_text", ()),
    "zpool_list_text-v": ("zpool_list_text", ("vdev-degraded act",)),
}


def text(name: str) -> str:
    return (CASES / f"{name}.txt").read_text()


def answer(name: str):
    return triage([(name, text(name))])


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_output_is_known_by_its_own_text_and_judged(name):
    found = answer(name)
    reader, reported = EXPECTED[name]
    assert [read.source for read in found.reads if read.outcome == "read"] == [reader]
    assert tuple(sorted(f"{s.slug} {s.severity}" for s in found.situations)) == tuple(sorted(reported))


@pytest.mark.parametrize("name", sorted(name for name, (_, reported) in EXPECTED.items() if reported))
def test_what_is_told_marks_the_lines_it_was_read_from(name):
    found = answer(name)
    for situation in found.situations:
        marked = {found.lines[mark.name][mark.line - 1].strip() for mark in found.marks(situation)}
        assert marked
        assert situation.evidence


@cache
def mangled() -> tuple[tuple[str, list[str]], ...]:
    """Each output whole, without its beginning or its end, without indentation, and with half of each line."""
    return tuple(
        (name, some)
        for name, lines in ((name, text(name).split("\n")) for name in sorted(EXPECTED))
        for some in (lines, lines[1:], lines[:-3], [line.strip() for line in lines], [line[: len(line) // 2] for line in lines])
    )


@pytest.mark.parametrize("reader", sorted(READERS))
def test_no_reader_raises_for_what_another_tool_printed(reader):
    for name, lines in mangled():
        value = READERS[reader].parse(lines)
        if not isinstance(value, Unparsed):
            assert all(isinstance(note, str) and note for note in READERS[reader].notes(value)), name


@pytest.mark.parametrize("reader", sorted(READERS))
@pytest.mark.parametrize("lines", [[], [""], ["²"], ["{"], ["{}"], ["{" * 5000], ['{"a":' * 5000], ["NAME"], ["0"], ["ses0:"]])
def test_no_reader_raises_for_nothing(reader, lines):
    assert isinstance(READERS[reader].parse(lines), Unparsed) or READERS[reader].notes(READERS[reader].parse(lines)) is not None


NASTY = (
    " ",
    "a ",
    "-",
    "|",
    "0 ",
    ":",
    "(1,",
    "/dev/sda ",
    'A="',
    "x: ",
    "lrwxrwxrwx ",
    "  a",
    "[1:2:3:4] ",
    "dm-1 ",
    "0,",
    "A  ",
    "NAME SIZE ",
    "=",
    "a.",
)


@pytest.mark.parametrize("seed", NASTY)
def test_the_time_to_recognise_and_read_grows_no_faster_than_the_text(seed):
    """Twice sixteen times as long may take some sixty times as long, and never a thousand."""

    def once(length: int) -> float:
        line = (seed * (length // len(seed) + 1))[:length]
        begun = time.process_time()
        begins([line, line], 0)
        for reader in READERS.values():
            reader.parse([line, line])
        return time.process_time() - begun

    def seconds(length: int) -> float:
        """The quickest of three: others use this machine as well."""
        return min(once(length) for _ in range(3))

    seconds(100)
    assert seconds(64_000) < max(0.5, 64 * seconds(4_000))


@pytest.mark.parametrize("source", sorted(READERS))
def test_each_says_what_to_run_where_it_cannot_be_read(source):
    assert READERS[source].again


@pytest.mark.parametrize(
    ("command", "source"),
    [
        ("multipath -ll", "multipath_ll"),
        ("lsblk -o NAME,SIZE", "lsblk"),
        ("blkid", "blkid"),
        ("ls -l /dev/disk/by-id", "disk_names"),
        ("ls -l /tmp", ""),
        ("zpool list -v", "zpool_list_text"),
        ("zpool iostat -v -l 5 2", "zpool_iostat_text"),
        ("storcli64 /c0/eall/sall show all", "storcli"),
        ("perccli64 /c0 show", "storcli"),
        ("sas3ircu 0 display", "sas_ircu"),
        ("iostat -dx 5", "iostat_text"),
        ("iostat -en", "iostat_text"),
        ("iostat -En", "iostat_errors"),
        ("iostat -c", ""),
        ("camcontrol devlist", "camcontrol"),
        ("sesutil map", "sesutil"),
        ("gmultipath status", "geom_status"),
        ("geom disk list", "geom_list"),
        ("nvme smart-log /dev/nvme0", "nvme"),
    ],
)
def test_a_command_names_its_reader(command, source):
    tool, *rest = command.split()
    assert asked(tool, rest) == source


def test_prose_that_begins_like_a_command_is_no_command():
    found = triage([("p", "multipath shows nothing odd\nlsblk output follows\nstorcli is not installed\n")])
    assert not any(read.command for read in found.reads)


def test_a_bare_command_line_is_known():
    found = triage([("p", "zpool list\nmultipath -ll\n" + text("multipath_ll-ghost"))])
    assert [read.command for read in found.reads if read.outcome == "read"] == ["multipath -ll"]


def test_a_word_that_multipath_did_not_print_before_is_named_and_not_taken_for_good():
    found = triage([("p", text("multipath_ll-ghost").replace("ghost", "sleepy"))])
    (read,) = found.reads
    assert any("sleepy" in note for note in read.notes)


def test_disks_named_by_links_join_the_tree_of_the_pool():
    """The path is the disk that the link names: the member is told by its own name."""
    tree = (
        "  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME                        STATE     READ WRITE CKSUM\n"
        "\ttank                        ONLINE       0     0     0\n\t  mirror-0                  ONLINE       0     0     0\n"
        "\t    wwn-0x5000c500a65b207b  ONLINE       0     0     0\n\t    wwn-0x5000c500a65b208b  ONLINE       0     0     0\n\n"
        "errors: No known data errors\n"
    )
    found = triage([("p", f"# zpool status\n{tree}# multipath -ll\n" + text("multipath_ll-one-path").partition("\n")[2])])
    lost = next(s for s in found.situations if s.slug == "path-lost")
    assert lost.subject["pool"] == "tank"
    assert lost.subject["vdev_guid"] == "wwn-0x5000c500a65b207b"


def test_a_disk_that_a_resilver_fills_is_no_slow_disk_to_act_on():
    found = triage([("p", text("field-freebsd-resilver-status")), ("q", text("field-freebsd-iostat-x"))])
    (slow,) = [s for s in found.situations if s.slug == "slow-disk"]
    assert slow.severity == "info"
    assert slow.subject["pool"] == "export"


def test_many_drives_lost_to_one_controller_are_one_finding_and_none_is_to_be_replaced():
    rows = text("storcli-show").replace("JBOD ", "UBad ").replace("UGood", "Msng ")
    (found,) = triage([("p", rows)]).situations
    assert (found.slug, found.gate) == ("many-disks-offline", True)


TREE = "  pool: ost_4\n state: {0}\nconfig:\n\n\tNAME   STATE  READ WRITE CKSUM\n\tost_4  {0}     0     0     0\n\t  sda  ONLINE     0     0     0\n\nerrors: No known data errors\n"


def test_a_pool_whose_tree_is_there_is_not_told_of_twice():
    found = triage([("p", TREE.format("DEGRADED")), ("q", text("zpool_list_text-full"))])
    assert len([s for s in found.situations if s.slug == "vdev-degraded" and s.subject["pool"] == "ost_4"]) == 1


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ("# zfs holds tank@a\nNAME    TAG   TIMESTAMP\n", "zpool list -v"),
        (
            "# dmidecode 3.2\nGetting SMBIOS data from sysfs.\nSMBIOS 2.7 present.\n\nHandle 0x0001, DMI type 1, 27 bytes\n",
            "ras-mc-ctl --errors",
        ),
        ("Element Descriptor In diagnostic page:\n  generation code: 0x1\n", "sg_ses -p es"),
        ("[0]    mpt3sas     \n[1]    ahci         \n", "lsscsi -i -g -s"),
        ("SMART error (CurrentPendingSector) detected on host: oss07\n", "smartctl -x DEVICE"),
        ("Subject: ZFS device fault for pool ost_7 on oss07\n", "Paste the mail itself"),
        ("NVME Identify Controller:\nvid     : 0x144d\n", "smart-log"),
        ("Filesystem      Size  Used Avail Use% Mounted on\n", "zpool list -v"),
    ],
)
def test_what_is_known_and_not_read_is_named_with_what_to_run(given, instead):
    (read,) = triage([("p", given)]).reads
    assert read.outcome == "left out"
    assert instead in read.reason


def test_btt_names_the_disk_of_a_device_number():
    (found,) = answer("field-btt-d2c").situations
    assert (found.subject["device"], found.subject["disk"]) == ("8,160", "sdk")
    assert "99.79 %" in found.meaning


def test_a_written_tunable_is_told_with_its_value_before_and_after():
    (found,) = answer("field-illumos-mdb").situations
    assert "zfs_scan_min_time_ms from 1000 to 5000" in found.meaning
    assert "zfs_scrub_delay/W0t4" in found.meaning


def test_what_is_told_of_one_text_stands_beside_what_is_detected_in_another():
    """Several disks lost at once explain others; what was only told has not the fields for that, and is neither hidden nor a reason to fail."""
    pools = "".join(
        f"  pool: p{n}\n state: SUSPENDED\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\tp{n}  SUSPENDED  0 0 0\n\t  sd{n}  UNAVAIL  0 0 0\n\nerrors: List of errors unavailable\n\n"
        for n in range(4)
    )
    listed = text("zpool_list_text-full").replace("DEGRADED", "SUSPENDED")
    rows = text("storcli-show").replace("JBOD ", "UBad ").replace("UGood", "Msng ")
    found = triage([("a", pools), ("b", listed), ("c", rows)])
    assert {"pool-suspended", "many-disks-offline"} <= {s.slug for s in found.situations}


def test_a_line_that_a_tool_does_not_print_makes_the_reading_a_part():
    found = triage([("p", text("zpool_list_text-old") + "this is no row of it\n")])
    (read,) = found.reads
    assert (read.outcome, [line for line, _ in read.unread]) == ("partly", [3])
    assert not found.good


def test_the_guide_lists_every_reader():
    guide = (Path(__file__).resolve().parents[3] / "docs/guide/what-triage-reads.md").read_text()
    assert {name for name in READERS if f"| `{name}` |" not in guide} == set()


def test_rows_of_another_list_that_follow_without_a_gap_are_no_pools():
    """A pool that is full by another tool's columns would be an invention."""
    sentence = text("zpool_list_text-old") + "NAME          USED  AVAIL  REFER  MOUNTPOINT\nexport/home  1.00T  1.69T   96K  /home\n"
    found = triage([("p", sentence)])
    assert [(read.outcome, read.source) for read in found.reads] == [("read", "zpool_list_text"), ("read", "zfs_list")]
    assert not found.situations


def test_a_path_that_the_kernel_calls_by_a_new_word_is_not_taken_for_one_that_serves():
    found = triage([("p", text("multipath_ll-ghost").replace("sda 8:0  active", "sda 8:0  drowsy"))])
    assert any("drowsy" in note for read in found.reads for note in read.notes)


def test_what_smartd_says_between_lines_of_the_kernel_is_heard():
    """A log with one line of the kernel was called good while smartd said in it that a disk could not read itself."""
    kernel = "Nov 21 18:00:00 oss07 kernel: usb 1-1: new device\n"
    sentence = "Nov 21 18:01:06 oss07 smartd[1586]: Device: /dev/sdb [SAT], 16 Currently unreadable (pending) sectors\n"
    for log in (kernel + sentence, sentence + kernel, kernel + sentence + kernel):
        found = triage([("p", log)])
        assert [s.slug for s in found.situations] == ["disk-failing"], log
        assert not found.good


def test_a_disk_of_a_mail_of_smartd_is_the_member_with_its_serial_number():
    tree = "  pool: ost_7\n state: ONLINE\nconfig:\n\n\tNAME   STATE  READ WRITE CKSUM\n\tost_7  ONLINE     0     0     0\n\t  wwn-0x5000cca25dd00f12  ONLINE     0     0     0\n\nerrors: No known data errors\n"
    (found,) = [s for s in triage([("p", text("smartd-mail")), ("q", tree)]).situations if s.slug == "disk-failing"]
    assert (found.subject["pool"], found.subject["serial"]) == ("ost_7", "8DAAAAAH")


def test_an_alert_in_html_on_one_line_names_each_disk():
    sentence = (
        "TrueNAS @ oss07<br><br>New alert:\n<ul><li>Pool <b>ost_7</b> state is DEGRADED: One or more devices are faulted in response to persistent errors."
        "<br>The following devices are not healthy: <ul><li>Disk A 8DAAAAAH is FAULTED</li><li>Disk A 8DAAAABH is REMOVED</li></ul></li>\n</ul>"
    )
    (found,) = triage([("p", sentence)]).situations
    assert "A 8DAAAAAH (FAULTED), A 8DAAAABH (REMOVED)" in found.meaning


LISTS = (
    "arcconf-status",
    "megacli-battery_well",
    "megacli-none",
    "nvme-list",
    "nvme-list_empty",
    "nvme-list_json",
    "sas_ircu-no_volumes",
    "blkid-udev",
    "udevadm-info",
    "ses-id_alone",
)


@pytest.mark.parametrize("name", LISTS)
def test_what_only_lists_is_not_called_good(name):
    """A list of NVMe disks, a well battery and a controller without drives were called good, for their tool can say more."""
    found = answer(name)
    assert not found.situations
    assert not found.good
    assert any("does not show whether anything is well" in output for output in found.not_looked_at)


def test_paths_below_a_name_that_is_not_understood_are_given_to_no_other_disk():
    sentence = text("multipath_ll-blanks").replace("mpatha (1IET     00080001) dm-0 IET,VIRTUAL-DISK", "mpatha, which nobody knows")
    value = READERS["multipath_ll"].parse(sentence.split("\n"))
    assert [len(disk.paths) for disk in value.disks] == [2, 2]
    assert "mpatha, which nobody knows" in value.unread


def test_a_word_for_a_volume_that_is_not_known_is_unexplained():
    (found,) = triage([("p", text("megacli-ldinfo").replace("Partially Degraded", "Bewildered"))]).situations
    assert (found.slug, found.severity) == ("unexplained", "watch")


def test_properties_of_a_pool_whose_tree_is_there_are_not_told_twice():
    texts = [[("p", text("zpool_get-all")), ("q", TREE.format(state).replace("ost_4", "ost_7"))] for state in ("DEGRADED", "ONLINE")]
    assert [s.slug for s in triage(texts[0]).situations] == ["vdev-degraded", "pool-filling"]
    assert next(s.title for s in triage(texts[1]).situations) == "ost_7: zpool get says DEGRADED, zpool status says ONLINE"
