"""Tunables, hostid and versions, as people of Linux, FreeBSD and illumos show them to each other."""

import pytest

from agents.tests.scenarios import step
from workflows.facts import known
from workflows.triage import triage

FOLDER = "/sys/module/zfs/parameters"


def answer(text: str):
    return triage([("paste", text)])


def values(text: str, node: str = "pasted") -> dict[str, str]:
    facts = answer(text).fleet.nodes[node].tunables
    assert known(facts), facts
    return {tunable.name: tunable.value for tunable in facts.known_names}


@pytest.mark.parametrize(
    "text",
    [
        f"# cat {FOLDER}/zfs_scrub_delay\n0\n",
        f"$ grep -H . {FOLDER}/zfs_scrub_delay\n{FOLDER}/zfs_scrub_delay:0\n",
        f"{FOLDER}/zfs_scrub_delay:0\n\nis that too low?\n",
        "# sysctl vfs.zfs.scrub_delay\nvfs.zfs.scrub_delay: 0\n",
        "vfs.zfs.scrub_delay: 4 -> 0\n",
        "root@nas:~ # sysctl -a | grep zfs\nvfs.zfs.scrub_delay: 0\nkstat.zfs.misc.arcstats.hits: 17\n",
        "# echo zfs_scrub_delay/D | mdb -k\nzfs_scrub_delay:\nzfs_scrub_delay:0\n",
        'echo "zfs_scrub_delay/X" | mdb -k\nzfs_scrub_delay:\nzfs_scrub_delay:               0\n',
        "# mdb -k\nLoading modules: [ unix genunix zfs ]\n> zfs_scrub_delay/D\nzfs_scrub_delay:\nzfs_scrub_delay:0\n> $q\n",
        "# echo zfs_scrub_delay/W0t0 | mdb -kw\nzfs_scrub_delay:0x4             =       0x0\n",
    ],
)
def test_a_tunable_is_read_however_it_was_shown(text):
    found = answer(text)
    facts = [node.tunables for node in found.fleet.nodes.values()]
    assert [[(t.name, t.value) for t in each.known_names] for each in facts] == [[("zfs_scrub_delay", "0")]]
    assert "not read" not in [read.outcome for read in found.reads]


def test_hexadecimal_digits_of_the_debugger_are_never_taken_for_decimal_ones():
    assert values("# echo zfs_resilver_min_time_ms/X | mdb -k\nzfs_resilver_min_time_ms:       bb8\n") == {
        "zfs_resilver_min_time_ms": "3000"
    }
    [read] = answer("# mdb -k\nzfs_resilver_min_time_ms:       100\n").reads
    assert read.outcome == "not read"


def test_several_commands_fill_one_list_and_the_last_word_counts():
    text = f"# cat {FOLDER}/zfs_resilver_delay\n2\n# cat {FOLDER}/zfs_scrub_delay\n4\n# cat {FOLDER}/zfs_resilver_delay\n0\n"
    assert values(text) == {"zfs_resilver_delay": "0", "zfs_scrub_delay": "4"}


def test_a_raised_tunable_is_a_situation_and_the_next_boot_is_not_made_up():
    """What modprobe is told may stand in a file that nobody pasted."""
    found = answer(f"# grep . {FOLDER}/*\n{FOLDER}/zfs_scrub_delay:0\n{FOLDER}/zfs_scan_idle:50\n")
    [situation] = found.situations
    assert (situation.slug, situation.subject["tunables"]) == ("tunables-left-raised", "zfs_scrub_delay")
    assert "its default is 4" in situation.title
    assert "next boot makes it" not in situation.meaning
    assert {e.source for e in situation.evidence} == {"parameters"}
    assert [found.lines[mark.name][mark.line - 1] for mark in found.marks(situation)] == [f"{FOLDER}/zfs_scrub_delay:0"]


def test_what_modprobe_is_told_is_read_with_its_comments():
    """As an old note about faster resilvers says it, with a comment above."""
    conf = "# resilver faster\noptions zfs zfs_top_maxinflight=128 zfs_resilver_delay=0\noptions mpt3sas max_queue_depth=1000\n"
    text = f"# cat {FOLDER}/zfs_resilver_delay\n0\n# cat /etc/modprobe.d/zfs.conf\n{conf}# zpool import\nno pools available to import\n"
    found = answer(text)
    [tunable] = found.fleet.nodes["pasted"].tunables.known_names
    assert (tunable.boot.value, tunable.differs) == ("0", False)
    assert "2 other lines were left out." in [note for read in found.reads for note in read.notes]


def test_on_freebsd_the_evidence_is_what_was_pasted():
    [situation] = answer("# sysctl vfs.zfs\nvfs.zfs.scrub_delay: 0\nvfs.zfs.resilver_delay: 2\n").situations
    assert [(e.source, e.line.split(" ")[0]) for e in situation.evidence] == [("sysctl", "vfs.zfs.scrub_delay")]
    assert "sysctl.conf" in situation.meaning


@pytest.mark.parametrize("command", ["zfs version", "zpool version", "zpool --version", "sudo zfs -V"])
def test_versions_that_differ_are_told(command):
    found = answer(f"root@oss01:~# {command}\nzfs-2.1.11-1+deb12u1\nzfs-kmod-2.1.9-1\n\nthanks\n")
    assert [(s.slug, s.node) for s in found.situations] == [("version-mismatch", "oss01")]


def test_the_hostid_says_whose_pool_it_was():
    """The labels were written by the host with this hostid, and the pool was never exported."""
    folder = step("wwid-drift/2-booted-not-imported")
    labels = "".join(
        f"# zdb -l /dev/sd{c}1\n{(folder / f'zdb-l-sd{c}1.txt').read_text()}" for c in "abcdef" if (folder / f"zdb-l-sd{c}1.txt").is_file()
    )
    text = f"# lsscsi -i\n{(folder / 'lsscsi-i.txt').read_text()}# zpool import\n{(folder / 'zpool-import.txt').read_text()}{labels}"
    assert labels
    hostid = next(line.split(": ")[1] for line in labels.split("\n") if line.startswith("    hostid:"))
    found = answer(f"{text}# hostid\n{int(hostid):08x}\n")
    assert known(found.fleet.nodes["pasted"].hostid)
    assert [read.outcome for read in found.reads if read.command == "hostid"] == ["read"]


def test_words_after_a_short_answer_do_not_spoil_it():
    found = answer("# hostid\na8c01234\n\nthat is the right one\n")
    assert [read.outcome for read in found.reads] == ["read", "left out"]
