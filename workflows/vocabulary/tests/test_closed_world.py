"""No word, in no position, of no source, ends as good: what is in no table is raised, and what is not well is explained or raised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from agents.collectors._vdevs import STATES
from agents.collectors.base import Capture
from workflows.analysis import unexplained
from workflows.analysis.judgement import Judgement, concerns, judge_node, judge_pasted
from workflows.facts import FleetFacts, NodeFacts, node_facts
from workflows.facts.tests.played import captures
from workflows.situations import detect_all
from workflows.triage import Triage, triage
from workflows.vocabulary import states
from workflows.vocabulary.tokens import WORDS_SHOWN_MAX

INVENTED = "HALFWAY"
WORDS = sorted({*STATES, INVENTED})
NODE = "oss01"
MATRIX = Path(__file__).parents[2] / "triage/tests/known_cases/matrix"  # triage's own tests say what each of them is
STATUS = """\
  pool: tank
 state: {pool}
  scan: {scan}
{more}config:

\tNAME          STATE     READ WRITE CKSUM
\ttank          {root}       0     0     0{root_note}
\t  raidz2-0    {top}       0     0     0{top_note}
\t    sda       {leaf}       0     0     0{leaf_note}
\t    sdb       ONLINE       0     0     0
\t    replacing-2  {inside}       0     0     0
\t      sdc     {half}       0     0     0
\t      sdd     ONLINE       0     0     0
\t    sde       ONLINE       0     0     0
\tspecial
\t  mirror-1    {special}       0     0     0
\t    sdf       {special_leaf}       0     0     0
\t    sdg       ONLINE       0     0     0
\tdedup
\t  mirror-2    {dedup}       0     0     0
\t    sdh       ONLINE       0     0     0
\t    sdi       ONLINE       0     0     0
\tlogs
\t  mirror-3    {log}       0     0     0
\t    sdj       {log_leaf}       0     0     0
\t    sdk       ONLINE       0     0     0
\tcache
\t  sdl         {cache}       0     0     0
\tspares
\t  sdm         {spare}

errors: {errors}
"""
POSITIONS = (
    *("pool", "root", "top", "leaf", "inside", "half", "special", "special_leaf", "dedup", "log", "log_leaf", "cache", "spare"),
)  # fmt: skip
QUIET = dict.fromkeys(POSITIONS, "ONLINE") | {
    "spare": "AVAIL",
    "scan": "scrub repaired 0B in 00:10:00 with 0 errors on Sun Nov 22 00:00:00 2026",
    "more": "",
    "root_note": "",
    "top_note": "",
    "leaf_note": "",
    "errors": "No known data errors",
}


def status(**fields: str) -> str:
    return STATUS.format_map(QUIET | fields)


def pasted(text: str) -> Judgement:
    found = triage([("paste", text)])
    left = [read.reason for read in found.reads if read.outcome != "read"]
    return judge_pasted(found.fleet, found.situations, {read.source for read in found.reads if read.outcome == "read"}, left)


def test_a_pool_whose_every_row_is_well_is_good():
    """Else none of the tests below could fail."""
    text = status().replace(
        "    replacing-2  ONLINE       0     0     0\n\t      sdc     ONLINE       0     0     0\n\t      sdd ", "    sdd   "
    )
    assert pasted(text).tone == "good"


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("position", POSITIONS)
def test_no_state_in_no_position_of_a_paste_is_good(position, word):
    if word != QUIET[position] and not (position == "spare" and word == "ONLINE"):
        assert pasted(status(**{position: word})).tone != "good"


@pytest.mark.parametrize(
    "text",
    [
        {"leaf_note": "  half asleep"},
        {"top_note": "  insufficient replicas"},
        {"scan": "polish in progress since Sun Nov 22 00:00:00 2026"},
        {"scan": "resilver canceled on Sun Nov 22 00:00:00 2026"},
        {"errors": "Some known data errors"},
        {"errors": "List of errors unavailable: permission denied"},
        {"more": "status: One or more devices are having a bad day.\naction: Wait.\n"},
        {"more": "   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-ZZ\n"},
        {"more": "remove: Evacuation of mirror-1 in progress since Sun Nov 22 00:00:00 2026\n\t1G copied out of 2G at 1M/s, 50.00% done\n"},
    ],
    ids=str,
)
def test_no_line_that_is_not_well_is_good(text):
    assert pasted(status(**text)).tone != "good"


@pytest.mark.parametrize("path", sorted(MATRIX.glob("*.txt")), ids=lambda path: path.stem)
def test_no_reason_of_zpool_status_is_silent(path):
    """One text for each reason that `zpool status` can give, in ZFS's own layout."""
    found = triage([(path.name, path.read_text())])
    assert {one.slug for one in found.situations} - {"scrub-overdue"}


@lru_cache
def healthy() -> Mapping[str, Capture]:
    return captures("healthy-mixed")


def node(**changed: str) -> NodeFacts:
    """A healthy node, but for the texts of some sources."""
    values = dict(healthy())
    for place, text in changed.items():
        where = place.replace("__", "/")
        source, _, key = where.partition("/")
        values[where] = Capture(source, key, "data", text)
    return node_facts(NODE, values, 1.0, (), ages=dict.fromkeys({where.partition("/")[0] for where in values}, 1.0))


def judged(facts: NodeFacts) -> Judgement:
    return judge_node(facts, concerns(detect_all(FleetFacts({NODE: facts}))))


def test_the_healthy_node_is_good():
    assert judged(node()).tone == "good"


def text_of(place: str) -> str:
    return healthy()[place].text


@pytest.mark.parametrize("word", [word for word in WORDS if word != "ONLINE"])
def test_no_state_in_the_sources_of_a_node_is_good(word):
    for place in ("zpool_status", "kstat_pools", "zpool_list"):
        assert judged(node(**{place: text_of(place).replace("ONLINE", word, 1)})).tone != "good", place


IMPORT = "   pool: old\n     id: 7\n  state: {}\n action: The pool can be imported.\n config:\n\n\told         {}\n\t  sdx       {}\n"


@pytest.mark.parametrize("word", [word for word in WORDS if word not in ("ONLINE", "AVAIL", "INUSE")])
def test_no_state_of_a_pool_to_import_is_good(word):
    for place in (0, 2):  # the row of the pool itself repeats its state
        reported = ["ONLINE"] * 3
        reported[place] = word
        assert judged(node(zpool_import=IMPORT.format(*reported))).tone != "good", place


MULTIPATH = "/sys/block:dm-0\n/sys/block/dm-0/dm/uuid:mpath-35000c500a65b200b\n/sys/block/dm-0/dm/name:mpatha\n/sys/block/dm-0/slaves:sda\n"


@pytest.mark.parametrize(("state", "checker"), [("failed", "faulty"), ("active", "shaky"), ("halfway", "ready"), ("active", "dreaming")])
def test_no_path_that_is_not_well_is_good(state, checker):
    assert judged(node(multipath=f"{MULTIPATH}multipathd:sda|35000c500a65b200b|{state}|{checker}\n")).tone != "good"


def test_a_path_that_is_well_is_good():
    assert judged(node(multipath=f"{MULTIPATH}multipathd:sda|35000c500a65b200b|active|ready\n")).tone == "good"


@pytest.mark.parametrize("kind", ["ereport.fs.zfs.vdev.dreaming", "resource.fs.zfs.dreaming", "halfway"])
def test_no_new_class_of_an_event_is_good(kind):
    assert judged(node(zpool_events=event(kind))).tone != "good"


def event(kind: str) -> str:
    return (
        "TIME                           CLASS\n"
        f"Nov 21 2026 07:53:22.916000000 {kind}\n"
        f'        class = "{kind}"\n        pool = "tank"\n        time = 0x6b014df2 0x36990d00 \n        eid = 0x26\n\n'
    )


def test_an_event_of_a_pool_that_is_well_again_is_over():
    assert judged(node(zpool_events=event("ereport.fs.zfs.probe_failure"))).tone == "good"


@pytest.mark.parametrize("place", ["zpool_status", "kstat_pools", "zpool_events", "kernel_log", "zpool_list", "zpool_import", "block"])
def test_no_text_that_cannot_be_read_is_good(place):
    assert judged(node(**{place: "dreaming of electric sheep\n"})).tone != "good"


@pytest.mark.parametrize("result", ["failed", "dreaming"])
def test_no_smart_verdict_that_is_not_well_is_good(result):
    passed = "true" if result == "passed" else "false"
    text = f'{{"smartctl": {{"version": [7, 4]}}, "logical_unit_id": "0x5000c500a65b200b", "smart_status": {{"passed": {passed}}}}}'
    assert judged(node(smart__sda=text)).tone != "good"


def test_no_line_that_no_release_prints_is_good():
    assert judged(node(zpool_status=text_of("zpool_status").replace("config:", "polish: half of it\nconfig:"))).tone != "good"


def test_a_word_is_raised_once_a_node_however_often_it_is_said():
    found = triage([("paste", status(leaf=INVENTED, half=INVENTED))])
    lines = [one for one in found.situations if one.slug == "unexplained" and INVENTED in one.title]
    assert len(lines) <= 1


def test_a_situation_of_another_pool_explains_nothing():
    facts = node()
    (pool,) = facts.pools
    bad = replace(pool, state="FAULTED")
    found = detect_all(FleetFacts({NODE: replace(facts, pools=(bad,))}))
    assert [one.slug for one in found if one.subject.get("pool") == "tank"]


def test_every_state_of_a_vdev_has_an_entry_in_every_position():
    for words in states.ALL:
        assert {"ONLINE", "DEGRADED", "FAULTED", "UNAVAIL", "OFFLINE", "REMOVED"} <= words.words.keys(), words.position


def test_two_long_words_that_begin_alike_are_reviewed_apart():
    found = {unexplained._short(f"kernel_log:{'a long line of words ' * 9}{end}") for end in ("one", "two")}
    assert len(found) == 2
    assert {len(sign) for sign in found} == {WORDS_SHOWN_MAX}
    assert unexplained._short("smart:short") == "smart:short"


COLUMNS = {"SLOW": ("1", "7", "1.2K"), "POWER": ("off",), "DIO": ("1", "3.4K")}
KEYS = {"SLOW": "slow_ios", "POWER": "power_state", "DIO": "dio_verify_errors"}


def columned(column: str, value: str) -> str:
    """A whole pool whose only trouble stands in a further column of one row."""
    lines = []
    for line in status().replace("replacing-2", "mirror-2").split("\n"):
        counted = line.startswith("\t") and line.split()[-1:] == ["0"]
        lines.append(
            f"{line} {column}" if "CKSUM" in line else f"{line}     {value if line.split()[0] == 'sdb' else 0}" if counted else line
        )
    return "\n".join(lines)


@pytest.mark.parametrize(("column", "value"), [(column, value) for column, values in COLUMNS.items() for value in values])
def test_no_column_of_a_row_is_good_while_it_shows_trouble(column, value):
    assert pasted(columned(column, "0")).tone == "good"
    found = triage([("paste", columned(column, value))])
    assert not found.good
    assert any("sdb" in one.title and value in one.title for one in found.situations)


@pytest.mark.parametrize(("column", "value"), [(column, value) for column, values in COLUMNS.items() for value in values])
def test_nor_in_the_json(column, value):
    def leaf(name: str, text: str) -> dict[str, str]:
        counters = dict.fromkeys(("read_errors", "write_errors", "checksum_errors"), "0")
        return {"name": name, "vdev_type": "disk", "state": "ONLINE", "path": f"/dev/{name}", **counters, KEYS[column]: text}

    def answered(sentence: str) -> Triage:
        leaves = {name: leaf(name, sentence if name == "sdb" else "0") for name in ("sda", "sdb")}
        mirror = {"name": "mirror-0", "vdev_type": "mirror", "state": "ONLINE", "vdevs": leaves}
        root = {"name": "tank", "vdev_type": "root", "state": "ONLINE", "vdevs": {"mirror-0": mirror}}
        pool = {"name": "tank", "state": "ONLINE", "pool_guid": "1", "error_count": "0", "vdevs": {"tank": root}}
        version = {"command": "zpool status", "vers_major": 0, "vers_minor": 1}
        return triage([("paste", json.dumps({"output_version": version, "pools": {"tank": pool}}, indent=2))])

    assert not [one for one in answered("0").situations if one.severity != "info"]
    assert any("sdb" in one.title and value in one.title for one in answered(value).situations)
