"""What `lvs`, `vgs` and `pvs` write with the names of their fields: as JSON, and with prefixes. A table says the same in fewer letters."""

from __future__ import annotations

import json

import pytest

from workflows.triage import triage

ROWS = {
    "partial": ({"lv_name": "attic", "vg_name": "vg7", "lv_attr": "rwi-aor-p-"}, ("vdev-degraded", "vg7/attic of LVM is partial: a disk of it is not there")),
    "full": ({"lv_name": "thin7", "vg_name": "vg7", "lv_attr": "twi-aotzD-"}, ("vdev-degraded", "vg7/thin7 of LVM has no space left")),
    "in words": ({"lv_name": "attic", "vg_name": "vg7", "lv_health_status": "refresh needed"}, ("vdev-degraded", "vg7/attic of LVM had errors of a disk")),
    "unheard": ({"lv_name": "attic", "vg_name": "vg7", "lv_health_status": "odd"}, ("vdev-degraded", "vg7/attic of LVM has a health that is not known here: odd")),
    "missing": ({"pv_name": "/dev/sdq7", "vg_name": "vg7", "pv_attr": "a-m"}, ("disk-missing", "LVM does not find a physical volume (vg7)")),
    "unknown": ({"pv_name": "[unknown]", "vg_name": "vg7", "pv_attr": "a--"}, ("disk-missing", "LVM does not find a physical volume (vg7)")),
    "group": ({"vg_name": "vg7", "vg_attr": "wz-pn-"}, ("vdev-degraded", "vg7 of LVM is partial: a disk of it is not there")),
}  # fmt: skip
WELL = {"lv_name": "root", "vg_name": "vg7", "lv_attr": "-wi-ao----", "lv_health_status": ""}


def of_json(*rows: dict[str, str], indent: int | None = 4) -> str:
    return json.dumps({"report": [{"pv" if "pv_name" in rows[0] else "vg" if "vg_attr" in rows[0] else "lv": rows}]}, indent=indent) + "\n"


def with_prefixes(*rows: dict[str, str]) -> str:
    return "".join("  " + "|".join(f"LVM2_{key.upper()}='{value}'" for key, value in row.items()) + "\n" for row in rows)


def found(text: str) -> list[tuple[str, str]]:
    read = triage([("p", text)])
    assert not read.good
    return [(each.slug, each.title) for each in read.situations]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("form", [of_json, with_prefixes])
def test_what_a_field_says_of_a_volume_is_raised_in_either_form(form, row):
    fields, title = ROWS[row]
    assert found(form(fields)) == [title]


def test_a_report_on_one_line_is_read_too():
    assert found(of_json(ROWS["partial"][0], indent=None)) == [ROWS["partial"][1]]


@pytest.mark.parametrize("form", [of_json, with_prefixes])
def test_a_volume_that_is_well_raises_nothing_and_is_no_pool(form):
    assert found(form(WELL)) == []


def test_no_row_hides_another():
    assert found(of_json(WELL, ROWS["partial"][0], ROWS["full"][0])) == [ROWS["partial"][1], ROWS["full"][1]]
    assert found(with_prefixes(WELL, ROWS["partial"][0], ROWS["full"][0])) == [ROWS["partial"][1], ROWS["full"][1]]


def test_a_report_that_is_cut_is_not_read():
    text = of_json(ROWS["partial"][0], WELL)
    assert not triage([("p", text[: len(text) // 2])]).good


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pv_missing": None, "pv_attr": None}, []),
        ({"pv_missing": 0}, []),
        ({"pv_missing": 1}, [("disk-missing", "LVM does not find a physical volume (vg7)")]),
        ({"pv_missing": "missing"}, [("disk-missing", "LVM does not find a physical volume (vg7)")]),
    ],
)
def test_numbers_and_null_of_the_stricter_json_are_read(changes, expected):
    assert found(of_json({"pv_name": "/dev/sdq7", "vg_name": "vg7", "pv_attr": "a--"} | changes)) == expected
