"""Whose report a report is, and what becomes of one that is on no disk of the list."""

import json
from types import SimpleNamespace

import pytest

from agents.collectors import smart
from agents.collectors.base import Capture
from workflows.facts import Unknown, known, node_facts
from workflows.facts.read.disk_condition import condition_of, is_about

NVME = {
    "smartctl": {}, "device": {"name": "/dev/nvme0", "protocol": "NVMe"}, "model_name": "QUAY QN980", "serial_number": "QN22A0001177",
    "nvme_namespaces": [{"eui64": {"oui": 0x0C7A15, "ext_id": 0xC1D2E3}}], "smart_status": {"passed": True},
    "nvme_smart_health_information_log": {"critical_warning": 0, "media_errors": 0, "percentage_used": 3},
}  # fmt: skip


def device(wwid, serial=None):
    return SimpleNamespace(name="nvme0n1", wwid=wwid, serial=serial)


@pytest.mark.parametrize(
    ("wwid", "serial", "about"),
    [
        ("eui:0c7a150000c1d2e3", None, True),
        ("eui:0c7a150000c1d2e4", "QN22A0001177", False),  # a name of the same kind that differs is another disk
        ("eui:0c7a150000c1d2e30000000000000001", "QN22A0001177", True),  # the kernel goes by the NGUID, which this report does not tell
        ("eui:0c7a150000c1d2e30000000000000001", "QN22A0001178", False),
        ("eui:0c7a150000c1d2e30000000000000001", None, False),
        ("ser:QUAY_QN980:QN22A0001177", None, True),
        ("ser:QUAY_QN980:QN22A0001178", "QN22A0001177", False),
        (None, "QN22A0001177", False),  # a device without a name is nobody
    ],
)
def test_a_report_is_of_the_disk_that_both_name(wwid, serial, about):
    assert is_about(smart.parse(json.dumps(NVME)), device(wwid, serial)) is about


def test_a_report_without_a_name_is_of_no_disk():
    assert not is_about(smart.parse("SMART Health Status: OK\n"), device("naa:5000c500a65b207b", "ZA000070"))


@pytest.mark.parametrize("listed", [True, False, None])
def test_whether_an_nvme_disk_has_a_self_test_is_what_smartctl_says(listed):
    commands = {} if listed is None else {"nvme_optional_admin_commands": {"self_test": listed}}
    condition = condition_of(smart.parse(json.dumps({**NVME, **commands})), Unknown("not asked"))
    assert condition.has_no_self_test is (listed is False)
    assert not known(condition.self_tests)


def test_the_text_of_smartctl_says_it_too():
    text = "smartctl 7.4 2023-08-01 r5530\nSMART overall-health self-assessment test result: PASSED\n\nSelf-tests not supported\n"
    assert condition_of(smart.parse(text), Unknown("not asked")).has_no_self_test


BLOCK = "/sys/block:sda\n/sys/block/sda/device -> /sys/devices/0:0:0:0\n/sys/block/sda/device/wwid:naa.5000c500a65b207b\n"
SAS = "Logical Unit id:      0x5000c500a65b2{}b\nSerial number:        ZA0000{}\nSMART Health Status: OK\n"


def facts(**texts):
    return node_facts(
        "n", {where.replace("__", "/"): Capture(where.partition("__")[0], "", "data", text) for where, text in texts.items()}, 1.0, ()
    )


def test_a_report_on_a_listed_disk_is_told_with_the_disk_alone():
    node = facts(block=BLOCK, smart__sda=SAS.format("07", "70"))
    assert known(node.disks[0].condition)
    assert node.loose_reports == ()


def test_a_report_on_another_disk_than_the_name_has_now_stands_alone():
    node = facts(block=BLOCK, smart__sda=SAS.format("08", "80"))
    assert not known(node.disks[0].condition)
    assert [(one.wwid, one.serial) for one in node.loose_reports] == [("naa:5000c500a65b208b", "ZA000080")]


def test_without_a_list_of_disks_every_report_stands_alone():
    node = facts(smart__sda=SAS.format("07", "70"), smart__sdb=SAS.format("08", "80"))
    assert [one.asked for one in node.loose_reports] == ["sda", "sdb"]


def test_what_the_text_does_not_say_is_not_known():
    """A guard asks whether the disk has places it could not read; the text of an old smartctl does not tell."""
    node = facts(block=BLOCK, smart__sda=SAS.format("07", "70"))
    condition = node.disks[0].condition
    assert (known(condition.pending_defects), known(condition.self_tests)) == (False, False)
