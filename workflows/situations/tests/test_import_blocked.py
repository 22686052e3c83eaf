"""A pool that cannot, or must not, come in: which disk stands out. Genuine: a diverged disk, a lost last txg, new features."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import agents.tests
from agents.collectors.base import Capture
from agents.tests.scenarios import step
from workflows.facts import FleetFacts, node_facts, suspects
from workflows.facts.tests.played import captures, fleet, played
from workflows.situations import import_blocked
from workflows.situations._blocked import Blocked, Why
from workflows.triage.next import manuals

DIVERGED = "import-blocked-diverged-disk/1-not-imported"
OST2 = 12305735828161034898


@pytest.mark.parametrize("name", [DIVERGED, "import-blocked-diverged-disk-ashift12/1-not-imported"])
def test_it_names_the_one_bad_disk(name):
    (found,) = import_blocked.detect(fleet(name))
    assert (found.subject["wwid"], found.sure) == ("naa:5000c500a65b203b", True)
    for words in (
        "sdd (naa:5000c500a65b203b), serial number ZA20003X stands out",
        "oss07 wrote it last",
        "The others hold the whole pool",
        "Neither force the import",
    ):
        assert words in found.meaning
    table = [e for e in found.evidence if e.source.startswith("zdb_label/") and "copies" in e.line]
    assert len(table) == 6
    assert sum("oss07" in e.line for e in table) == 1


def test_where_no_disk_stands_out_it_says_so():
    (found,) = import_blocked.detect(fleet("import-rewind/1-not-imported"))
    assert (found.sure, "wwid" in found.subject) == (False, False)
    for words in ("No disk stands out: all 3 labels that were read agree", "a person decides it", "It was never exported: oss01"):
        assert words in found.meaning


@pytest.mark.parametrize(
    ("count", "offered", "expected"),
    [
        ("1", True, "tries it read-only first"),
        ("2", False, "labels count 1 top-level vdev more than the listing shows"),
        ("", False, "Whether all its top-level vdevs were found is not known"),
    ],
)
def test_going_back_in_time_is_offered_only_where_the_labels_prove_that_no_top_level_vdev_is_missing(count, offered, expected):
    """One of which no disk was found has no row in the listing, and each row that is there may be ONLINE."""
    name = "import-rewind/1-not-imported"
    texts = {where: one.text for where, one in captures(name).items() if where.startswith("zdb_label/") and one.text}
    counted = {
        where: re.sub(r"(?m)^ +vdev_children: 1$", f"    vdev_children: {count}" if count else "", text) for where, text in texts.items()
    }
    (found,) = import_blocked.detect(with_captures(name, **counted))
    assert expected in found.meaning
    assert ("rewind-import" in {answer.runbook for answer in found.answers}) is offered
    assert ("rewind-import" in manuals(found)) is offered
    assert "read-only-import" in manuals(found)


@pytest.mark.parametrize(
    ("note", "row"), [("corrupted data", "ONLINE"), ("insufficient replicas", "UNAVAIL  cannot open"), ("missing device", "ONLINE")]
)
def test_a_listing_without_an_id_names_no_pool_by_the_id_0(note, row):
    text = f"   pool: tank\n     id: 12x4\n  state: FAULTED\n status: s\n action: a\n config:\n\n\ttank        FAULTED  {note}\n\t  sda       {row}\n"
    listed = import_blocked.detect(
        FleetFacts({"oss01": node_facts("oss01", {"zpool_import": Capture("zpool_import", "", "data", text)}, 1.0, ())})
    )
    assert listed
    for found in listed:
        assert "pool_guid" not in found.subject
        assert found.answers == ()
        assert not any("0" in argv for cure in found.cures for argv in cure.argv)
        assert not re.search(r"\bid:? 0\b|import (-\S+ )*0\b", f"{found.meaning} {' '.join(one.line for one in found.evidence)}")


def test_a_pool_that_another_node_has_imported_is_where_it_belongs():
    other = played("other-host/3-forced")
    imported = replace(other, node="oss09", pools=(replace(other.pools[0], guid=OST2),))
    assert import_blocked.detect(FleetFacts({"oss01": played(DIVERGED), "oss09": imported})) == ()


def with_captures(name: str, *more: Capture, **texts: str) -> FleetFacts:
    collected = dict(captures(name))
    for where, text in texts.items():
        collected[where] = replace(collected[where], text=text)
    collected |= {f"{c.source}/{c.key}" if c.key else c.source: c for c in more}
    return FleetFacts({"oss01": node_facts("oss01", collected, 1.0, ())})


def test_a_disk_that_diverged_blocks_even_what_could_be_imported():
    """Composed by us: the listing of a pool that would come in with the diverged disk's view of it."""
    listed = captures(DIVERGED)["zpool_import"].text
    lines = [line for line in listed.split("\n") if not line.startswith((" status:", "status:", "   see:"))]
    fine = "\n".join(lines).replace("FAULTED  corrupted data", "ONLINE").replace("state: FAULTED", "state: ONLINE")
    fine = fine.replace("cannot be imported due to damaged devices or data.", "can be imported using its name or numeric identifier.")
    (found,) = import_blocked.detect(with_captures(DIVERGED, zpool_import=fine))
    assert (found.severity, found.subject["wwid"]) == ("act", "naa:5000c500a65b203b")


def test_two_disks_that_diverge_are_for_a_second_person():
    """Composed by us: a second disk with the label of the other life. Nobody knows then which life is the true one."""
    stray = captures(DIVERGED)["zdb_label/sde1"].text.replace("txg: 22\n", "txg: 230\n").replace("'oss01'", "'oss08'")
    (found,) = import_blocked.detect(with_captures(DIVERGED, **{"zdb_label/sde1": stray}))
    assert (found.sure, "wwid" in found.subject) == (False, False)


def uberblocks(*txgs: int, behind: int = 0, guid_sum: str = "14785840022256379122") -> str:
    """Composed by us: the genuine head of a `zdb -lu`, and uberblocks five seconds apart."""
    head = (step(DIVERGED) / "zdb-lu-sda1.txt").read_text().split("    Uberblock[")[0]
    body = "    Uberblock[{}]\n\tmagic = 0000000000bab10c\n\tversion = 5000\n\ttxg = {}\n\tguid_sum = {}\n\ttimestamp = {} UTC = x\n        labels = 0 1 2 3 \n"
    return head + "".join(body.format(t % 128, t, guid_sum, 1795250000 + 5 * t - behind) for t in txgs)


def with_timeline(texts: dict[str, str]) -> FleetFacts:
    """The diverged pool with its labels made alike, so that only the uberblocks tell."""
    alike = (
        captures(DIVERGED)["zdb_label/sdd1"]
        .text.replace("txg: 222\n", "txg: 22\n")
        .replace("195948557", "1529846785")
        .replace("oss07", "oss01")
    )
    lines = [Capture("zdb_uberblocks", key, "data", text) for key, text in texts.items()]
    return with_captures(DIVERGED, *lines, **{"zdb_label/sdd1": alike})


PEERS = {name: uberblocks(20, 21, 22) for name in ("sda1", "sdb1", "sdc1", "sde1", "sdf1")}
STORIES = {
    "ahead of its peers": (uberblocks(20, 21, 22, 64), {"uberblock-ahead"}),
    "another life under the same txgs": (uberblocks(20, 21, 22, behind=3600), {"split"}),
    "another set of vdevs": (uberblocks(20, 21, 22, guid_sum="7"), {"guid-sum"}),
    "behind, as after an outage": (uberblocks(18, 19), set()),
    "one txg ahead, as at a power cut": (uberblocks(21, 22, 23), set()),
    "nothing but its label": ("".join(f"failed to unpack label {n}\n" for n in range(4)), set()),
}


@pytest.mark.parametrize("story", STORIES)
def test_uberblocks_tell_a_disk_that_went_its_own_way(story):
    reported, kinds = STORIES[story]
    facts = with_timeline(PEERS | {"sdd1": reported})
    found = suspects(facts.nodes["oss01"], OST2)
    assert {kind for suspect in found for kind in suspect.kinds} == kinds
    assert all(suspect.disk.names == ("sdd",) for suspect in found)
    (situation,) = import_blocked.detect(facts)
    assert (situation.subject.get("wwid") == "naa:5000c500a65b203b") is bool(kinds)


def test_the_difference_is_told_in_time():
    (situation,) = import_blocked.detect(with_timeline(PEERS | {"sdd1": uberblocks(20, 21, 22, 94)}))
    assert "its newest uberblock is of txg 94, the best of the others of txg 22, 6 min later" in situation.meaning


def test_where_all_agree_it_says_how_far_back_they_go_together():
    facts = with_timeline(PEERS | {"sdd1": PEERS["sda1"]})
    (timeline,) = facts.nodes["oss01"].timelines
    assert [(m.txg, m.seconds_before_newest, len(m.held_by)) for m in timeline.moments()] == [(22, 0, 6), (21, 5, 6), (20, 10, 6)]
    (situation,) = import_blocked.detect(facts)
    assert "All its disks hold the same 3 uberblocks, from txg 22 back to 20, 10 s before the newest." in situation.meaning


def silenced(name: str, *disks: str) -> FleetFacts:
    """As import-blocked-labels/4: `zpool import` hangs on a disk that answers nothing, so its label is not known either."""
    failed = [Capture("zpool_import", "", "failed", "", "zpool import: stuck after 60.0 s")]
    failed += [Capture("zdb_label", f"{d}1", "failed", "", f"zdb -l /dev/{d}1: stuck after 20.0 s") for d in disks]
    return with_captures(name, *failed)


def test_a_disk_that_hangs_the_import_is_named():
    (found,) = import_blocked.detect(silenced("import-blocked-labels/1-labels-0-1-garbage", "sde"))
    assert (found.severity, found.subject["pool"], found.sure) == ("act", "ost_3", False)
    assert "sde (naa:5000c500a65b204b)" in found.meaning
    assert any(e.source == "zpool_import" and "stuck" in e.line for e in found.evidence)


def test_a_strangers_pool_behind_a_silent_import_is_only_watched():
    facts = silenced("other-host/1-last-used-by-oss01")
    here = replace(facts.nodes["oss01"], hostid="5b2f9c02")
    assert {s.severity for s in import_blocked.detect(FleetFacts({"oss02": here}))} == {"watch"}


def test_a_silent_import_beside_imported_pools_says_nothing():
    assert import_blocked.detect(silenced("healthy-raidz2")) == ()


LISTED = """   pool: big
     id: 4276253443581125741
  state: {state}
 status: One or more devices contains corrupted data.
 action: The pool can be imported despite missing or damaged devices.  The
\tfault tolerance of the pool may be compromised if imported.
   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-4J
 config:

\tbig         DEGRADED
\t  {kind}-0  DEGRADED
\t    sda     {a}
\t    sdb     {b}
\t    sdc     {c}
\t    sdd     ONLINE
\t    sde     ONLINE
"""


def listed(a: str, b: str, c: str, state: str = "DEGRADED", kind: str = "raidz2", **more: str):
    """What only a listing tells, as in a paste: no disk and no label is known."""
    fields = {"zpool_import": Capture("zpool_import", "", "data", LISTED.format(a=a, b=b, c=c, state=state, kind=kind))}
    fields |= {source: Capture(source, "", "data", text) for source, text in more.items()}
    return import_blocked.detect(FleetFacts({"pasted": node_facts("pasted", fields, 1.0, ())}))


def test_a_pool_that_would_come_in_without_a_disk_is_not_passed_over_in_silence():
    """Composed after genuine listings of pools that lack a disk."""
    (found,) = listed("ONLINE", "UNAVAIL  cannot open", "ONLINE")
    assert (found.severity, found.title) == ("watch", "big can be imported, but without 1 disk of it")
    assert "without sdb (UNAVAIL); replace it by guid afterwards" in found.meaning
    assert found.answers == ()
    assert "sdb  UNAVAIL  cannot open" in [e.line for e in found.evidence]


def test_a_listing_that_lost_more_than_it_can_is_believed_by_its_tree_and_not_by_its_first_word():
    """OpenZFS 0.6 was seen to call a pool ONLINE of which a whole vdev was gone."""
    (found,) = listed("UNAVAIL  corrupted data", "UNAVAIL", "UNAVAIL", "ONLINE")
    assert "too many of its disks are missing" in found.title


def test_a_pool_of_which_most_is_here_and_nothing_says_whose_it_is_is_acted_on():
    """Two of five are gone from a raidz1, and three of five from a raidz2."""
    lines = [listed("UNAVAIL", "UNAVAIL", "ONLINE", "UNAVAIL", kind="raidz1"), listed("UNAVAIL", "UNAVAIL", "UNAVAIL")]
    assert [found.severity for (found,) in lines] == ["act", "watch"]


def test_a_whole_pool_is_nothing_and_a_destroyed_one_is_no_trouble():
    assert listed("ONLINE", "ONLINE", "ONLINE", "ONLINE") == ()
    (found,) = listed("UNAVAIL", "UNAVAIL", "UNAVAIL", "FAULTED (DESTROYED)")
    assert (found.severity, found.subject["why"], found.answers) == ("info", "destroyed", ())
    assert "Nothing need be done" in found.meaning
    assert not any(cure.argv for cure in found.cures if cure.kind != "look")


CAUSES = """   pool: big
     id: 4276253443581125741
  state: {state}
 status: {status}
 action: {action}
 config:

\tbig         {state}  {note}
\t  raidz1-0  {top}
\t    sda     {a}
\t    sdb     {b}
\t    sdc     ONLINE
{more}"""
NOT_ALL = "The pool cannot be imported due to damaged devices or data."
NO_CURE = "Going back a few transactions"


def caused(
    state="UNAVAIL",
    status="One or more devices contains corrupted data.",
    action=NOT_ALL,
    note="",
    top="ONLINE",
    a="ONLINE",
    b="ONLINE",
    more="",
):
    text = CAUSES.format(state=state, status=status, action=action, note=note, top=top, a=a, b=b, more=more)
    fields = {"zpool_import": Capture("zpool_import", "", "data", text)}
    (found,) = import_blocked.detect(FleetFacts({"pasted": node_facts("pasted", fields, 1.0, ())}))
    return found


@pytest.mark.parametrize(
    ("why", "how", "cure"),
    [
        ("damage", {"state": "FAULTED", "note": "corrupted data"}, "look"),
        ("missing", {"note": "insufficient replicas", "top": "UNAVAIL", "a": "UNAVAIL  cannot open", "b": "UNAVAIL"}, "reseat"),
        ("missing", {"state": "FAULTED", "note": "corrupted data", "top": "DEGRADED", "a": "UNAVAIL", "b": "UNAVAIL  cannot open"}, "reseat"),
        ("half-missing", {"state": "FAULTED", "note": "corrupted data", "top": "DEGRADED", "a": "UNAVAIL  cannot open"}, "reseat"),
        ("names", {"note": "insufficient replicas", "top": "UNAVAIL", "a": "UNAVAIL  invalid label", "b": "FAULTED  corrupted data"}, "import"),
        ("missing-log", {"note": "bad intent log", "state": "FAULTED", "status": "An intent log record cannot be read."}, "import-without-log"),
        ("missing-log", {"note": "missing device", "more": "\tlogs\n\t  sdx       UNAVAIL  cannot open\n"}, "import-without-log"),
        ("missing-top", {"note": "missing device"}, "import-without-log"),
        ("hostid", {"status": "The pool has the multihost property on.  It cannot\n\tbe safely imported when the system hostid is not set."}, "zgenhostid"),
        ("features", {"note": "unsupported feature(s)", "status": "The pool uses the following feature(s) not supported on this system:\n\torg.openzfs:draid"}, "upgrade"),
        ("claim", {"status": "The pool is currently imported by another system.", "action": "The pool must be exported from unknown (hostid=0)\n\tbefore it can be safely imported."}, "look"),
        ("unclear", {}, "look"),
    ],
)  # fmt: skip
def test_the_cause_is_decided_by_what_the_listing_shows(why, how, cure):
    found = caused(**how)
    assert found.subject["why"] == why
    assert cure in [one.kind for one in found.cures]
    only_the_log = "logs" in how.get("more", "")
    if why != "damage":
        assert [answer.runbook for answer in found.answers] == ["import-without-log"] * only_the_log
        assert NO_CURE not in found.meaning
        assert "rewind" not in found.meaning


def test_all_rows_online_and_corrupted_points_to_one_disk_and_says_how_it_is_found():
    found = caused(state="FAULTED", note="corrupted data")
    for words in ("one disk contradicts all", "`zdb -lu` of every disk", "label is missing or invalid", "replaced by its guid"):
        assert words in found.meaning


def test_features_are_told_by_name_with_the_release_that_has_them_and_whether_it_can_be_read():
    found = caused(note="unsupported feature(s)", status="The pool can only be accessed in read-only mode on this system. It\n\tcannot be accessed in read-write "
                   "mode because it uses the following\n\tfeature(s) not supported on this system:\n\tcom.klarasystems:fast_dedup", action="The pool cannot be imported in read-write mode. Import the pool with\n\t'-o readonly=on'.")  # fmt: skip
    assert "com.klarasystems:fast_dedup" in found.meaning
    assert "OpenZFS 2.3 and newer has it" in found.meaning
    assert "imported read-only here" in found.meaning


def test_a_feature_nobody_knows_is_of_no_release():
    found = caused(
        note="unsupported feature(s)", status="The pool uses the following feature(s) not supported on this system:\n\torg.example:moon"
    )
    assert "Which release has them is not known here" in found.meaning


def test_pools_of_one_name_are_told_by_their_ids():
    text = CAUSES.format(state="ONLINE", status="x", action="y", note="", top="ONLINE", a="ONLINE", b="ONLINE", more="\n")
    other = CAUSES.format(
        state="UNAVAIL", status="x", action="y", note="insufficient replicas", top="UNAVAIL", a="UNAVAIL", b="UNAVAIL", more=""
    ).replace("4276253443581125741", "77")
    fields = {"zpool_import": Capture("zpool_import", "", "data", text + other)}
    (found,) = import_blocked.detect(FleetFacts({"pasted": node_facts("pasted", fields, 1.0, ())}))
    assert found.subject["pool_guid"] == "77"
    assert "There is another pool named big, which can be imported: its id is 4276253443581125741" in found.meaning


def test_a_pool_of_this_name_that_was_imported_since_is_not_told_as_waiting():
    status = "  pool: big\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\tbig         ONLINE       0     0     0\n"
    status += "\t  sda       ONLINE       0     0     0\n\nerrors: No known data errors\n"
    assert listed("ONLINE", "UNAVAIL", "ONLINE", zpool_status=status) == ()


@pytest.mark.parametrize("why", get_args(Why))
def test_each_reason_has_words_and_cures_of_its_own(why):
    """Whatever keeps a pool from coming in, something is advised, and the first of it writes nothing."""
    listed = replace(fleet(DIVERGED).nodes["oss01"].importable_read[0], status="", action="")
    one = Blocked(fleet(DIVERGED).nodes["oss01"], "ost_2", OST2, why, listed, (), ())
    found = import_blocked._situation(one)
    assert found.title.startswith("ost_2 ")
    assert len(found.meaning) > 60
    assert found.cures
    assert found.cures[0].kind in ("look", "reseat", "wait", "zgenhostid", "upgrade")
    for argv in (argv for cure in found.cures for argv in cure.argv):
        assert not {"-f", "-F", "-X", "-T"} & set(argv)


LOST_LOG = Path(agents.tests.__file__).parent / "captures" / "zpool_import" / "zpool-import-2.1.11--lost-log.txt"


def test_before_2_1_12_a_lost_log_alone_makes_the_listing_unavailable_and_is_still_answered():
    """Genuine. "Additional devices" is printed of it although every vdev is shown."""
    text = LOST_LOG.read_text()
    found = of_a_text(text)
    assert (found.subject["why"], found.severity) == ("missing-log", "act")
    assert [answer.runbook for answer in found.answers] == ["import-without-log"]
    more_is_lost = of_a_text(text.replace("wwn-0x5000c50090700053  ONLINE", "wwn-0x5000c50090700053  UNAVAIL"))
    assert more_is_lost.answers == ()
    without_the_row = of_a_text(text.replace("\tlogs\t\n\t  wwn-0x5000c50090700043    UNAVAIL\n", ""))
    assert (without_the_row.subject["why"], without_the_row.answers) == ("missing-top", ())


def of_a_text(text: str):
    (found,) = import_blocked.detect(
        FleetFacts({"pasted": node_facts("pasted", {"zpool_import": Capture("zpool_import", "", "data", text)}, 1.0, ())})
    )
    return found
