"""Power supplies, fans, bays and sensors as a machine's own tools tell of them: what is at fault is raised, what can be at fault is not."""

from __future__ import annotations

import pytest

from workflows.triage import triage

RECORD = """Locating sensor record...
Sensor ID              : PSU2 Status (0x{number})
 Entity ID             : 10.2 (Power Supply)
 Sensor Type (Discrete): Power Supply (0x08)
 States Asserted       : Power Supply
                         [Presence detected]{asserted}
 Assertions Enabled    : Power Supply
                         [Presence detected]
                         [Failure detected]
                         [Power Supply AC lost]
 Deassertions Enabled  : Power Supply
                         [Failure detected]
"""
FAN = """Sensor ID              : FAN3 (0x43)
 Entity ID             : 29.3
 Sensor Type (Threshold)  : Fan
 Sensor Reading        : 300 (+/- 0) RPM
 Status                : {state}
 Lower Non-Recoverable : 300.000
 Lower Critical        : 500.000
"""
SUPPLIES = """Power supply #1
\tPresent  : Yes
\tRedundant: {redundant}
\tCondition: Ok
\tHotplug  : Supported
Power supply #2
\tPresent  : {there}
\tRedundant: {redundant}
\tCondition: {condition}
\tHotplug  : Supported
"""
POINTS = """Ap_Id                          Type         Receptacle   Occupant     Condition
c4                             scsi-sas     connected    configured   unknown
c4::dsk/c4t7d0                 disk         connected    configured   {condition}
sata2/1                        sata-port    empty        unconfigured ok
"""


def found_in(text):
    read = triage([("p", text)])
    assert {each.outcome for each in read.reads} == {"read"}, read.reads
    assert not read.good
    return {(each.slug, each.severity) for each in read.situations}


@pytest.mark.parametrize(
    ("asserted", "expected"), [("", set()), ("\n                         [Power Supply AC lost]", {("enclosure-fault", "act")})]
)
def test_of_a_record_what_is_asserted_counts_and_not_what_can_be(asserted, expected):
    assert found_in(RECORD.format(number="51", asserted=asserted)) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [("ok", set()), ("Lower Critical", {("enclosure-fault", "act")}), ("Lower Non-Critical", {("enclosure-fault", "watch")})],
)
def test_a_record_of_a_threshold(state, expected):
    assert found_in(FAN.format(state=state)) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("PSU2 Status      | 0x0        | discrete   | 0x0980| na        | na        | na        | na        | na        | na", {("enclosure-fault", "act")}),
        ("PSU2 Status      | 0x0        | discrete   | 0x0180| na        | na        | na        | na        | na        | na", set()),
        ("HDD 7 Status     | 0x0        | discrete   | 0x0380| na        | na        | na        | na        | na        | na", {("disk-failing", "act")}),
        ("HDD 7 Status     | 0x0        | discrete   | 0x0280| na        | na        | na        | na        | na        | na", set()),  # "present" of a sensor that knows no more
        ("PSU2 Status,51h,ok,10.2,\"Presence detected, Power Supply AC lost\"", {("enclosure-fault", "act")}),
        ("PSU2 Status,51h,ok,10.2,Presence detected", set()),
        ("FAN3,300,RPM,cr", {("enclosure-fault", "act")}),
        ("FAN3,4500,RPM,ok", set()),
        ("7   | PSU2 Status      | Power Supply             | N/A      | N/A        | N/A         | 'Presence detected' 'Failure detected'", {("enclosure-fault", "act")}),
    ],
)  # fmt: skip
def test_rows_of_sensors_in_other_forms(row, expected):
    assert found_in(row) == expected


def test_bits_that_no_name_explains_are_named():
    text = "Chassis Intru    | 0x0        | discrete   | 0x0100| na        | na        | na        | na        | na        | na"
    assert "bits alone" in " ".join(triage([("p", text)]).reads[0].notes)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("3 | 11/20/2026 | 09:01:45 | Power Supply #0x51 | Fully Redundant | Asserted", set()),
        ("3 | 11/20/2026 | 09:01:45 | Power Unit #0x02 | Fully Redundant | Deasserted", {("enclosure-fault", "watch")}),
        ("3 | 11/20/2026 | 09:01:45 | Power Supply #0x51 | Presence detected | Asserted", set()),
        ("3 | 11/20/2026 | 09:01:45 | Power Supply #0x51 | Presence detected | Deasserted", {("enclosure-fault", "watch")}),
        ("12  | Nov-20-2026 | 09:01:45 | PSU2 Status      | Power Supply             | Critical | Power Supply input lost (AC/DC)", {("enclosure-fault", "watch")}),
        ("12  | Nov-20-2026 | 09:01:45 | PSU2 Status      | Power Supply             | Nominal  | Presence detected", set()),
        ("12  | Nov-20-2026 | 09:01:45 | HDD 7 Status     | Drive Slot               | Drive Fault", {("disk-failing", "act")}),
        ("12  | Nov-20-2026 | 09:01:45 | HDD 7 Status     | Drive Slot               | Critical | Deassertion Event | Drive Fault", set()),
    ],
)  # fmt: skip
def test_events_of_a_machine(event, expected):
    assert found_in(event) == expected


@pytest.mark.parametrize(
    ("there", "redundant", "condition", "expected"),
    [
        ("Yes", "Yes", "Ok", set()),
        ("Yes", "No", "FAILED", {("enclosure-fault", "act")}),
        ("Yes", "No", "Degraded", {("enclosure-fault", "act")}),
        ("Yes", "Yes", "Other", {("enclosure-fault", "watch")}),  # what it is the tool does not say
        ("Yes", "No", "Strange", {("enclosure-fault", "watch")}),
        ("No", "No", "Ok", set()),
    ],
)
def test_power_supplies_of_a_proliant(there, redundant, condition, expected):
    assert found_in(SUPPLIES.format(there=there, redundant=redundant, condition=condition)) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("Sensor   Location              Temp       Threshold\n#3        PROCESSOR_ZONE       84C/183F   80C/176F\n", {("enclosure-fault", "act")}),
        ("Sensor   Location              Temp       Threshold\n#3        PROCESSOR_ZONE       44C/111F   80C/176F\n", set()),
        ("Fan  Location        Present Speed  of max  Redundant  Partner  Hot-pluggable\n#2   PROCESSOR_ZONE  Yes     FAILED 0%      No         N/A      Yes\n", {("enclosure-fault", "act")}),
        ("ID     TYPE        LOCATION      STATUS  REDUNDANT\n 2  Standard        Pwr. Supply Bay Failed   No\n", {("enclosure-fault", "act")}),
        ("ID     TYPE        LOCATION      STATUS  REDUNDANT\n 2  Standard        Pwr. Supply Bay Normal   Yes\n", set()),
    ],
)  # fmt: skip
def test_other_parts_of_a_proliant(row, expected):
    assert found_in(row) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("unknown", set()),
        ("ok", set()),
        ("failing", {("disk-failing", "act")}),
        ("failed", {("disk-failing", "act")}),
        ("unusable", {("disk-failing", "watch")}),
        ("strange", {("unexplained", "watch")}),
    ],
)
def test_the_condition_of_an_attachment_point(condition, expected):
    assert found_in(POINTS.format(condition=condition)) == expected


CHASSIS = """System Power         : on
Power Overload       : false
Main Power Fault     : {power}
Power Restore Policy : previous
Drive Fault          : {drive}
Cooling/Fan Fault    : false
"""


@pytest.mark.parametrize(
    ("power", "drive", "expected"),
    [
        ("false", "false", set()),
        ("true", "false", {("enclosure-fault", "act")}),
        ("false", "true", {("disk-failing", "act")}),
    ],
)
def test_the_status_of_a_chassis(power, drive, expected):
    assert found_in(CHASSIS.format(power=power, drive=drive)) == expected


def test_a_list_of_parts_says_of_none_that_it_is_away():
    text = "FRU Device Description : PSU3 (ID 6)\n Device not present (Requested sensor, data, or record not found)\n"
    assert not triage([("p", text)]).situations


@pytest.mark.parametrize("line", ["Drive Fault          : false", "disk failure: no", "PSU fault : 0"])
def test_a_fault_that_is_denied_behind_many_blanks_is_none(line):
    assert not triage([("p", line)]).situations


PAGE = """Enclosure Status diagnostic page:
  INVOP=0, INFO={info}, NON-CRIT={watch}, CRIT={grave}, UNRECOV=0
  generation code: 0x0
  status descriptor list
    Element type: Power supply, subenclosure id: 0 [ti=2]
      Element 0 descriptor:
        Predicted failure=0, Disabled=0, Swap=0, status: OK
      Element 1 descriptor:
        Predicted failure=0, Disabled=0, Swap=0, status: {second}
"""


@pytest.mark.parametrize(
    ("info", "watch", "grave", "second", "expected"),
    [
        (0, 0, 0, "OK", set()),
        (1, 0, 0, "OK", set()),
        (0, 0, 1, "Not installed", {("enclosure-fault", "watch")}),
        (0, 1, 0, "OK", {("enclosure-fault", "watch")}),
        (0, 0, 1, "Critical", {("enclosure-fault", "act")}),
    ],
)
def test_an_enclosure_that_raises_an_alarm_of_no_part(info, watch, grave, second, expected):
    read = triage([("p", PAGE.format(info=info, watch=watch, grave=grave, second=second))])
    assert {(each.slug, each.severity) for each in read.situations} == expected
    assert read.good == (not expected)
