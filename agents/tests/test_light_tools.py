"""Lights by a tool of the node: which disk has which place, what is switched and read back, and that nothing is lit for another disk."""

from __future__ import annotations

import pytest

from agents.collectors import block, light_tools
from agents.collectors.base import Unparsed
from agents.collectors.light_tools import ToolLight, is_of, parse
from agents.operations import locate_led as op
from agents.operations.base import act
from twin import scenarios
from twin.disk_kinds import nvme, turned
from twin.host import TwinHost
from twin.light_tools import with_tool
from twin.memory import MemoryStore

TOOLS = ("ledctl", "sas3ircu", "sas2ircu", "storcli", "perccli")
PLACES = {"ledctl": "VMD/0", "storcli": "/c0/e8/s0", "perccli": "/c0/e8/s0"}


def host(tool: str, change=lambda node: None) -> TwinHost:
    node = scenarios.sick_disk()
    node = with_tool(turned(node, nvme) if tool == "ledctl" else node, tool)
    change(node)
    return TwinHost(MemoryStore(node), lambda: 1e9, lambda seconds: None)


def params(twin: TwinHost, tool: str, light: str = "on", **over: str) -> dict[str, str]:
    place = PLACES.get(tool, "0/2:0")
    wwid = twin.view().node.light_tools[0].places[place]
    return {"pool": "ost_0", "pool_guid": "1", "enclosure": tool, "slot": place, "wwid": wwid, "light": light} | over


def lit(twin: TwinHost) -> list[str]:
    return twin.view().node.light_tools[0].lit


def against(twin: TwinHost, asked: dict[str, str]) -> list[str]:
    assert op.check(asked) == ""
    return [reason for outcome, reason in op.guards(op.preconditions(twin, asked), asked) if outcome != "pass"]


@pytest.mark.parametrize("tool", TOOLS)
def test_it_is_lit_for_the_disk_in_the_place_and_switched_off(tool):
    twin = host(tool)
    asked = params(twin, tool)
    assert against(twin, asked) == []
    assert op.preconditions(twin, asked)["led.way"] == tool
    ran = act(op, twin, asked)
    assert (ran.exit_code, lit(twin)) == (0, [asked["slot"]])
    dark = params(twin, tool, "off", wwid=op.ANY)
    assert against(twin, dark) == []
    assert (act(op, twin, dark).exit_code, lit(twin)) == (0, [])


def test_ledctl_reads_it_back_and_the_others_say_that_they_do_not():
    twin = host("ledctl")
    ran = act(op, twin, params(twin, "ledctl"))
    assert b"read back: place VMD/0 of ledctl is lit" in ran.stdout
    assert op.probe(twin, params(twin, "ledctl"), {}).result == "did"
    assert op.probe(twin, params(twin, "ledctl", "off"), {}).result == "did_not"
    twin = host("sas3ircu")
    ran = act(op, twin, params(twin, "sas3ircu"))
    assert b"the tool reads no light back" in ran.stdout
    assert b"read back:" not in ran.stdout
    assert op.probe(twin, params(twin, "sas3ircu"), {}).result == "cannot_tell"


@pytest.mark.parametrize("tool", TOOLS)
def test_it_is_not_lit_for_another_disk(tool):
    twin = host(tool)
    other = twin.view().node.disks[1].wwid
    assert any(f"and not {other}. Nothing is lit" in reason for reason in against(twin, params(twin, tool, wwid=other)))


def test_two_lights_of_ledctl_mislead():
    twin = host("ledctl", lambda node: node.light_tools[0].lit.append("VMD/1"))
    (beside,) = against(twin, params(twin, "ledctl"))
    assert "VMD/1 of ledctl is lit already" in beside
    ran = act(op, twin, params(twin, "ledctl"))
    assert ran.exit_code == 1
    assert b"is lit too" in ran.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_a_place_that_the_tool_does_not_have_lights_nothing(tool):
    nowhere = {"ledctl": "VMD/77", "storcli": "/c0/e8/s77", "perccli": "/c0/e8/s77"}.get(tool, "0/2:77")
    twin = host(tool)
    asked = params(twin, tool, slot=nowhere)
    assert against(twin, asked)
    assert act(op, twin, {**asked, "light": "off"}).exit_code == 1
    assert lit(twin) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_is_gone_is_not_known(tool):
    twin = host(tool)
    asked = params(twin, tool)
    with twin.store.changing() as node:
        node.light_tools = []
    assert "not installed" in op.preconditions(twin, asked)["bay.disk"]
    assert against(twin, asked)


@pytest.mark.parametrize(
    ("tool", "place"),
    [
        ("ledctl", "SCSI/1"),
        ("ledctl", "VMD/-x"),
        ("ledctl", "VMD/a b"),
        ("ledctl", "VMD/"),
        ("sas3ircu", "0/2"),
        ("sas3ircu", "0/2:5 OFF"),
        ("storcli", "/c0/eall/sall"),
        ("storcli", "/c0/e8/s5/x"),
        ("storcli", "VMD/1"),
    ],
)
def test_what_is_no_place_of_the_tool_is_refused(tool, place):
    asked = {"pool": "p", "pool_guid": "1", "enclosure": tool, "slot": place, "wwid": op.ANY, "light": "off"}
    assert "is no place" in op.check(asked)


def test_each_command_is_of_one_place_alone():
    for tool in TOOLS:
        asked = params(host(tool), tool)
        for light in ("on", "off"):
            argv = op.argv({**asked, "light": light})
            assert argv[0] == tool
            assert "all" not in " ".join(argv)
            assert not any("/dev/" in word for word in argv if word != light_tools.NO_LOG)


def test_a_storcli_that_ends_well_and_says_failure_did_not():
    class Failing(TwinHost):
        def run(self, argv, timeout_seconds):
            ran = super().run(argv, timeout_seconds)
            return ran if "locate" not in argv else type(ran)(ran.argv, 0, b"Controller = 0\nStatus = Failure\n", b"", 0.1)

    twin = Failing(host("storcli").store, lambda: 1e9, lambda seconds: None)
    ran = act(op, twin, params(twin, "storcli"))
    assert ran.exit_code == 1
    assert b"Status = Failure" in ran.stderr


DISPLAY = """\
sas3ircu 0|
sas3ircu 0|Physical device information
sas3ircu 0|Device is a Enclosure services device
sas3ircu 0|  Enclosure #                             : 2
sas3ircu 0|  Slot #                                  : 24
sas3ircu 0|Device is a Hard disk
sas3ircu 0|  Enclosure #                             : 2
sas3ircu 0|  Slot #                                  : 5
sas3ircu 0|  Serial No                               : ZC1
sas3ircu 0|  Unit Serial No(VPD)                     : ZC11ABCD
sas3ircu 0|  GUID                                    : 5000c500a65b207b
sas3ircu 0|Device is a Hard disk
sas3ircu 0|  Enclosure #                             : 2
sas3ircu 0|  Slot #                                  : 6
sas3ircu 0|  Serial No                               : N/A
sas3ircu 0|  GUID                                    : N/A
sas3ircu 0|Enclosure information
sas3ircu 0|  Enclosure#                              : 1
"""


def test_drives_of_an_hba_are_read_and_nothing_beside_them():
    found = parse(DISPLAY)
    assert found.tools == {"sas3ircu": ""}
    assert found.lights == (
        ToolLight("sas3ircu", "0/2:5", None, "naa:5000c500a65b207b", "ZC11ABCD"),
        ToolLight("sas3ircu", "0/2:6"),
    )


def test_slots_of_ledctl_are_read_with_their_light():
    lines = (
        "ledctl NPEM|\nledctl NPEM|slot: 10000:01:00.0   led state: LOCATE          device: /dev/nvme0n1\n"
        "ledctl NPEM|slot: 10000:02:00.0   led state: UNKNOWN         device: (empty)\n"
    )
    assert parse(lines).lights == (
        ToolLight("ledctl", "NPEM/10000:01:00.0", "nvme0n1", lit=True),
        ToolLight("ledctl", "NPEM/10000:02:00.0"),
    )


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("ledctl NPEM|failed: ledctl --list-slots exited 35: ledctl: unrecognized option\nledctl VMD|\n", "ledctl"),
        ("ledctl NPEM|\nledctl NPEM|something else\n", "ledctl"),
        ('storcli all|\nstorcli all|{"Controllers": [{\n', "storcli"),
        ("storcli all|\nstorcli all|[]\n", "storcli"),
    ],
)
def test_a_tool_that_does_not_answer_shows_no_place_and_why(text, tool):
    found = parse(text)
    assert found.lights == ()
    assert found.tools[tool]


@pytest.mark.parametrize("text", ["", "ledctl NPEM|", "hdparm 0|x\n", "nonsense\n"])
def test_what_is_no_such_list_is_refused(text):
    assert isinstance(parse(text), Unparsed)


def test_a_disk_is_known_by_its_wwid_or_its_serial_number():
    disk = block.parse(block.collect(host("storcli"))[0].text)[0]
    assert is_of(ToolLight("storcli", "/c0/e8/s0", wwid="naa:5000c500000000f0", serial=disk.serial), disk)
    assert is_of(ToolLight("sas3ircu", "0/2:0", wwid=disk.wwid), disk)
    assert not is_of(ToolLight("sas3ircu", "0/2:0"), disk)
    assert not is_of(ToolLight("ledctl", "VMD/1", device="nvme9n1"), disk)


def test_a_node_without_any_of_them_has_none():
    (capture,) = light_tools.collect(TwinHost(MemoryStore(scenarios.sick_disk()), lambda: 1e9, lambda seconds: None))
    assert (capture.outcome, capture.text) == ("nothing", "")
