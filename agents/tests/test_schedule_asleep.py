"""Disks that sleep: who is not asked about them, and who waits to hear which they are."""

import threading

import pytest

from agents.collectors import COLLECTORS, _power
from agents.collectors.base import Capture
from agents.tests.questions import per_disk, reported, source


def test_a_disk_that_sleeps_is_not_woken(make, machine):
    smart = source("smart", collect=lambda host: (Capture("smart", "sdb", "nothing", "", "sdb sleeps and was not woken"),))
    schedule = make(smart, per_disk("labels", ["sda1", "sdb1"], WAKES=True))
    schedule.round()
    assert "tool sdb1" not in machine.asked
    assert reported(schedule, "labels", "sdb1").reason == "sdb sleeps and was not woken"
    assert reported(schedule, "labels", "sda1").outcome == "data"


def test_not_even_the_stamp_of_a_disk_that_sleeps_is_taken(make):
    """It is a hash of bytes on the disk, so taking it spins the disk up as well."""
    read = []
    smart = source("smart", collect=lambda host: (Capture("smart", "sdb", "nothing", "", "sdb sleeps and was not woken"),))
    schedule = make(smart, per_disk("labels", ["sda1", "sdb1"], WAKES=True, stamp=lambda host, key: read.append(key) or key))
    schedule.round()
    assert read == ["sda1"]


def test_what_reads_every_disk_is_not_asked_while_one_sleeps(make, machine, clock):
    asleep = [True]

    def smart_of(host):
        return (Capture("smart", "sdb", *(("nothing", "", "sdb sleeps and was not woken") if asleep[0] else ("data", "ok"))),)

    schedule = make(source("smart", 10, collect=smart_of), source("scan", 20, WAKES_ALL=True))
    schedule.round()
    clock.now += 20.0
    machine.asked.clear()
    schedule.round()
    assert "tool scan" not in machine.asked
    assert (reported(schedule, "scan").outcome, reported(schedule, "scan").reason) == (
        "nothing",
        "sdb would be woken by it, so it was not asked",
    )
    asleep[0] = False
    for _ in range(2):
        clock.now += 20.0
        schedule.round()
    assert "tool scan" in machine.asked


def test_what_reads_every_disk_waits_to_hear_who_sleeps_and_not_for_a_disk_that_hangs(make, machine, monkeypatch):
    monkeypatch.setattr("agents.reporting.schedule.PATIENCE_SECONDS", 20.0)
    let_go, asked_of = threading.Event(), []

    def smart_of(host, key):
        if key == "sdb":
            let_go.wait(10.0)
        asked_of.append(key)
        return Capture("smart", key, "data", "ok")

    def scan(host):
        asked_of.append("scan")
        let_go.set()
        return (Capture("scan", "", "data", "x"),)

    smart = per_disk("smart", ["sda", "sdb", "sdc"])
    smart.collect_one = smart_of
    make(smart, source("scan", 20, collect=scan, WAKES_ALL=True)).round()
    assert sorted(asked_of[:2]) == ["sda", "sdc"]
    assert asked_of[2:] == ["scan", "sdb"]


@pytest.mark.parametrize("name", ["zdb_label", "zdb_uberblocks", "zpool_import", "sg_logs", "drive_modes"])
def test_whatever_spins_a_disk_up_says_so(name):
    assert getattr(COLLECTORS[name], "WAKES", False) or getattr(COLLECTORS[name], "WAKES_ALL", False)


def careful(name, disks):
    """Asks a disk only when it is awake, as sg_logs does."""
    module = per_disk(name, disks, WAKES=True)
    module.collect_one = lambda host, key: _power.not_awake(host, name, key) or Capture(name, key, "data", "awake")
    return module


def power_asked(machine):
    asked = [words for words in machine.asked if words.startswith("smartctl -i ")]
    machine.asked.clear()
    return asked


def test_a_disk_that_answered_smart_a_moment_ago_is_not_asked_again_whether_it_sleeps(make, machine, clock):
    schedule = make(per_disk("smart", ["sda"], 3600), careful("logs", ["sda"]), careful("modes", ["sda"]))
    schedule.round()
    assert power_asked(machine) == []
    assert {reported(schedule, name, "sda").text for name in ("logs", "modes")} == {"awake"}
    clock.now += 60.0  # by now it may sleep
    schedule.round()
    assert power_asked(machine) == 2 * ["smartctl -i -n standby /dev/sda"]


def test_what_smart_heard_is_about_the_disk_that_told_it(make, machine):
    """Nothing is known of sdb's sleep, and sdc did not say."""
    machine.hangs["sdc"] = "timeout"
    make(per_disk("smart", ["sda", "sdc"]), careful("logs", ["sda", "sdb", "sdc"])).round()
    assert sorted(power_asked(machine)) == ["smartctl -i -n standby /dev/sdb", "smartctl -i -n standby /dev/sdc"]


def test_the_command_that_would_ask_is_not_even_run_on_a_disk_that_smart_found_asleep(make, machine):
    smart = source("smart", collect=lambda host: (Capture("smart", "sdb", "nothing", "", "sdb sleeps and was not woken"),))
    schedule = make(smart, careful("logs", ["sdb"]))
    schedule.round()
    assert power_asked(machine) == []
    assert reported(schedule, "logs", "sdb").reason == "sdb sleeps and was not woken"


def test_what_would_wake_a_disk_waits_for_that_disk_only(make, machine, monkeypatch):
    """SMART takes long to answer for sdb, here until the labels of the others were asked: they are not held up by it."""
    monkeypatch.setattr("agents.reporting.schedule.PATIENCE_SECONDS", 20.0)
    labelled: set[str] = set()
    others_were_asked, in_time = threading.Event(), []

    def smart_of(host, key):
        if key != "sdb":
            return Capture("smart", key, "data", "ok")
        in_time.append(others_were_asked.wait(10.0))
        return Capture("smart", key, "nothing", "", "sdb sleeps and was not woken")

    def label_of(host, key):
        labelled.add(key)
        if {"sda1", "sdc"} <= labelled:
            others_were_asked.set()
        return Capture("labels", key, "data", "x")

    smart, labels = per_disk("smart", ["sda", "sdb", "sdc"]), per_disk("labels", ["sda1", "sdb1", "sdc"], WAKES=True)
    smart.collect_one, labels.collect_one = smart_of, label_of
    schedule = make(smart, labels)
    schedule.round()
    assert in_time == [True]
    assert labelled == {"sda1", "sdc"}
    assert reported(schedule, "labels", "sdb1").outcome == "nothing"


def test_every_partition_of_a_disk_is_asked_once_its_sleep_is_known(make, machine, monkeypatch):
    """A disk that also boots has several labels to read: none of them is forgotten while it waits, and the round ends."""
    monkeypatch.setattr("agents.reporting.schedule.PATIENCE_SECONDS", 20.0)
    listed = threading.Event()
    labels = per_disk("labels", ["sda1", "sda2", "sda3"], WAKES=True)
    names = labels.keys

    def keys(host):
        listed.set()
        return names(host)

    def smart_of(host, key):
        listed.wait(10.0)
        return Capture("smart", key, "data", "ok")

    smart = per_disk("smart", ["sda"])
    labels.keys, smart.collect_one = keys, smart_of
    schedule = make(smart, labels)
    schedule.round()
    assert {key: reported(schedule, "labels", key).outcome for key in ("sda1", "sda2", "sda3")} == dict.fromkeys(
        ("sda1", "sda2", "sda3"), "data"
    )
