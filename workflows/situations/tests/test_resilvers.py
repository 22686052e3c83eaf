"""Resilvers that run, stand still, begin anew, crawl, or hide something else. Earlier looks are genuine steps of the same resilver."""

from dataclasses import replace
from pathlib import Path

import pytest

import agents.tests
from agents.collectors.base import Capture
from workflows.facts import FleetFacts, PoolFacts, ScanFacts, Unknown, known, node_facts
from workflows.facts.tests.played import captures, played
from workflows.situations import (
    detect_all,
    disk_missing,
    hidden_by_resilver,
    replacing_dead,
    resilver_running,
    resilver_slow,
    resilver_stuck,
    spare_in_use,
)
from workflows.tests.incident import MEMBERS, by_id, fleet, leaf, vdev, with_leaf, with_pool

BOTH = ("disk-removed", "disk-removed-zfs2.3")


def then(now: str, before: str, seconds: float, lately: str = "", seconds_lately: float = 0.0) -> FleetFacts:
    """The step `now`, told together with what the node said in `before`, `seconds` earlier, and in `lately`."""
    looks = {"earlier": look(before, seconds), "lately": look(lately, seconds_lately) if lately else {}}
    return FleetFacts({"oss01": node_facts("oss01", captures(now), 1.0, (), **looks)})


def look(step: str, seconds: float):
    sources = ("zpool_status", "zpool_status_json")
    return {where: (capture.body(), seconds) for where, capture in captures(step).items() if where in sources}


def resilver(facts: FleetFacts):
    return facts.nodes["oss01"].pools[0].progress[0]


@pytest.mark.parametrize("scenario", BOTH)
def test_the_rate_is_what_was_done_between_two_looks(scenario):
    facts = then(f"{scenario}/7-resilver-later", f"{scenario}/6-resilver-running", 60.0)
    advance = resilver(facts).advance
    assert (advance.unchanged, advance.restarted) == (False, False)
    assert advance.issued.low <= 126_000_000 <= advance.issued.high or advance.issued.low == advance.issued.high == 126615552
    assert "In the last 60 s it went 2.0 MiB/s." in resilver_running.detect(facts)[0].meaning


@pytest.mark.parametrize("scenario", BOTH)
def test_one_that_began_since_the_old_look_is_compared_with_a_younger_one(scenario):
    facts = then(f"{scenario}/7-resilver-later", f"{scenario}/3-new-disk-in-slot", 1800.0, f"{scenario}/6-resilver-running", 60.0)
    assert resilver(facts).advance == resilver(then(f"{scenario}/7-resilver-later", f"{scenario}/6-resilver-running", 60.0)).advance
    alone = then(f"{scenario}/7-resilver-later", f"{scenario}/3-new-disk-in-slot", 1800.0)
    assert resilver(alone).advance == Unknown("No resilver ran when it was looked at 1800 s before.")


def test_the_json_of_2_3_is_exact_to_the_byte():
    facts = then("disk-removed-zfs2.3/7-resilver-later", "disk-removed-zfs2.3/6-resilver-running", 60.0)
    advance = resilver(facts).advance
    assert advance.issued.low == advance.issued.high == 250417152 - 123801600


def test_the_average_is_called_an_average():
    (found,) = resilver_running.detect(FleetFacts({"oss01": played("disk-removed/6-resilver-running")}))
    assert "On average since it began it went 2.4 MiB/s; how fast it goes now takes a second look." in found.meaning


@pytest.mark.parametrize("scenario", BOTH)
def test_one_that_stands_still_is_stuck(scenario):
    facts = then(f"{scenario}/6-resilver-running", f"{scenario}/6-resilver-running", 1800.0)
    (found,) = resilver_stuck.detect(facts)
    assert (found.severity, "has not moved for 30 minutes" in found.title) == ("act", True)
    assert resilver_slow.detect(facts) == ()


@pytest.mark.parametrize("scenario", BOTH)
def test_a_short_look_proves_no_standstill(scenario):
    assert resilver_stuck.detect(then(f"{scenario}/6-resilver-running", f"{scenario}/6-resilver-running", 300.0)) == ()


@pytest.mark.parametrize("scenario", BOTH)
def test_one_that_went_back_began_anew(scenario):
    (found,) = resilver_stuck.detect(then(f"{scenario}/6-resilver-running", f"{scenario}/7-resilver-later", 1800.0))
    assert (found.severity, "began anew" in found.title) == ("watch", True)


@pytest.mark.parametrize("scenario", BOTH)
def test_one_that_crawls_is_slow_and_not_stuck(scenario):
    facts = then(f"{scenario}/6-resilver-running", f"{scenario}/5-resilver-start", 900.0)
    (found,) = resilver_slow.detect(facts)
    assert (found.severity, resilver_stuck.detect(facts)) == ("watch", ())


@pytest.mark.parametrize("scenario", BOTH)
def test_one_that_is_nearly_through_is_not_slow(scenario):
    assert resilver_slow.detect(then(f"{scenario}/7-resilver-later", f"{scenario}/6-resilver-running", 600.0)) != ()
    assert resilver_slow.detect(then(f"{scenario}/7-resilver-later", f"{scenario}/6-resilver-running", 66.0)) == ()


LARGE = (
    "resilver in progress since Sat Nov 21 08:05:15 2026\n\t{}T / 187T scanned at 9.1G/s, {}T / 62.5T issued at 1.02G/s\n"
    "\t1.2T resilvered, {}% done, 0 days 10:00:00 to go"
)


@pytest.mark.parametrize(("done", "stuck"), [("33.33", True), ("33.40", False)])
def test_the_percentage_tells_what_the_amounts_of_a_large_pool_hide(done, stuck):
    """Composed by us: 20.8T stays 20.8T for half an hour at up to 60 MB/s; the percentage has finer digits."""
    from workflows.facts.read.scan_progress import read_progress

    before, now = (ScanFacts("resilver", "running", LARGE.format("120", "20.8", p), p) for p in ("33.33", done))
    (progress,) = read_progress((now,), None, (((before,), 1800.0),))
    facts = with_pool(progress=(progress,), scans=(now,))
    assert bool(resilver_stuck.detect(facts)) is stuck


ENDED = {
    "with errors": (ScanFacts("resilver", "finished", "resilvered 1T in 1 days with 12 errors on Sat", errors=12), 1),
    "canceled": (ScanFacts("resilver", "canceled", "resilver canceled on Sat"), 1),
    "without errors": (ScanFacts("resilver", "finished", "resilvered 1T in 1 days with 0 errors on Sat", errors=0), 0),
    "and runs again": (ScanFacts("resilver", "running", "resilver in progress since Sat\n\t1.00% done", "1.00"), 0),
}
OLD = leaf(21, f"{by_id('naa:5000c500a65b202b')}-part1", "REMOVED")
NEW = leaf(22, f"{by_id('naa:5000c500a65b2aab')}-part1", wwid="naa:5000c500a65b2aab")


@pytest.mark.parametrize("how", ENDED)
def test_a_replacement_that_stays_after_a_bad_end_is_stuck(how):
    scan, expected = ENDED[how]
    top = vdev(7, "raidz2-0", "raidz", 2, vdev(9, "replacing-0", "replacing", 0, OLD, NEW), *MEMBERS)
    found = resilver_stuck.detect(with_pool(tops=(("data", top),), scans=(scan,)))
    assert [s.severity for s in found] == ["act"] * expected
    ends_it = ["begin-resilver", "finish-replacement"] if how == "canceled" else []  # after errors a scrub comes first
    assert [answer.runbook for one in found for answer in one.answers] == ends_it


STATUS = Path(agents.tests.__file__).parent / "captures/zpool_status/zpool-status-2.1.11--replacement-that-a-scrub-followed.txt"
SCRUBBED = "scrub repaired 0B in 00:00:01 with 0 errors on Mon Nov 23 19:55:25 2026"


def idle(now: str = SCRUBBED, before: str = SCRUBBED, seconds: float = 1800.0) -> FleetFacts:
    """A genuine replacement that nothing fills, with these as the pool's last scans now and before."""
    looks = [Capture("zpool_status", "", "data", STATUS.read_text().replace(SCRUBBED, scan)) for scan in (now, before)]
    return FleetFacts(
        {"oss01": node_facts("oss01", {"zpool_status": looks[0]}, 1.0, (), earlier={"zpool_status": (looks[1].body(), seconds)})}
    )


def test_a_replacement_that_nothing_fills_is_stuck():
    (found,) = resilver_stuck.detect(idle())
    assert (found.severity, "nothing fills the new disk of replacing-2" in found.title) == ("act", True)
    for part in ("scsi-35000c500aa270063 stands beside scsi-35000c500aa270023", "for 30 minutes or longer", SCRUBBED, "Detach neither"):
        assert part in found.meaning


def test_its_lost_member_is_not_told_to_wait_for_it():
    (found,) = disk_missing.detect(idle())
    assert (found.severity, "no resilver is seen to run" in found.meaning) == ("act", True)


RESILVERED = "resilvered 64.1M in 00:00:31 with 0 errors on Sat Nov 21 08:05:46 2026"


@pytest.mark.parametrize(
    "looks",
    [
        {"seconds": 120.0},  # it may be about to begin
        {"before": "resilver in progress since Sat Nov 21 08:05:15 2026\n\t0B scanned at 0B/s, 0B issued at 0B/s, 374M total"},
        {"now": RESILVERED},  # one ran in between: the old half is about to leave
    ],
)
def test_a_replacement_that_was_filled_or_may_yet_be_is_not_stuck(looks):
    assert resilver_stuck.detect(idle(**looks)) == ()


def test_a_resilver_that_ended_long_ago_fills_nothing():
    assert len(resilver_stuck.detect(idle(RESILVERED, RESILVERED))) == 1


def test_another_replacement_than_the_one_seen_before_is_not_stuck():
    facts = then("disk-removed/5-resilver-start", "disk-removed/2-removed", 1800.0)
    assert facts.nodes["oss01"].pools[0].idle == {}


@pytest.mark.parametrize("state", ["ONLINE", "REMOVED"])
def test_a_new_disk_that_is_lost_is_not_replaced_by_the_old_one(state):
    """`zpool online` brought it back on a real node, and the resilver came with it; see docs/lab.md. Else it is detached."""
    old, new = replace(OLD, state=state), replace(NEW, state="REMOVED")
    top = vdev(7, "raidz2-0", "raidz", 2, vdev(9, "replacing-0", "replacing", 0, old, new), *MEMBERS)
    (found,) = replacing_dead.detect(with_pool(tops=(("data", top),)))
    assert (found.severity, found.subject["vdev_guid"], "its place" in found.meaning) == ("act", str(new.guid), False)
    kinds = [cure.kind for cure in found.cures]
    assert (kinds[0], kinds[1], kinds[-1]) == ("reseat", "online", "detach")
    assert found.cures[-1].argv == (("zpool", "detach", "ost_0", str(new.guid)),)
    assert disk_missing.detect(with_pool(tops=(("data", top),))) == ()


STANDS = {  # what the pool says of scans -> how urgent the lost member is
    "a resilver runs": ((ENDED["and runs again"][0],), "watch"),
    "a resilver is paused": ((ScanFacts("resilver", "paused", "resilver paused since Sat"),), "watch"),
    "a scrub was the last": ((ScanFacts("scrub", "finished", "scrub repaired 0B in 00:00:01 with 0 errors on Mon", errors=0),), "act"),
    "a scrub runs": ((ScanFacts("scrub", "running", "scrub in progress since Sat"),), "act"),
    "none ever ran": ((), "act"),
    "it is not known": (Unknown("zpool status was not read"), "act"),
}


@pytest.mark.parametrize("how", STANDS)
@pytest.mark.parametrize("state", ["REMOVED", "UNAVAIL"])
def test_a_lost_member_beside_a_new_disk_is_only_watched_while_a_resilver_fills_it(how, state):
    scans, severity = STANDS[how]
    top = vdev(7, "raidz2-0", "raidz", 2, vdev(9, "replacing-0", "replacing", 0, replace(OLD, state=state), NEW), *MEMBERS)
    (found,) = disk_missing.detect(with_pool(tops=(("data", top),), scans=scans))
    assert (found.severity, "and being replaced" in found.title) == (severity, severity == "watch")
    assert ("Wait" in found.meaning) is (severity == "watch")
    assert ("no resilver is seen to run" in found.meaning) is (severity == "act")
    ends_it = ["begin-resilver", "finish-replacement"] if how in ("a scrub was the last", "none ever ran") else []
    assert [answer.runbook for answer in found.answers] == ends_it  # a second replacement is offered in no case


def hiding(**changes) -> FleetFacts:
    facts = played("disk-removed/7-resilver-later")
    (pool,) = facts.pools
    return FleetFacts({"oss01": replace(facts, pools=(replace(pool, **changes),))})


def changed(pool: PoolFacts, place: int, **changes):
    """The genuine tree of a resilver, one leaf of its raidz2 otherwise."""
    ((kind, top),) = pool.tops
    children = tuple(replace(v, **changes) if i == place else v for i, v in enumerate(top.children))
    return ((kind, replace(top, children=children)),)


@pytest.mark.parametrize(
    ("place", "changes", "words"),
    [
        (4, {"state": "FAULTED", "note": "too many errors"}, "FAULTED  too many errors"),
        (0, {"errors": (0, 0, 17)}, "read 0, write 0, checksum 17 errors"),
        (5, {"state": "DEGRADED", "note": "too many slow I/Os"}, "DEGRADED  too many slow I/Os"),
    ],
)
def test_what_else_is_wrong_is_named_although_the_status_line_says_resilver(place, changes, words):
    (pool,) = played("disk-removed/7-resilver-later").pools
    (found,) = hidden_by_resilver.detect(hiding(tops=changed(pool, place, **changes)))
    assert (found.severity, words in found.meaning) == ("watch", True)


def test_damaged_files_are_named_too():
    (found,) = hidden_by_resilver.detect(hiding(errors="3 data errors, use '-v' for a list"))
    assert "3 data errors" in found.meaning


SPARE = leaf(31, f"{by_id('naa:5000c500a65b2bbb')}-part1", wwid="naa:5000c500a65b2bbb")


@pytest.mark.parametrize(
    ("original", "spare", "words"),
    [
        (OLD, SPARE, "there is nothing to wait for"),
        (OLD, replace(SPARE, resilvering=True), "still being filled"),
        (replace(OLD, state="ONLINE"), SPARE, "detaching the spare makes it free"),
        (OLD, replace(SPARE, state="FAULTED"), "it does not help"),
    ],
)
def test_a_spare_that_stands_in_is_watched(original, spare, words):
    (found,) = spare_in_use.detect(with_leaf(vdev(9, "spare-0", "spare", 0, original, spare)))
    assert (found.severity, words in found.meaning, "0 spares of ost_0 are free" in found.meaning) == ("watch", True, True)


def test_a_free_spare_is_nothing():
    assert spare_in_use.detect(with_pool(spares=(replace(SPARE, state="AVAIL"),))) == ()


def test_all_of_them_read_a_healthy_fleet_in_silence():
    whole = leaf(21, f"{by_id('naa:5000c500a65b202b')}-part1", wwid="naa:5000c500a65b202b")
    assert {one.slug for one in detect_all(fleet(with_leaf(whole).nodes["oss01"]))} == {"kernel-names"}  # of the other members
    assert known(played("healthy-raidz2").pools[0].progress)
