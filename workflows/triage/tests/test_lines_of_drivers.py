"""Lines of zed, of NVMe over a network, of an HBA's own notes and of a kernel that faults: each told as what it is, and none as good."""

from __future__ import annotations

import pytest

from workflows.triage import triage

NOTE = "mpt3sas_cm0: log_info(0x{code}): originator(PL), code(0x{code:.4}), sub_code(0x0000)\n"


@pytest.mark.parametrize(
    ("text", "title", "severity"),
    [
        ("[ 4321.000001] " + NOTE.format(code="31110d00") + "[ 4322.000001] " + NOTE.format(code="31080000"), "notes events of its links", "watch"),
        ("Jan 05 10:00:01 oss07 kernel: mpt2sas_cm1: log_info(0x30030101): originator(IOP), code(0x03), sub_code(0x0101)\n", "notes events", "info"),
        ("[ 900.000001] scsi target4:0:9: handle(0x0019), sas_addr(0x5000c500a7000001)\n", "SCSI host 4 failed and was reset", "act"),
        ("[ 900.000001] Kernel panic - not syncing: Fatal exception\n", "reports a fault of its own", "watch"),
        ("[ 900.000001] [   T1209] BUG: KASAN: use-after-free in foo_bar+0x6/0x7 [foo]\n", "reports a fault of its own", "watch"),
        ("[ 900.000001] Kernel panic - not syncing: VERIFY(!list_is_empty(l)) failed\n", "stopped at a failed check", "act"),
        ("[ 900.000001] [   T1209] nvme nvme3: Failed reconnect attempt 4\n", "nvme3 loses its link", "act"),
        ("[ 900.000001] nvme nvme3: NVME-FC{0.3}: io timeout: opcode 1 fctype 1 (I/O Cmd) w10/11: x00a1/x00\n", "nvme3 loses its link", "act"),
        ("[ 900.000001] nvme nvme1: Duplicate cntlid 1 with nvme0, rejecting\n", "nvme1 was given up", "act"),
        ("sd 2:2:3:0: [sdd] megasas: RESET cmd=28 retries=0\n", "megasas failed and was reset", "act"),
        ("WARNING: mr_sas0: io_timeout_checker: FW Fault, calling reset adapter\n", "mr_sas0 failed and was reset", "act"),
        ("Retire Agent: zpool_vdev_fault: vdev 8817265544332211001 on 'oak'\n", "took a member out of service", "act"),
        ("zed: Retire Agent: no spare for 'sdq1'\n", "looked for a spare", "watch"),
        ("Jan 05 10:00:01 oss07 zed[811]: Missed 12 events\n", "lost events", "watch"),
        ("Diagnosis Engine: opening case for vdev 8817265544332211001 due to 'ereport.fs.zfs.io'\n", "counts errors of a member", "watch"),
        ("Diagnosis Engine: resource event 'resource.fs.zfs.statechange'\n", "the state of a member changed", "watch"),
    ],
)  # fmt: skip
def test_each_is_told_as_what_it_is(text, title, severity):
    found = triage([("p", text)])
    assert [(title in each.title, each.severity) for each in found.situations] == [(True, severity)]
    assert not found.good


@pytest.mark.parametrize(
    "text",
    [
        "ZFS Event Daemon 2.3.1-1 (PID 4711)\nProcessing events since eid=0\nWaiting for new udev disk events...\n",
        'Invoking "all-syslog.sh" eid=77 pid=900\nFinished "all-syslog.sh" eid=77 pid=900 time=0.002s exit=0\n',
        "Jan 05 10:00:01 oss07 zed[811]: ZFS Event Daemon 2.3.1-1 (PID 811)\nJan 05 10:00:01 oss07 zed[811]: Processing events since eid=0\n",
        "[ 900.000001] nvme nvme3: Shutdown timeout set to 10 seconds\n[ 900.100001] nvme nvme3: 8/0/0 default/read/poll queues\n",
    ],
)
def test_what_a_healthy_one_prints_raises_nothing(text):
    found = triage([("p", text)])
    assert [each.outcome for each in found.reads if each.source] == ["read"]
    assert found.situations == ()


def test_lines_that_differ_in_hexadecimal_numbers_are_one_unexplained_word():
    lines = "".join(f"[ 900.00000{n}] nvme nvme3: unexpected failure w10/11: x00a{n}b{n}c\n" for n in range(5))
    assert [each.slug for each in triage([("p", lines)]).situations] == ["unexplained"]
