"""The table of releases: what it says of each operation, and that nothing which is not known is ordered."""

import re

import pytest

from agents.operations import OPERATIONS, _importing, zpool_clear
from agents.operations._pool import IO, MMP
from agents.service import doctor
from agents.zfs_releases import CHECKED, MULTIHOST, ON_ANY, READ, TABLE, asks, has, is_read, numbers, ruling, words

FREE = {MULTIHOST: False, CHECKED: False}
SOURCE = re.compile(r"(?:[a-z_/0-9]+\.[ch]:[A-Za-z_0-9 (),;./:]+)+, zfs-[0-9.]+(?:, zfs-[0-9.]+)*")
OTHERS = ("0.6.5", "0.7.13", "0.8.6", "2.0.7", "2.1.16", "2.2.0", "2.2.11", "2.3.5", "2.3.9", "2.4.0", "2.4.4")


def reasons_for(operation, release, **pool):
    return ruling(operation, f"{release}-1", f"zfs-kmod-{release}-1~deb12u1", {**FREE, **pool})


def test_every_operation_that_changes_a_node_is_in_it():
    assert set(TABLE) == {name for name, one in OPERATIONS.items() if one.EFFECT != "pure"}


@pytest.mark.parametrize("entry", [entry for entries in TABLE.values() for entry in entries], ids=lambda entry: entry.source)
def test_every_entry_says_where_it_was_read(entry):
    assert SOURCE.fullmatch(entry.source)
    assert all(is_read(numbers(tag)) for tag in (*re.findall(r"zfs-([0-9.]+)", entry.source), *entry.since, *entry.until))
    assert entry.reason
    assert not entry.reason.endswith(".")


@pytest.mark.parametrize(
    ("tags", "release", "there"),
    [
        (("2.1.15", "2.2.3"), "2.1.14", False),
        (("2.1.15", "2.2.3"), "2.1.15", True),
        (("2.1.15", "2.2.3"), "2.2.2", False),
        (("2.1.15", "2.2.3"), "2.2.3", True),
        (("2.1.15", "2.2.3"), "2.3.0", True),
        (("2.1.15", "2.2.3"), "0.8.6", False),
        (("2.3.6", "2.4.1"), "2.4.0", False),
        (("2.3.6", "2.4.1"), "2.3.9", True),
    ],
)
def test_what_came_to_several_series_is_in_each_from_its_own_patch_level_on(tags, release, there):
    assert has(tags, numbers(release)) == there


@pytest.mark.parametrize("operation", [name for name in TABLE if name not in ON_ANY and name != "set_tunable"])
@pytest.mark.parametrize("release", OTHERS)
def test_what_reaches_the_same_checks_is_ordered_from_0_8_on(operation, release):
    wanted = numbers(release) >= {"zpool_set_path": (2, 2, 0), "zpool_add": (2, 0, 2), "zpool_add_class": (2, 0, 2)}.get(
        operation, (0, 8, 0)
    )
    assert (reasons_for(operation, release).outcome == "pass") == wanted


@pytest.mark.parametrize(
    ("operation", "release", "pool", "outcome", "why"),
    [
        ("zpool_clear", "0.7.13", {MULTIHOST: True}, "refuse", "two hosts would write"),
        ("zpool_clear", "0.8.0", {MULTIHOST: True}, "refuse", "by I/O errors too"),
        ("zpool_clear", "2.1.16", {MULTIHOST: True}, "refuse", "by I/O errors too"),
        ("zpool_clear", "2.2.3", {MULTIHOST: True}, "refuse", "Reboot the node"),
        ("zpool_clear", "2.2.4", {MULTIHOST: True}, "pass", "looks for another writer"),
        ("zpool_clear", "2.1.16", {MULTIHOST: "nobody said."}, "unknown", "nobody said."),
        ("zpool_import_readonly", "2.3.5", {CHECKED: True}, "pass", ""),
        ("zpool_import_readonly", "2.3.6", {CHECKED: True}, "refuse", "writes a claim"),
        ("zpool_import_dry_run", "2.4.1", {CHECKED: True}, "refuse", "What only reads there"),
        ("zpool_import_rewind", "2.4.4", {CHECKED: True}, "refuse", "`zdb -e`"),
        ("zpool_import_dry_run", "2.4.0", {CHECKED: True}, "pass", ""),
        ("zpool_import_readonly", "2.4.4", {CHECKED: "no ring was read."}, "unknown", "no ring was read."),
        ("zpool_import_readonly", "2.3.2", {CHECKED: "no ring was read."}, "pass", ""),
        ("zpool_import_txg", "2.3.9", {CHECKED: True}, "pass", "writes no claim"),
        ("zpool_import_writable", "2.3.8", {CHECKED: True}, "refuse", "Do it by hand."),
        ("zpool_import_fenced", "2.3.5", {CHECKED: True}, "pass", ""),
        ("zpool_import_fenced", "2.3.8", {CHECKED: True}, "refuse", "Do it by hand."),
        ("zpool_import_fenced", "2.4.2", {CHECKED: True}, "refuse", "panics the kernel"),
        ("zpool_import_fenced", "2.3.9", {CHECKED: True}, "pass", "no proof then that another host"),
        ("zpool_import_fenced", "2.4.4", {CHECKED: False}, "pass", ""),
        ("zpool_rewind", "2.4.3", {CHECKED: True}, "refuse", "panics the kernel"),
        ("zpool_rewind", "2.4.4", {CHECKED: True}, "pass", "no proof then that another host"),
        ("zpool_offline", "2.2.11", {}, "pass", "lets it stand in when the disk is pulled"),
    ],
)
def test_what_rests_on_the_pool(operation, release, pool, outcome, why):
    found = reasons_for(operation, release, **pool)
    assert (found.outcome, why in found.reason) == (outcome, True), found
    assert bool(found.warnings) == (outcome == "pass" and bool(why))


@pytest.mark.parametrize("operation", [name for name in TABLE if name not in ON_ANY])
@pytest.mark.parametrize("release", ["2.5.0", "2.3.10", "2.4.5", "2.3.99", "0.6.4", "3.0.0", "1.0.0"])
def test_a_release_that_was_not_read_is_for_a_person(operation, release):
    found = reasons_for(operation, release)
    assert (found.outcome, found.reason.endswith("Do it by hand.")) == ("refuse", True)


@pytest.mark.parametrize("operation", [name for name in TABLE if name not in ON_ANY])
@pytest.mark.parametrize("text", ["", "unknown", "2.1", "zfs-9999", "garbage 2.1.11-1", "2.1.99999"])
def test_a_version_that_nobody_can_read_is_refused(operation, text):
    assert ruling(operation, "2.1.11-1", text, FREE).outcome == "unknown"
    assert operation == "set_tunable" or ruling(operation, text, "2.1.11-1", FREE).outcome == "unknown"


@pytest.mark.parametrize(
    ("operation", "tools", "module", "outcome"),
    [
        ("zpool_replace", "2.3.2", "2.3.2", "pass"),
        ("zpool_replace", "2.3.4", "2.3.2", "pass"),
        ("zpool_replace", "2.1.12", "2.1.11", "pass"),
        ("zpool_replace", "2.1.15", "2.1.11", "refuse"),  # zfs_prepare_disk
        ("zpool_detach", "2.1.15", "2.1.11", "pass"),
        ("zpool_online", "2.1.12", "2.1.11", "refuse"),  # the text of an unknown guid
        ("zpool_online", "2.1.13", "2.1.12", "pass"),
        ("zpool_import_readonly", "2.3.6", "2.3.5", "refuse"),
        ("zpool_import_readonly", "2.3.4", "2.3.2", "pass"),
        ("zpool_detach", "2.3.2", "2.2.11", "refuse"),
        ("zpool_detach", "2.2.11", "2.3.2", "refuse"),
        ("set_tunable", "2.3.2", "2.1.11", "pass"),
    ],
)
def test_tools_and_module_of_one_minor_serve_together_where_nothing_differs(operation, tools, module, outcome):
    found = ruling(operation, tools, module, FREE)
    assert found.outcome == outcome
    assert outcome == "pass" or (tools in found.reason and module in found.reason)


def test_a_light_can_be_put_out_on_any_node():
    assert all(ruling(name, "", "", {}).outcome == "pass" for name in ON_ANY)


@pytest.mark.parametrize("series", READ, ids=words)
def test_the_rings_of_a_pool_are_read_only_where_something_rests_on_them(series):
    assert asks(CHECKED, words((*series, READ[series][1]))) == (series >= (2, 3))
    assert not asks(CHECKED, "2.3.5-1")
    assert asks(CHECKED, "no version")


@pytest.mark.parametrize(
    ("why", "multihost", "module", "outcome"),
    [
        (IO, "on", "2.1.11-1", "refuse"),
        (IO, "on", "2.2.3-1", "refuse"),
        (IO, "on", "2.2.4-1", "pass"),
        (IO, "off", "2.1.11-1", "pass"),
        (IO, "unknown: nobody said", "2.1.11-1", "unknown"),
        (MMP, "off", "2.1.11-1", "refuse"),
        (MMP, "on", "2.3.2-1", "pass"),
        ("none", "on", "2.1.11-1", "pass"),  # it is not suspended: only error counts go
    ],
)
def test_the_node_asks_for_multihost_whatever_suspended_the_pool(why, multihost, module, outcome):
    pre = {"pool.guid": "15", "pool.suspended": why, "pool.scan": "none", "pool.lost": "none", "pool.multihost": multihost}
    verdicts = zpool_clear.guards({**pre, "zfs.userland": module, "zfs.module": module}, {"pool": "ost_0", "pool_guid": "15", "why": why})
    assert {found for found, _ in verdicts} - {"pass"} == {outcome} - {"pass"}


@pytest.mark.parametrize("checked", ["yes", "no", "unknown: no answer", ""])
@pytest.mark.parametrize("module", ["2.3.5-1", "2.3.9-1"])
def test_an_import_that_would_write_a_claim_is_not_called_read_only(checked, module):
    pre = {
        "import.listed": "1",
        "import.state": "ONLINE",
        "import.says": "free",
        "import.here": "none",
        "labels.writers": "oss01 (5b2f4c01)",
    }
    pre |= {"labels.members": "6", "node.hostid": "5b2f4c01", "zfs.userland": module, "zfs.module": module, "import.checked": checked}
    verdicts = _importing.guards("zpool_import_readonly", pre, {"pool": "ost_0", "pool_guid": "15", "force": "no"})
    passes = all(outcome == "pass" for outcome, _ in verdicts)
    assert passes == (checked == "no" or (checked == "yes" and module == "2.3.5-1"))


@pytest.mark.parametrize(
    ("tools", "module", "level", "expected"),
    [
        ("2.3.2-1", "2.3.2-1", "ok", "module 2.3.2-1"),
        ("2.4.4-1", "2.4.4-1", "ok", "module 2.4.4-1"),
        ("2.3.4-1", "2.3.2-1", "ok", "module 2.3.2-1"),
        ("2.1.15-1", "2.1.11-1", "lacks", "Not ordered here: zpool_replace"),
        ("2.1.11-1", "2.1.11-1", "lacks", "Not ordered here: zpool_set_path"),
        ("2.5.0-1", "2.5.0-1", "lacks", "zpool_replace, zpool_detach"),
        ("2.3.2-1", "2.1.11-1", "bad", "zpool_replace, zpool_detach"),
    ],
)
def test_the_doctor_calls_only_what_every_order_is_given_on_well(tools, module, level, expected):
    found = doctor._released(tools, module)
    assert (found.level, expected in found.so) == (level, True), found
