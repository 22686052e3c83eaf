"""One tunable is set, read back, and put back: on the twin's sysfs, and by the words that FreeBSD gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agents.domain.tunables import FREEBSD, SCAN_KNOBS, TUNABLES, number
from agents.host.host import Ran
from agents.operations import set_tunable
from agents.operations.base import UNKNOWN, act
from agents.tests import rig
from workflows.facts.read.tunables import DEFAULTS

NAME = "zfs_scan_vdev_limit"
GOOD = {"pool": "ost_0", "pool_guid": "7", "platform": "linux", "name": NAME, "before": "16777216", "value": "33554432"}
BACK = GOOD | {"before": GOOD["value"], "value": GOOD["before"]}


@pytest.fixture
def host(tmp_path):
    return rig.twin(tmp_path)


def now(host):
    return host.read(f"/sys/module/zfs/parameters/{NAME}").decode().strip()


def test_it_sets_and_puts_back(host):
    pre = set_tunable.preconditions(host, GOOD)
    assert pre["tunable.value"] == "16777216"
    assert all(outcome == "pass" for outcome, _ in set_tunable.guards(pre, GOOD))
    assert act(set_tunable, host, GOOD).exit_code == 0
    assert now(host) == "33554432"
    assert set_tunable.probe(host, GOOD, pre).result == "did"
    assert set_tunable.probe(host, BACK, pre).result == "did_not"
    assert act(set_tunable, host, BACK).exit_code == 0
    assert now(host) == "16777216"


def test_it_may_be_done_twice(host):
    act(set_tunable, host, GOOD)
    again = set_tunable.preconditions(host, GOOD)
    assert all(outcome == "pass" for outcome, _ in set_tunable.guards(again, GOOD))
    assert act(set_tunable, host, GOOD).exit_code == 0


def test_it_leaves_alone_what_somebody_else_set(host):
    host.write(f"/sys/module/zfs/parameters/{NAME}", b"8388608\n")
    pre = set_tunable.preconditions(host, GOOD)
    assert (
        "refuse",
        f"{NAME} is 8388608, not 16777216: another person or program set it. Find out who, and ask them.",
    ) in set_tunable.guards(pre, GOOD)
    assert set_tunable.probe(host, GOOD, pre).result == "cannot_tell"


@pytest.mark.parametrize("name", set_tunable.FACTS)
@pytest.mark.parametrize("how", ["unknown", "missing"])
def test_knowing_less_never_opens_it(host, name, how):
    pre = set_tunable.preconditions(host, GOOD)
    less = {k: v for k, v in pre.items() if k != name} if how == "missing" else {**pre, name: f"{UNKNOWN}no answer"}
    assert any(outcome == "unknown" for outcome, _ in set_tunable.guards(less, GOOD))


def test_a_value_the_kernel_does_not_take_fails_and_says_so(host, monkeypatch):
    monkeypatch.setattr(type(host), "write", lambda self, path, data: None)
    ran = act(set_tunable, host, GOOD)
    assert ran.exit_code == 1
    assert "still reads 16777216" in ran.stderr.decode()


def test_a_file_that_is_not_there_fails_and_says_so(host):
    ran = act(set_tunable, host, GOOD | {"name": "zfs_resilver_delay", "before": "2", "value": "0"})
    assert (ran.exit_code, "No such file" in ran.stderr.decode()) == (1, True)


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"value": "1"}, "may be set from 4194304 to 67108864, not to 1."),
        ({"value": "99999999"}, "may be set from"),
        ({"value": "0x2000000"}, "plain whole numbers"),
        ({"value": "033554432"}, "plain whole numbers"),
        ({"before": "-1"}, "plain whole numbers"),
        ({"name": "zfs_arc_max"}, "no tunable that we know"),
        ({"name": "zfs_no_scrub_io", "value": "1", "before": "0"}, "is not set by an order: a resilver then finishes without"),
        ({"platform": "illumos"}, "no platform on which"),
        ({"platform": FREEBSD, "name": "zfs_multihost_fail_intervals", "value": "20", "before": "10"}, ""),
    ],
)
def test_it_takes_only_what_is_safe(over, expected):
    assert expected in set_tunable.check({**GOOD, **over})


def test_a_default_may_always_be_put_back():
    """5 is below what an order may choose, and what 0.7 has by itself."""
    given = GOOD | {"name": "zfs_multihost_fail_intervals", "before": "20", "value": "5"}
    assert set_tunable.check(given) == ""


class FreeBsd:
    """A FreeBSD node: sysctl answers, and there is no /proc."""

    text = Path(__file__).parent / "captures" / "sysctl" / "made-up--freebsd-14.txt"

    def __init__(self):
        self.asked = []

    def list(self, pattern):
        return ()

    def now(self):
        return 0.0

    def read(self, path):
        raise FileNotFoundError(path)

    def link(self, path):
        raise FileNotFoundError(path)

    def run(self, argv, timeout_seconds):
        self.asked.append(tuple(argv))
        if tuple(argv) == ("sysctl", "vfs.zfs"):
            return Ran(tuple(argv), 0, self.text.read_bytes(), b"", 0.0)
        return Ran(tuple(argv), 0 if argv[0] == "sysctl" else None, b"", b"", 0.0, "" if argv[0] == "sysctl" else "not found")


def test_on_freebsd_it_is_a_sysctl():
    host, given = FreeBsd(), GOOD | {"platform": FREEBSD}
    assert set_tunable.preconditions(host, given)["tunable.value"] == "16777216"
    assert act(set_tunable, host, given).exit_code == 0
    assert host.asked[-1] == ("sysctl", "vfs.zfs.scan_vdev_limit=33554432")


@pytest.mark.parametrize("name", SCAN_KNOBS)
def test_every_knob_can_be_put_back_and_costs_something(name):
    """Every default of every release may be set again, its steps are safe, and it says what others pay."""
    tunable = TUNABLES[name]
    known = {value for _, values in DEFAULTS[name] for value in values}
    assert known <= set(tunable.defaults)
    assert tunable.cost
    assert all(tunable.safe[0] <= value <= tunable.safe[1] for value in tunable.steps)
    assert (tunable.gone is None) == bool(tunable.freebsd)
    assert all(TUNABLES[successor].gone is None for successor in tunable.successors)


def test_what_is_not_set_says_why():
    for tunable in TUNABLES.values():
        assert bool(tunable.safe) != bool(tunable.why_not), tunable.name
        assert re.fullmatch(r"[a-z0-9_]+", tunable.name)


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("12", 12), ("01", None), ("", None), ("1K", None), ("²", None), ("9" * 11, None)])
def test_a_number_is_plain_or_none(text, value):
    assert number(text) == value
