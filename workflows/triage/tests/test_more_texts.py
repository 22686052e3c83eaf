"""Kinds of texts that were read wrongly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflows.triage import triage

CASES = Path(__file__).parent / "cases"


def test_what_solaris_explains_below_the_tree_hides_nothing():
    found = triage([("p", (CASES / "solaris-device-details.txt").read_text())])
    assert [read.outcome for read in found.reads] == ["read"]
    assert [s.slug for s in found.situations] == ["disk-missing"]


@pytest.mark.parametrize(
    "note", ["100% trimmed, completed at Sun Mar  9 03:24:01 2025", "37% initialized, started at Sat Mar  1 03:24:01 2025"]
)
def test_a_date_with_two_blanks_is_one_note(note):
    text = f"  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE 0 0 0\n\t  sda  ONLINE 0 0 0  ({note})\n\nerrors: No known data errors\n"
    assert triage([("p", text)]).good


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("zfs: pool tank activity check required\n", "zpool import"),
        ("Avago Technologies SAS3 Flash Utility\nVersion 16.00.00.00 (2017.05.02)\n", "sas3flash"),
        (
            "hcil    dev dev_t pri dm_st  chk_st dev_st  next_check\n2:0:0:1 sdc 8:32  10  failed faulty running XXXXXXXX.. 16/20\n",
            "multipathd show paths",
        ),
    ],
)
def test_what_is_known_and_not_read_is_named(text, name):
    found = triage([("p", text)])
    assert name in found.reads[0].reason
    assert found.reads[0].recognised
    assert not found.good


@pytest.mark.parametrize(
    "text",
    [
        '[\n  {\n    "name": "tank",\n    "healthy": false,\n    "status": "DEGRADED"\n  }\n]\n',
        '[{"id": 1, "name": "tank", "guid": "1234567890", "path": "/mnt/tank", "status": "DEGRADED", "healthy": false}]\n',
    ],
)
def test_a_pool_of_truenas_that_is_degraded_is_told_however_little_of_it_was_kept(text):
    found = triage([("p", text)])
    assert [(read.outcome, read.source) for read in found.reads] == [("read", "truenas_pools")]
    assert [(one.slug, one.severity, one.title) for one in found.situations] == [("vdev-degraded", "act", "tank is DEGRADED")]
    assert not found.good
