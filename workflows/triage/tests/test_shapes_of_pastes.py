"""Habits of people who paste, each seen in public and written anew here: what stands around an output, and what is left of it."""

from __future__ import annotations

import pytest

from workflows.triage import Triage, triage

STATUS = """  pool: depot
 state: DEGRADED
status: One or more devices are faulted in response to persistent errors.
\tSufficient replicas exist for the pool to continue functioning in a
\tdegraded state.
action: Replace the faulted device, or use 'zpool clear' to mark the device
\trepaired.
  scan: scrub repaired 0B in 06:30:39 with 0 errors on Sun Nov 15 06:54:41 2026
config:

\tNAME            STATE     READ WRITE CKSUM
\tdepot           DEGRADED     0     0     0
\t  raidz2-0      DEGRADED     0     0     0
\t    ata-A_VK01  ONLINE       0     0     0
\t    ata-A_VK02  FAULTED     12     3     0  too many errors
\t    ata-A_VK03  ONLINE       0     0     0
\t    ata-A_VK04  ONLINE       0     0     0

errors: No known data errors
"""
RED = "\\x1b[31mFAULTED\\x1b[0m"


def read(text: str) -> Triage:
    return triage([("paste", text)])


def slugs(answer: Triage) -> list[str]:
    return [found.slug for found in answer.situations]


def _wrapped_at(text: str, column: int) -> str:
    """As a mail program breaks lines that are too long for it: at a blank, and what is left on the next line."""
    out = []
    for line in text.expandtabs(8).split("\n"):
        at = line.rfind(" ", 0, column) if len(line) > column else -1
        out += [line[:at], line[at:]] if at > 0 and line[:at].strip() else [line]
    return "\n".join(out)


AROUND = {
    "a forum's own breaks": "[code]\n" + STATUS.replace("\n", "[br]\n") + "[/code]",
    "colours as a program writes them": STATUS.replace("FAULTED ", f"{RED} "),
    "colours in octal": STATUS.replace("FAULTED ", "\\033[31mFAULTED\\033[0m "),
    "the question for a password": f"[ann@nas ~]$ sudo zpool status\n[sudo] password for ann: \n{STATUS}[ann@nas ~]$ ",
    "the same in German": f"ann@nas:~$ sudo zpool status\n[sudo] Passwort für ann: \n{STATUS}",
    "the same of doas": f"nas$ doas zpool status\ndoas (ann@nas) password:\n{STATUS}",
    "a mail of cron": f"Date: Sun, 15 Nov 2026 07:00:00 +0000\nSubject: Cron <root@nas> zpool status\nTo: root@nas\n\n{STATUS}",
    "names with the escapes of Markdown": STATUS.replace("_", "\\_"),
    "lines broken among the counters": _wrapped_at(STATUS.replace("ata-A_VK0", "ata-WDC_WD80EFZX-68UW8N0_VK0A1B00VK0"), 72),
    "a prompt without a colon at the end": f"nas / # zpool status\n{STATUS}nas / # ",
}


@pytest.mark.parametrize("name", AROUND)
def test_what_stands_around_an_output_is_no_part_of_it(name: str) -> None:
    answer = read(AROUND[name])
    assert slugs(answer) == ["disk-missing"], [found.title for found in answer.situations]
    assert [one.source for one in answer.reads if one.outcome == "read"] == ["zpool_status"]
    assert not [one for one in answer.reads if one.outcome in ("partly", "not read")]


@pytest.mark.parametrize("begin", ["status:", "  scan:", "config:"])
def test_an_output_whose_beginning_was_cut_is_read_from_its_first_field_on(begin: str) -> None:
    text = STATUS[STATUS.index(begin) :].replace("scrub repaired 0B in 06:30:39 with 0 errors on", "resilver canceled on")
    (one,) = read(text).reads
    assert (one.source, one.outcome, one.first) == ("zpool_status", "partly", 1)
    output = slugs(read(text))
    assert "disk-missing" in output
    assert ("resilver-cancelled" in output) is (begin != "config:")


LISTING = """   pool: lake
     id: 1518476551424056137
  state: FAULTED
 status: The pool was last accessed by another system.
 action: The pool cannot be imported due to damaged devices or data.
   see: http://zfsonlinux.org/msg/ZFS-8000-EY
 config:

\tlake      FAULTED  corrupted data
\t  sda     ONLINE
\tlogs
\t  sdb     ONLINE
"""


@pytest.mark.parametrize("prompt", ["heron / # ", "heron journal # ", "root@heron:/ # ", "heron% ", "[7] heron ~ > "])
def test_a_prompt_alone_below_a_listing_is_no_part_of_it(prompt: str) -> None:
    answer = read(f"{prompt}zpool import\n{LISTING}{prompt}\n")
    assert "unexplained" not in slugs(answer)
    assert [one.outcome for one in answer.reads] == ["read"]


SCANS = {
    "resilver in progress since Thu Aug 22 22:57:00 2026": ("resilver-running", "a scan does not show how far it is"),
    "scrub repaired 0B in 00:00:12 with 0 errors": ("", "the day on which a scan ended is not there"),
    "resilvered 7.45T in 1 day 12:34:56 with 3 errors": ("", "the day on which a scan ended is not there"),
}


@pytest.mark.parametrize("scan", SCANS)
def test_a_scan_line_that_was_cut_tells_what_is_left_and_is_no_unknown_word(scan: str) -> None:
    text = STATUS.replace("scrub repaired 0B in 06:30:39 with 0 errors on Sun Nov 15 06:54:41 2026", scan)
    slug, why = SCANS[scan]
    answer = read(text)
    (one,) = answer.reads
    assert [reason for _, reason in one.unread] == [why]
    assert "unexplained" not in slugs(answer)
    assert not slug or slug in slugs(answer)


@pytest.mark.parametrize("row", ["<skipping unrelated vdevs here>", "[8 mirrors like these]", "<...skipped...>"])
def test_words_of_a_person_among_the_rows_belong_to_no_row(row: str) -> None:
    answer = read(STATUS.replace("\t    ata-A_VK03", f"\t  {row}\n\t    ata-A_VK03"))
    (one,) = answer.reads
    assert [reason for _, reason in one.unread] == ["rows were left out of the text here"]
    assert slugs(answer) == ["disk-missing"]


@pytest.mark.parametrize(
    "words", ["There are I/O failures.", "One or more devices are unavailable in response to IO failures.\n\tThe pool is suspended."]
)
def test_a_pool_that_stopped_its_writes_is_told_in_the_words_of_every_release(words: str) -> None:
    text = STATUS.replace("One or more devices are faulted in response to persistent errors.", words)
    assert "pool-suspended" in slugs(read(text))


def test_a_vdev_that_counts_errors_of_its_own_is_told_although_no_file_is_listed() -> None:
    text = STATUS.replace("raidz2-0      DEGRADED     0     0     0", "raidz2-0      DEGRADED     0     0    26")
    (found,) = (one for one in read(text).situations if one.slug == "data-errors")
    assert "raidz2-0 (26 checksum)" in found.meaning
    assert (found.severity, found.gate) == ("watch", False)
    assert "data-errors" not in slugs(read(STATUS))


LOOP = """SMART overall-health self-assessment test result: PASSED
{name}
SMART overall-health self-assessment test result: FAILED!
"""


@pytest.mark.parametrize("name", ["sdb", "/dev/sdb", "=== /dev/sdb ===", "--- sdb", "sdb:"])
def test_a_report_is_of_the_device_that_the_line_above_it_names(name: str) -> None:
    (found,) = read("sda\n" + LOOP.format(name=name)).situations
    assert found.title.startswith("sdb is failing")


def test_an_enclosure_keeps_its_id_that_stands_indented_above_its_elements() -> None:
    text = (
        "  ACME      Shelf36           0601\n    Primary enclosure logical identifier (hex): 500304801f0a1b3f\nEnclosure Status diagnostic page:\n"
        "  INVOP=0, INFO=0, NON-CRIT=0, CRIT=1, UNRECOV=0\n  generation code: 0x0\n  status descriptor list\n"
        "    Element type: Power supply, subenclosure id: 0 [ti=1]\n      Overall descriptor:\n        Predicted failure=0, Disabled=0, Swap=0, status: Unsupported\n"
        "      Element 0 descriptor:\n        Predicted failure=0, Disabled=0, Swap=0, status: Critical\n"
    )
    (found,) = read(text).situations
    assert found.title.startswith("Enclosure 0x500304801f0a1b3f")


BLOCKS = """NAME                 MAJ:MIN RM   SIZE RO TYPE MOUNTPOINTS
sda                    8:0    0 111.8G  0 disk
├─sda1                 8:1    0   512M  0 part /boot/efi
└─sda2                 8:2    0 111.3G  0 part /
                                             /usr
  └─big-data_tdata   253:3    0  49.6G  0 lvm
    └─big-data-tpool 253:4    0  49.6G  0 lvm
      ├─big-vm--100--cloudinit
      │              253:6    0     4M  0 lvm
      └─big-vm--101--disk--0
                     253:7    0    32G  0 lvm
sdb                    8:16   0   7.3T  0 disk
"""


@pytest.mark.parametrize("text", [BLOCKS, BLOCKS.replace("  └─big-data_tdata  ", "    └─big-data_tdata")])
def test_lsblk_breaks_rows_and_mount_points_over_several_lines(text: str) -> None:
    answer = read(f"root@nas:~# lsblk\n{text}")
    (one,) = answer.reads
    assert (one.outcome, one.source, one.unread) == ("read", "lsblk", ())


HUMAN = """[Oct 6 10:23] INFO: task txg_sync:27324 blocked for more than 120 seconds.
[  +0.000581]       Tainted: P           OE   4.4.0-38-generic #57-Ubuntu
[  +0.000674] txg_sync        D ffff880232bd3ad8     0 27324      2 0x00000000
[Nov15 10:25] WARNING: Pool 'big' has encountered an uncorrectable I/O failure and has been suspended.
[  +2.000581] sd 2:0:0:0: [sdc] tag#18 Sense Key : Medium Error [current]
"""


def test_dmesg_for_people_is_read_as_any_other_log() -> None:
    answer = read(f"root@nas:~# dmesg -H\n{HUMAN}")
    assert [one.outcome for one in answer.reads] == ["read"]
    assert {"pool-suspended", "kernel-errors"} == set(slugs(answer))
    log = answer.fleet.nodes["nas"].kernel_log
    assert [event.at_us - log.events[-2].at_us for event in log.events[-2:]] == [0, 2_000_581]


FAULT = """SUNW-MSG-ID: ZFS-8000-FD, TYPE: Fault, VER: 1, SEVERITY: Major
EVENT-TIME: Sun Nov 15 10:42:36 PST 2026
PLATFORM: i86pc, CSN: -, HOSTNAME: heron
SOURCE: zfs-diagnosis, REV: 1.0
DESC: The number of I/O errors associated with a ZFS device exceeded
acceptable levels.  Refer to http://illumos.org/msg/ZFS-8000-FD for more information.
IMPACT: Fault tolerance of the pool may be compromised.
REC-ACTION: Run 'zpool status -x' and replace the bad device.
"""


SOLARIS = """REC-ACTION: Use 'fmadm faulty' to look at this event more closely.
Run 'zpool status -lx' for what is known of the pool. What helps stands in
the document at http://support.oracle.com/msg/ZFS-8000-FD in its latest form.
"""


@pytest.mark.parametrize("text", [FAULT, f"{FAULT[: FAULT.index('REC-ACTION')]}{SOLARIS}"])
def test_what_the_fault_manager_says_is_one_fault(text: str) -> None:
    assert slugs(read(text)) == ["kernel-errors"]


SUSPENDED = """SUNW-MSG-ID: ZFS-8000-HC, TYPE: Error, VER: 1, SEVERITY: Major
EVENT-TIME: Fri Nov 29 13:52:14 UTC 2024
SOURCE: zfs-diagnosis, REV: 1.0
DESC: The ZFS pool has experienced currently unrecoverable I/O
            failures.  Refer to http://illumos.org/msg/ZFS-8000-HC for more information.
IMPACT: Read and write I/Os cannot be serviced.
REC-ACTION: Make sure the affected devices are connected, then run
            'zpool clear'.
"""


def test_a_whole_pool_that_the_fault_manager_reports_cannot_wait_and_a_member_is_watched() -> None:
    suspended, member = (read(text).situations for text in (SUSPENDED, FAULT))
    assert [(one.severity, one.gate, "suspended pool" in one.title) for one in suspended] == [("act", True, True)]
    assert [(one.severity, "too many I/O errors" in one.title) for one in member] == [("watch", True)]
    assert [one.severity for one in read(SUSPENDED + "\n" + FAULT).situations] == ["act", "watch"]


def test_the_old_half_of_a_replacement_in_place_keeps_its_name() -> None:
    rows = "\t    replacing-1  DEGRADED  0 0 0\n\t      slot6/old  FAULTED  12 0 0  too many errors\n\t      slot6  ONLINE  0 0 0  (resilvering)\n"
    text = STATUS.replace("\t    ata-A_VK02  FAULTED     12     3     0  too many errors\n", rows)
    assert any("slot6/old" in found.title for found in read(text).situations if found.slug == "disk-missing")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        (
            "errors: Permanent errors have been detected in the following files:\n\n        depot/media:<0x1a2b>\n        /mnt/depot/x.iso\n",
            "2 files",
        ),
        ("errors: 12 data errors, use '-v' for a list\n", "12 places"),
    ],
)
def test_damaged_data_is_told_although_nothing_else_of_the_pool_was_kept(text: str, amount: str) -> None:
    answer = read(f"This is what it says:\n\n{text}")
    (found,) = answer.situations
    assert (found.slug, found.severity, amount in found.title) == ("data-errors", "act", True)
    assert not answer.good
