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
        "partition_copy",
        "proxmox_boot_init",
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


PORT = {**LIGHT, "enclosure": "npem", "slot": "0000:00:03.1", "wwid": "eui:0025385b71b00001"}


@pytest.fixture
def ports(tmp_path):
    """Two ports with a light, and a disk below the first."""
    for port in ("0000:00:03.1", "0000:00:03.2"):
        light = tmp_path / f"sys/class/leds/{port}:enclosure:locate"
        light.mkdir(parents=True)
        (light / "brightness").write_text("0\n")
    controller = tmp_path / "sys/devices/pci0000:00/0000:00:03.1/0000:03:00.0/nvme/nvme0"
    (controller / "nvme0n1").mkdir(parents=True)
    (controller / "nvme0n1/wwid").write_text("eui.0025385b71b00001\n")
    (controller / "nvme0n1/device").symlink_to(controller)
    (tmp_path / "sys/block").mkdir()
    (tmp_path / "sys/block/nvme0n1").symlink_to(controller / "nvme0n1")
    return tmp_path


def bright(ports, **changed):
    body = "\n".join(commands.lines("locate_led", {**PORT, **changed}, ()))
    ran = subprocess.run(("sh",), input=f"it() {{\n{body}\n}}\nit\n".replace("/sys/", f"{ports}/sys/"), text=True, timeout=30, check=False)
    return ran.returncode == 0, [path.parent.name[:12] for path in sorted(ports.rglob("brightness")) if path.read_text().strip() == "1"]


def test_it_lights_the_port_of_the_disk_that_is_meant_and_switches_it_off(ports):
    assert bright(ports) == (True, ["0000:00:03.1"])
    assert bright(ports, light="off", wwid="any") == (True, [])


@pytest.mark.parametrize("changed", [{"slot": "0000:00:03.2"}, {"wwid": "eui:0025385b71b00002"}, {"wwid": "absent"}])
def test_it_lights_no_port_where_the_disk_below_it_is_not_as_planned(ports, changed):
    assert bright(ports, **changed) == (False, [])


TOOL_SCRIPTS = {
    "ledctl": """case "$*" in *--get-slot*) state=$(cat "$0.lit" 2>/dev/null || echo NORMAL)
echo "slot: 3               led state: $state          device: /dev/nvme0n1   " ;;
*=locate_off*) echo NORMAL >"$0.lit" ;; *=locate*) echo LOCATE >"$0.lit" ;; esac""",
    "sas3ircu": """case "$*" in *display) printf 'Device is a Hard disk\\n  Enclosure #  : 2\\n  Slot #   : 4\\n  GUID   : 5000c500ffffffff\\n'
printf 'Device is a Hard disk\\n  Enclosure #  : 2\\n  Slot #   : 5\\n  GUID   : 5000c500a65b207b\\n' ;;
*ON) echo LOCATE >"$0.lit" ;; *OFF) echo NORMAL >"$0.lit" ;; esac""",
    "storcli64": """case "$*" in *start*) echo LOCATE >"$0.lit" ;; *stop*) echo NORMAL >"$0.lit" ;; esac""",
}
BY_TOOLS = {
    "ledctl": {**LIGHT, "enclosure": "ledctl", "slot": "VMD/3", "wwid": "eui:0025385b71b00001"},
    "sas3ircu": {**LIGHT, "enclosure": "sas3ircu", "slot": "0/2:5"},
    "storcli64": {**LIGHT, "enclosure": "storcli", "slot": "/c0/e8/s5"},
}


def by_tool(folder, program, shell=("sh",), **changed):
    params = {**BY_TOOLS[program], **changed}
    (folder / "sys/block/nvme0n1").mkdir(parents=True, exist_ok=True)
    (folder / "sys/block/nvme0n1/wwid").write_text("eui.0025385b71b00001\n")
    (folder / program).write_text(f"#!/bin/sh\n{TOOL_SCRIPTS[program]}\n")
    (folder / program).chmod(0o755)
    body = "\n".join(commands.lines("locate_led", params, CHANGING["locate_led"].argv(params))).replace("/sys/", f"{folder}/sys/")
    text = f"PATH={folder}:$PATH\nit() {{\n{body}\n}}\nit\n"
    ran = subprocess.run(shell, input=text, text=True, timeout=30, check=False)
    return ran.returncode == 0, (folder / f"{program}.lit").read_text().strip() if (folder / f"{program}.lit").exists() else ""


@pytest.mark.parametrize("program", TOOL_SCRIPTS)
@pytest.mark.parametrize("shell", [("dash",), ("bash", "--posix"), ("busybox", "sh"), ("ksh93",), ("mksh",)], ids=lambda shell: shell[0])
def test_a_tool_lights_the_place_and_switches_it_off(tmp_path, program, shell):
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    assert by_tool(tmp_path, program, shell) == (True, "LOCATE")
    assert by_tool(tmp_path, program, shell, light="off", wwid="any") == (True, "NORMAL")


@pytest.mark.parametrize(
    ("program", "changed"),
    [
        ("ledctl", {"wwid": "eui:0025385b71b00002"}),
        ("sas3ircu", {"wwid": "naa:5000c500ffffffff"}),
        ("sas3ircu", {"slot": "0/2:4"}),
        ("sas3ircu", {"slot": "0/2:9"}),
    ],
)
def test_a_tool_lights_nothing_where_another_disk_is_there(tmp_path, program, changed):
    assert by_tool(tmp_path, program, **changed) == (False, "")


def test_a_tool_that_is_not_there_is_said(tmp_path):
    body = "\n".join(commands.lines("locate_led", BY_TOOLS["sas3ircu"], CHANGING["locate_led"].argv(BY_TOOLS["sas3ircu"])))
    ran = subprocess.run(("sh",), input=f"it() {{\n{body}\n}}\nit\n", capture_output=True, text=True, timeout=30, check=False)
    assert (ran.returncode, ran.stdout) == (1, "sas3ircu is not installed\n")
