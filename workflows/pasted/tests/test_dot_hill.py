"""What an array by Dot Hill says of its parts in JSON: each one by its own health, at any depth, and none of them good."""

from __future__ import annotations

import json

import pytest

from workflows.triage import triage

STATUS = {"object-name": "status", "response-type": "Success", "response": "Command completed successfully."}
KINDS = {
    "drive": "disk-failing",
    "disk-group": "hba-fault",
    "controllers": "hba-fault",
    "power-supply": "enclosure-fault",
    "fan": "enclosure-fault",
}
HEALTHS = {"Fault": "act", "Degraded": "watch", "Unknown": "watch"}


def part(kind: str, health: str, n: int = 7, **more: object) -> dict[str, object]:
    return {
        "object-name": kind,
        "durable-id": f"{kind}_00.{n:02}",
        "serial-number": f"ZZQ7{n:04}",
        "health": health,
        "health-reason": "",
        **more,
    }


def read(*parts: dict[str, object], indent: int | None = 2):
    found = triage([("p", json.dumps({"objects": parts, "status": [STATUS]}, indent=indent) + "\n")])
    assert not found.good
    return found.situations


@pytest.mark.parametrize("health", HEALTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_is_not_well_is_raised_with_its_reason_and_serial_number(kind, health):
    (one,) = read(part(kind, health, **{"health-reason": "It was taken out."}))
    assert (one.slug, one.severity, one.subject["serial"]) == (KINDS[kind], HEALTHS[health], "ZZQ70007")
    assert "It was taken out." in one.meaning
    assert "ZZQ70007" in one.title


def test_a_health_that_is_not_known_is_unexplained():
    assert [(one.slug, one.severity) for one in read(part("drive", "Odd"))] == [("unexplained", "watch")]


def test_parts_that_are_well_raise_nothing():
    assert read(part("drive", "OK", 1), part("drive", "N/A", 2)) == ()


def test_no_part_hides_another_at_any_depth():
    inner = part("expanders", "Fault", 3)
    outer = part("enclosures", "Degraded", 2, drawers=[{"sideplanes": [inner, part("expanders", "OK", 4)]}])
    assert sorted(one.severity for one in read(part("drive", "OK", 1), outer, part("drive", "Fault", 5))) == ["act", "act", "watch"]


def test_two_disks_without_serial_numbers_are_two():
    assert len(read(*(part("drive", "Fault", n, **{"serial-number": ""}) for n in (1, 2)))) == 2


def test_a_document_on_one_line_is_read_too():
    assert [one.slug for one in read(part("drive", "Fault"), indent=None)] == ["disk-failing"]


def test_an_answer_that_shows_no_health_is_not_read():
    assert read({"object-name": "ports", "port": "A0", "status": "Up"}) == ()
