"""Kinds of kernel logs that people paste and that were once misread: each in our own words, in the shape that the kind has."""

from __future__ import annotations

import pytest

from workflows.triage import json_answer, triage


def answered(text: str) -> dict:
    return json_answer.answer(triage([("paste.txt", text)]))


def slugs(answer: dict) -> list[str]:
    return [one["slug"] for one in answer["situations"]]


BRIDGE = (
    "Asking for cache data failed",
    "Assuming drive cache: write through",
    "No Caching mode page found",
    "No Caching mode page present",
    "Test WP failed, assume Write Enabled",
    "Got wrong page",
    "Incomplete mode parameter data",
    "Missing header in MODE_SENSE response",
)


@pytest.mark.parametrize("words", BRIDGE)
def test_what_a_bridge_cannot_say_of_its_cache_is_no_trouble(words):
    answer = answered(f"[    4.127036] sd 5:0:0:0: [sdk] 3907029168 512-byte logical blocks\n[    4.127051] sd 5:0:0:0: [sdk] {words}\n")
    assert slugs(answer) == []
    assert answer["texts"][0]["outcome"] == "read"


@pytest.mark.parametrize(
    "words", ["irq_stat 0x40000001, interface fatal error", "BMDMA stat 0x24", "edma_err_cause=00000084 pp_flags=00000003"]
)
def test_what_the_adapter_adds_to_an_exception_is_part_of_it(words):
    lines = [
        "ata3.00: exception Emask 0x10 SAct 0x0 SErr 0x0 action 0x6 frozen",
        f"ata3.00: {words}",
        "ata3.00: failed command: READ DMA EXT",
    ]
    answer = answered("".join(f"[  812.1044{number}] {line}\n" for number, line in enumerate(lines)))
    assert set(slugs(answer)) == {"kernel-errors"}


@pytest.mark.parametrize("month", ["Rgs", "okt.", "Mär", "août", "févr.", "лис"])
def test_a_log_whose_months_have_other_names_is_read_like_any(month):
    lines = [
        "ata3.00: exception Emask 0x0 SAct 0xc0 SErr 0x0 action 0x0",
        "ata3.00: error: { UNC }",
        "sd 2:0:0:0: [sdc] tag#6 Sense Key : Medium Error [current] [descriptor]",
        "sd 2:0:0:0: [sdc] tag#6 Add. Sense: Unrecovered read error - auto reallocate failed",
        "blk_update_request: I/O error, dev sdc, sector 1445018111",
    ]
    answer = answered("".join(f"{month} 22 20:23:38 oss03 kernel: {line}\n" for line in lines))
    assert [(text["first"], text["last"]) for text in answer["texts"]] == [(1, 5)]
    assert set(slugs(answer)) == {"kernel-errors"}


def test_what_another_program_says_under_such_a_month_is_no_line_of_the_kernel():
    reported = answered(
        "Rgs 22 20:23:38 oss03 kernel: blk_update_request: I/O error, dev sdc, sector 1445018111\n"
        "Rgs 22 20:23:39 oss03 systemd[1]: zfs-import.service failed: sdd disabled\n"
    )
    assert slugs(reported) == ["kernel-errors"]


def test_two_blanks_behind_the_name_of_a_disk_hide_nothing():
    answer = answered(
        "[  440.695168] sd 0:0:4:0: [sde]  Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE\n"
        "[  440.695172] sd 0:0:4:0: [sde]  Sense Key : Medium Error [current] [descriptor]\n"
        "[  440.695193] sd 0:0:4:0: [sde]  Add. Sense: Unrecovered read error - auto reallocate failed\n"
        "[  440.695209] end_request: I/O error, dev sde, sector 526830441\n"
    )
    [found] = answer["situations"]
    assert (found["slug"], "cannot read" in found["title"]) == ("kernel-errors", True)


def test_a_result_that_was_cut_behind_the_host_is_a_failed_command():
    reported = answered(
        "[  440.1] sd 8:0:0:0: [sdc] tag#255 FAILED Result: hostbyte=DID_OK\n[  440.2] blk_update_request: I/O error, dev sdc, sector 10001 op\n"
    )
    assert set(slugs(reported)) == {"kernel-errors"}


START = """[   42.615097] mpt3sas_cm0: _base_display_fwpkg_version: complete
[   42.620943] mpt3sas_cm0: _base_display_fwpkg_version: timeout
[   42.662212] mpt3sas_cm0 fault info from func: _base_make_ioc_ready
[   42.668399] mpt3sas_cm0: fault_state(0x2622)!
[   42.672770] mpt3sas_cm0: sending diag reset !!
[   43.590290] mpt3sas_cm0: diag reset: SUCCESS
"""
GAVE_UP = "[   43.594953] mpt3sas_cm0: failure at drivers/scsi/mpt3sas/mpt3sas_scsih.c:10791/_scsih_probe()!\n"


def test_an_adapter_that_was_given_up_at_boot_is_told_and_one_that_was_reset_is_not():
    assert slugs(answered(START)) == []
    [found] = answered(START + GAVE_UP)["situations"]
    assert (found["slug"], found["title"]) == ("hba-fault", "mpt3sas_cm0 did not start")
