"""The fault light of one bay goes out for the one disk that is in it, is read back over every path, and is never lit."""

from __future__ import annotations

import copy

import pytest

from agents.operations import fault_led_off as op
from agents.operations.base import act
from agents.operations.locate_led import WRITES_MAX
from twin import scenarios
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.model import FAULT_ASKED, FAULT_SENSED

BAY = 3


def host(change=lambda node: None) -> TwinHost:
    node = scenarios.sick_disk()
    change(node)
    return TwinHost(MemoryStore(node), lambda: 1e9, lambda seconds: None)


def bay(node):
    return node.enclosures[0].bays[BAY - 1]


def params(twin: TwinHost, **over: str) -> dict[str, str]:
    node = twin.view().node
    named = {"pool": "ost_0", "pool_guid": "1", "enclosure": node.enclosures[0].id, "slot": str(BAY), "wwid": bay(node).wwid}
    return named | over


def lights(twin: TwinHost) -> dict[int, int]:
    return {b.number: b.fault for b in twin.view().node.enclosures[0].bays if b.fault}


def against(twin: TwinHost, asked: dict[str, str]) -> list[tuple[str, str]]:
    return [verdict for verdict in op.guards(op.preconditions(twin, asked), asked) if verdict[0] != "pass"]


def test_it_is_switched_off_and_read_back_and_no_other_is_touched():
    def another(node):
        node.enclosures[0].bays[0].fault = FAULT_ASKED

    twin = host(another)
    asked = params(twin)
    assert against(twin, asked) == []
    ran = act(op, twin, asked)
    assert (ran.exit_code, lights(twin)) == (0, {1: FAULT_ASKED})
    assert b"read back: the fault light of bay 3 of 0x500605b0000272bf is off" in ran.stdout
    assert op.probe(twin, asked, {}).result == "did"


def test_every_path_to_the_enclosure_is_written_and_read():
    def second_path(node):
        other = copy.deepcopy(node.enclosures[0])
        other.name, other.sg = "3:0:9:0", 99
        node.enclosures.append(other)

    twin = host(second_path)
    pre = op.preconditions(twin, params(twin))
    assert len(pre["fault.folders"].split(", ")) == 2
    assert act(op, twin, params(twin)).exit_code == 0
    assert not any(b.fault for enclosure in twin.view().node.enclosures for b in enclosure.bays)


@pytest.mark.parametrize(
    ("change", "over", "outcome", "expected"),
    [
        (lambda node: None, {"wwid": "naa:5000c500ffffffff"}, "refuse", "and not naa:5000c500ffffffff. Its fault light stays."),
        (lambda node: None, {"slot": "4"}, "refuse", "Bay 4 of 0x500605b0000272bf holds naa:"),
        (lambda node: None, {"slot": "99"}, "unknown", "shows bay 99"),
        (lambda node: None, {"enclosure": "0x5000000000000001"}, "unknown", "0x5000000000000001"),
        (lambda node: scenarios.unplug(node, bay(node).wwid), {"wwid": "naa:5000c500a65b202b"}, "refuse", "holds none"),
        (lambda node: setattr(bay(node), "fault", FAULT_SENSED), {}, "refuse", "the enclosure itself senses a fault there"),
    ],
)
def test_it_is_refused_where_another_disk_or_none_is_in_the_bay_or_nobody_asked_for_the_light(change, over, outcome, expected):
    twin = host(change)
    found = against(twin, params(twin, **over))
    assert found, "nothing is said against it"
    assert any(one == outcome and expected in why for one, why in found), found


def test_what_the_enclosure_senses_stays_and_is_said():
    twin = host(lambda node: setattr(bay(node), "fault", FAULT_ASKED | FAULT_SENSED))
    ran = act(op, twin, params(twin))
    assert (ran.exit_code, lights(twin)) == (0, {BAY: FAULT_SENSED})
    assert b"is on, as the enclosure itself senses a fault" in ran.stdout


def test_a_disk_that_came_meanwhile_is_not_spoken_for():
    twin = host()
    asked = params(twin)
    with twin.store.changing() as node:
        bay(node).wwid, node.enclosures[0].bays[3].wwid = node.enclosures[0].bays[3].wwid, bay(node).wwid
    ran = act(op, twin, asked)
    assert ran.exit_code == 1
    assert b"bay 3 holds naa:5000c500a65b203b and not naa:5000c500a65b202b." in ran.stderr
    assert lights(twin) == {BAY: FAULT_ASKED}


class Stubborn:
    """An enclosure that takes the write and does not do it."""

    def __init__(self, twin: TwinHost, reads: bytes | None = None) -> None:
        self.twin, self.reads, self.writes = twin, reads, 0

    def __getattr__(self, name):
        return getattr(self.twin, name)

    def write(self, path, data):
        self.writes += 1

    def read(self, path):
        return self.reads if self.reads is not None and path.endswith("/fault") else self.twin.read(path)


def test_a_light_that_stays_on_is_a_failure_after_three_writes():
    twin = Stubborn(host())
    ran = act(op, twin, params(twin.twin))
    assert (ran.exit_code, twin.writes) == (1, WRITES_MAX)
    assert op.probe(twin, params(twin.twin), {}).result == "did_not"


@pytest.mark.parametrize("reads", [b"", b"8\n", b"-1\n", b"on\n", b"22\n"])
def test_a_light_that_cannot_be_read_is_neither_on_nor_off(reads):
    twin = Stubborn(host(), reads)
    assert [outcome for outcome, _ in against(twin, params(twin.twin))] == ["unknown"]
    assert act(op, twin, params(twin.twin)).exit_code == 1
    assert op.probe(twin, params(twin.twin), {}).result == "cannot_tell"
    assert twin.writes == 0


def test_nothing_is_ever_lit():
    assert "on" not in op.PARAMS
    assert "light" not in op.PARAMS
    assert op.argv(params(host()))[:2] == ("fault", "off")
