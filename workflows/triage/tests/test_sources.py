"""Every source in a paste: known by its command line, by its own text, hurt by mail, and several in one output."""

from __future__ import annotations

import json

import pytest

from agents.tests.mangle import mangled
from agents.tests.scenarios import STEPS, root, step
from workflows.facts import known
from workflows.facts.tests.truth import PASTED, SITUATIONS
from workflows.triage import triage
from workflows.triage.commands import asked
from workflows.triage.tests.test_triage import quoted, windows, wrap

HEALTHY = "healthy-raidz2"
HANGS = "import-blocked-labels/4-disk-hangs"


def everything(name: str) -> str:
    """All that was recorded in a step, as one session."""
    folder = step(name)
    answer = json.loads((folder / "exit_codes.json").read_text())
    return "\n".join(f"root@oss01:~# {s['command']}\n{(folder / f).read_text()}" for f, s in answer.items() if (folder / f).is_file())


def shown(texts) -> tuple[str, ...]:
    return tuple(f"{s.slug} {s.severity}" for s in triage(texts).situations)


@pytest.mark.parametrize("name", STEPS)
def test_all_texts_of_a_step_pasted_tell_its_truth(name):
    found = shown([("paste", everything(name))])
    of_the_node = tuple(one for one in SITUATIONS[name] or () if one not in NOT_OF_A_PASTE)
    assert tuple(one for one in found if not one.startswith("refused-command ")) == PASTED.get(name, of_the_node)
    assert any(one.startswith("refused-command ") for one in found) == (name in REFUSED)


# Asked of the nodes of the portal alone: in a text that somebody pastes, kernel names and labels of destroyed pools are nothing to act on.
NOT_OF_A_PASTE = {"kernel-names info", "destroyed-member info"}

# Steps in which somebody's command was refused, and the refusal stands in what was printed.
REFUSED = {
    "import-blocked-diverged-disk-ashift12/2-import-attempts",
    "import-blocked-diverged-disk/2-import-attempts",
    "import-rewind/2-dry-runs",
    "unsupported-features/2-import",
}


@pytest.mark.parametrize("text", ["import-after-45s.txt", "import-after-delete.txt"])
def test_a_combined_output_without_a_prompt_tells_of_the_disk_that_hangs(text):
    assert shown([(text, (step(HANGS) / text).read_text())]) == ("disk-hangs act",)


@pytest.mark.parametrize("how", [quoted, windows, lambda text: wrap(text, 52)])
def test_what_mail_does_to_a_kernel_log_hides_no_disk(how):
    (found,) = triage([("mail", how((step(HANGS) / "import-after-45s.txt").read_text()))]).situations
    assert (found.slug, found.subject["name"]) == ("disk-hangs", "sde")


COMMANDS = {
    "zpool status -P -p": ("zpool_status", ""),
    "sudo /usr/sbin/zpool status": ("zpool_status", ""),
    "timeout 10 zpool status -v": ("zpool_status", ""),
    "LC_ALL=C zpool status -g": ("zpool_status_guid", ""),
    "zpool status -e": ("zpool_status", ""),
    "zpool import": ("zpool_import", ""),
    "zpool import -d /dev/disk/by-id -o readonly=on": ("zpool_import", ""),
    "zpool import -f -d /dev ost_1": ("", ""),
    "zpool import -a": ("", ""),
    "zpool list -vHp": ("zpool_list", ""),
    "zpool list -v": ("zpool_list_text", ""),
    "zpool get all": ("zpool_get", ""),
    "zpool get -H -p guid,multihost ost_1": ("zpool_get", ""),
    "zpool iostat -vlHp": ("zpool_iostat", ""),
    "zpool iostat -w": ("zpool_iostat_w", ""),
    "zpool iostat -v 1": ("zpool_iostat_text", ""),
    "zpool events -v": ("zpool_events", ""),
    "zpool events": ("zpool_events", ""),
    "zpool events -c": ("", ""),
    "zpool history -il ost_0": ("zpool_history", ""),
    "dmesg | tail -n 50": ("kernel_log", ""),
    "dmesg -T": ("kernel_log", ""),
    "journalctl -k": ("kernel_log", ""),
    "lsscsi": ("lsscsi", ""),
    "lsscsi -g -s -u": ("lsscsi", ""),
    "smartctl -x /dev/sdb": ("smart", "sdb"),
    "smartctl -x -j /dev/sdb": ("smart", "sdb"),
    "sg_ses --join /dev/sg24": ("ses", "sg24"),
    "sg_ses -p aes /dev/sg24": ("ses", "sg24"),
    "sg_logs --page=0x02 /dev/sdb": ("sg_logs", "sdb"),
    "sdparm --get=WCE /dev/sdb": ("drive_modes", "sdb"),
    "zdb -l /dev/sdb1": ("zdb_label", "sdb1"),
    "zdb -lu /dev/disk/by-id/wwn-0x5000c500a65b200b-part1": ("zdb_label", "wwn-0x5000c500a65b200b-part1"),
    "zdb -C": ("zdb_config", ""),
    "zdb -U /etc/zfs/zpool.cache -C": ("zdb_config", ""),
    "zdb -C ost_0": ("zdb_config", ""),
    "cat /proc/spl/kstat/zfs/ost_0/state": ("kstat_pools", ""),
    "cat /proc/spl/kstat/zfs/ost_0/txgs": ("kstat_txgs", "ost_0"),
    "tail -n 20 /proc/spl/kstat/zfs/dbgmsg": ("dbgmsg", ""),
    "cat /proc/spl/kstat/zfs/dmu_tx": ("kstat_dmu_tx", ""),
    "uname -a": ("", ""),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_line_says_which_source_it_is(command):
    found = asked(f"root@oss01:~# {command}")
    assert found is not None
    assert (found.source, found.key) == COMMANDS[command]


@pytest.mark.parametrize(
    "line", ["smartctl 7.3 2022-02-28 r5338 [x86_64-linux] (local build)", "dmesg says that sde hangs", "lsscsi shows it"]
)
def test_what_only_begins_like_a_command_is_none(line):
    assert asked(line) is None


@pytest.mark.parametrize("command", ["zdb -d ost_0"])
def test_a_form_that_tells_too_little_says_what_to_ask(command):
    (read,) = triage([("p", f"# {command}\nsome text\n")]).reads
    assert read.outcome == "left out"
    assert "read" in read.reason


@pytest.mark.parametrize("command", ["zpool list -v", "zpool iostat -v", "zpool events"])
def test_a_form_that_is_read_and_has_no_rows_says_what_to_ask(command):
    (read,) = triage([("p", f"# {command}\nsome text\n")]).reads
    assert read.outcome == "not read"
    assert "is read" in read.reason or "Paste the whole output" in read.reason


BY_THEIR_TEXT = {
    "zpool-events-v.txt": "zpool_events",
    "zpool-get-all.txt": "zpool_get",
    "zpool-history-i.txt": "zpool_history",
    "zpool-iostat-w.txt": "zpool_iostat_w",
    "dmesg-tail.txt": "kernel_log",
    "smartctl-x-sda.txt": "smart",
    "smartctl-x-j-sda.txt": "smart",
    "zdb-C.txt": "zdb_config",
    "zdb-lu-sda1.txt": "zdb_label",
    "lsscsi-g-s-u.txt": "lsscsi",
    "lsscsi-l.txt": "lsscsi",
    "lsscsi-t.txt": "lsscsi",
}


def found_in(folder: str, name: str) -> str:
    """The text of a step, or of the first one that has it."""
    path = step(folder) / name
    return (path if path.is_file() else min(root().rglob(name))).read_text()


@pytest.mark.parametrize("name", BY_THEIR_TEXT)
def test_a_text_without_a_prompt_says_itself_what_it_is(name):
    reads = triage([(name, found_in(HEALTHY, name))]).reads
    assert [(read.outcome, read.source) for read in reads] == [("read", BY_THEIR_TEXT[name])]


def test_two_column_sets_of_lsscsi_are_one_list_of_disks():
    lines = [
        (c, found_in(HEALTHY, f)) for c, f in (("lsscsi -i", "lsscsi-i.txt"), ("lsscsi -t", "lsscsi-t.txt"), ("lsscsi -H", "lsscsi-H.txt"))
    ]
    disks = triage([("p", "\n".join(f"# {c}\n{text}" for c, text in lines))]).fleet.nodes["pasted"].disks
    assert disks[0].wwid == "naa:5000c500a65b200b"
    assert disks[0].paths[0].sas_address == "0x5000c500a65b200b"


def test_a_report_of_smartctl_finds_its_disk_by_the_wwid_in_it():
    disks = triage([("p", found_in(HEALTHY, "lsscsi-i.txt") + "\n" + found_in(HEALTHY, "smartctl-x-sda.txt"))]).fleet.nodes["pasted"].disks
    assert [known(disk.health) or known(disk.condition) for disk in disks if "sda" in disk.names] == [True]


def test_uberblocks_beside_the_label_are_read_too():
    text = f"# lsscsi -i\n{found_in(HEALTHY, 'lsscsi-i.txt')}\n# zdb -lu /dev/sda1\n{found_in(HEALTHY, 'zdb-lu-sda1.txt')}"
    node = triage([("p", text)]).fleet.nodes["pasted"]
    assert {"zdb_label/sda1", "zdb_uberblocks/sda1"} <= set(node.digests)


def test_kernel_files_by_cat_and_by_grep_are_one():
    root_ = "/proc/spl/kstat/zfs"
    text = f"# cat {root_}/ost_0/state\nSUSPENDED\n# grep -H . {root_}/*/state {root_}/*/guid\n{root_}/ost_1/state:ONLINE\n{root_}/ost_1/guid:77\n"
    answer = triage([("p", text)])
    assert {(p.name, p.state) for p in answer.fleet.nodes["pasted"].pools} == {("ost_0", "SUSPENDED"), ("ost_1", "ONLINE")}
    assert [s.slug for s in answer.situations] == ["pool-suspended"]


def test_pages_of_one_disk_come_from_several_commands():
    page = "{0} error counter page  [0x{1}]\n  Total errors corrected = {2}\n  Total uncorrected errors = {3}\n"
    lines = ((2, page.format("Write", 2, 5, 0)), (3, page.format("Read", 3, 7, 1)))
    text = "".join(f"# sg_logs --page=0x0{n} /dev/sda\n    SEAGATE   ST10000NM0256     TT54\n{page}" for n, page in lines)
    text += f"# smartctl -x -j /dev/sda\n{found_in(HEALTHY, 'smartctl-x-j-sda.txt')}"  # it tells the WWID, so that the pages are surely this disk's
    answer = triage([("p", f"# lsscsi -i\n{found_in(HEALTHY, 'lsscsi-i.txt')}\n{text}")])
    assert [read.outcome for read in answer.reads] == ["read"] * 4
    (disk,) = [d for d in answer.fleet.nodes["pasted"].disks if "sda" in d.names]
    assert {(e.what, e.uncorrected) for e in disk.condition.errors} >= {("write", 0), ("read", 1)}


def test_pools_asked_one_by_one_stand_beside_each_other():
    one, other = (found_in(name, "zpool-status-P.txt") for name in ("disk-removed/2-removed", "wwid-drift/1-before"))
    answer = triage([("p", f"# zpool status -P ost_0\n{one}\n# zpool status -P ost_1\n{other}")])
    assert [pool.name for pool in answer.fleet.nodes["pasted"].pools] == ["ost_0", "ost_1"]


def test_an_output_of_fewer_pools_does_not_hide_the_others():
    both = found_in("other-host/3-forced", "zpool-status-P.txt")
    one = both[: both.index("  pool: ost_on")] if both.index("ost_off") < both.index("ost_on") else both[: both.index("  pool: ost_off")]
    answer = triage([("p", f"# zpool status -P\n{both}\n# zpool status -x\n{one}")])
    assert len(answer.fleet.nodes["pasted"].pools) == 2
    assert any("superseded" in note for read in answer.reads for note in read.notes)


def test_no_mangled_session_raises():
    sessions = [everything(name) for name in (HEALTHY, HANGS, "slow-disk/1-writing", "disk-removed-zfs2.3/5-resilver-start")]
    for text in mangled([s[-60_000:] for s in sessions], 120, seed=11):
        assert all(read.outcome in ("read", "partly", "not read", "left out") for read in triage([("paste", text)]).reads)
