"""Where no light can be read, a person is given the commands of the tools that may have one: by the disk's identity, and switched off again."""

from __future__ import annotations

import pytest

from workflows.runbooks import RUNBOOKS
from workflows.runbooks._other_lights import other_lights
from workflows.tests.incident import BLANK_WWID, FLEET, PARAMS, by_id, with_disk

GIVEN = {**PARAMS, "old_wwid": BLANK_WWID, "old_serial": "ZA20008X"}


def test_each_tool_is_switched_off_again_and_none_names_a_kernel_name():
    lines = other_lights(FLEET, GIVEN).split("\n")
    assert "none of these is read back" in lines[0]
    assert [line.split()[1] for line in lines[1:]] == ["ledctl", "sas3ircu", "storcli:"]
    assert all("afterwards" in line for line in lines)
    assert all("/dev/sd" not in line for line in lines)


def test_ledctl_never_switches_the_others():
    line = other_lights(FLEET, GIVEN).split("\n")[1]
    assert line.count("`ledctl ") == line.count("`ledctl --listed-only ") == 2
    assert f"locate={by_id(BLANK_WWID)}`" in line


def test_a_disk_that_may_not_be_named_is_not_named():
    text = other_lights(with_disk(BLANK_WWID, doubt="Two disks report it."), GIVEN)
    assert "ledctl" not in text
    assert "sas3ircu" in text


@pytest.mark.parametrize("params", [{}, {**GIVEN, "old_serial": ""}, {**GIVEN, "old_wwid": "naa:5000c500ffffffff"}])
def test_of_a_disk_that_is_not_known_no_command_is_given(params):
    text = other_lights(FLEET, params)
    assert text.startswith("Whether a tool could light it is not known")
    assert "`" not in text


@pytest.mark.parametrize(("book", "step"), [("blink-and-replace", "find"), ("replace-in-place", "find"), ("replace-in-place", "find-new")])
def test_it_is_shown_where_a_disk_is_found_by_its_serial_number(book, step):
    assert next(warns.__name__ for warns in RUNBOOKS[book].step(step).warns).startswith("other_lights")
