"""What a pasted text or a scan shows of a machine's power. Composed after the printf calls of ipmitool, DSP0268 and PowerNet-MIB; see the module."""

from __future__ import annotations

import json

import pytest

from workflows.analysis import fencing
from workflows.analysis.fencing import ANY, CONTROLLER, OUTLETS, SCAN, read
from workflows.facts import known
from workflows.facts.read.firmware import is_genuine

NOW = 1795248315.0
STAMP = "Sat Nov 21 08:05:00 UTC 2026\n"
STAMPED = 1795248300.0
STATUS = """\
System Power         : off
Power Overload       : false
Power Interlock      : inactive
Main Power Fault     : false
Power Control Fault  : false
Power Restore Policy : always-off
Last Power Event     : command
Chassis Intrusion    : inactive
"""
WATCHDOG = "Watchdog Timer Use:     SMS/OS (0x04)\nWatchdog Timer Is:      Stopped\nWatchdog Timer Action:  No action (0x00)\n"
FRU = """\
FRU Device Description : Builtin FRU Device (ID 0)
 Chassis Type          : Rack Mount Chassis
 Chassis Serial        : C8470LJ12P30033
 Board Serial          : NM177S004410
 Product Serial        : S290331X7505611

FRU Device Description : PSU1 FRU (ID 2)
 Product Serial        : P1K2BCH44ST0110
"""
SYSTEM = {
    "@odata.type": "#ComputerSystem.v1_11_0.ComputerSystem",
    "PowerState": "Off",
    "SerialNumber": "S290331X7505611",
    "PowerRestorePolicy": "AlwaysOff",
}


def test_a_controller_that_is_off_stays_off_and_has_serials():
    found = read(STAMP + STATUS + WATCHDOG + FRU, NOW)
    assert (found.off, found.stays_off, found.by, found.taken_at) == (True, True, CONTROLLER, STAMPED)
    assert found.serials == {"chassis": {"C8470LJ12P30033"}, "product": {"S290331X7505611"}, "board": {"NM177S004410"}}
    assert "Power Restore Policy : always-off" in found.lines


@pytest.mark.parametrize("line", ["Chassis Power is off", "System Power         : off"])
def test_either_command_says_that_it_is_off(line):
    assert read(f"{STAMP}{line}\n", NOW).off is True
    assert read(f"{STAMP}{line.replace('off', 'on')}\n", NOW).off is False


@pytest.mark.parametrize("policy", ["always-on", "previous", "unknown"])
def test_what_power_that_returns_may_switch_on_does_not_stay_off(policy):
    assert read(STATUS.replace("always-off", policy) + WATCHDOG, NOW).stays_off is False


def test_a_watchdog_that_runs_or_was_not_asked_does_not_let_it_stay_off():
    assert read(STATUS + WATCHDOG.replace("Stopped", "Started/Running"), NOW).stays_off is False
    assert "mc watchdog get" in read(STATUS, NOW).stays_off.reason
    assert "Power Restore Policy" in read("Chassis Power is off\n" + WATCHDOG, NOW).stays_off.reason


def test_redfish_says_the_same():
    found = read(STAMP + json.dumps(SYSTEM, indent=2), NOW)
    assert (found.off, found.stays_off, found.by, found.serials) == (True, True, CONTROLLER, {ANY: {"S290331X7505611"}})
    assert read(json.dumps({**SYSTEM, "PowerState": "On"}), NOW).off is False
    assert not known(read(json.dumps({**SYSTEM, "PowerState": "PoweringOff"}), NOW).off)
    assert read(json.dumps({**SYSTEM, "PowerRestorePolicy": "LastState"}), NOW).stays_off is False
    assert read(json.dumps({**SYSTEM, "HostWatchdogTimer": {"FunctionEnabled": True}}), NOW).stays_off is False
    assert not known(read(json.dumps(SYSTEM)[:-9], NOW).off)


@pytest.mark.parametrize(
    "outlets",
    [
        "E000: Success\n 3: Web one: Off\n 4: Web two: Off\n",
        "Outlet 3 - oss02 A:\nPower state: Off\n\nOutlet 4 - oss02 B:\nPower state: Off\n",
        "PowerNet-MIB::sPDUOutletCtl.3 = INTEGER: outletOff(2)\nPowerNet-MIB::sPDUOutletCtl.4 = INTEGER: outletOff(2)\n",
        ".1.3.6.1.4.1.318.1.1.12.3.5.1.1.4.3 = INTEGER: 2\n.1.3.6.1.4.1.318.1.1.12.3.5.1.1.4.4 = INTEGER: 2\n",
        "PowerNet-MIB::rPDU2OutletSwitchedStatusState.3 = INTEGER: off(1)\nPowerNet-MIB::rPDU2OutletSwitchedStatusState.4 = INTEGER: off(1)\n",
    ],
)
def test_outlets_count_with_the_number_of_feeds(outlets):
    found = read(f"{STAMP}{outlets}feeds: 2\nchassis: C8470LJ12P30033\n", NOW)
    assert (found.off, found.stays_off, found.by, found.serials) == (True, True, OUTLETS, {ANY: {"C8470LJ12P30033"}})
    assert "feeds: 2" in read(outlets, NOW).off.reason
    assert "3 power cords" in read(f"{outlets}feeds: 3\n", NOW).off.reason
    on = outlets.replace("two: Off", "two: On").replace("B:\nPower state: Off", "B:\nPower state: On")
    on = on.replace("4 = INTEGER: outletOff(2)", "4 = INTEGER: outletOn(1)").replace(".4 = INTEGER: off(1)", ".4 = INTEGER: on(2)")
    assert not known(read(f"{on.replace('4.4 = INTEGER: 2', '4.4 = INTEGER: 1')}feeds: 2\n", NOW).off)


def test_a_scan_counts_from_now_and_needs_the_cords_pulled():
    found = read("chassis: C8470LJ12P30033\nunplugged", NOW)
    assert (found.off, found.stays_off, found.by, found.taken_at) == (True, True, SCAN, NOW)
    assert not known(read("chassis: C8470LJ12P30033", NOW).off)
    assert not known(read("unplugged", NOW).off)
    assert not known(read("chassis: C8470LJ12P30033\nunplugged\nChassis Power is on\n", NOW).off)


def test_a_text_carries_its_own_time():
    assert "date -u" in read(STATUS, NOW).taken_at.reason
    for stamp in ("2026-11-21T08:05:00Z", "Sat 21 Nov 2026 08:05:00 AM UTC", "Date: Sat, 21 Nov 2026 08:05:00 GMT"):
        assert read(f"{stamp}\n{STATUS}", NOW).taken_at == STAMPED, stamp
    assert read(f"{STAMP}{STATUS}2026-11-21T07:00:00Z\n", NOW).taken_at == STAMPED - 3900


@pytest.mark.parametrize("text", ["", "nothing of use", "{" * 5000, "Chassis Power is", "FRU", "\0" * 50, "System Power : off on"])
def test_no_text_makes_it_raise_or_say_off(text):
    assert read(text, NOW).off is not True


def test_contradicting_lines_are_not_known():
    assert "off, on" in read("Chassis Power is off\nSystem Power : on\n", NOW).off.reason


@pytest.mark.parametrize(
    "line",
    [
        "$ ipmitool -I lanplus -H bmc -U root -P secret chassis status",
        "curl -u root:calvin https://bmc/",
        "snmpget -c private pdu x",
        "IPMI_PASSWORD=x",
    ],
)
def test_a_password_that_was_pasted_along_is_noticed_and_not_kept(line):
    assert fencing.holds_a_secret(f"{line}\n{STATUS}")
    assert line not in read(f"{line}\n{STATUS}", NOW).lines
    assert not fencing.holds_a_secret(STATUS + FRU + WATCHDOG)


@pytest.mark.parametrize(
    "serial",
    [
        "To Be Filled By O.E.M.",
        "0123456789",
        "None",
        "Default string",
        "01234567890123456789AB",
        "..............",
        "000000",
        "X",
        "",
        "System Serial Number",
    ],
)
def test_a_placeholder_names_no_machine(serial):
    assert not is_genuine(serial)


@pytest.mark.parametrize("serial", ["C8470LJ12P30033", "S290331X7505611", "CZ1234ABCD", "7XK2M13"])
def test_a_serial_number_names_one(serial):
    assert is_genuine(serial)
