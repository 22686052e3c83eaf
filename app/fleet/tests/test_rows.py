"""What the fleet pages say of disks, bays and vdevs: in words, and with what they are known by."""

import re
from dataclasses import replace

from app.fleet import severity
from app.fleet.pages import rows
from app.fleet.pages.judging import OfDisks
from workflows.analysis.judgement import Judgement, fate_now
from workflows.analysis.redundancy import class_margins
from workflows.engine.core import Situation
from workflows.facts import FleetFacts, HealthFacts, ScanFacts, Unknown
from workflows.tests.incident import BLANK_WWID, LOST, NODE, POOL, REPLACED, SDFL, with_disk

UNJUDGED = Judgement("good")


def without_findings(node) -> OfDisks:
    """What the rule says of the node's disks while no situation is open."""
    return OfDisks.of([node], {})


def row_of(node, wwid: str) -> rows.DiskRow:
    return next(row for row in rows.disk_rows(node, without_findings(node)) if row.disk.wwid == wwid)


def test_a_disk_with_an_identity_has_a_page_and_one_without_has_none():
    disks = (replace(NODE.disks[0], wwid=Unknown("its VPD page cannot be read")), *NODE.disks[1:])
    linked = {
        " ".join(path.name for path in row.disk.paths): row.linked
        for row in rows.disk_rows(replace(NODE, disks=disks), without_findings(NODE))
    }
    assert not linked["sdcw"]
    assert linked["sdfl"]


def test_disks_of_members_come_last_and_in_the_order_of_their_bays():
    members = [row.disk.bay.slot for row in rows.disk_rows(NODE, without_findings(NODE)) if row.tone == "good"]
    assert members == [1, 2, 5, 68]
    assert [row.tone for row in rows.disk_rows(NODE, without_findings(NODE))][-4:] == ["good"] * 4


def test_a_free_disk_that_is_failing_does_not_look_free():
    failing = HealthFacts(False, "FAILURE PREDICTION THRESHOLD EXCEEDED")
    node = with_disk(BLANK_WWID, health=failing).nodes["oss01"]
    assert row_of(NODE, BLANK_WWID).tone == "info"
    assert row_of(node, BLANK_WWID).tone == "bad"
    assert "failing: FAILURE PREDICTION" in row_of(node, BLANK_WWID).use


def test_the_reason_that_the_rule_gives_again_is_shown_once():
    use = rows.by_the_rule("no label, not in use, failing: 9 defects", "bad", Judgement("watch", ("sdcx is failing: 9 defects",)))
    assert use == ("no label, not in use, failing: 9 defects", "bad")
    assert rows.by_the_rule("ost_0, ONLINE", "good", Judgement("watch", ("9 defects",))) == ("ost_0, ONLINE; 9 defects", "watch")


def test_a_vdev_is_shown_with_its_guid_and_the_errors_it_has():
    tree = rows.vdev_rows(POOL, NODE, without_findings(NODE))
    assert {row.vdev.guid: row.guid for row in tree}[SDFL] == str(SDFL)
    assert {row.vdev.guid: row.guid for row in tree}[LOST] == "", "its name is the guid already"
    assert {(row.errors, row.faultless) for row in tree} == {("0 / 0 / 0", True)}
    ill = replace(tree[1], vdev=replace(tree[1].vdev, errors=(0, 3, 12)))
    assert ill.errors == "0 / 3 / 12"
    assert replace(ill, vdev=replace(ill.vdev, errors=Unknown("1.2K is no number"))).errors == "not known"


def test_what_a_suspended_pool_survives_is_not_known_and_never_green():
    pool = replace(REPLACED.nodes["oss01"].pools[0], suspended=True)
    row = rows.pool_row(pool, UNJUDGED)
    assert (row.left, row.left_tone) == ("redundancy not known: ost_0 is suspended, and its tree shows what was before.", "watch")
    assert {row.left_tone for row in rows.vdev_rows(pool, NODE, without_findings(NODE)) if row.left} == {"watch"}


def test_what_was_not_read_lately_is_shown_as_it_was_and_never_green():
    whole = REPLACED.nodes["oss01"].pools[0]
    late = replace(REPLACED.nodes["oss01"], ages={"zpool_status": 600.0})
    silent = replace(REPLACED.nodes["oss01"], age_seconds=600.0)
    seen = Situation("scrub-overdue", "k", "oss01", "info", "t", "m", (), subject={"pool": whole.name})
    for node in (late, silent):
        [row] = rows.pool_rows(node, ())
        assert (row.left, row.left_tone) == ("when last read: survives the loss of 2 more disks", "unknown")
        tree = rows.vdev_rows(whole, node, without_findings(node))
        assert {one.left_tone for one in tree if one.left} == {"unknown"}
        assert {one.tone for one in tree} == {"unknown"}
        assert fate_now(node, whole).verdict == "unknown"
        assert re.fullmatch(r"(?:The state|oss01 last) [^.]*\w\.", fate_now(node, whole).reason)
        assert severity.margin(seen, FleetFacts({"oss01": node})) == 0
    assert fate_now(REPLACED.nodes["oss01"], whole).verdict == "serving"
    assert fate_now(late, replace(whole, state="FAULTED", row_state="FAULTED")).verdict == "down", (
        "what was down is not called unknown by its age"
    )
    assert rows.as_last_read(*rows.as_last_read("w", "good")) == ("when last read: w", "unknown")


def test_a_whole_pool_is_good_and_one_that_lost_a_member_is_watched():
    assert rows.pool_row(POOL, UNJUDGED).left_tone == "watch"
    assert rows.pool_row(REPLACED.nodes["oss01"].pools[0], UNJUDGED).left_tone == "good"


def test_a_pool_is_shown_as_bad_as_the_worse_of_its_state_and_its_judgement():
    whole = REPLACED.nodes["oss01"].pools[0]
    assert rows.pool_row(whole, UNJUDGED).tone == "good"
    assert rows.pool_row(whole, Judgement("unknown", ("a line",))).tone == "unknown"
    assert rows.pool_row(POOL, Judgement("bad", ("a loss",))).tone == "bad"


def test_each_vdev_has_the_redundancy_that_the_guards_count():
    """A resilver that names the disk it fills costs the other vdevs nothing, and a healthy mirror of two lacks nothing."""
    [(kind, first)] = POOL.tops
    lost, *serving = first.children
    filled = replace(first, children=(replace(lost, state="ONLINE", resilvering=True), *serving))
    whole = replace(first, name="raidz2-1", state="ONLINE", children=tuple(replace(leaf, state="ONLINE") for leaf in first.children))
    pool = replace(POOL, tops=((kind, filled), (kind, whole)), scans=(ScanFacts("resilver", "running", ""),))
    shown = [row.left for row in rows.vdev_rows(pool, NODE, without_findings(NODE)) if row.left]
    assert shown == [rows.margin_words(margin)[0] for _, _, margin in class_margins(pool)]
    assert shown == ["survives the loss of 1 more disk", "survives the loss of 2 more disks"]
    assert rows.left_words("ONLINE", 1) == ("survives the loss of 1 more disk", "good")
    assert rows.left_words("DEGRADED", 1) == ("survives the loss of 1 more disk", "watch")


def test_a_pool_that_serves_nothing_is_not_said_to_survive_more_losses():
    down = replace(REPLACED.nodes["oss01"].pools[0], state="FAULTED")
    assert rows.pool_row(down, UNJUDGED).left == f"redundancy not known: {POOL.name} is FAULTED and serves nothing."


def test_a_log_that_is_lost_is_no_missing_data():
    whole = REPLACED.nodes["oss01"].pools[0]
    log = replace(whole.tops[0][1].children[0], state="UNAVAIL")
    pool = replace(whole, state="DEGRADED", tops=(*whole.tops, ("log", log)))
    assert rows.left_of_top(pool, "log", log) == ("out of service; no data of the pool is missing", "watch")
    assert rows.pool_row(pool, UNJUDGED).left == "survives the loss of 2 more disks"


def test_of_a_pool_with_a_line_that_was_not_understood_no_vdev_says_what_it_survives():
    whole = REPLACED.nodes["oss01"].pools[0]
    pool = replace(whole, tops=Unknown("a line was not understood"), partial_tops=whole.tops)
    [top, *_] = rows.vdev_rows(pool, NODE, without_findings(NODE))
    assert (top.left, top.left_tone) == ("redundancy not known: a line was not understood", "watch")


def test_a_single_log_device_is_no_alarm_and_a_mirrored_one_that_lost_its_mirror_is_watched():
    whole = REPLACED.nodes["oss01"].pools[0]
    leaf = next(leaf for _, top in whole.tops for leaf in top.leaves())
    mirror = replace(leaf, name="mirror-1", kind="mirror", children=(leaf, replace(leaf, state="FAULTED")), state="DEGRADED")
    assert rows.left_of_top(whole, "log", leaf) == ("one device; no pool data lost with it alone", "info")
    assert rows.left_of_top(whole, "log", mirror) == ("no redundancy left", "watch")
    assert rows.left_of_top(whole, "data", leaf) == ("no redundancy left", "bad")
