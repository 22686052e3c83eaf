"""`getencstat` of FreeBSD and of NetBSD: each element by its status, a predicted failure by its flag, and the enclosure as a whole."""

from __future__ import annotations

import pytest

from workflows.triage import triage

HEAD = "/dev/ses4: Enclosure Status <{0}>\n"
NEW = "Element 0x{0}: Array Device Slot, status: {1} (0x02 0x00 0x00 0x40), descriptor: 'Slot 09', dev: 'da9,pass11'\n"
OLD = "Element 0x{0}: Array device, Status={1} (bytes=0x02 0x00 0x00 0x40)\n"


def raised(text: str) -> list[tuple[str, str]]:
    return [(one.severity, one.title) for one in triage([("pasted", text)]).situations]


@pytest.mark.parametrize(
    ("row", "severity"),
    [
        (NEW.format("a", "Critical"), "act"),
        (NEW.format("a", "OK, Prd.Fail"), "watch"),
        (OLD.format("a", "non-critical"), "watch"),
        (OLD.format("a", "unrecoverable"), "act"),
    ],
)
def test_an_element_that_is_not_well_is_named(row, severity):
    ((found, title),) = raised(HEAD.format("CRITICAL") + NEW.format("9", "OK") + row)
    assert found == severity
    assert "10" in title or "Slot 09 with da9" in title


def test_an_enclosure_that_is_not_well_is_told_where_no_element_says_why():
    assert raised(HEAD.format("NON-CRITICAL")) == [("watch", "ses4: the enclosure is non-critical")]
    assert raised(HEAD.format("CRITICAL") + NEW.format("9", "OK")) == [("act", "ses4: the enclosure is critical")]


def test_an_enclosure_whose_elements_are_well_has_no_situation():
    found = triage([("pasted", HEAD.format("OK") + NEW.format("9", "OK") + OLD.format("b", "ok"))])
    assert [read.outcome for read in found.reads] == ["read"]
    assert not found.situations
