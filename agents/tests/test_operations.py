"""The closed catalogue: what holds for every operation in it, asked the moment it is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents import operations
from agents.collectors import COLLECTORS
from agents.operations import OPERATIONS
from agents.operations.base import UNKNOWN
from agents.tests import rig

ALL = [pytest.param(module, id=name) for name, module in OPERATIONS.items()]
WRITING = [pytest.param(module, id=name) for name, module in OPERATIONS.items() if module.EFFECT != "pure"]
GOOD = {
    "look": {"sources": "zpool_status,block"},
    "plan": {
        "operation": "zpool_replace",
        "params": json.dumps({"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b"}),
    },
    "probe_by_hand": {
        "operation": "zpool_scrub",
        "params": json.dumps({"pool": "p", "pool_guid": "1"}),
        "preconditions": json.dumps({"pool.guid": "1"}),
        "nonce": "0" * 32,
    },
    "set_drive_mode": {
        "pool": "p",
        "pool_guid": "1",
        "vdev_guid": "2",
        "wwid": "naa:5000c500a65b207b",
        "mode": "EN_BMS",
        "value": "0",
    },
    "zpool_clear": {"pool": "p", "pool_guid": "1", "why": "I/O errors"},
    "zpool_bring_back": {"pool": "p", "pool_guid": "1", "vdev_guids": "2 3"},
    "zpool_scrub": {"pool": "p", "pool_guid": "1"},
    "zpool_resilver": {"pool": "p", "pool_guid": "1"},
    "zpool_attach": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b"},
    "zpool_add": {"pool": "p", "pool_guid": "1", "role": "spare", "wwid": "naa:5000c500a65b207b"},
    "zpool_add_class": {
        **{"pool": "p", "pool_guid": "1", "role": "special", "ashift": "12"},
        "wwids": "naa:5000c500a65b207b naa:5000c500a65b207c",
    },
    "zpool_remove": {"pool": "p", "pool_guid": "1", "vdev_guid": "2"},
    "zpool_scrub_pause": {"pool": "p", "pool_guid": "1"},
    "zpool_scrub_stop": {"pool": "p", "pool_guid": "1"},
    "zpool_remove_vdev": {"pool": "p", "pool_guid": "1", "vdev_guid": "2"},
    "zfs_destroy_snapshot": {"pool": "p", "pool_guid": "1", "snapshot": "p/a@b", "snapshot_guid": "2", "createtxg": "3"},
    "zdb_without": {"pool": "p", "pool_guid": "1", "wwid": "naa:5000c500a65b207b"},
    "zpool_set_path": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b"},
    "smart_self_test": {"pool": "p", "pool_guid": "1", "wwid": "naa:5000c500a65b207b"},
    "set_tunable": {
        "pool": "p",
        "pool_guid": "1",
        "platform": "linux",
        "name": "zfs_vdev_scrub_max_active",
        "before": "3",
        "value": "6",
    },
    "zpool_replace": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b"},
    "partition_copy": {
        **{"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b", "from_wwid": "naa:5000c500a65b208b"},
        "partition": "3",
    },
    "zpool_replace_partition": {
        **{"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b", "from_wwid": "naa:5000c500a65b208b"},
        "partition": "3",
    },
    "proxmox_boot_init": {
        **{"pool": "p", "pool_guid": "1", "wwid": "naa:5000c500a65b207b", "from_wwid": "naa:5000c500a65b208b"},
        **{"esp": "2", "mode": "uefi"},
    },
    "zpool_replace_serving": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b"},
    "zpool_detach_new_half": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "keeps_guid": "3"},
    "zpool_offline": {"pool": "p", "pool_guid": "1", "vdev_guid": "2"},
    "zpool_import_readonly": {"pool": "p", "pool_guid": "1", "force": "no"},
    "zpool_import_dry_run": {"pool": "p", "pool_guid": "1", "force": "no"},
    "zpool_import_rewind": {"pool": "p", "pool_guid": "1", "force": "no"},
    "zpool_import_txg": {"pool": "p", "pool_guid": "1", "txg": "4711"},
    "zpool_import_writable": {"pool": "p", "pool_guid": "1"},
    "zpool_rewind": {"pool": "p", "pool_guid": "1"},
    "zpool_import_fenced": {
        **{
            "pool": "p",
            "pool_guid": "1",
            "host": "oss02",
            "hostid": "5b2f9c02",
            "fence": "unplugged, chassis CZ1",
            "fenced_at": "1795248300",
        },
        **{"rings": "txg 4 of 5 on 6 members, ab", "looked_at": "1795248200"},
    },
    "zpool_import_ordinary": {"pool": "p", "pool_guid": "1", "cachefile": "none"},
    "zpool_import_without_log": {"pool": "p", "pool_guid": "1", "cachefile": "none"},
    "zpool_export_unused": {"pool": "p", "pool_guid": "1"},
    "zpool_export_readonly": {"pool": "p", "pool_guid": "1"},
    "disk_delete": {"pool": "p", "pool_guid": "1", "wwid": "naa:5000c500a65b207b"},
    "disk_wipe": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b"},
    "disk_wipe_destroyed": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": "naa:5000c500a65b207b"},
    "disk_rescan": {
        **{"pool": "p", "pool_guid": "1", "wwid": "naa:5000c500a65b207b"},
        **{"enclosure": "0x50050cc11ac016e2", "slot": "68"},
    },
    "zpool_detach": {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "keeps_guid": "3"},
    "zpool_online": {"pool": "p", "pool_guid": "1", "vdev_guid": "2"},
    "fault_led_off": {
        **{"pool": "p", "pool_guid": "1", "enclosure": "0x50050cc11ac016e2", "slot": "68"},
        "wwid": "naa:5000c500a65b207b",
    },
    "locate_led": {
        **{"pool": "p", "pool_guid": "1", "enclosure": "0x50050cc11ac016e2", "slot": "68"},
        **{"wwid": "naa:5000c500a65b207b", "light": "on"},
    },
}


def test_every_file_is_listed():
    folder = Path(operations.__file__).parent
    files = {path.stem for path in folder.glob("[a-z]*.py")} - {"base", "catalogue"}
    assert files == set(OPERATIONS)


@pytest.mark.parametrize("operation", ALL)
def test_it_says_what_it_is(operation):
    assert operation.EFFECT in ("pure", "idempotent", "at_most_once")
    assert operation.check(GOOD[operation.NAME]) == ""
    if operation.EFFECT == "pure":
        assert not operation.DESTRUCTIVE
        assert operation.argv(GOOD[operation.NAME]) == ()
    else:
        assert "pool_guid" in operation.PARAMS  # what is locked and fenced
        assert operation.TIMEOUT_SECONDS > 0


@pytest.mark.parametrize("operation", ALL)
def test_it_takes_exactly_its_parameters(operation):
    good = GOOD[operation.NAME]
    assert sorted(good) == sorted(operation.PARAMS)
    assert operation.check({**good, "more": "x"})
    for name in good:
        assert operation.check({**good, name: ""})
        assert operation.check({k: v for k, v in good.items() if k != name})


@pytest.mark.parametrize("operation", WRITING)
def test_its_argv_names_no_disk_by_a_name_that_moves(operation):
    words = operation.argv(GOOD[operation.NAME])
    assert all(not word.startswith("/dev/") or word.startswith("/dev/disk/by-id") for word in words)
    assert "-f" not in words or operation.NAME == "zpool_import_fenced"
    assert "-F" not in words or "readonly=on" in words or operation.NAME == "zpool_rewind"
    assert not {"-X", "-D", "-a", "-V", "-M"} & set(words)
    assert "-m" not in words or operation.NAME == "zpool_import_without_log"
    assert "-T" not in words or "readonly=on" in words, "so far back only without writing"


LOOKING = ("zpool_import_readonly", "zpool_import_dry_run", "zpool_import_rewind", "zpool_import_txg")
WRITING_IMPORTS = ("zpool_import_writable", "zpool_rewind")
ORDINARY_IMPORTS = ("zpool_import_ordinary",)


def test_every_import_either_looks_or_writes():
    imports = {name for name, module in OPERATIONS.items() if name in GOOD and module.argv(GOOD[name])[:2] == ("zpool", "import")}
    assert imports == {*LOOKING, *WRITING_IMPORTS, *ORDINARY_IMPORTS, "zpool_import_fenced", "zpool_import_without_log"}


@pytest.mark.parametrize(("cachefile", "remembered"), [("none", ("-o", "cachefile=none")), ("default", ())])
def test_the_one_import_that_drops_a_lost_log_is_the_ordinary_one_with_m_and_destructive(cachefile, remembered):
    operation, good = OPERATIONS["zpool_import_without_log"], {**GOOD["zpool_import_without_log"], "cachefile": cachefile}
    assert operation.argv(good) == ("zpool", "import", "-N", "-m", *remembered, "-d", "/dev/disk/by-id", "1")
    assert (operation.EFFECT, operation.DESTRUCTIVE) == ("at_most_once", True)
    assert OPERATIONS["zpool_import_ordinary"].argv(good) == tuple(word for word in operation.argv(good) if word != "-m")


def test_the_one_forced_import_names_whom_it_was_taken_from_and_is_destructive():
    operation, good = OPERATIONS["zpool_import_fenced"], GOOD["zpool_import_fenced"]
    assert operation.argv(good) == ("zpool", "import", "-f", "-N", "-o", "cachefile=none", "-d", "/dev/disk/by-id", "1")
    assert (operation.EFFECT, operation.DESTRUCTIVE) == ("at_most_once", True)
    wrong = {"host": "a b", "hostid": "00000000", "fence": "x" * 1001, "fenced_at": "now", "rings": "\n", "looked_at": "-1"}
    for name, value in wrong.items():
        assert operation.check({**good, name: value})


@pytest.mark.parametrize("name", LOOKING)
@pytest.mark.parametrize("force", ["yes", "no"])
def test_no_import_that_looks_can_write_mount_or_be_remembered(name, force):
    forced = {"force": force} if "force" in GOOD[name] else {}
    words = OPERATIONS[name].argv({**GOOD[name], **forced})
    assert ("-f" in words) == (forced == {"force": "yes"})
    assert {"-N", "readonly=on", "cachefile=none"} <= set(words)
    assert words[-1] == "1"
    assert ("-T" in words) == (name == "zpool_import_txg")
    assert not OPERATIONS[name].DESTRUCTIVE


@pytest.mark.parametrize("name", WRITING_IMPORTS)
def test_an_import_that_writes_is_destructive_and_never_forced_mounted_or_remembered(name):
    words = OPERATIONS[name].argv(GOOD[name])
    assert {"-N", "cachefile=none"} <= set(words)
    assert words[-1] == "1"
    assert not {"-f", "-T", "-n"} & set(words)
    assert (OPERATIONS[name].EFFECT, OPERATIONS[name].DESTRUCTIVE) == ("at_most_once", True)
    assert "force" not in OPERATIONS[name].PARAMS


@pytest.mark.parametrize("name", ORDINARY_IMPORTS)
@pytest.mark.parametrize(("cachefile", "remembered"), [("default", False), ("none", True)])
def test_an_import_as_at_boot_is_never_forced_or_mounted_and_its_cache_file_is_as_chosen(name, cachefile, remembered):
    words = OPERATIONS[name].argv({**GOOD[name], "cachefile": cachefile})
    assert "-N" in words
    assert words[-1] == "1"
    assert ("cachefile=none" in words) == remembered
    assert not {"-f", "-F", "-T", "-n"} & set(words)
    assert OPERATIONS[name].EFFECT == "at_most_once"
    assert "force" not in OPERATIONS[name].PARAMS


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    return rig.twin(tmp_path_factory.mktemp("twin"))


@pytest.fixture(scope="module")
def facts(host):
    return OPERATIONS["zpool_replace"].preconditions(host, rig.params(host))


def test_its_guards_pass_on_a_good_disk(host, facts):
    verdicts = OPERATIONS["zpool_replace"].guards(facts, rig.params(host))
    assert [verdict for verdict in verdicts if verdict[0] != "pass"] == []


@pytest.mark.parametrize("name", OPERATIONS["zpool_replace"].FACTS)
@pytest.mark.parametrize("how", ["unknown", "missing"])
def test_knowing_less_never_opens_a_guard(host, facts, name, how):
    less = {k: v for k, v in facts.items() if k != name} if how == "missing" else {**facts, name: f"{UNKNOWN}no answer"}
    verdicts = OPERATIONS["zpool_replace"].guards(less, rig.params(host))
    against = [reason for outcome, reason in verdicts if outcome == "unknown"]
    assert len(against) == 1
    assert name in against[0]


def test_facts_are_those_that_are_asked_about(facts):
    assert set(facts) == set(OPERATIONS["zpool_replace"].FACTS)


def test_look_hands_over_every_source(host):
    look = OPERATIONS["look"]
    for source in COLLECTORS:
        assert look.check({"sources": source}) == ""
        assert {capture.source for capture in look.run(host, {"sources": source}).captures} <= {source}
    assert "no source" in look.check({"sources": "zpool_status,passwd"})
    assert look.check({"sources": ","})


@pytest.mark.parametrize("inner", ["", "[]", '{"pool": 1}', "{", '{"pool": "p"}', "[" * 9_000])
def test_plan_refuses_parameters_that_are_none(inner):
    assert OPERATIONS["plan"].check({"operation": "zpool_replace", "params": inner})


@pytest.mark.parametrize("name", ["look", "plan", "zpool_destroy"])
def test_plan_plans_only_what_writes(name):
    assert "no operation that changes" in OPERATIONS["plan"].check({"operation": name, "params": "{}"})


CHANGES = ("zpool_replace", "zpool_replace_serving", "zpool_offline", "zpool_detach", "zpool_detach_new_half")


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("state", ["UNAVAIL", "FAULTED", "REMOVED", "unknown: it was not read"])
def test_no_disk_of_a_vdev_that_cannot_be_opened_is_changed(name, state):
    """By the node's own look: another disk does not open a vdev."""
    lines = OPERATIONS[name].guards({"target.vdev": state}, GOOD[name])
    assert [outcome for outcome, reason in lines if "target.vdev" in reason or "top-level vdev of" in reason] == [
        "unknown" if state.startswith("unknown") else "refuse"
    ]


@pytest.mark.parametrize("name", CHANGES)
def test_of_a_vdev_that_serves_the_node_has_nothing_against_it(name):
    assert ("pass", "target.vdev is serves.") in OPERATIONS[name].guards({"target.vdev": "serves"}, GOOD[name])
    assert "target.vdev" in OPERATIONS[name].FACTS


@pytest.mark.parametrize("name", ["zpool_online", "zpool_bring_back", "zpool_clear", "zpool_set_path"])
def test_what_brings_a_member_back_is_not_bound_to_a_vdev_that_serves(name):
    assert "target.vdev" not in OPERATIONS[name].FACTS
