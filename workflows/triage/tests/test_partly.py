"""A paste of which not every line is understood: what is read of it is told, what is not is named, and guards get nothing of it."""

import json

import pytest

from agents.collectors.zpool_status import read
from agents.tests.scenarios import texts
from workflows.facts import known
from workflows.triage import triage
from workflows.triage.json_answer import answer

TREE = """config:

\tNAME        STATE     READ WRITE CKSUM
\tvault       DEGRADED     0     0     0
\t  mirror-0  DEGRADED     0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     FAULTED      0     0     0  too many errors
"""
NONE = "\nerrors: No known data errors\n"
HEAD = "  pool: vault\n state: DEGRADED\n"
ODD = {
    "no errors: line": (HEAD + "  scan: none requested\n" + TREE, "ends before its errors: line"),
    "a scan in words of tomorrow": (HEAD + "  scan: scrub pondered since noon\n" + TREE + NONE, "the scan: line cannot be read"),
    "an old scrub under the new key": (
        HEAD + "  scan: scrub completed after 0h0m with 0 errors on Tue Feb  2 13:08:42 2010\n" + TREE + NONE,
        "scan",
    ),
    "a key of tomorrow": (HEAD + "  scan: none requested\nnewkey: something\n" + TREE + NONE, "no release we know prints such a line"),
    "no config: line": (HEAD + TREE.removeprefix("config:\n") + NONE, "config"),
    "no header": (HEAD + TREE.replace("\tNAME        STATE     READ WRITE CKSUM\n", "") + NONE, "names of the columns"),
    "a state of tomorrow": (HEAD + TREE.replace("ONLINE ", "WEDGED ") + NONE, "WEDGED is not a vdev state"),
    "a pool state of tomorrow": (HEAD.replace("DEGRADED", "ADRIFT") + TREE + NONE, "state of vault"),
    "a column of tomorrow": (HEAD + TREE.replace("CKSUM", "CKSUM  WORTH") + NONE, "columns"),
}


@pytest.mark.parametrize("name", ODD)
def test_one_odd_line_hides_no_faulted_member_and_is_named(name):
    text, why = ODD[name]
    found = triage([("paste", text)])
    (one,) = [read for read in found.reads if read.source]
    assert one.outcome == "partly"
    assert any(why in output for _, output in one.unread), one.unread
    assert any(s.severity == "act" and "sdb" in s.title and "FAULTED" in s.title for s in found.situations)
    (pool,) = found.fleet.nodes["pasted"].pools_read
    assert not known(pool.tops)
    assert not known(pool.scans)
    assert pool.tops_read
    assert pool.unread
    assert not found.good


HEADED = HEAD + "status: One or more devices are faulted.\n  scan: none requested\n" + TREE + NONE
CUT_ABOVE = {"state:": HEADED.index(" state:"), "scan:": HEADED.index("  scan:"), "its tree": HEADED.index("\tNAME")}


@pytest.mark.parametrize("first", CUT_ABOVE)
def test_a_text_without_its_beginning_is_told_by_one_sentence_and_by_the_name_of_its_root(first):
    found = triage([("paste", HEADED[CUT_ABOVE[first] :])])
    (one,) = [read for read in found.reads if read.source]
    assert one.outcome == "partly"
    assert f"what stands above {first} is not here" in one.reason
    assert [why for why in found.not_good_because if "vault" in why and "sdb" not in why] == [
        f"the text of vault is not whole: what stands above {first} is not here"
    ]
    (pool,) = found.fleet.nodes["pasted"].pools_read
    assert not known(pool.tops)
    assert not known(pool.scans)
    assert not known(pool.suspended)


def test_a_line_that_was_not_understood_is_named_by_its_number():
    text = ODD["a key of tomorrow"][0]
    (one,) = [read for read in triage([("paste", text)]).reads if read.source]
    assert one.unread == ((4, "no release we know prints such a line"),)
    (body,) = answer(triage([("paste", text)]))["texts"]
    assert (body["outcome"], body["unread"]) == ("partly", [{"line": 4, "reason": "no release we know prints such a line"}])


def test_an_odd_pool_leaves_the_other_to_guards():
    text = ODD["a scan in words of tomorrow"][0] + "\n" + (HEAD + "  scan: none requested\n" + TREE + NONE).replace("vault", "depot")
    pools = {pool.name: pool for pool in triage([("paste", text)]).fleet.nodes["pasted"].pools}
    assert [known(pools[name].tops) for name in ("vault", "depot")] == [False, True]


def test_lines_of_no_pool_make_the_list_of_pools_unknown_to_guards_and_hide_no_pool():
    rows = "\t    sdx     FAULTED      9     0     0  too many errors\n"
    node = triage([("paste", f"root@n1:~# zpool status\n{rows}{HEAD}{TREE}{NONE}")]).fleet.nodes["n1"]
    assert {pool.name for pool in node.pools_read} >= {"vault"}
    assert not any(known(pool.tops) for pool in node.pools_read if pool.name != "vault")


def test_a_decimal_comma_is_a_decimal_point():
    text = (
        HEAD
        + "  scan: resilver in progress since Sat Jan  3 10:00:00 2026\n\t1,2T scanned, 21,0G issued, 9T total\n\t21G resilvered, 3,91% done, 2 days 01:00:05 to go\n"
    )
    (pool,) = triage([("paste", text + TREE + NONE)]).fleet.nodes["pasted"].pools
    assert [(scan.percent, scan.seconds_left, scan.began) for scan in pool.scans] == [("3.91", 176405, "2026-01-03T10:00:00")]


def test_two_importable_pools_of_one_name_are_two_by_their_ids():
    one = "   pool: depot\n     id: {}\n  state: ONLINE\n action: The pool can be imported using its name or numeric identifier.\n config:\n\n\tdepot   ONLINE\n\t  sdb   ONLINE\n\n"
    node = triage([("paste", one.format(1111111111111111111) + one.format(2222222222222222222))]).fleet.nodes["pasted"]
    assert [(pool.name, pool.guid) for pool in node.importable] == [("depot", 1111111111111111111), ("depot", 2222222222222222222)]


def test_destroyed_pools_are_listed_beside_the_others():
    row = "\n config:\n\n\t{0}   ONLINE\n\t  sdb   ONLINE\n\n"
    plain = "root@n1:~# zpool import\n   pool: depot\n     id: 11\n  state: ONLINE" + row.format("depot")
    gone = "root@n1:~# zpool import -D\n   pool: vault\n     id: 12\n  state: ONLINE (DESTROYED)" + row.format("vault")
    node = triage([("paste", plain + gone)]).fleet.nodes["n1"]
    assert [(pool.name, pool.destroyed) for pool in node.importable] == [("depot", False), ("vault", True)]


JSON = [(name, text) for name, text in texts("zpool-status-j*.txt") if '"vdevs"' in text and "jLPv" not in name]


@pytest.mark.parametrize(("name", "text"), JSON, ids=[name for name, _ in JSON])
def test_json_without_a_prompt_tells_its_pools_with_their_guids(name, text):
    for shape in (text.strip(), json.dumps(json.loads(text), indent=2)):
        found = triage([("paste", shape)])
        assert [read.outcome for read in found.reads] == ["read"]
        (pool,) = found.fleet.nodes["pasted"].pools
        assert known(pool.guid)
        assert all(known(vdev.guid) for _, top in pool.tops_read for vdev in top.walk())
        lost = [leaf for _, top in pool.tops_read for leaf in top.leaves() if leaf.state not in ("ONLINE", "DEGRADED")]
        assert bool(lost) == any(s.slug in ("disk-missing", "disk-faulted", "wwid-mismatch") for s in found.situations)


def test_json_by_the_guid_of_the_pool_is_read_and_one_cut_off_as_far_as_it_goes():
    text = next(text for name, text in JSON if "json-int" in name)
    body = json.loads(text)
    body["pools"] = {str(pool["pool_guid"]): pool for pool in body["pools"].values()}
    (pool,) = triage([("paste", json.dumps(body))]).fleet.nodes["pasted"].pools
    assert pool.name in text
    (one,) = triage([("paste", "root@n1:~# zpool status -j\n" + text[: len(text) // 2])]).reads
    assert (one.outcome, "Error" in one.reason) == ("partly", False)


def test_an_excerpt_is_shown_and_not_for_guards():
    (pool,) = triage([("paste", f"root@n1:~# zpool status -e\n{HEAD}{TREE}{NONE}")]).fleet.nodes["n1"].pools
    assert (known(pool.tops), bool(pool.tops_read)) == (False, True)


def test_a_reading_carries_the_lines_of_every_pool():
    assert [line.field for line in read(ODD["a key of tomorrow"][0]).every_unread] == [""]
