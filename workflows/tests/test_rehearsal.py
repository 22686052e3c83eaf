"""A rehearsal of a node's own report ends as the run on that node ends: the same commands, the same end; and it touches nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from agents.collectors import COLLECTORS
from agents.domain.multipath_maps import path_of, uuid_of
from agents.domain.wwid import by_id_path
from agents.tests.scenarios import STEPS
from twin import demo, scenarios
from twin.disk_kinds import nvme, sata_without_wwn
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.scenarios import Clock
from workflows.engine import plan_losses
from workflows.engine.core import Answer
from workflows.engine.state import ENDED
from workflows.facts import FleetFacts, Unknown, node_facts
from workflows.facts.tests.played import captures, fleet
from workflows.rehearsal import Asked, CannotRebuild, Rehearsed, Report, Stage, rehearse
from workflows.rehearsal.fidelity import of_the_pool
from workflows.rehearsal.known_facts import SILENT_SECONDS, merged
from workflows.rehearsal.play import SUPPOSE
from workflows.rehearsal.simulated_technician import every_hand, new_wwid
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.import_without_log.rehearsal import without_its_log
from workflows.situations import detect_all
from workflows.tests.reports import taken
from workflows.tests.stories import STORIES
from workflows.tests.stories_of_disks import BLINK, SICK_BAY, bay
from workflows.tests.walks import Walk, assert_readable

NOW = 1795248315.0
CHOICES_MAX = 8
# What only an import shows. A rehearsal asks for it, and the story knows.
SUPPOSED = {
    **dict.fromkeys(("device-delete-reimport", "device-delete-reimport, nothing is written"), "disk"),
    "device-delete-reimport, it cannot be tried before": "disk",
    **dict.fromkeys(("read-only-import, one disk blocks it", "read-only-import, handed over at once"), "disk"),
    **dict.fromkeys((f"rewind-import, {name}" for name in ("copied out", "it lands further back", "too far back for good")), "older"),
    **dict.fromkeys(("device-delete-reimport, it was not this disk alone", "rewind-import, no point can be loaded"), "never"),
}
FROM_THE_SHELF = tuple(kind(scenarios.shelf_disk()).wwid for kind in (replace, sata_without_wwn, nvme))
UNHEARD_OF = ["write", "/sys/class/scsi_host/host3/scan", "- - -"]  # no disk and no HBA in the report tells of this host


def reports(walk: Walk) -> dict[str, Report]:
    facts, found = walk.facts(), {}
    for name, host in walk.hosts.items():
        earlier = {
            where: (body, walk.clock.at - when)
            for when, then in reversed(walk.history._collected[name])
            for where, body in then.bodies.items()
            if when < walk.clock.at
        }
        found[name] = Report(facts.nodes[name], bodies_of(host), earlier)
    return found


ENDS_SOONER = ("damaged-data, a file was left",)  # a rehearsal supposes that a scrub finds nothing, and says so


def bodies_of(host: TwinHost) -> dict[str, Mapping]:
    return {where: capture.body() for where, capture in taken(host).items()}


def chosen_on_the_way(walk: Walk) -> dict[str, str]:
    """Walk to the end; what was picked where."""
    picked = {}
    while walk.state.status not in ENDED:
        if walk.step.kind == "DECIDE":
            wwid = walk._choice()
            picked[walk.state.step] = new_wwid(wwid) if wwid in FROM_THE_SHELF else wwid
        walk.go()
    return picked


@pytest.mark.parametrize("title", STORIES)
def test_it_ends_as_the_run_itself(title):
    walk = Walk(STORIES[title])
    known, facts, at, params = reports(walk), walk.facts(), walk.clock.at, dict(walk.state.params)
    choices = chosen_on_the_way(walk) | {SUPPOSE: SUPPOSED.get(title, "rewind")}
    before = copy.deepcopy({name: report.bodies for name, report in known.items()})
    silent = {name: report for name, report in known.items() if report.facts.age_seconds > SILENT_SECONDS}
    answering = {name: report for name, report in known.items() if name not in silent}
    rehearsed = rehearse(Asked(walk.runbook, params, choices), Stage(answering, facts, at, silent))
    assert (rehearsed.ending, walk.state.status) == ("done", "done"), rehearsed.reason
    links = {by_id_path(wwid): by_id_path(new_wwid(wwid)) for wwid in FROM_THE_SHELF}
    links |= {
        path_of(wwid, uuid): path_of(new_wwid(wwid), str(uuid_of(new_wwid(wwid)))) for wwid in FROM_THE_SHELF if (uuid := uuid_of(wwid))
    }
    ran = [[links.get(word, word) for word in argv] for argv in walk.commands() if argv != UNHEARD_OF]
    acts = [act.step for act in rehearsed.acts if act.who != "passed over" and act.step != SUPPOSE]
    finished = [finished.step for finished in walk.state.finished if not finished.passed_over]
    if title in ENDS_SOONER:
        assert set(acts) < set(finished)
    else:
        assert (rehearsed.commands, acts) == (ran, finished)
    assert rehearsed.loops == []
    assert {name: report.bodies for name, report in known.items()} == before
    json.dumps(rehearsed.to_json())


@cache
def demo_reports() -> tuple[FleetFacts, dict[str, Report]]:
    found = {}
    for name, build in demo.NODES.items():
        bodies = bodies_of(TwinHost(MemoryStore(build(NOW)), Clock(NOW), lambda seconds: None))
        found[name] = Report(node_facts(name, bodies, 0.5, (), ages=dict.fromkeys(COLLECTORS, 0.5)), bodies)
    return FleetFacts({name: report.facts for name, report in found.items()}), found


def to_the_end(answer: Answer, known: dict[str, Report], facts: FleetFacts) -> Rehearsed:
    """With the first option that is fit, wherever one is asked for."""
    choices: dict[str, str] = {}
    for _ in range(CHOICES_MAX):
        rehearsed = rehearse(Asked(RUNBOOKS[answer.runbook], answer.params, choices), Stage(known, facts, NOW))
        if rehearsed.ending != "asks":
            break
        choices[rehearsed.asks] = next(choice.value for choice in rehearsed.choices if not choice.against)
    return rehearsed


@pytest.mark.parametrize("node", ["oss01", "oss03"])
def test_every_answer_in_the_demo_fleet_can_be_rehearsed(node):
    facts, known = demo_reports()
    answers = [answer for s in detect_all(facts) if s.node == node for answer in s.answers]
    assert answers
    for answer in answers:
        rehearsed = to_the_end(answer, {node: known[node]}, facts)
        assert rehearsed.ending == "done", (answer.runbook, rehearsed.reason)
        assert rehearsed.commands
        assert rehearsed.gaps == []


def test_it_shows_the_incident_as_it_would_go():
    facts, known = demo_reports()
    (answer,) = [answer for s in detect_all(facts) if s.slug == "wwid-mismatch" for answer in s.answers]
    wwid = f"naa:{demo.BLANK_WWN}"
    rehearsed = rehearse(Asked(RUNBOOKS[answer.runbook], answer.params, {"choose": wwid}), Stage({"oss01": known["oss01"]}, facts, NOW))
    (command,) = [act for act in rehearsed.acts if act.kind == "EXECUTE"]
    assert command.argv == ("zpool", "replace", "ost_0", str(demo.LOST_GUID), f"/dev/disk/by-id/wwn-0x{demo.BLANK_WWN}")
    assert command.exit_code == 0
    assert "replacing-0" in command.pool
    assert "(resilvering)" in command.pool or "resilver in progress" in command.pool
    assert "replacing" not in rehearsed.pool
    assert "resilvered" in rehearsed.pool
    (approval,) = [act for act in rehearsed.acts if act.kind == "APPROVE"]
    assert approval.note.startswith("1 other person must")
    assert "how long the resilver takes" in command.supposed


def test_it_asks_for_a_choice_and_shows_what_speaks_against_each():
    facts, known = demo_reports()
    (answer,) = [answer for s in detect_all(facts) if s.slug == "wwid-mismatch" for answer in s.answers]
    rehearsed = rehearse(Asked(RUNBOOKS[answer.runbook], answer.params, {}), Stage({"oss01": known["oss01"]}, facts, NOW))
    assert (rehearsed.ending, rehearsed.asks) == ("asks", "choose")
    assert [choice.value for choice in rehearsed.choices if not choice.against] == [f"naa:{demo.BLANK_WWN}"]
    assert rehearsed.commands == []


def test_it_ends_when_its_time_is_over():
    facts, known = demo_reports()
    (answer,) = [answer for s in detect_all(facts) if s.slug == "wwid-mismatch" for answer in s.answers]
    rehearsed = rehearse(
        Asked(RUNBOOKS[answer.runbook], answer.params, {}, late=lambda: True), Stage({"oss01": known["oss01"]}, facts, NOW)
    )
    assert rehearsed.ending == "stops"
    assert "time" in rehearsed.reason


@pytest.mark.parametrize("name", STEPS)
def test_a_genuine_report_is_rehearsed_or_says_why_not(name):
    """Never an error, never a sentence that nobody can read, and never a command on a disk that was not read."""
    facts = fleet(name)
    for answer in (answer for s in detect_all(facts) for answer in s.answers):
        values = {where: capture.body() for where, capture in captures(name).items()}
        try:
            rehearsed = to_the_end(answer, {"oss01": Report(facts.nodes["oss01"], values)}, facts)
        except CannotRebuild as why:
            assert_readable(str(why))
            continue
        assert rehearsed.ending in ("done", "refused", "stops")
        for sentence in (rehearsed.reason, *rehearsed.gaps, *(line.reason for act in rehearsed.acts for line in act.lines)):
            assert_readable(sentence)


def test_what_is_missing_from_a_report_is_said():
    facts, known = demo_reports()
    values = {where: body for where, body in known["oss03"].bodies.items() if where != "zpool_status_guid"}
    with pytest.raises(CannotRebuild, match="zpool status -g was not read"):
        Stage({"oss03": Report(known["oss03"].facts, values)}, facts, NOW)


def test_a_disk_whose_label_was_not_read_is_never_blank():
    values = dict(demo_reports()[1]["oss03"].bodies)
    where = next(where for where in values if where.startswith("zdb_label/sdu"))
    values[where] = {**values[where], "outcome": "failed", "reason": "zdb -l: timeout after 20.0 s"}
    facts = node_facts("oss03", values, 0.5, (), ages=dict.fromkeys(COLLECTORS, 0.5))
    stage = Stage({"oss03": Report(facts, values)}, FleetFacts({"oss03": facts}), NOW)
    assert stage.seen["oss03"].made.node.faults.hangs
    assert any("answers nothing in the rehearsal" in gap for gap in stage.seen["oss03"].made.gaps)


def test_what_the_node_said_stands_until_the_rehearsal_changes_it():
    def body(text, outcome="data"):
        return {"text": text, "outcome": outcome}

    real = {"smart/sda": body("real"), "zpool_status": body("real"), "zdb_label/sdx1": body("", "failed"), "kernel_log": body("real")}
    first = {where: body("twin") for where in (*real, "mdb")}
    now = first | {
        "zpool_status": body("changed"),
        "zdb_label/sdx1": body("changed"),
        "kernel_log": body("changed"),
        "mdb": body("changed"),
    }
    shown = merged(real, first, now)
    assert {where: answer["text"] for where, answer in shown.items()} == {
        "smart/sda": "real",
        "zpool_status": "changed",
        "zdb_label/sdx1": "",
        "kernel_log": "real",
    }


def lost(how=lambda node: None) -> tuple[dict[str, Report], FleetFacts, dict[str, str]]:
    """A report of a node whose pool does not come in, after `how` has changed it; and what a run on it would begin with."""
    node = scenarios.lost_txgs()
    how(node)
    bodies = bodies_of(TwinHost(MemoryStore(node), Clock(NOW), lambda seconds: None))
    facts = FleetFacts({"oss01": node_facts("oss01", bodies, 0.5, (), ages=dict.fromkeys(COLLECTORS, 0.5))})
    params = {"node": "oss01", "pool": "ost_0", "pool_guid": str(node.pool("ost_0").guid)}
    return {"oss01": Report(facts.nodes["oss01"], bodies)}, facts, params


def rewound(known, facts, params, **choices: str) -> Rehearsed:
    return rehearse(Asked(RUNBOOKS["rewind-import"], params, choices), Stage(known, facts, NOW))


def old_labels(node) -> None:
    """As on real disks: labels are written seldom, and transaction groups do not come every five seconds."""
    for disk in node.disks[:6]:
        label = disk.partitions[0].label
        label.txg, label.ring = 77, [[4000 - back, 1795000000 - 60 * back] for back in range(32)]


def test_the_points_are_those_of_the_disks_whatever_their_labels_say():
    rehearsed = rewound(*lost(old_labels))
    assert (rehearsed.ending, rehearsed.asks) == ("asks", SUPPOSE)
    details = {choice.value: choice.detail for choice in rehearsed.choices}
    assert list(details) == ["rewind", "older", "never"]
    assert "txg 3999 and before, and that loses 60 s. -F reaches that." in details["rewind"]
    assert "txg 3983 and before, and that loses 17 min 0 s. -F does not reach that" in details["older"]
    assert all(detail.endswith("made up.") for value, detail in details.items() if value != "never")
    rehearsed = rewound(*lost(old_labels), suppose="rewind", point="3998", way="back", after="rewind")
    assert rehearsed.ending == "done", rehearsed.reason
    notes = {act.step: act.note for act in rehearsed.acts}
    assert notes["verify-rewind"] == "All is as it should be."
    assert "passed 4000, which it left behind" in notes["passed"]


def test_it_lands_where_was_supposed_and_no_further():
    rehearsed = rewound(*lost(old_labels), suppose="older", point="3997")
    assert (rehearsed.ending, rehearsed.asks) == ("asks", "landed")
    assert rehearsed.choices[0].title == "Look at it as it came in: txg 3983 = lose 17 min 0 s"
    assert [choice.against for choice in rehearsed.choices] == [(), ()]


def test_without_uberblocks_it_says_that_the_seconds_are_made_up():
    known, facts, params = lost()
    values = {where: body for where, body in known["oss01"].bodies.items() if not where.startswith("zdb_uberblocks")}
    facts = FleetFacts({"oss01": node_facts("oss01", values, 0.5, (), ages=dict.fromkeys(COLLECTORS, 0.5))})
    rehearsed = rehearse(
        Asked(RUNBOOKS["read-only-import"], params, {}), Stage({"oss01": Report(facts.nodes["oss01"], values)}, facts, NOW)
    )
    assert [choice.value for choice in rehearsed.choices] == ["rewind", "never"]
    assert rehearsed.choices[0].detail == "ost_0 can be read as it was 5 s earlier. The seconds are made up."


def test_a_log_of_the_node_goes_on_with_what_the_rehearsal_wrote():
    def log(*lines):
        return {"dbgmsg": {"text": "".join(f"{line}\n" for line in lines), "outcome": "data"}}

    shown = merged(log("the node's own"), log("heading", "old"), log("heading", "old", "new"))
    assert shown == log("the node's own", "new")
    failed = {"dbgmsg": {"text": "", "outcome": "failed"}}
    assert merged(failed, log("heading"), log("heading", "new")) == failed


def test_every_hand_is_a_step_that_hands_do():
    for runbook, step in every_hand():
        assert RUNBOOKS[runbook].step(step).kind in ("MANUAL", "WAIT")
    stated = {(runbook.slug, step.slug) for runbook in RUNBOOKS.values() for step in runbook.steps if step.kind == "MANUAL" and step.judges}
    assert stated <= set(every_hand())


# --- draids, cache devices, disks with other names


@pytest.mark.parametrize("name", ["healthy-mixed-cache-draid/1-cache", "healthy-mixed-cache-draid/2-draid"])
def test_a_twin_of_a_genuine_draid_and_of_a_cache_device_shows_the_pool_as_the_node_did(name):
    facts = fleet(name)
    real = facts.nodes["oss01"]
    values = {where: capture.body() for where, capture in captures(name).items()}
    stage = Stage({"oss01": Report(real, values)}, facts, NOW)
    seen = stage.seen["oss01"]
    (pool,) = real.pools
    assert of_the_pool(real, seen.at_first, str(pool.guid)) == ()
    assert not any("left out" in gap for gap in seen.made.gaps), seen.made.gaps
    (played,) = seen.at_first.pools
    assert [vdev.name for _, top in pool.tops for vdev in top.walk()] == [vdev.name for _, top in played.tops for vdev in top.walk()]
    assert [leaf.name for leaf in (*pool.caches, *pool.spares)] == [leaf.name for leaf in (*played.caches, *played.spares)]


def test_a_lost_disk_of_a_draid_is_replaced_in_a_rehearsal():
    node = scenarios.draid()
    scenarios.pull(node, node.disks[2].wwid)
    bodies = bodies_of(TwinHost(MemoryStore(node), Clock(NOW), lambda seconds: None))
    report = Report(node_facts("oss01", bodies, 0.5, (), ages=dict.fromkeys(COLLECTORS, 0.5)), bodies)
    facts = FleetFacts({"oss01": report.facts})
    answer = next(answer for s in detect_all(facts) for answer in s.answers if answer.runbook == "wwid-mismatch-replace")
    rehearsed = to_the_end(answer, {"oss01": report}, facts)
    assert rehearsed.ending == "done", rehearsed.reason
    assert [argv[:2] for argv in rehearsed.commands] == [["zpool", "replace"]]
    assert "draid2:4d:8c:1s-0" in rehearsed.pool
    assert rehearsed.gaps == []


def test_a_disk_that_a_twin_cannot_name_is_left_out_and_it_is_said_why():
    facts, known = demo_reports()
    report = known["oss03"]
    blank = next(disk for disk in report.facts.disks if not disk.labels and not disk.in_use)
    unnamed = replace(blank, wwid=Unknown("It answers no page 83h."))
    for odd, why in (
        (replace(blank, wwid="ser:QEMU:7"), "its WWID is ser:QEMU:7"),
        (unnamed, "It answers no page 83h."),
    ):
        disks = tuple(odd if disk is blank else disk for disk in report.facts.disks)
        stage = Stage({"oss03": replace(report, facts=replace(report.facts, disks=disks))}, facts, NOW)
        gaps = [gap for gap in stage.seen["oss03"].made.gaps if why in gap]
        assert gaps, stage.seen["oss03"].made.gaps
        assert_readable(gaps[0])
        assert all(one.wwid != blank.wwid for one in stage.seen["oss03"].made.node.disks)


HEAVY = {"margin_now": "1", "margin_during": "0", "vdev": "raidz2-0", "pool": "ost_0", "first": "", "why": ""}


def test_what_is_lost_is_told_and_its_acceptance_taken_for_given(monkeypatch):
    monkeypatch.setattr(plan_losses, "taken_out", lambda *_: HEAVY)
    walk = Walk(BLINK)
    rehearsed = rehearse(Asked(walk.runbook, dict(walk.state.params), {}), Stage(reports(walk), walk.facts(), walk.clock.at))
    assert rehearsed.asks == "take", rehearsed.reason
    wanted = plan_losses.to_accept({"redundancy": HEAVY})
    losing_it = [act.kind for act in rehearsed.acts if wanted in act.lost]
    assert "PLAN" in losing_it
    assert "EXECUTE" in losing_it


def test_what_is_lost_is_told_also_where_the_node_would_not_plan_it():
    walk = Walk(BLINK)
    with walk.changing() as node:
        scenarios.unplug(node, bay(node, SICK_BAY + 1).wwid)
    rehearsed = rehearse(Asked(walk.runbook, dict(walk.state.params), {}), Stage(reports(walk), walk.facts(), walk.clock.at))
    assert rehearsed.ending == "refused"
    assert "has no redundancy left until this is finished" in rehearsed.acts[-1].lost[0]


def test_what_must_be_typed_is_asked_for_and_not_told():
    facts, known = demo_reports()
    (answer,) = [answer for s in detect_all(facts) if s.slug == "wwid-mismatch" for answer in s.answers]
    rehearsed = rehearse(
        Asked(RUNBOOKS[answer.runbook], answer.params, {"choose": f"naa:{demo.BLANK_WWN}"}), Stage({"oss01": known["oss01"]}, facts, NOW)
    )
    (confirm,) = [act for act in rehearsed.acts if act.kind == "CONFIRM"]
    assert "Type the last 6 digits of the lost member's guid" in confirm.note
    assert f"{str(demo.LOST_GUID)[-6:]} ost_0" not in json.dumps(rehearsed.to_json())


def a_log_was_lost() -> tuple[Report, FleetFacts]:
    bodies = bodies_of(TwinHost(MemoryStore(without_its_log()), Clock(NOW), lambda seconds: None))
    node = node_facts("oss01", bodies, 0.5, (), ages=dict.fromkeys(COLLECTORS, 0.5))
    return Report(node, bodies), FleetFacts({"oss01": node})


def without_the_log(report: Report, facts: FleetFacts) -> Rehearsed:
    listed = facts.nodes["oss01"].importable[0]
    params = {"node": "oss01", "pool": listed.name, "pool_guid": str(listed.guid)}
    return rehearse(Asked(RUNBOOKS["import-without-log"], params, {}), Stage({"oss01": report}, facts, NOW))


def test_a_lost_log_that_no_label_tells_of_is_supposed_and_named():
    rehearsed = without_the_log(*a_log_was_lost())
    assert rehearsed.ending == "done", rehearsed.reason
    assert [gap for gap in rehearsed.gaps if "the guid and the size of the log wwn-0x" in gap]


def test_a_lost_log_of_a_shape_that_cannot_be_is_not_supposed():
    report, facts = a_log_was_lost()
    listed = facts.nodes["oss01"].importable[0]
    tops = tuple((role, replace(top, kind="other") if role == "log" else top) for role, top in listed.tops)
    node = replace(report.facts, importable=(replace(listed, tops=tops),))
    rehearsed = without_the_log(Report(node, report.bodies), FleetFacts({"oss01": node}))
    assert (rehearsed.ending, "does not show the pool as the node does" in rehearsed.reason) == ("stops", True)
