"""Every operation has a command that a person could give, and none names a disk by its kernel name."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from agents.operations.catalogue import CHANGING
from agents.tests.test_operations import GOOD
from workflows.by_hand import commands, snippet
from workflows.by_hand.tests.node import NONCE, plan, until

NONE_TO_GIVE = {"zdb_without", "disk_wipe", "disk_wipe_destroyed"}
SHELLS = [("dash", "-n"), ("bash", "--posix", "-n"), ("busybox", "sh", "-n"), ("ksh93", "-n"), ("mksh", "-n")]


def planned(name):
    params = GOOD[name]
    return plan(operation=name, params=params, argv=list(CHANGING[name].argv(params)))


def test_the_agent_alone_does_what_no_person_could():
    assert {name for name in CHANGING if not commands.lines(name, GOOD[name], CHANGING[name].argv(GOOD[name]))} == NONE_TO_GIVE
    with pytest.raises(snippet.CannotMake, match="the agent alone"):
        snippet.make(planned("zdb_without"), NONCE, until())


def test_what_has_a_hand_of_its_own_is_written_out():
    """Its argv is to be read and compared; no tool takes it."""
    own = {name for name, module in CHANGING.items() if hasattr(module, "perform")}
    assert own == {
        "set_tunable",
        "disk_delete",
        "disk_rescan",
        "disk_wipe",
        "disk_wipe_destroyed",
        "locate_led",
        "fault_led_off",
        "zdb_without",
    }
    for name in own - NONE_TO_GIVE:
        argv = CHANGING[name].argv(GOOD[name])
        assert not any(line.startswith(f"{argv[0]} ") for line in commands.lines(name, GOOD[name], argv))


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@pytest.mark.parametrize("name", sorted(set(CHANGING) - NONE_TO_GIVE))
def test_each_shell_reads_each_snippet(name, shell):
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    lines = snippet.make(planned(name), NONCE, until()).splitlines(keepends=True)
    read = subprocess.run(shell, input="".join(lines[1:-1]), capture_output=True, text=True, timeout=30, check=False)
    assert (read.returncode, read.stderr) == (0, "")


@pytest.fixture
def shelf(tmp_path):
    """An enclosure with two bays, one with the disk that is meant."""
    folder = tmp_path / "sys/class/enclosure/6:0:89:0"
    for number, wwid in ((68, "naa.5000c500a65b207b"), (69, "naa.5000c500ffffffff")):
        bay = folder / f"Slot {number}"
        (bay / "device").mkdir(parents=True)
        (bay / "slot").write_text(f"{number}\n")
        (bay / "locate").write_text("0\n")
        (bay / "device" / "wwid").write_text(f"{wwid}\n")
    (folder / "id").write_text("0x50050cc11ac016e2\n")
    return tmp_path


LIGHT = {"pool": "p", "pool_guid": "1", "enclosure": "0x50050cc11ac016e2", "slot": "68", "wwid": "naa:5000c500a65b207b", "light": "on"}


def lit(shelf, **changed):
    body = "\n".join(commands.lines("locate_led", {**LIGHT, **changed}, ()))
    text = f"it() {{\n{body}\n}}\nit\n".replace("/sys/", f"{shelf}/sys/")
    ran = subprocess.run(("sh",), input=text, capture_output=True, text=True, timeout=30, check=False)
    return ran.returncode == 0, [path.parent.name for path in sorted(shelf.rglob("locate")) if path.read_text().strip() == "1"]


def test_it_lights_the_bay_of_the_disk_that_is_meant_and_no_other(shelf):
    assert lit(shelf) == (True, ["Slot 68"])


@pytest.mark.parametrize("changed", [{"slot": "70"}, {"enclosure": "0x50050cc11ac016e3"}, {"slot": "69"}, {"wwid": "absent"}])
def test_it_lights_nothing_where_the_bay_is_not_as_planned(shelf, changed):
    assert lit(shelf, **changed) == (False, [])
