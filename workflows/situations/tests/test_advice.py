"""Every situation advises something: over all texts and captures that there are, and by its kind whatever its detector knows."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

import agents.tests as agents_tests
import workflows
from agents.tests.scenarios import STEPS
from workflows.analysis.pool_fate import GATING, fate
from workflows.engine.core import SEVERITIES, Cure, Evidence, Situation
from workflows.facts import FleetFacts, Unknown
from workflows.facts.tests.played import fleet
from workflows.situations import KINDS, SITUATIONS, detect_all
from workflows.situations._gating import GATED_BY, _held_back
from workflows.situations._kinds import GUID, POOL, Kind, advice, advised
from workflows.situations._ranking import ranked
from workflows.situations._without_runbook import REASONS
from workflows.situations.tests.test_cures import of_pool
from workflows.situations.tests.texts import CLEAN, MIRROR, status
from workflows.situations.tests.texts import found as found_in
from workflows.situations_page import PAGE, page
from workflows.tests.incident import FLEET
from workflows.tests.readable import assert_readable
from workflows.tests.test_pool_fate import POOLS
from workflows.triage import json_answer, triage

ROOT = Path(workflows.__file__).parent
CAPTURES = Path(agents_tests.__file__).parent / "captures"
OF_A_TEXT = ("unexplained", "background-scan", "tunable-written", "writers-throttled")  # no detector's
NODE = FLEET.nodes["oss01"]
UNREAD = replace(NODE.pools[0], tops=Unknown("Only the kernel's own state could be read."))
FATES = {
    **{name: of_pool(POOLS[name][0]) for name in POOLS},
    "held": FleetFacts({"oss01": NODE, "oss02": replace(NODE, node="oss02")}),
    "hung": FleetFacts({"oss01": replace(NODE, pools=(UNREAD,), failures={"zpool_status": "zpool status: timeout after 20 s"})}),
}


@lru_cache
def texts() -> tuple[Path, ...]:
    folders = [*(ROOT / "triage/tests").glob("*cases"), ROOT / "pasted/tests/cases", CAPTURES]
    return tuple(sorted(path for folder in folders for path in folder.rglob("*.txt")))


@lru_cache
def pasted() -> tuple[tuple[str, Situation, dict], ...]:
    """What triage finds in each text, beside its JSON."""
    found = []
    for path in texts():
        read = triage([(path.name, path.read_text(errors="replace"))])
        found += [(path.name, *both) for both in zip(read.situations, json_answer.answer(read)["situations"], strict=True)]
    return tuple(found)


@lru_cache
def of_captures() -> tuple[tuple[str, Situation], ...]:
    return tuple((name, one) for name in STEPS for one in detect_all(fleet(name)))


def observed() -> tuple[tuple[str, Situation], ...]:
    return (*((name, one) for name, one, _ in pasted()), *of_captures())


def empty(cures) -> bool:
    return not any(cure.text.strip() for cure in cures)


def test_no_situation_of_any_text_or_capture_is_without_advice():
    assert len(texts()) > 250
    assert len(observed()) > 550
    assert [(name, one.slug, one.title) for name, one in observed() if empty(one.cures)] == []
    assert [(name, one["slug"]) for name, _, one in pasted() if not one["advice"]] == []


def test_what_is_advised_can_be_read():
    for _, one in observed():
        for cure in one.cures:
            assert_readable(cure.text)


def test_each_slug_has_a_kind():
    assert set(KINDS) == {*SITUATIONS, *OF_A_TEXT}
    assert {one.slug for _, one in observed()} <= set(KINDS)


def test_each_slug_that_a_reader_of_pastes_names_has_a_kind():
    named = {
        node.value
        for path in (ROOT / "pasted").glob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Situation" and call.args
        for node in ast.walk(call.args[0])
        if isinstance(node, ast.Constant)
    }
    assert {"disk-failing", "pool-filling", "vdev-degraded"} <= named
    assert named <= set(KINDS)


@pytest.mark.parametrize("slug", KINDS)
def test_a_kind_advises_what_takes_no_disk_out_first(slug):
    kind = KINDS[slug]
    assert kind.severities == tuple(severity for severity in SEVERITIES if severity in kind.severities) != ()
    assert kind.advice[0].kind not in ("replace", "detach", "remove", "clear")
    assert [cure.kind for cure in kind.advice if cure.kind == "replace"] in ([], ["replace"])
    for cure in kind.advice:
        assert_readable(cure.text)
        assert "-f" not in [word for argv in cure.argv for word in argv]
        assert cure.kind != "replace" or (cure.needs and cure.runbook)
        assert cure.kind != "clear" or cure.save_first


@pytest.mark.parametrize("slug", KINDS)
def test_a_kind_that_is_more_than_info_says_what_happens_if_nobody_acts(slug):
    kind = KINDS[slug]
    assert bool(kind.unattended) == (set(kind.severities) != {"info"})
    if kind.unattended:
        assert_readable(f"If nothing is done, {kind.unattended}")


def test_each_situation_to_act_upon_or_to_watch_says_what_happens_if_nobody_acts_and_says_it_once():
    for name, one in observed():
        if one.severity != "info":
            words = " ".join((one.meaning, *(cure.text for cure in one.cures))).lower()
            assert "if nothing is done" in words or "if nothing is done" in words, (name, one.key)
            assert one.meaning.lower().count("if nothing is done") <= 1, (name, one.key)


@pytest.mark.parametrize("slug", SITUATIONS)
def test_a_detector_gives_no_severity_that_its_kind_has_not(slug):
    tree = ast.parse(inspect.getsource(SITUATIONS[slug]))
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in SEVERITIES}
    assert named <= set(KINDS[slug].severities)


def test_none_of_any_text_has_another_severity_than_its_kind():
    """A consequence is lowered to watch."""
    assert {(one.slug, one.severity) for _, one in observed() if one.severity not in KINDS[one.slug].severities and not one.cause} == set()


def reported(slug: str, severity, **more) -> Situation:
    """As a text may tell it, of which nothing more is known."""
    subject = {"node": "oss01", "pool": "ost_0"}
    return Situation(
        slug,
        f"{slug}:reported",
        "oss01",
        severity,
        f"{slug} of a text",
        "A text says so.",
        (Evidence("oss01", "x", "", "x"),),
        subject=subject,
        **more,
    )


@pytest.mark.parametrize("slug", KINDS)
def test_whatever_a_text_tells_is_advised_in_every_fate_of_its_pool(slug):
    """Crosses every kind of situation with every fate: of a pool that must not be touched nothing is advised that its fate forbids."""
    for name, facts in FATES.items():
        node = facts.nodes["oss01"]
        (pool,) = node.pools
        verdict = fate(node, pool, facts)
        for severity in KINDS[slug].severities:
            one = replace(reported(slug, severity), subject={"node": "oss01", "pool": pool.name})
            (found,) = [each for each in detect_all(facts, (one,)) if each.key == one.key] or [None]
            if found is None:
                continue  # its detector reported it by itself
            assert not empty(found.cures), name
            if verdict.gates and slug != "unexplained":
                assert GATED_BY in found.subject
                assert not _held_back(verdict.verdict) & {cure.kind for cure in found.cures}, (name, verdict.verdict)


def test_every_fate_that_gates_is_among_them():
    verdicts = {fate(facts.nodes["oss01"], facts.nodes["oss01"].pools[0], facts).verdict for facts in FATES.values()}
    assert verdicts >= {*GATING, "serving", "reduced"}


@pytest.mark.parametrize("kind", ["replace", "detach", "clear", "online"])
def test_a_pool_that_is_gated_leaves_the_reason_where_nothing_else_is_left(kind):
    one = replace(reported("disk-errors", "watch"), cures=(Cure(kind, "Do it."),))
    facts = FATES[next(name for name in POOLS if POOLS[name][0].state == "SUSPENDED")]
    pool = next(iter(facts.nodes.values())).pools[0].name
    (found,) = [each for each in detect_all(facts, (replace(one, subject={"node": "oss01", "pool": pool}),)) if each.key == one.key]
    assert [cure.kind for cure in found.cures] == ["wait"]
    assert found.cures[0].text.startswith("First: ")


@pytest.mark.parametrize("cures", [(), (Cure("replace", "Replace it."),), (Cure("look", "Replace it so.", runbook="blink-and-replace"),)])
def test_of_a_consequence_nothing_is_replaced_and_its_cause_comes_first(cures):
    cause = reported("hba-fault", "act")
    other = replace(reported("disk-errors", "watch"), cures=cures, key="other")
    found = ranked((cause, other), (("hba-fault", lambda cause, other: True),))
    assert [(cure.kind, cure.runbook) for cure in found[1].cures] == [("wait", "")]
    assert "hba-fault of a text" in found[1].cures[0].text


def test_a_consequence_keeps_what_replaces_nothing():
    look = Cure("look", "Look.")
    found = ranked(
        (reported("hba-fault", "act"), replace(reported("disk-errors", "watch"), cures=(look,))),
        (("hba-fault", lambda cause, other: True),),
    )
    assert found[1].cures == (look,)


def test_a_command_is_filled_in_from_the_subject_or_left_out():
    kinds = {"x": Kind(("watch",), "x", (advice("online", "Bring it back.", f"zpool online {POOL} {GUID}", "zpool status -P"),))}
    both = {"pool": "ost_0", "vdev_guid": "123"}
    for subject, argv in (
        (both, (("zpool", "online", "ost_0", "123"), ("zpool", "status", "-P"))),
        ({**both, "vdev_guid": "sdb"}, (("zpool", "status", "-P"),)),
        ({"vdev_guid": "123"}, (("zpool", "status", "-P"),)),
        ({**both, "pool": "a b"}, (("zpool", "status", "-P"),)),
    ):
        (found,) = advised((replace(reported("x", "watch"), subject=subject),), kinds)
        assert found.cures[0].argv == argv


def test_a_detector_that_knows_more_is_not_overruled():
    one = replace(reported("disk-errors", "watch"), cures=(Cure("look", "Look here."),))
    (found,) = advised((one,), KINDS)
    assert (found.cures, found.meaning) == (one.cures, f"{one.meaning} If nothing is done, {KINDS[one.slug].unattended}")


def test_each_kind_has_a_runbook_or_says_why_not_and_has_an_advice():
    without = {slug for slug in KINDS if not (SITUATIONS[slug].MANUALS if slug in SITUATIONS else ())}
    assert set(REASONS) == without
    for slug, why in REASONS.items():
        assert_readable(f"{why[:1].upper()}{why[1:]}.")
        assert KINDS[slug].advice


def test_the_page_is_that_of_the_tables():
    assert PAGE.read_text() == page(), "Run `python -m workflows.situations_page` and commit what it writes."


ROW = re.compile(r"((?:ONLINE|DEGRADED|FAULTED|UNAVAIL|REMOVED|OFFLINE) +)([0-9]+)( +)([0-9]+)( +)([0-9]+)\b")


@pytest.mark.parametrize("zeros", [True, False])
def test_counters_that_are_printed_rounded_stop_nothing(zeros):
    """`zpool status` without -p prints 1.2K for 1217: no count is known then, and each situation says what is printed."""

    def rounded(found: re.Match[str]) -> str:
        return "".join("1.2K" if part.isdigit() and (zeros or part != "0") else part for part in found.groups())

    changed = 0
    for path in texts():
        text = path.read_text(errors="replace")
        other = ROW.sub(rounded, text)
        if other != text:
            changed += 1
            found = triage([(path.name, other)]).situations
            assert not any(empty(one.cures) for one in found), path.name
    assert changed >= 30


def test_a_scrub_that_repaired_a_disk_whose_count_is_printed_rounded_is_told():
    rows = (MIRROR[0], MIRROR[1].replace("0 0 0", "0 0 1.2K"), MIRROR[2])
    (one,) = [one for one in found_in(status(*rows, scan=CLEAN.replace("0B", "96K"))) if one.slug == "scrub-repaired"]
    assert "checksum 1.2K" in one.meaning
