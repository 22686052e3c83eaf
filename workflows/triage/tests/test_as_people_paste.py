"""Whole texts as people write them around an output: what is theirs is left out, and the output is read and judged."""

from __future__ import annotations

import pytest

from agents.tests.scenarios import step
from workflows.triage import triage
from workflows.triage.tests.test_triage import wrap

STATUS = (step("disk-removed/2-removed") / "zpool-status-P.txt").read_text()
LINES = STATUS.rstrip("\n").split("\n")
STRIPPED = "\n".join(" ".join(line.split()) for line in LINES if line.strip())
NOTICE = (
    "ZFS has detected that a device was removed.\n\n impact: Fault tolerance of the pool may be compromised.\n    eid: 17\n  class: statechange\n"
    "  state: REMOVED\n   host: oss01\n   time: 2026-11-21 12:01:07+0000\n  vpath: /dev/sdb1\n  vguid: 0x8000000000000001\n"
    "   pool: ost_0 (0x8000000000000002)\n\n"
)
TEXTS = {
    "a form of an issue": f"### System\n\nType | Version\n --- | ---\nKernel | 6.1\n\n### Problem\n\n```\n# zpool status -P\n{STATUS}```\n\n### How\n\nPull a disk.\n",
    "a log of a test": "".join(f"  07:18:29.34 {line}\n" for line in ["SUCCESS: waited", *LINES]),
    "a page without its breaks": f"Disks fail.\nThe pool says so:\nsudo zpool status -v {STRIPPED}The state means that a disk is gone.\nNext\n",
    "indentation lost": STRIPPED,
    "on one line": " ".join(STATUS.split()),
    "on one line amid words": f"hello, my pool: root@nas:~# zpool status {' '.join(STATUS.split())} what can I do?",
    "padded": "\n".join(f"{line.expandtabs(8):200}" for line in LINES),
    "two lines of prompt": f"\u250c\u2500\u2500(root\u327fkali)-[~]\n\u2514\u2500# zpool status -P\n{STATUS}",
    "a date before": f"root@oss01:~# date; zpool status\nSat Nov 21 12:01:07 UTC 2026\n{STATUS}",
    "watched": f"Every 2.0s: zpool status -P          oss01: Sat Nov 21 12:01:07 2026\n\n{STATUS}",
    "sections of an agent": f"<<<zpool_status>>>\n{STATUS}<<<zpool>>>\nNAME SIZE\n",
    "sections of a report": f"===== zpool status -P =====\n{STATUS}===== zpool list =====\nNAME  SIZE\n",
    "a notice of ZED": NOTICE + STATUS,
    "an empty line after each": STATUS.replace("\n", "\n\n"),
    "states in bold": STATUS.replace("DEGRADED", "**DEGRADED**"),
    "two fences": f"first\n```\n# zpool status -P\n{STATUS}```\nand\n```\n# zpool import\nno pools available to import\n```\n",
    "a quoted mail that was wrapped": "\n".join(f"> {line}" for line in wrap(STATUS, 60).split("\n")),
    "tabs of two": STATUS.expandtabs(2),
    "words below the command": f"zpool status -P\nthat is what it shows (sorry, it is long):\n{STATUS}",
    "words between the command and a fence": f"I ran\n\nzpool status -P\n\nand it shows this on that node:\n\n```\n{STATUS}```\n\nWhat now?\n",
    "a command in a line of code, and words": f"`# zpool status -P`\nThis is what I get:\n```\n{STATUS}```\nAny idea?\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_read_and_judged(name):
    found = triage([("paste", TEXTS[name])])
    assert "zpool_status" in [read.source for read in found.reads if read.outcome == "read"], found.reads
    assert [s.slug for s in found.situations] == ["disk-missing"]
    assert "not read" not in [read.outcome for read in found.reads]


def test_a_notice_of_zed_alone_is_no_status():
    assert "zpool_status" not in [read.source for read in triage([("paste", NOTICE)]).reads]


def test_a_table_without_its_beginning_claims_nothing():
    found = triage([("paste", "This is what I met:\n\n" + STATUS[STATUS.index("\tNAME") : STATUS.index("errors:")] + "\nWhat now?\n")])
    assert not [read for read in found.reads if read.source == "zpool_status" and read.outcome == "read"]
    assert not found.good


def test_words_below_a_command_leave_its_key_and_its_host_to_the_output():
    label = (step("disk-removed/2-removed") / "zdb-l-sda1.txt").read_text()
    found = triage([("paste", f"[root@oss07 ~]# zdb -l /dev/sdc1\nhere you go\n```\n{label}```\n")])
    assert [(read.outcome, read.source, read.key, read.node) for read in found.reads if read.source] == [
        ("read", "zdb_label", "sdc1", "oss07")
    ]


@pytest.mark.parametrize("refusal", ["cannot open 'oak': no such pool", "cannot open 'oak': dataset does not exist"])
def test_what_refuses_a_command_is_its_output_and_no_words_of_a_person(refusal):
    found = triage([("paste", f"# zpool status oak\n{refusal}\n{STATUS}")])
    assert found.fleet.nodes["pasted"].refusals
