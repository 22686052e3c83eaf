"""What an NVMe disk wrote down of commands that failed: those of its media count, and a log says of nothing that it is well."""

from __future__ import annotations

import json

import pytest

from workflows.triage import triage

ENTRY = "................. \n Entry[ {0}]   \n.................\nerror_count\t: {1}\nsqid\t\t: 3\ncmdid\t\t: 0x2e\nstatus_field\t: {2}\nlba\t\t: 0x1f2e3d40\nnsid\t\t: 0x1\n"
HEAD = "Error Log Entries for device:nvme0 entries:2\n"
UNREAD = "0x4502(Unrecovered Read Error: The read data could not be recovered from the media)"
UNKNOWN = "0x4004(Invalid Field in Command: A reserved coded value or an unsupported value in a defined field)"


def text_of(*entries: tuple[int, str]) -> str:
    return HEAD + "".join(ENTRY.format(place, *each) for place, each in enumerate(entries))


def json_of(*entries: tuple[int, str]) -> str:
    return (
        json.dumps(
            {
                "errors": [
                    {"error_count": count, "sqid": 3, "status_field": 8452, "status_string": status, "nsid": 1} for count, status in entries
                ]
            },
            indent=2,
        )
        + "\n"
    )


@pytest.mark.parametrize("form", [text_of, json_of])
def test_only_what_failed_on_the_media_is_raised(form):
    found = triage([("p", form((12, UNREAD), (11, UNKNOWN)))])
    assert [each.outcome for each in found.reads] == ["read"]
    assert [(each.slug, each.severity) for each in found.situations] == [("disk-failing", "watch")]
    other = triage([("p", form((11, UNKNOWN)))])
    assert [each.outcome for each in other.reads] == ["read"]
    assert not other.situations
    assert not other.good


def test_an_entry_that_was_never_filled_in_is_none():
    found = triage([("p", text_of((0, "0(Successful Completion: The command completed without error)")))])
    assert not found.situations
    assert "0 entries" in " ".join(found.reads[0].notes)
