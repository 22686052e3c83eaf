"""Every command that a cure shows: by the pool's name or guid and the member's guid, with its releases, and none that the pool's fate forbids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest

import workflows.triage.tests as triage_tests
from workflows.analysis.pool_fate import GATING, fate
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, known
from workflows.facts.tests.played import fleet
from workflows.situations import detect_all
from workflows.situations._cures import REPLACING
from workflows.situations._gating import GATED_BY, _held_back
from workflows.situations.tests.test_disk_hangs import GENUINE, log, with_captures
from workflows.situations.tests.test_label_corrupt import TRUTH
from workflows.situations.tests.test_resilvers import then
from workflows.tests.incident import FLEET
from workflows.tests.test_pool_fate import POOLS
from workflows.triage import triage

TEXTS = Path(triage_tests.__file__).parent
STUCK = "disk-removed/6-resilver-running"
FACTS = {
    "the incident": lambda: FLEET,
    "a resilver that stands still": lambda: then(STUCK, STUCK, 1800.0),
    "a disk whose abort never ended": lambda: with_captures(log(GENUINE[: GENUINE.index("[  265.")])),
    **{f"labels: {name}": (lambda name=name: fleet(name)) for name in TRUTH},
    **{f"a pool: {name}": (lambda name=name: of_pool(POOLS[name][0])) for name in POOLS},
}
# The situations whose cures are no runbook's: each has to occur here, so that nothing below is held of none
OWN = (
    *("pool-suspended", "resilver-stuck", "disk-hangs", "label-corrupt", "hba-fault", "pool-down", "names-moved", "errors-everywhere"),
    *(
        "data-errors",
        "import-blocked",
        "kernel-errors",
        "link-crc",
        "enclosure-fault",
        "replacing-dead",
        "log-device-lost",
        "hostid-mismatch",
    ),
)
LOOKS = frozenset(("status", "events", "list", "iostat", "get", "history"))
MOVES = re.compile(r"(?:/dev/)?(?:sd[a-z]+\d*|nvme\d+n\d+(?:p\d+)?|a?da\d+(?:p\d+)?|c\d+t\d+d\d+(?:s\d+)?|[hv]d[a-z]\d*|dm-\d+)")
NEW = re.compile(r"/dev/disk/by-id/\S+|GUID|[0-9]+|log|cache|spare|special|dedup|mirror")
SINCE = {"resilver": "0.8", "initialize": "0.8", "checkpoint": "0.8", "trim": "0.8", "wait": "2.0"}  # verbs that 0.6 and 0.7 have not
OF_A_TOP = ("aux-without-redundancy", "top-without-redundancy")  # their `remove` takes a vdev that holds data
RELEASES = re.compile(r"\d+\.\d+(?:\.\d+)? and newer|\d+\.\d+(?:\.\d+)? to \d+\.\d+(?:\.\d+)?|before \d+\.\d+(?:\.\d+)?")


def of_pool(pool) -> FleetFacts:
    node = FLEET.nodes["oss01"]
    return FleetFacts({"oss01": replace(node, pools=(pool,))})


@lru_cache
def corpus() -> tuple[Situation, ...]:
    texts = [*(TEXTS / "known_cases").rglob("*.txt"), *(TEXTS / "cases").rglob("*.txt")]
    pasted = [one for path in texts for one in triage([(path.name, path.read_text())]).situations]
    return (*pasted, *(one for make in FACTS.values() for one in detect_all(make())))


def commands(*verbs: str) -> Iterator[tuple[Situation, Cure, tuple[str, ...]]]:
    """Those of zpool and zfs; all, or of these verbs."""
    for one in corpus():
        for cure in one.cures:
            for argv in cure.argv:
                if argv[0] in ("zpool", "zfs") and (not verbs or argv[1] in verbs):
                    yield one, cure, argv


def words(argv: tuple[str, ...]) -> list[str]:
    """What follows the verb, without options and their values."""
    return [word for before, word in pairwise(argv[1:]) if not word.startswith("-") and before not in ("-d", "-o", "-t")]


@pytest.mark.parametrize("slug", OWN)
def test_each_of_them_has_a_cure_that_takes_no_disk_out_first(slug):
    found = [one for one in corpus() if one.slug == slug]
    assert found, "nothing below would be held of it"
    kinds = [one.cures[0].kind for one in found if one.cures]
    assert kinds
    assert not {"replace", "detach", "remove"} & set(kinds)


def test_no_command_names_a_disk_by_a_name_that_can_lead_to_another():
    for one, _, argv in commands():
        assert not [word for word in argv if MOVES.fullmatch(word)], (one.slug, argv)


def test_what_writes_names_its_pool_and_then_members_by_guid_or_by_a_name_that_stays():
    verbs = {argv[1] for _, _, argv in commands()} - LOOKS
    assert {"clear", "online", "detach", "scrub", "remove", "export", "import", "attach"} <= verbs
    for one, _, argv in commands(*(verbs - {"import", "set", "list", "upgrade"})):
        if argv[0] != "zpool":
            continue
        pool, *members = words(argv)
        assert pool in (one.subject.get("pool"), one.subject.get("pool_guid"), *one.subject.get("pools", "").split()), (one.slug, argv)
        assert all(NEW.fullmatch(word) for word in members), (one.slug, argv)


def test_an_import_looks_where_names_stay_and_never_forces():
    imports = [argv for _, _, argv in commands("import")]
    assert imports
    for argv in imports:
        assert "-f" not in argv
        assert "-F" not in argv
        assert "-d" not in argv or argv[argv.index("-d") + 1] == "/dev/disk/by-id"
    assert not [argv for _, _, argv in commands() if "-f" in argv]


def test_what_an_older_release_has_not_says_from_which_it_is():
    for one, cure, argv in commands():
        needs = argv[1] in SINCE or (argv[1] == "remove" and one.slug in OF_A_TOP) or any(word.startswith("feature@") for word in argv)
        assert not needs or cure.releases, (one.slug, argv)
    for one in corpus():
        for cure in one.cures:
            assert not cure.releases or RELEASES.search(cure.releases), (one.slug, cure.releases)


def test_clearing_says_what_is_lost_and_a_suspended_pool_what_must_hold_before():
    cleared = list(commands("clear"))
    assert {one.slug for one, _, _ in cleared} >= {"pool-suspended", "errors-everywhere"}
    assert all(cure.save_first for _, cure, _ in cleared)
    assert all("host" in cure.needs for one, cure, _ in cleared if one.slug == "pool-suspended")


@pytest.mark.parametrize("name", FACTS)
def test_no_cure_is_shown_that_the_fate_of_its_pool_forbids(name):
    facts = FACTS[name]()
    found = detect_all(facts)
    for node in facts.nodes.values():
        for pool in node.pools_read:
            _hold(found, node, pool, facts)


@pytest.mark.parametrize("name", [name for name in FACTS if not name.startswith("a pool")])
@pytest.mark.parametrize("state", ["SUSPENDED", "FAULTED", "PONDERING"])
def test_and_none_when_that_pool_stops_serving(name, state):
    """The same facts with each pool suspended, down, or in a state that nobody knows."""
    facts = FACTS[name]()
    nodes = {
        key: replace(node, pools=tuple(replace(pool, state=state, row_state=state, suspended=state == "SUSPENDED") for pool in node.pools))
        for key, node in facts.nodes.items()
        if known(node.pools)
    }
    facts = replace(facts, nodes=nodes)
    found = detect_all(facts)
    pools = [(node, pool) for node in facts.nodes.values() for pool in node.pools_read]
    assert all(fate(node, pool, facts).verdict in GATING for node, pool in pools)
    for node, pool in pools:
        _hold(found, node, pool, facts)


def _hold(found, node, pool, facts) -> None:
    verdict = fate(node, pool, facts)
    if not verdict.gates:
        return
    for one in found:
        if one.node != node.node or one.subject.get("pool") != pool.name or one.slug == "unexplained":
            continue
        assert one.gate or GATED_BY in one.subject, one.slug
        held = {"replace"} if one.gate else _held_back(verdict.verdict)
        assert not held & {cure.kind for cure in one.cures}, (one.slug, verdict.verdict)
        assert not REPLACING & {*(answer.runbook for answer in one.answers), *(cure.runbook for cure in one.cures)}, one.slug
