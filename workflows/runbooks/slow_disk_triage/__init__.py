"""Find out why a member of a pool is slow, before anybody pulls a disk: the disk, its link, the load, or nothing that holds.

    slow -> checked -> tested -> sampled -> judged by numbers -> the runbook that follows

Nothing here changes the pool. The disk may be asked to test itself for two minutes. The verdict is the numbers', not the operator's: only
what they say can be chosen, and the page says with which runbook to go on.
"""

from collections.abc import Mapping

from agents.operations import smart_self_test
from workflows.analysis import slowness
from workflows.engine.core import (
    CheckStep,
    DecideStep,
    Option,
    Params,
    Progress,
    Runbook,
    Verdict,
    WaitStep,
    ask,
    blockers,
    ok,
    refuse,
    unknown,
)
from workflows.facts import FleetFacts, known, lookup
from workflows.guards import slow
from workflows.guards.modes import the_disk_is_the_one_meant
from workflows.runbooks._orders import order

SELF_TEST_SECONDS = 1800  # two minutes by itself, longer on a disk that serves
SAMPLE_SECONDS = 1800
NEXT = {
    "disk": "Go on with blink-and-replace. It stays in the pool until the new disk is full, unless it stalls the pool.",
    "transport": "Go on with sas-link-triage. Replace no disk yet.",
    "load": "Look at what reads and writes. If a scan crawls, go on with resilver-tuning.",
    "watch": "Look again while the pool is busy. Nothing is done to a disk on this ground.",
}


def test_or_not(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    allowed = slow.the_disk_may_be_tested(facts, params)
    return (
        Option("short", "Have it test itself", "A short self-test takes two minutes, and the disk serves meanwhile.", (allowed,)),
        Option(
            "none",
            "Do not test it",
            "The verdict rests on waits, logs and counters alone.",
            (ok("Nothing is asked of the disk."),),
            "sample",
        ),
    )


def take_a_sample(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    """One look for each capture of `zpool iostat`: what was looked at before counts once."""
    subject, taken = slow.the_subject(facts, params), slowness.read_samples(params.get("samples", ""))
    node = lookup.node(facts, params["node"])
    ages = node.ages if known(node) and known(node.ages) else {}
    if not known(subject) or "zpool_iostat" not in ages:
        return {}
    now = slowness.sample(subject, at - ages["zpool_iostat"])
    if not known(now) or (taken and now.at - taken[-1].at < slowness.APART_SECONDS):
        return {}
    return {"samples": " ".join(s.text for s in (*taken, now)[-slowness.SAMPLES_KEPT :])}


def how_many_samples(facts: FleetFacts, params: Params) -> Progress:
    taken = slowness.read_samples(params.get("samples", ""))
    text = f"{len(taken)} of {slowness.SAMPLES_MIN} looks." + (f" The last: {taken[-1].words}." if taken else "")
    return Progress(text, 100.0 * min(1.0, len(taken) / slowness.SAMPLES_MIN))


def verdicts_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """All four, with every number; the one that the numbers say can be chosen."""
    subject, taken = slow.the_subject(facts, params), slowness.read_samples(params.get("samples", ""))
    if not known(subject):
        return tuple(Option(slug, title, "", (unknown(subject.reason),)) for slug, title in slowness.VERDICTS.items())
    found = list(slowness.findings(subject, taken))
    verdict = slowness.verdict(found)
    alone = blockers(ask((slow.it_alone_is_slow_in_its_vdev,), facts, params))
    return tuple(_verdict(slug, title, verdict, found, alone if slug == "disk" else ()) for slug, title in slowness.VERDICTS.items())


def _verdict(slug: str, title: str, text: str, found: list[slowness.Finding], against: tuple[Verdict, ...]) -> Option:
    for_it = [f.text for f in found if f.speaks_for == slug]
    detail = " ".join([*(for_it or ["No measurement supports it."]), NEXT[slug]])
    if slug != text:
        return Option(slug, title, detail, (refuse(f"The numbers say: {slowness.VERDICTS[text].lower()}. {' '.join(for_it)}".strip()),))
    spoken = tuple(ok(f.text) for f in found) or (ok("No measurement supports any cause."),)
    return Option(slug, title, detail, (*spoken, *against))


def self_test_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "wwid": params["old_wwid"]}


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    return (f"pool:{params['pool_guid']}", f"disk:{params['old_wwid']}")


RUNBOOK = Runbook(
    slug="slow-disk-triage",
    title="Find out why a disk is slow",
    purpose="One member of a pool makes the others wait. This measures it against its peers and its model, asks its logs and its link, and "
    "says with numbers whether it is the disk, the way to it, the load, or nothing that holds.",
    states="slow -> checked -> tested -> sampled -> judged by numbers -> the runbook that follows",
    point_of_no_return="",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the slow member",
        "old_wwid": "the WWID of its disk",
        "old_serial": "the serial number of its disk",
    },
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that it can be measured",
            why="The member must serve and have peers that do the same work at the same time; a latency alone proves nothing.",
            guards=(*slow.TRIAGE_GUARDS, the_disk_is_the_one_meant),
        ),
        DecideStep(
            slug="test",
            title="Test the disk, or not",
            why=(
                "In a short self-test the disk reads a part of its medium. One at a time in a vdev, and none where the result cannot be"
                " read."
            ),
            guards=(slow.what_triage_reads_is_fresh,),
            param="test",
            options=test_or_not,
            branches=("sample",),
        ),
        *order(
            "self-test",
            "Have the disk test itself",
            smart_self_test,
            self_test_params,
            (*slow.TRIAGE_GUARDS, the_disk_is_the_one_meant, slow.the_disk_may_be_tested),
            "The disk reads a part of itself for about two minutes and goes on serving.",
        ),
        WaitStep(
            slug="tested",
            title="Wait for the self-test",
            why="A failed self-test is enough to condemn a disk. One that passes shows only that the medium could be read.",
            until=slow.the_self_test_has_ended,
            sources=("sg_logs",),
            deadline_seconds=SELF_TEST_SECONDS,
        ),
        WaitStep(
            slug="sample",
            title="Take samples",
            why=(
                "One sample may be chance. At least three samples are taken, each compared with the peers of the same vdev in the same "
                "seconds."
            ),
            until=slow.there_are_enough_samples,
            keeps=take_a_sample,
            learned=("samples",),
            progress=how_many_samples,
            deadline_seconds=SAMPLE_SECONDS,
        ),
        DecideStep(
            slug="verdict",
            title="Read the verdict",
            why="Every number is shown, for and against the disk. The link is judged before the disk: a bad link makes any disk look bad.",
            guards=(slow.what_triage_reads_is_fresh, slow.there_are_enough_samples),
            param="verdict",
            options=verdicts_there_are,
        ),
    ),
)
