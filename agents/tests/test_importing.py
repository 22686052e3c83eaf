"""Which imported pool is the one meant: by its guid, whatever name it has, and where a guid cannot be read nobody knows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agents.host.host import Ran
from agents.operations import OPERATIONS, _importing, disk_rescan, zpool_import_readonly
from agents.operations.base import UNKNOWN, Unread
from agents.tests.test_operations import GOOD
from twin import scenarios
from twin.scenarios import Clock

FREE = {
    "import.listed": "1",
    "import.state": "ONLINE",
    "import.says": "free",
    "import.here": "none",
    "labels.writers": "oss01 (5b2f4c01)",
    "labels.members": "6",
    "node.hostid": "5b2f4c01",
    "import.checked": "of no matter on this release",
    "zfs.userland": "2.1.11",
    "zfs.module": "2.1.11",
}
PARAMS = {"pool": "ost_0", "pool_guid": "15", "force": "no"}


@pytest.fixture
def twin(tmp_path):
    return scenarios.host(tmp_path, scenarios.tiny(), Clock())


def meant(twin, pool: str, guid: int | None = None) -> dict[str, str]:
    return {**PARAMS, "pool": pool, "pool_guid": str(guid or twin.view().node.pool("ost_0").guid)}


def test_it_is_the_pool_with_this_guid_whatever_name_it_has_here(twin):
    assert _importing.imported(twin, meant(twin, "ost_0")) == "ost_0"
    assert _importing.imported(twin, meant(twin, "renamed")) == "ost_0"
    assert _importing.in_the_way(twin, meant(twin, "renamed")) == "ost_0"


def test_another_pool_of_its_name_is_not_it_and_stands_in_its_way(twin):
    assert _importing.imported(twin, meant(twin, "ost_0", 4711)) == "none"
    assert _importing.in_the_way(twin, meant(twin, "ost_0", 4711)) == "ost_0"
    assert _importing.imported(twin, meant(twin, "ost_9", 4711)) == _importing.in_the_way(twin, meant(twin, "ost_9", 4711)) == "none"


def test_an_import_is_not_said_to_have_taken_place_because_another_pool_has_the_name(twin):
    with twin.store.changing() as node:
        node.pool("ost_0").readonly = True
    assert zpool_import_readonly.probe(twin, meant(twin, "ost_0"), {}).result == "did"
    assert zpool_import_readonly.probe(twin, meant(twin, "ost_0", 4711), {}).result == "did_not"
    assert zpool_import_readonly.probe(twin, meant(twin, "renamed"), {}).result == "cannot_tell"


class Mute:
    """The twin, without a word about properties."""

    def __init__(self, twin) -> None:
        self._twin = twin

    def __getattr__(self, name):
        return getattr(self._twin, name)

    def run(self, argv, *rest, **more):
        return Ran(tuple(argv), 1, b"", b"no", 0.0) if argv[:2] == ("zpool", "get") else self._twin.run(argv, *rest, **more)


def test_where_a_guid_cannot_be_read_any_pool_may_be_it(twin):
    for asked in (_importing.imported, _importing.in_the_way):
        with pytest.raises(Unread):
            asked(Mute(twin), meant(twin, "ost_9", 4711))
    wants = {**meant(twin, "ost_9", 4711), "wwid": "naa:5000c500a65b207b", "enclosure": "0x50050cc11ac016e2", "slot": "68"}
    pre = disk_rescan.preconditions(Mute(twin), wants)
    assert pre["pool.here"].startswith(UNKNOWN)
    assert {outcome for outcome, _ in disk_rescan.guards(pre, wants)} == {"unknown"}


def against(**changes: str) -> list[tuple[str, str]]:
    return [verdict for verdict in _importing.guards("zpool_import_readonly", {**FREE, **changes}, PARAMS) if verdict[0] != "pass"]


def test_nothing_speaks_against_a_pool_that_this_node_used_last():
    assert against() == []


@pytest.mark.parametrize("fact", ["labels.writers", "node.hostid"])
@pytest.mark.parametrize("value", ["", " ", f"{UNKNOWN}no answer"])
def test_who_used_it_last_and_not_knowing_that_refuses(fact, value):
    assert any(outcome == "unknown" and fact in reason for outcome, reason in against(**{fact: value}))


def test_when_no_label_says_who_used_it_last_it_refuses():
    assert [outcome for outcome, _ in against(**{"labels.writers": "none"})] == ["refuse"]


def test_a_writer_that_is_no_known_host_refuses():
    for writer in ("an unknown host", "oss07 (5b2f9c07)", "oss01 (5b2f4c01), oss07 (5b2f9c07)"):
        assert [outcome for outcome, _ in against(**{"labels.writers": writer})] == ["refuse"]


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if "import.listed" in getattr(one, "FACTS", ())])
@pytest.mark.parametrize("answers", [True, False])
def test_a_plan_asks_what_can_be_imported_once(name, answers, tmp_path):
    """On a node short of CPU six such questions took longer than the 90 s that a plan is waited for; a hung disk makes each take a minute."""
    at = scenarios.host(tmp_path, scenarios.diverged_disk(), Clock())
    real, asked = at.run, []

    def run(argv, *rest, **more):
        asked.append(tuple(argv))
        return real(argv, *rest, **more) if answers or argv != ("zpool", "import") else Ran(tuple(argv), None, b"", b"", 60.0, "timeout")

    at.run = run
    plan = OPERATIONS[name].describe(at, {**GOOD.get(name, {}), **meant(at, "ost_0"), "txg": "4000"})
    assert asked.count(("zpool", "import")) == 1
    assert all(asked.count(argv) == 1 for argv in asked if argv[0] == "zdb" and "u" in argv[1])
    assert plan["preconditions"]["import.listed"].startswith("1" if answers else UNKNOWN)


@pytest.mark.parametrize(
    ("host", "expected"), [("unknown (hostid=0)", _importing.UNNAMED), ("oss02 (hostid=5b2f4c02)", _importing.ELSEWHERE)]
)
def test_activity_of_no_known_host_proves_nothing_and_imports_nothing(host, expected):
    action = f"The pool must be exported from {host}\n\tbefore it can be safely imported."
    listed = SimpleNamespace(status="The pool is currently imported by another system.", action=action)
    assert _importing.status_of(listed) == expected
    assert [outcome for outcome, _ in against(**{"import.says": expected})] == ["refuse"]
