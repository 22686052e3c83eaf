"""A slow member judged by numbers on a twin, and on what a real slow disk once looked like."""

from dataclasses import replace

import pytest

from agents.operations import smart_self_test
from twin.drive_logs import TEST_SECONDS
from twin.stories import slow_member
from workflows.analysis import slowness
from workflows.analysis.slowness import Finding, Sample
from workflows.engine.core import blockers
from workflows.engine.decide import Decision
from workflows.facts import FleetFacts, Growth, Unknown, known
from workflows.facts.tests.played import fleet
from workflows.guards import slow
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.slow_disk_triage import verdicts_there_are
from workflows.situations import slow_disk
from workflows.tests.stage import Run, Stage, reasons

RUNBOOK = RUNBOOKS["slow-disk-triage"]
SDE = "naa:5000c500a65b204b"


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path, {"oss01": slow_member(0.0)})


def answer(facts: FleetFacts):
    (found,) = slow_disk.detect(facts)
    return dict(next(a.params for a in found.answers if a.runbook == RUNBOOK.slug))


def run(stage, **answers):
    return Run(stage, RUNBOOK, answer(stage.facts()), **{"test": "none", **answers})


def options(stage, walk):
    return {o.value: o for o in verdicts_there_are(stage.facts(), walk.state.params)}


def test_it_convicts_the_disk_with_numbers(stage):
    walk = run(stage).end()
    assert (walk.state.status, walk.state.params["verdict"]) == ("done", "disk")
    detail = options(stage, walk)["disk"].detail
    assert "In 3 of 3 looks it took 5 times as long as its peers or longer: 900 ms on the disk (its peers 6.3 ms)" in detail
    assert "412 of its I/Os were slow; the median of its peers is 0." in detail
    assert "errors for each TiB read; the median of 7 others of its model is" in detail
    assert "Go on with blink-and-replace" in detail
    assert stage.written() == []


def test_it_leads_to_the_runbooks_that_follow(stage):
    (found,) = slow_disk.detect(stage.facts())
    assert [a.runbook for a in found.answers] == ["slow-disk-triage", "replace-in-place", "blink-and-replace"]
    assert [a.params["old_wwid"] for a in found.answers[1:]] == [SDE, SDE]


def test_a_self_test_is_begun_awaited_and_read(stage):
    stage.change("oss01", lambda node: setattr(node.disk(SDE).smart, "self_test_failed", True))
    walk = run(stage, test="short").end()
    assert stage.written() == [["smartctl", "-t", "short", "/dev/disk/by-id/wwn-0x5000c500a65b204b"]]
    assert walk.state.params["verdict"] == "disk"
    assert "Its last self-test says" in options(stage, walk)["disk"].detail


def grow(stage):
    """The link of the slow disk counts errors from now on."""
    stage.facts()
    stage.clock.sleep(600)
    stage.change("oss01", lambda node: node.phys.update({"phy-2:0:4": [900, 40, 3, 0]}))


def test_a_growing_link_is_asked_before_the_disk(stage):
    grow(stage)
    walk = run(stage).end()
    assert walk.state.params["verdict"] == "transport"
    assert "Its link counts errors: phy-2:0:4 900 invalid dwords" in options(stage, walk)["transport"].detail
    assert "sas-link-triage" in options(stage, walk)["transport"].detail


def test_what_the_numbers_do_not_say_cannot_be_chosen(stage):
    walk = run(stage).to("verdict")
    walk.answers["verdict"] = "watch"
    assert "The numbers say: it is the disk" in reasons(walk.go_on())


def test_a_disk_that_only_corrects_much_is_watched(stage):
    def calm(node):
        leaf = node.pool("ost_0").leaves()[4]
        leaf.wait_ms, leaf.slow = 0.0, 0

    walk = run(stage)
    stage.change("oss01", calm)
    walk.end()
    assert walk.state.params["verdict"] == "watch"
    assert "Nothing is done to a disk on this ground" in options(stage, walk)["watch"].detail


def pull(number):
    return lambda node: setattr(node.pool("ost_0").leaves()[number], "state", "OFFLINE")


WRONG = {
    "it serves nothing": (pull(4), "serves nothing, so there is nothing to compare"),
    "no peers": (lambda n: [pull(i)(n) for i in (0, 1, 2, 3)], "Two at least are needed"),
    "suspended": (lambda n: setattr(n.pool("ost_0"), "suspended", "mmp"), "is suspended"),
    "another disk": (lambda n: setattr(n.disk(SDE), "serial", "ZZZZ"), "has the serial number ZZZZ"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_it_refuses(stage, wrong):
    how, expected = WRONG[wrong]
    walk = run(stage)
    stage.change("oss01", how)
    assert expected in reasons(walk.go_on())


def test_it_tests_one_disk_of_a_vdev_at_a_time(stage):
    walk = run(stage, test="short").to("test")
    stage.change("oss01", lambda node: setattr(node.disks[1].smart, "test_began_at", stage.clock()))
    assert "One at a time" in reasons(walk.go_on())
    stage.clock.sleep(TEST_SECONDS + 1)
    assert isinstance(walk.go_on(), Decision)


def test_without_io_there_is_no_sample(stage):
    walk = run(stage).to("sample")
    subject = slow.the_subject(stage.facts(), walk.state.params)
    assert known(subject)
    idle = replace(subject, one=replace(subject.one, now=None))
    assert "Read or write something" in slowness.sample(idle, 0.0).reason


@pytest.mark.parametrize("field", ["pools", "disks", "ages"])
def test_not_knowing_never_opens_a_guard(stage, field):
    params = answer(stage.facts())
    less = stage.facts(lambda node: replace(node, **{field: Unknown("not read")}))
    assert blockers(tuple(guard(less, params) for guard in slow.TRIAGE_GUARDS))
    assert blockers(tuple(v for o in verdicts_there_are(less, params) for v in o.verdicts)) or field == "ages"


def subject_of(facts):
    params = answer(facts)
    found = slow.the_subject(facts, params)
    assert known(found), found
    return found


def test_a_real_slow_disk_is_convicted_by_its_waits_and_its_count():
    """The lab's sde, throttled to 60 kB/s: three looks like the genuine one."""
    subject = subject_of(fleet("slow-disk/1-writing"))
    subject = replace(subject, one=replace(subject.one, now=subject.one.since_import), latency=_now(subject.latency))
    taken = slowness.sample(subject, 100.0)
    found = list(slowness.findings(subject, tuple(replace(taken, at=100 * i) for i in (1, 2, 3))))
    assert slowness.verdict(found) == "disk", found
    assert any("of its I/Os were slow" in f.text for f in found)


def _now(latency):
    """The lab recorded one block; here it counts as the last seconds."""
    return replace(latency, leaves=tuple(replace(one, now=one.since_import) for one in latency.leaves))


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([], "watch"),
        ([Finding("disk", "x.")], "watch"),
        ([Finding("disk", "x."), Finding("disk", "y.")], "disk"),
        ([Finding("disk", "x.", alone=True)], "disk"),
        ([Finding("disk", "x.", alone=True), Finding("transport", "y.", alone=True)], "transport"),
        ([Finding("load", "x."), Finding("disk", "y.")], "watch"),
        ([Finding("load", "x."), Finding("", "y.")], "load"),
    ],
)
def test_the_verdict_follows_from_the_findings(found, verdict):
    assert slowness.verdict(found) == verdict


MS = 1_000_000


@pytest.mark.parametrize(
    ("sample", "stands_out", "queues"),
    [
        (Sample(0, 900 * MS, 6 * MS, 900 * MS), True, False),
        (Sample(0, 15 * MS, 1 * MS, 16 * MS), False, False),  # below the floor nobody is slow
        (Sample(0, 8 * MS, 7 * MS, 300 * MS), False, True),
        (Sample(0, 60 * MS, 50 * MS, 70 * MS), False, False),
    ],
)
def test_a_sample_is_held_against_peers(sample, stands_out, queues):
    assert (sample.stands_out, sample.queues) == (stands_out, queues)
    assert slowness.read_samples(sample.text) == (sample,)


def test_load_is_told_from_the_disk(stage):
    subject = subject_of(stage.facts())
    queued = tuple(Sample(i, 8 * MS, 7 * MS, 400 * MS) for i in range(3))
    quiet = replace(subject, one=replace(subject.one, slow=0), disk=stage.facts().nodes["oss01"].disks[0])
    assert slowness.verdict(list(slowness.findings(quiet, queued))) == "load"


def test_of_two_slow_disks_in_one_vdev_none_is_convicted_by_a_run(stage):
    """It alone may be; with a second one a person decides."""
    walk = run(stage).to("verdict")
    assert blockers(options(stage, walk)["disk"].verdicts) == ()
    stage.change(
        "oss01", lambda node: [setattr(leaf, "wait_ms", 900.0) or setattr(leaf, "slow", 300) for leaf in node.pool("ost_0").leaves()[2:3]]
    )
    (why,) = blockers(options(stage, walk)["disk"].verdicts)
    assert "of the same vdev is slow, too. With more than one, a person decides" in why.reason


def test_many_slow_disks_behind_one_hba_are_the_hba(stage):
    subject = subject_of(stage.facts())
    leaves = subject.latency.leaves
    slow_row = subject.one.now
    half = tuple(replace(one, now=slow_row) if i < 3 else one for i, one in enumerate(leaves))
    moved = tuple(
        replace(d, paths=tuple(replace(p, link=replace(p.link, host="host9", expanders=())) for p in d.paths)) if i < 3 else d
        for i, d in enumerate(subject.node.disks)
    )
    calm = replace(half[4], now=half[5].now)
    latency = replace(subject.latency, leaves=(*half[:4], calm, half[5]))
    ill = replace(subject, node=replace(subject.node, disks=moved), latency=latency, one=latency.leaves[0], disk=moved[0])
    found = list(slowness._of_its_group(ill))
    assert [f.text for f in found] == ["3 slow disks hang on host9, and no disk elsewhere is slow."]


@pytest.mark.parametrize("text", ["", "x", "1:2:3", "1:2:3:4:5", "-1:2:3:4"])
def test_what_is_no_sample_is_left_out(text):
    assert slowness.read_samples(text) == ()


def test_growth_that_is_noise_convicts_no_link(stage):
    subject = subject_of(stage.facts())
    phys = tuple(replace(p, growth=Growth((2, 0, 0, 0), 3600.0)) for p in subject.node.fabric.phys)
    quiet = replace(subject, node=replace(subject.node, fabric=replace(subject.node.fabric, phys=phys)))
    assert all(f.speaks_for == "" for f in slowness._of_its_link(quiet))


@pytest.mark.parametrize("name", smart_self_test.FACTS)
@pytest.mark.parametrize("how", ["unknown", "missing"])
def test_the_operation_does_not_act_without_a_fact(stage, name, how):
    params = {"pool": "ost_0", "pool_guid": "1", "wwid": SDE}
    pre = smart_self_test.preconditions(stage.hosts["oss01"], params)
    assert all(outcome == "pass" for outcome, _ in smart_self_test.guards(pre, params)), pre
    less = {k: v for k, v in pre.items() if k != name} if how == "missing" else {**pre, name: "unknown: no answer"}
    assert any(outcome == "unknown" for outcome, _ in smart_self_test.guards(less, params))
