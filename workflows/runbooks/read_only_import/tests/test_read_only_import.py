"""What read-only-import refuses: a pool that somebody has or may have, too few disks; and what it makes of a dry run that imported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin import scenarios
from workflows.engine.core import blockers
from workflows.facts import Unknown
from workflows.guards.importing import no_other_node_has_or_may_have_it
from workflows.runbooks.read_only_import import from_the_dry_run
from workflows.tests.partners import aged, partner
from workflows.tests.stories import STORIES
from workflows.tests.walks import Stages, Stuck, Walk, stages_of

PLAIN, LOST, BLOCKED = (f"read-only-import, {name}" for name in ("it comes in", "the last seconds are lost", "one disk blocks it"))


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(STORIES[title])

    return of


def plan_text(walk: Walk) -> str:
    return " | ".join(walk.why_not())


def test_a_pool_that_another_node_has_is_refused(stages, tmp_path):
    walk = stages(PLAIN).at("check")
    partner(walk, tmp_path, imported=True)
    assert "ost_0 is imported on oss02. Importing it here too would destroy it." in plan_text(walk)


def test_a_node_that_sees_its_disks_and_fell_silent_may_have_it(stages, tmp_path):
    walk = stages(PLAIN).at("check")
    partner(walk, tmp_path)
    aged(walk, "oss02", age_seconds=7200.0)
    assert "oss02 sees disks of it. It may have the pool: oss02 last reported 7200 s ago" in plan_text(walk)


def test_a_node_that_cannot_say_what_it_sees_may_have_it(stages, tmp_path):
    walk = stages(PLAIN).at("check")
    partner(walk, tmp_path)
    aged(walk, "oss02", disks=Unknown("sysfs hangs."))
    assert "oss02 may see the same disks" in plan_text(walk)


def test_a_partner_that_answers_now_and_has_not_got_it_is_no_hindrance(stages, tmp_path):
    walk = stages(PLAIN).at("check")
    partner(walk, tmp_path)
    walk.go()
    assert walk.state.step == "plan-import"


def used_by(node, hostid, hostname):
    node.pool("ost_0").hostid, node.pool("ost_0").hostname = hostid, hostname


def test_a_host_that_used_it_last_and_has_no_agent_may_have_it(stages):
    walk = stages(PLAIN).at("check")
    with walk.changing() as node:
        used_by(node, 0x5B2F9C77, "oss77")
    assert "oss77 (hostid 5b2f9c77) used it last and never exported it, and that host has no agent. Fence it first." in plan_text(walk)


def test_a_host_without_a_hostid_that_used_it_last_may_be_any_host(stages):
    walk = stages(PLAIN).at("check")
    facts = walk.facts()
    node = facts.nodes[walk.state.params["node"]]
    nameless = tuple(replace(d, labels=tuple(replace(x, hostid=None, hostname="oss77") for x in d.labels)) for d in node.disks)
    verdict = no_other_node_has_or_may_have_it(replace(facts, nodes={node.node: replace(node, disks=nameless)}), walk.state.params)
    assert verdict.outcome == "unknown"
    assert "oss77 used it last, never exported it, and had no hostid, so it may be any host. Fence it first." in verdict.reason


def test_it_is_forced_only_when_the_last_user_says_that_it_has_it_no_more(stages, tmp_path):
    walk = stages(PLAIN).at("check")
    with walk.changing() as node:
        used_by(node, 0x5B2F9C02, "oss02")
    partner(walk, tmp_path)
    walk.to("use")
    assert "-f" in walk.commands()[0]
    assert "-f" not in stages(PLAIN).end.commands()[0]
    assert {"readonly=on", "-N"} <= set(walk.commands()[0])


def test_the_node_does_not_force_what_was_planned_without(stages):
    """Between plan and order another host became the last user."""
    walk = stages(PLAIN).at("import")
    facts = walk.facts()
    with walk.changing() as node:
        used_by(node, 0x5B2F9C77, "oss77")
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="import.says, labels.writers changed"):
        walk.go()
    assert walk.commands() == []


def active(node):
    node.pool("ost_0").active_on = "oss09 abcdef"


def too_few(node):
    for disk in list(node.disks[:3]):
        scenarios.take_away(node, disk.wwid)


def no_hostid(node):
    node.hostid = "00000000"


def gone(node):
    for disk in list(node.disks[:6]):
        scenarios.take_away(node, disk.wwid)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (active, "is imported on oss09 (hostid=abcdef) right now. Export it there; never force it here."),
        (too_few, "lacks 3 disks"),
        (no_hostid, "Run `zgenhostid` first."),
        (gone, "does not list it. Check that its disks are seen."),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-import", "import"])
def test_it_refuses(change, words, step, stages):
    walk = stages(PLAIN).at(step)
    with walk.changing() as node:
        change(node)
    assert words in plan_text(walk) or (step == "import" and "The plan is not for what this step would do now" in plan_text(walk))
    assert walk.commands() == []


def test_features_it_does_not_know_are_refused(stages):
    walk = stages(PLAIN).at("check")
    (pool,) = walk.facts().nodes["oss01"].importable
    aged(walk, "oss01", importable=(replace(pool, status="The pool uses the following feature(s) not supported on this system:"),))
    assert "Import it where they are known." in plan_text(walk)


def test_a_cache_file_elsewhere_imports_it_at_the_next_boot(stages, tmp_path):
    walk = stages(PLAIN).at("check")
    partner(walk, tmp_path)
    facts = walk.facts()
    cached = (replace(facts.nodes["oss01"].cached[0], guid=int(walk.state.params["pool_guid"])),) if facts.nodes["oss01"].cached else None
    aged(walk, "oss02", cached=Unknown("zdb hangs.") if cached is None else cached)
    assert "its next boot" in plan_text(walk)


def test_another_pool_of_its_name_is_refused(stages):
    walk = stages(PLAIN).at("check")
    with walk.changing() as node:
        node.pool("ost_0").imported = True
    pool = walk.facts().nodes["oss01"].pools[0]
    with walk.changing() as node:
        node.pool("ost_0").imported = False
    aged(walk, "oss01", pools=(replace(pool, guid=4711),))
    assert "Another pool named ost_0 is imported on oss01. The two cannot be imported together." in plan_text(walk)


def test_old_facts_are_refused(stages):
    walk = stages(PLAIN).at("check")
    ages = dict(walk.facts().nodes["oss01"].ages) | {"zpool_import": 4000.0}
    aged(walk, "oss01", ages=ages)
    assert "zpool_import of oss01 was read 4000 s ago" in plan_text(walk)


# --- when it does not come in


def test_what_zpool_advises_is_never_shown(stages):
    for title in (LOST, BLOCKED):
        walk = stages(title).end
        shown = repr(
            (
                walk.records,
                walk.state.to_json(),
                [o for o in walk.step.options(walk.facts(), walk.state.params)] if walk.step.kind == "DECIDE" else (),
            )
        )
        assert "re-create" not in shown
        assert "Destroy" not in shown


def test_while_one_disk_stands_out_no_rewind_is_asked_for(stages):
    walk = stages(BLOCKED).at("why")
    options = {o.value: blockers(o.verdicts) for o in walk.step.options(walk.facts(), walk.state.params)}
    assert options["take-away"] == ()
    assert "sdd contradicts the other disks. A rewind would follow it" in options["dry-run"][0].reason


def test_when_all_disks_agree_none_is_taken_away(stages):
    walk = stages(LOST).at("why")
    options = {o.value: blockers(o.verdicts) for o in walk.step.options(walk.facts(), walk.state.params)}
    assert options["dry-run"] == ()
    assert "No disk stands out, so there is none to take away." in options["take-away"][0].reason


def test_a_dry_run_that_imported_is_noticed_and_gone_on_with(stages):
    walk = stages(LOST).at("plan-dry-run")
    with walk.changing() as node:
        node.pool("ost_0").rewind_seconds = 0  # whatever was wrong is right by now
    walk.to("offer")
    assert [open_.what.partition(" on ")[0] for open_ in walk.state.loops] == ["ost_0 may be imported read-only"], "nobody knows yet"
    options = {o.value: blockers(o.verdicts) for o in walk.step.options(walk.facts(), walk.state.params)}
    assert [value for value, against in options.items() if not against] == ["imported"]
    walk.story = replace(walk.story, choices={**walk.story.choices, "offer": lambda options: "imported"})
    walk.to_the_end()
    assert (walk.state.status, walk.state.loops) == ("done", ())
    assert [c[1] for c in walk.commands()] == ["import", "import", "export"]
    assert all("readonly=on" in c for c in walk.commands() if c[1] == "import")


def test_a_run_that_ends_after_such_a_dry_run_lets_go_of_the_pool(stages):
    walk = stages(LOST).at("plan-dry-run")
    with walk.changing() as node:
        node.pool("ost_0").rewind_seconds = 0
    walk.to("look-after-dry-run")
    walk.abort()
    walk.to_the_end()
    assert walk.state.status == "aborted"
    assert walk.node.imported == []
    assert "undo-import" in [f.step for f in walk.state.finished if not f.passed_over]


def test_a_dry_run_that_imported_nothing_needs_no_export(stages):
    walk = stages(LOST).at("offer")
    walk.abort()
    walk.to_the_end()
    assert "undo-import" in [f.step for f in walk.state.finished if f.passed_over]
    assert walk.commands()[-1][1:4] == ["import", "-F", "-n"]


def test_a_pool_that_is_imported_for_writing_is_not_gone_on_with(stages):
    walk = stages(PLAIN).at("use")
    with walk.changing() as node:
        node.pool("ost_0").readonly = False
    assert "is imported for writing. Stop everything that uses it" in plan_text(walk)


@pytest.mark.parametrize(
    ("words", "learnt"),
    [
        (
            "Would be able to return ost_8 to its state as of Sat Nov 21 09:04:14 2026.\nWould discard approximately 5 seconds of transactions.\n",
            {"dry_run": "rewind", "rewind_to": "Sat Nov 21 09:04:14 2026", "rewind_loss": "5 seconds"},
        ),
        (
            "Would be able to return my pool to its state as of Sat Nov 21 09:04:14 2026.\n",
            {"dry_run": "rewind", "rewind_to": "Sat Nov 21 09:04:14 2026", "rewind_loss": "1 second"},
        ),
        (
            "Would be able to return ost_8 to its state as of Sat Nov 21 09:04:14 2026.\nWould discard approxi",
            {"dry_run": "nothing", "rewind_to": "", "rewind_loss": ""},
        ),
        ("", {"dry_run": "nothing", "rewind_to": "", "rewind_loss": ""}),
        ("cannot import 'nosuch': no such pool available\n", {"dry_run": "refused", "rewind_to": "", "rewind_loss": ""}),
        ("Would be able to return ost_8 to its state as of Sat Nov 21", {"dry_run": "nothing", "rewind_to": "", "rewind_loss": ""}),
    ],
)
def test_it_reads_what_a_dry_run_says(words, learnt):
    assert from_the_dry_run(words) == learnt


def test_the_state_it_would_go_back_to_must_be_typed(stages):
    walk = stages(LOST).at("confirm-rewind")
    assert walk.step.phrase(walk.state.params, walk.state.plan) == "ost_0 loses 5 seconds"
    assert walk.state.plan["rewind"]["left_out"] == "5 seconds"
