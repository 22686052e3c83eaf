"""Sensors of a machine's BMC, in each form in which tools list them: what is not well is raised, and one that is ok is never good."""

from __future__ import annotations

import pytest

from workflows.triage import triage

SDR = """Ambient Temp     | 20 degrees C      | ok
Fan 1A Tach      | 2610 RPM          | {state}
Unable to send command: Invalid argument
SEL              | Not Readable      | ns
"""
ELIST = """Inlet Temp       | 04h | ok  |  7.1 | 25 degrees C
Drive 3          | 63h | ok  |  4.3 | {words}
Power Supply 1   | 03h | ok  | 10.1 | 110 Watts, Presence detected
"""
SENSOR = """CPU Temp         | 41.000     | degrees C  | ok    | 0.000     | 0.000     | 0.000     | 90.000    | 95.000    | 95.000
P12V             | 10.840     | Volts      | {state}    | 10.200    | 10.400    | 10.700    | 13.200    | 13.400    | 13.600
PS2 Status       | 0x1        | discrete   | 0x0180| na        | na        | na        | na        | na        | na
"""
FREE = """ID  | Name             | Type              | State    | Reading    | Units | Event
4   | CPU Temp         | Temperature       | Nominal  | 43.00      | C     | 'OK'
58  | Status           | Power Supply      | {state} | N/A        | N/A   | {words}
"""


def found(text):
    read = triage([("p", text)])
    assert [each.outcome for each in read.reads] == ["read"]
    assert not read.good
    return {(each.slug, each.severity) for each in read.situations}


@pytest.mark.parametrize(
    ("state", "severity"), [("nc", "watch"), ("lnc", "watch"), ("cr", "act"), ("lcr", "act"), ("nr", "act"), ("ucr", "act")]
)
def test_the_state_of_a_sensor_counts(state, severity):
    assert found(SDR.format(state=state)) == {("enclosure-fault", severity)}
    assert found(SENSOR.format(state=state)) == {("enclosure-fault", severity)}


@pytest.mark.parametrize("words", ["Drive Present, Drive Fault", "Drive Present, Predictive Failure", "Drive Present, In Failed Array"])
def test_what_a_drive_slot_asserts_is_of_a_drive(words):
    assert found(ELIST.format(words=words)) == {("disk-failing", "act")}


@pytest.mark.parametrize(
    ("state", "words", "severity"),
    [
        ("Critical", "'Presence detected' 'Power Supply input lost (AC/DC)'", "act"),
        ("Nominal ", "'Presence detected' 'Failure detected'", "act"),
        ("Warning ", "'Configuration error'", "watch"),
    ],
)
def test_words_of_a_discrete_sensor_count_under_any_state(state, words, severity):
    assert found(FREE.format(state=state, words=words)) == {("enclosure-fault", severity)}


@pytest.mark.parametrize(
    "text",
    [SDR.format(state="ok"), ELIST.format(words="Drive Present"), SENSOR.format(state="ok"), FREE.format(state="Nominal", words="'OK'")],
)
def test_sensors_that_are_ok_are_never_good(text):
    assert found(text) == set()
