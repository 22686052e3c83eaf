"""`journalctl -o json`: one object a line."""

import json

import pytest

from workflows.triage import triage
from workflows.triage.journal_json import spelt_out

ENTRY = {
    "__REALTIME_TIMESTAMP": "1772510706125000",
    "_HOSTNAME": "nas2",
    "SYSLOG_IDENTIFIER": "kernel",
    "PRIORITY": "3",
    "MESSAGE": "blk_update_request: critical medium error, dev sdq, sector 123456 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0",
}


def test_an_entry_is_read_as_the_line_that_it_stands_for():
    (found,) = triage([("p", json.dumps(ENTRY) + "\n")]).situations
    assert (found.slug, found.severity) == ("kernel-errors", "act")
    assert "sector 123456" in found.title


def test_another_program_has_its_number():
    line = spelt_out(json.dumps(ENTRY | {"SYSLOG_IDENTIFIER": "zed", "_PID": "812", "MESSAGE": "eid=4 class=statechange\nmore"}))
    assert line == "2026-03-03T04:05:06.125000+0000 nas2 zed[812]: eid=4 class=statechange"


@pytest.mark.parametrize(
    "change", [{"MESSAGE": [104, 105]}, {"__REALTIME_TIMESTAMP": "soon"}, {"__REALTIME_TIMESTAMP": "9" * 30}, {"MESSAGE": None}]
)
def test_what_has_no_time_or_no_text_stays_as_it_is(change):
    line = json.dumps(ENTRY | change)
    assert spelt_out(line) == line


@pytest.mark.parametrize("line", ['{"__REALTIME_TIMESTAMP":', '{"__REALTIME_TIMESTAMP":' + "[" * 9000, '["__REALTIME_TIMESTAMP"]', "x"])
def test_what_is_no_entry_stays_as_it_is(line):
    assert spelt_out(line) == line
