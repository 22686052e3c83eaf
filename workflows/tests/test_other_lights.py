"""Where no light leads to a disk that the portal switches, a person is told what the tools of the node could do: of the tools that it has and of no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.facts import Unknown
from workflows.runbooks import RUNBOOKS
from workflows.runbooks._other_lights import other_lights
from workflows.tests.incident import BLANK_WWID, DISKS, FLEET, NODE, PARAMS, by_id, fleet

GIVEN = {**PARAMS, "enclosure": "none", "slot": "none", "old_wwid": BLANK_WWID, "old_serial": "ZA20008X"}
OLD_LEDCTL = "ledctl --list-slots --controller-type=NPEM exited 35: ledctl: unrecognized option '--list-slots'"


def of(tools, **changed):
    disks = tuple(replace(disk, **changed) if disk.wwid == BLANK_WWID else disk for disk in DISKS)
    return other_lights(fleet(replace(NODE, light_tools=tools, disks=disks)), GIVEN)


def test_only_tools_that_the_node_has_are_named():
    assert of({"sas3ircu": ""}) == f"sas3ircu of {NODE.node} shows no place for this disk, so it lights none."
    assert "storcli64 exited 1" in of({"storcli": "storcli64 exited 1"})
    none = of({})
    assert "none of ledctl, sas3ircu, sas2ircu, storcli, perccli" in none
    assert "`" not in none


def test_an_old_ledctl_never_switches_the_others_and_names_no_kernel_name():
    text = of({"ledctl": OLD_LEDCTL})
    assert text.count("`ledctl ") == text.count("`ledctl --listed-only ") == 2
    assert f"locate={by_id(BLANK_WWID)}`" in text
    assert "/dev/sd" not in text
    assert "afterwards" in text


def test_a_disk_that_may_not_be_named_is_not_named():
    text = of({"ledctl": OLD_LEDCTL}, doubt="Two disks report it.")
    assert "`" not in text
    assert "unrecognized option" in text


def test_where_a_light_of_a_tool_leads_there_nothing_else_is_shown():
    assert other_lights(FLEET, {**GIVEN, "enclosure": "storcli", "slot": "/c0/e8/s5"}) == ""


@pytest.mark.parametrize("params", [{}, {**GIVEN, "old_wwid": "naa:5000c500ffffffff"}])
def test_of_a_disk_that_is_not_known_no_command_is_given(params):
    text = other_lights(FLEET, params)
    assert text.startswith("Whether a tool could light it is not known")
    assert "`" not in text


def test_of_a_node_that_was_not_asked_it_is_not_known():
    assert "is not known" in of(Unknown("It was not asked."))


@pytest.mark.parametrize(("book", "step"), [("blink-and-replace", "find"), ("replace-in-place", "find"), ("replace-in-place", "find-new")])
def test_it_is_shown_where_a_disk_is_found_by_its_serial_number(book, step):
    assert next(warns.__name__ for warns in RUNBOOKS[book].step(step).warns).startswith("other_lights")
