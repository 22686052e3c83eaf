"""What is due, what hangs, what it says meanwhile. Sources of our own where the shape of one matters, the twin's where texts do."""

from __future__ import annotations

import threading
import time

import pytest

from agents.collectors import COLLECTORS, zdb_label, zpool_history
from agents.collectors.base import Capture, ask
from agents.host.worker_pool import BULK_MAX, WORKERS
from agents.operations import zpool_replace
from agents.reporting.schedule import FAST_SECONDS, FAST_SOURCES, OWN, RETRY_SECONDS, Schedule
from agents.tests import rig
from agents.tests.questions import per_disk, reported, source
from twin import scenarios


def test_it_asks_each_source_as_often_as_it_says(make, machine, clock):
    schedule = make(source("often", 10), source("seldom", 120))
    for _ in range(9):
        schedule.round()
        clock.now += 5.0
    assert machine.asked.count("tool often") == 5
    assert machine.asked.count("tool seldom") == 1
    assert {kept.source for kept in schedule.captures()} == {"often", "seldom", "zdb_label", OWN}


def test_a_fleet_does_not_march_in_step(make):
    dues = set()
    for _ in range(5):
        schedule = make(source("often", 10))
        schedule.round()
        dues.add(schedule.next_due())
    assert len(dues) == 5
    assert all(1009.0 <= due <= 1010.0 for due in dues)


def test_every_disk_is_a_task_of_its_own(make, machine):
    schedule = make(per_disk("labels", ["sda", "sdb", "sdc"]))
    machine.hangs["sdb"] = "timeout"
    schedule.round()
    assert [(kept.key, kept.outcome) for kept in schedule.captures() if kept.source == "labels"] == [
        ("sda", "data"),
        ("sdb", "failed"),
        ("sdc", "data"),
    ]


def test_a_disk_that_hangs_is_tried_again_ever_more_seldom_and_says_when(make, machine, clock):
    schedule = make(per_disk("labels", ["sda", "sdb"]))
    machine.hangs["sdb"] = "timeout"
    texts, tries = [], []
    for _ in range(120):
        schedule.round()
        texts.append(reported(schedule, "labels", "sdb").reason)
        tries.append(machine.asked.count("tool sdb"))
        clock.now += 5.0
    assert tries[-1] == 5  # at 0, 30, 90, 210 and 450 seconds
    assert len(set(texts)) == 5  # the text stays while nothing happens
    assert texts[0] == "labels/sdb was asked at 2027-01-15T08:16:40Z and has not answered; second try 2027-01-15T08:17:10Z."
    assert texts[-1].startswith("labels/sdb was asked at 2027-01-15T08:16:40Z and has not answered; next try ")
    machine.hangs.clear()
    schedule.hurry()
    schedule.round()
    assert reported(schedule, "labels", "sdb").outcome == "data"


def test_what_is_asked_once_an_hour_and_ran_out_of_time_is_asked_again_soon_and_alone(make, machine, clock):
    """A real node short of CPU after its boot: all of its smartctl took more than 30 seconds, and no disk could be chosen for an hour."""
    schedule = make(per_disk("health", ["sda", "sdb"], 3600))
    machine.hangs["sdb"] = "timeout"
    schedule.round()
    assert reported(schedule, "health", "sdb").reason.endswith("and has not answered; second try 2027-01-15T08:17:10Z.")
    machine.hangs.clear()
    clock.now += RETRY_SECONDS - 1
    schedule.round()
    assert machine.asked.count("tool sdb") == 1
    clock.now += 1
    schedule.round()
    assert reported(schedule, "health", "sdb").outcome == "data"
    clock.now += 1000
    schedule.round()
    assert (machine.asked.count("tool sda"), machine.asked.count("tool sdb")) == (1, 2)
    clock.now += 2600
    schedule.round()
    assert (machine.asked.count("tool sda"), machine.asked.count("tool sdb")) == (2, 3)


def test_what_cannot_be_killed_is_not_joined_by_many_more(make, machine, clock):
    schedule = make(per_disk("health", ["sda", "sdb"], 3600))
    machine.hangs["sdb"] = "stuck"
    for _ in range(71):
        schedule.round()
        clock.now += 50.0
    assert machine.asked.count("tool sdb") == 1


def test_the_report_says_when_a_process_cannot_be_killed(make, machine):
    schedule = make(source("status"))
    machine.hangs["status"] = "stuck"
    machine.left_behind = lambda: (("tool", "status"),)
    schedule.round()
    assert reported(schedule, "status").reason.endswith("Its process is stuck in the kernel and cannot be killed.")
    assert "left_behind:tool status\n" in reported(schedule, OWN).text


def test_while_one_zpool_command_hangs_no_other_is_started(make, machine, clock):
    schedule = make(source("zpool_status"), source("zpool_list"), per_disk("zpool_get", ["tank", "dozer"]), source("kstat"))
    schedule.round()
    assert {kept.outcome for kept in schedule.captures()} == {"data"}
    machine.hangs["zpool_status"] = "stuck"
    clock.now += 10.0
    schedule.round()
    before = len(machine.asked)
    for where in (("zpool_list", ""), ("zpool_get", "tank"), ("zpool_get", "dozer")):
        assert "is not asked while zpool_status" in reported(schedule, *where).reason
    clock.now += 25.0
    schedule.round()
    assert {word.split()[1] for word in machine.asked[before:]} <= {"kstat", "zdb_label"}
    machine.hangs.clear()
    clock.now += RETRY_SECONDS
    schedule.round()
    assert {kept.outcome for kept in schedule.captures()} == {"data"}


def test_a_history_that_waits_for_a_slow_pool_keeps_no_other_question_back(make, machine, clock):
    schedule = make(source("zpool_status"), per_disk("zpool_history", ["tank"], HANGS_ALONE=zpool_history.HANGS_ALONE))
    machine.hangs["tank"] = "stuck"
    for _ in range(3):
        schedule.round()
        clock.now += 10.0
    assert reported(schedule, "zpool_history", "tank").outcome == "failed"
    assert reported(schedule, "zpool_status").outcome == "data"
    assert (machine.asked.count("tool zpool_status"), machine.asked.count("tool tank")) == (3, 1)


def test_while_zpool_hangs_no_other_source_runs_it_either(make, machine, clock):
    """Some sources ask zpool for something in passing: which disks to read, or its version, which it says even then."""
    aside = per_disk("uberblocks", ["sda"])
    aside.keys = lambda host: ("sda",) if host.run(("zpool", "list"), 5.0).exit_code == 0 else ()
    version = source("node", collect=lambda host: (ask(host, "node", ("zpool", "--version"), 1.0),))
    schedule = make(source("zpool_status"), aside, version)
    schedule.round()
    machine.hangs["zpool_status"] = "stuck"
    clock.now += 10.0
    schedule.round()
    clock.now += 10.0
    schedule.round()
    assert machine.asked.count("zpool list") <= 2
    assert machine.asked.count("zpool --version") == 3
    assert reported(schedule, "uberblocks").reason == "uberblocks needs a tool that hangs, and is asked again when that answers."
    assert reported(schedule, "uberblocks", "sda").outcome == "data"  # known from before, and as old as its age says
    machine.hangs.clear()
    clock.now += 200.0
    for _ in range(2):
        schedule.round()
    assert reported(schedule, "uberblocks") is None
    assert schedule.ages()["uberblocks"] == 0.0


def test_zpool_commands_are_run_one_at_a_time(make):
    running, most = [], []

    def collect(name):
        def run(host):
            running.append(name)
            most.append(len(running))
            time.sleep(0.02)
            running.remove(name)
            return (Capture(name, "", "data", "x"),)

        return run

    names = ("zpool_status", "zpool_list", "zpool_events", "zpool_history")
    schedule = make(*(source(name, collect=collect(name)) for name in names))
    schedule.round()
    assert (max(most), len(most)) == (1, 4)
    assert {kept.source for kept in schedule.captures()} >= set(names)


def test_a_read_that_never_returns_is_said_and_not_repeated_until_it_does(make, clock, monkeypatch):
    monkeypatch.setattr("agents.reporting.schedule.HUNG_AFTER_SECONDS", 0.4)
    release, calls = threading.Event(), []
    collect = lambda host: calls.append(1) or (release.wait(20) and (Capture("enclosure", "", "data", "bays"),))  # noqa: E731
    schedule = make(source("enclosure", collect=collect), source("quick"))
    begun = time.monotonic()
    schedule.round()
    assert time.monotonic() - begun < 1.0
    assert reported(schedule, "quick").outcome == "data"
    texts = set()
    for _ in range(3):
        time.sleep(0.15)
        schedule.round()
        texts.add(reported(schedule, "enclosure") and reported(schedule, "enclosure").reason)
        clock.now += 10.0
    (text,) = texts - {None}
    assert text.endswith("and has not answered. The read hangs in the kernel and is not repeated until it returns.")
    assert "hangs:enclosure\n" in reported(schedule, OWN).text
    assert len(calls) == 1
    release.set()
    time.sleep(0.1)
    schedule.round()
    assert reported(schedule, "enclosure").outcome == "data"
    assert "hangs" not in reported(schedule, OWN).text


def test_many_disks_that_hang_for_ever_leave_a_bounded_number_of_threads(make, clock, monkeypatch):
    """A dead HBA. The few sources that ask no disk go on, and the disks nobody asked say so."""
    monkeypatch.setattr("agents.reporting.schedule.HUNG_AFTER_SECONDS", 0.3)
    release = threading.Event()
    disks = [f"sd{n}" for n in range(100)]
    dead = per_disk("labels", disks)
    dead.collect_one = lambda host, key: release.wait(20) and Capture("labels", key, "data", "x")
    schedule = make(dead, source("quick"))
    for _ in range(12):
        schedule.round()
        time.sleep(0.1)
        clock.now += 10.0
    assert schedule.threads <= BULK_MAX + WORKERS
    assert sum("hangs in the kernel" in kept.reason for kept in schedule.captures()) == BULK_MAX
    assert sum("other disks hang" in kept.reason for kept in schedule.captures()) == 100 - BULK_MAX
    assert schedule.ages()["quick"] <= 10.0
    release.set()
    time.sleep(0.3)
    schedule.round()
    assert all(reported(schedule, "labels", disk).outcome == "data" for disk in disks)


def test_one_slow_disk_takes_no_time_from_the_others(make, machine):
    disks = [f"sd{n}" for n in range(64)]

    def seconds(slow):
        arrived = {}

        def collect_one(host, key):
            time.sleep(0.6 if key in slow else 0.02)
            arrived[key] = time.monotonic()
            return Capture("labels", key, "data", "x")

        module = per_disk("labels", disks)
        module.collect_one = collect_one
        begun = time.monotonic()
        make(module).round()
        return max(at for key, at in arrived.items() if key not in slow) - begun

    assert seconds({f"sd{n}" for n in range(6)}) < seconds(set()) + 0.3


def test_an_unchanged_stamp_spares_the_question_and_keeps_the_text_fresh(make, machine, clock):
    stamps = {"sda": "1", "sdb": "2"}
    schedule = make(per_disk("labels", stamps, stamp=lambda host, key: stamps[key]))
    schedule.round()
    clock.now += 100.0
    schedule.round()
    assert [machine.asked.count(f"tool {disk}") for disk in stamps] == [1, 1]
    assert schedule.ages()["labels"] == 0.0
    stamps["sda"] = "3"
    clock.now += 100.0
    schedule.round()
    assert [machine.asked.count(f"tool {disk}") for disk in stamps] == [2, 1]


def test_a_source_without_keys_may_have_a_stamp_too(make, machine, clock):
    stamps = {"now": "1"}
    schedule = make(source("cache", stamp=lambda host, key: stamps["now"]))
    for now in ("1", "1", "2", "1"):
        stamps["now"] = now
        schedule.round()
        clock.now += 11.0
    assert machine.asked.count("tool cache") == 3  # what it said before the last change is not kept


def test_what_failed_is_asked_again_whatever_its_stamp(make, machine, clock):
    schedule = make(per_disk("labels", ["sda"], stamp=lambda host, key: "1"))
    machine.hangs["sda"] = "timeout"
    schedule.round()
    machine.hangs.clear()
    clock.now += RETRY_SECONDS
    schedule.round()
    assert reported(schedule, "labels", "sda").outcome == "data"


def test_a_disk_that_is_gone_says_nothing_any_more(make, clock):
    disks = ["sda", "sdb"]
    schedule = make(per_disk("labels", disks))
    schedule.round()
    disks.remove("sda")
    clock.now += 10.0
    schedule.round()
    assert [kept.key for kept in schedule.captures() if kept.source == "labels"] == ["sdb"]


def test_it_hurries_even_for_what_is_being_asked(make, machine):
    """An answer that was on its way when something changed may describe what was before."""
    schedules = []
    collect = lambda host: schedules[0].hurry() or (Capture("node", "", "data", "x"),)  # noqa: E731
    schedules.append(make(source("node", collect=collect)))
    schedules[0].round()
    assert schedules[0].next_due() == 0.0


def test_a_ring_hurries_what_is_cheap_and_leaves_alone_what_hangs(make, machine, clock):
    schedule = make(source("zpool_status"), source("zpool_history", 600), source("block", 30), source("smart", 3600))
    schedule.round()
    schedule.ring()
    schedule.round()
    assert [machine.asked.count(f"tool {name}") for name in ("zpool_status", "zpool_history", "block", "smart")] == [2, 2, 2, 1]
    machine.hangs["zpool_status"] = "timeout"
    schedule.ring()
    schedule.round()
    for _ in range(5):
        clock.now += 1.0
        schedule.ring()
        schedule.round()
    assert machine.asked.count("tool zpool_status") == 3


def test_it_says_how_old_each_source_is(make, clock):
    schedule = make(source("often", 10), source("seldom", 120))
    schedule.round()
    clock.now += 12.0
    schedule.round()
    ages = schedule.ages()
    assert (ages["often"], ages["seldom"]) == (0.0, 12.0)
    asked = schedule.now()
    clock.now += 3.0  # the look took so long, and was told to the portal before
    schedule.learn("seldom", (Capture("seldom", "", "data", "new"),), asked)
    assert schedule.taken("seldom") == 3.0
    assert schedule.taken("unheard of") is None


def test_what_a_look_brought_takes_the_place_of_what_was_known(make):
    schedule = make(per_disk("labels", ["sda"]))
    schedule.round()
    schedule.learn("labels", (Capture("labels", "sda", "data", "by a look"),), schedule.now())
    assert [kept.text for kept in schedule.captures() if kept.source == "labels"] == ["by a look"]


def test_what_a_whole_look_does_not_find_any_more_is_gone(make, clock):
    """A disk was blank, and another node partitions it: what was read of the whole disk is no part of the source any more, nor of its age."""
    schedule = make(per_disk("labels", ["sda", "sdb"]))
    schedule.round()
    clock.now += 600.0
    fresh = (Capture("labels", "sda", "data", "by a look"),)
    schedule.learn("labels", fresh, schedule.now())
    assert schedule.taken("labels") == 600.0  # one key alone says nothing of the others
    schedule.learn("labels", fresh, schedule.now(), whole=True)
    assert [kept.key for kept in schedule.captures() if kept.source == "labels"] == ["sda"]
    assert schedule.taken("labels") == 0.0


def test_what_a_collector_raises_is_not_hidden(make):
    schedule = make(source("broken", collect=lambda host: {}["missing"]))
    with pytest.raises(KeyError):
        schedule.round()


@pytest.fixture
def twin(tmp_path):
    return rig.twin(tmp_path)


@pytest.fixture
def on_twin(twin, clock):
    schedule = Schedule(twin, clock)
    yield schedule
    schedule.close()


def test_it_reads_a_whole_twin(on_twin, twin):
    on_twin.round()
    by_hand = {(c.source, c.key): c.digest for module in COLLECTORS.values() for c in module.collect(twin)}
    assert {(kept.source, kept.key): kept.digest for kept in on_twin.captures() if kept.source != OWN} == by_hand


def test_it_asks_often_while_a_resilver_runs(twin, on_twin):
    twin.run(zpool_replace.argv(rig.params(twin)), 10)
    on_twin.round()
    dues = {name: on_twin._sources[name].due - 1000.0 for name in (*FAST_SOURCES, "zdb_label")}
    assert all(0.85 * FAST_SECONDS <= dues[name] <= FAST_SECONDS for name in FAST_SOURCES)
    assert dues["zdb_label"] >= 0.85 * zdb_label.EVERY_SECONDS


def test_it_reads_the_labels_again_when_a_resilver_ends(twin, on_twin, clock):
    """They said who was being filled. Without this a run would wait two minutes more for nothing."""
    twin.run(zpool_replace.argv(rig.params(twin)), 10)
    on_twin.round()
    with twin.store.changing() as node:
        (scan,) = (pool.scan for pool in node.imported if pool.scan and pool.scan.state == "running")
        scan.seconds = 0.0
    clock.now += FAST_SECONDS
    on_twin.round()
    assert on_twin._sources["zdb_label"].due == 0.0
    clock.now += 1.0
    on_twin.round()
    assert on_twin.taken("zdb_label") == 0.0
    clock.now += 20.0
    on_twin.round()
    assert on_twin.taken("zdb_label") == 20.0


def test_it_asks_a_disk_that_came_what_is_else_asked_once_an_hour(twin, on_twin, clock):
    """Seen on a real node: a new disk under the name of the one that was pulled had no health for the rest of the hour, so no run could take it."""
    on_twin.round()
    with twin.store.changing() as node:
        wwid = node.disks[-1].wwid
        gone = scenarios.unplug(node, wwid)
    clock.now += 31.0
    on_twin.round()
    assert on_twin._sources["smart"].due > clock.now  # one that went is no reason to ask the others
    clock.now += 31.0
    with twin.store.changing() as node:
        node.disks.append(gone)
    on_twin.round()
    assert on_twin._sources["smart"].due == 0.0
    clock.now += 1.0
    on_twin.round()
    assert on_twin.taken("smart") == 0.0
    clock.now += 31.0
    on_twin.round()
    assert on_twin.taken("smart") == 31.0


@pytest.mark.parametrize("before", ["blank", "active"])
def test_it_reads_the_uberblocks_when_a_label_tells_of_another_pool_or_another_state(twin, on_twin, clock, before):
    """Seen on a real node: disks that were blank when they were first read got a pool from a partner, and no import was offered for an hour."""
    with twin.store.changing() as node:
        spare = next(disk for disk in node.disks if not any(part.label for part in disk.partitions))
        if before == "active":
            scenarios.add_foreign_pool(node, spare, "partner_1", "partner", 0x77, exported=False)
    on_twin.round()
    uberblocks = on_twin._sources["zdb_uberblocks"]
    clock.now += 125.0
    on_twin.round()
    assert uberblocks.due > clock.now  # nothing changed
    with twin.store.changing() as node:
        if before == "active":
            next(pool for pool in node.pools if pool.name == "partner_1").state = 1
        else:
            scenarios.add_foreign_pool(node, node.disk(spare.wwid), "partner_1", "partner", 0x77, exported=False)
    clock.now += 125.0
    on_twin.round()
    assert uberblocks.due == 0.0
    clock.now += 1.0
    on_twin.round()
    assert uberblocks.due > clock.now
    assert any(kept.source == "zdb_uberblocks" and "Uberblock[" in kept.text for kept in on_twin.captures())


def test_it_lists_pools_again_when_a_label_says_that_one_was_exported(twin, on_twin, clock):
    """By a partner at the same shelf: nothing else here tells of it, and a failover would wait five minutes for the next listing."""
    with twin.store.changing() as node:
        pool = node.imported[0]
        pool.imported, pool.hostid, pool.hostname = False, 0x77, "partner"
    on_twin.round()
    listed = on_twin._sources["zpool_import"]
    clock.now += 125.0
    on_twin.round()
    assert listed.due > clock.now  # the partner has it: the labels say what they said
    with twin.store.changing() as node:
        node.pools[0].state = 1
    clock.now += 125.0
    on_twin.round()
    assert listed.due == 0.0
