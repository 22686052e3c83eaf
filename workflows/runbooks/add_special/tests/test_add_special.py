"""What add-special does and refuses: one mirror of as many disks as the data needs, in its class, and each disk asked everything."""

from __future__ import annotations

import pytest

from workflows.analysis import manual_start
from workflows.by_hand import grounds, snippet
from workflows.by_hand.disk import NONE
from workflows.engine import plan_losses
from workflows.engine.core import blockers
from workflows.facts import FleetFacts
from workflows.guards.several import NUMBERS, about, chosen, each, key, numbers_chosen
from workflows.runbooks.add_special import DISK_GUARDS, rehearsal
from workflows.runbooks.add_special.guards import it_is_a_class_that_holds_data, what_it_means
from workflows.runbooks.add_special.tests.stories import STORIES
from workflows.runbooks.remove_vdev.guards import the_others_can_take_its_data
from workflows.situations import detect_all
from workflows.tests.bends import A_LABEL, UNREAD, disk
from workflows.tests.walks import Stages, Stuck, Walk, stages_of

SPECIAL, WIDE, MIRRORS, NVME, NVME_WIDE = (one.title for one in STORIES)
COUNTS = {SPECIAL: 3, WIDE: 4, MIRRORS: 2, NVME: 3, NVME_WIDE: 4}


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(one for one in STORIES if one.title == title))

    return of


@pytest.mark.parametrize(("title", "count"), COUNTS.items())
def test_the_disks_are_one_mirror_and_no_situation_begins(title, count, stages):
    walk = stages(title).end
    params = walk.state.params
    (command,) = walk.commands()
    assert command[:7] == ["zpool", "add", "-o", "ashift=12", "ost_0", params["role"], "mirror"]
    assert len(command[7:]) == len(chosen(params)) == count
    assert all(word.startswith("/dev/disk/by-id/") for word in command[7:])
    top = walk.node.pool("ost_0").tops[-1]
    assert (top.cls, top.type, len(top.children)) == (params["role"], "mirror", count)
    assert not [
        one for one in detect_all(walk.facts()) if one.slug in ("top-without-redundancy", "aux-without-redundancy", "class-filling")
    ]


def test_beside_a_raidz_it_is_for_good_and_both_people_accept_that(stages):
    walk = stages(SPECIAL).at("confirm")
    accept = plan_losses.to_accept(walk.state.plan)
    assert "No release of OpenZFS removes it again, as raidz2-0 is in the pool" in accept
    assert plan_losses.lost(walk.state.plan) == (accept,)
    assert plan_losses.not_accepted(walk.state.plan, "yes")
    walk = stages(SPECIAL).at("check")
    assert what_it_means(walk.facts(), walk.state.params) == accept


def test_beside_mirrors_it_is_not_and_remove_vdev_takes_it_out(stages):
    walk = stages(MIRRORS).end
    assert "remove-vdev takes it out again" in plan_losses.to_accept(stages(MIRRORS).at("confirm").state.plan)
    added = walk.node.pool("ost_0").tops[-1]
    verdict = the_others_can_take_its_data(walk.facts(), {**walk.state.params, "vdev_guid": str(added.guid)})
    assert verdict.outcome == "pass", verdict.reason


def test_a_pool_that_is_not_known_is_never_said_to_let_it_go():
    assert "is not known" in what_it_means(FleetFacts({}), {"role": "special", "pool": "ost_0", "node": "oss01"})


def test_what_is_typed_names_every_disk(stages):
    walk = stages(SPECIAL).at("confirm")
    params = walk.state.params
    serials = [walk.node.disk(wwid).serial for wwid in chosen(params)]
    assert walk.step.phrase(params, walk.state.plan) == f"{' '.join(serial[-6:] for serial in serials)} special ost_0"


def test_a_disk_that_was_chosen_is_not_chosen_again(stages):
    walk = stages(SPECIAL).at("choose-2")
    first = next(one for one in walk.step.options(walk.facts(), walk.state.params) if one.value == walk.state.params["wwid"])
    assert any("is chosen already" in verdict.reason for verdict in blockers(first.verdicts))


@pytest.mark.parametrize(("change", "words"), [("larger", "16 MiB"), ("blocks", "blocks of different sizes")])
def test_a_disk_that_is_not_like_the_first_is_not_chosen(change, words, stages):
    walk = stages(SPECIAL).at("choose-2")
    with walk.changing() as node:
        other = next(one for one in node.disks if not one.partitions and one.wwid != walk.state.params["wwid"])
        if change == "larger":
            other.size_bytes += 1 << 30
        else:
            other.logical_block_bytes = 4096
    option = next(one for one in walk.step.options(walk.facts(), walk.state.params) if one.value == other.wwid)
    assert any(words in verdict.reason for verdict in blockers(option.verdicts)), option.verdicts


def test_data_and_log_are_not_added_so(stages):
    walk = stages(SPECIAL).at("choose")
    for role in ("data", "log", "spare", ""):
        verdict = it_is_a_class_that_holds_data(walk.facts(), {**walk.state.params, "role": role})
        assert (verdict.outcome, "End this run" in verdict.reason) == ("refuse", True)


def suspended(node):
    node.pool("ost_0").suspended = "io"


def last_blank(node):
    return [one for one in node.disks if not one.partitions][2]


def held(node):
    last_blank(node).holders = ["dm-9"]


def larger(node):
    last_blank(node).size_bytes += 1 << 30


REFUSALS = [(suspended, "ost_0 is suspended"), (held, "is in use"), (larger, "Choose disks that are alike")]


@pytest.mark.parametrize(("change", "expected"), REFUSALS)
@pytest.mark.parametrize("step", ["check", "plan-add", "add"])
def test_it_refuses(change, expected, step, stages):
    walk = stages(SPECIAL).at(step)
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize(("change", "fact"), [(suspended, "pool.state"), (held, "disk_3.holders"), (larger, "disk_3.size_bytes")])
def test_the_node_refuses_what_changed_after_the_portal_asked(change, fact, stages):
    walk = stages(SPECIAL).at("add")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=fact):
        walk.go()
    assert walk.commands() == []


def test_without_the_feature_the_node_plans_nothing(stages):
    walk = stages(WIDE).at("plan-add")
    with walk.changing() as node:
        node.pool("ost_0").classes = False
    with pytest.raises(Stuck, match="feature@allocation_classes=enabled"):
        walk.go()


def test_a_pool_whose_vdevs_have_different_ashifts_is_left_to_a_person():
    node = rehearsal.beside_mirrors(2, "dedup")
    node.pool("ost_0").tops[0].ashift = 9
    story = STORIES[2]
    walk = Walk(type(story)(**{**vars(story), "twins": lambda: {"oss01": node}}))
    assert any("written with different ashifts" in why for why in walk.why_not())


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("one", DISK_GUARDS, ids=lambda one: one.__name__)
def test_each_disk_is_asked_every_question(number, one, stages):
    """A disk of which nothing is known does not pass, whichever of the disks it is."""
    walk = stages(SPECIAL).at("check")
    params, facts = walk.state.params, walk.facts()
    nothing = {"labels": UNREAD, "in_use": UNREAD, "bay": UNREAD, "health": UNREAD, "size_bytes": UNREAD, "wwid": UNREAD}
    assert each(one)(facts, params).outcome == "pass"
    assert each(one)(disk(key("wwid", number), **nothing)(facts, params), params).outcome != "pass"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_label_on_any_of_them_refuses(number, stages):
    walk = stages(SPECIAL).at("check")
    labelled = disk(key("wwid", number), labels=(A_LABEL,))(walk.facts(), walk.state.params)
    walk.facts = lambda: labelled
    assert any("carries a label of the pool scratch9" in why for why in walk.why_not())


def test_of_no_disk_nothing_passes():
    passes = each(lambda facts, params: pytest.fail("asked of no disk"))
    assert passes(FleetFacts({}), {}).outcome == "unknown"


def test_the_parameters_of_one_disk_never_reach_another():
    params = {"wwid": "a", "scanned_serial": "A", "wwid_2": "b", "scanned_serial_2": "B", "wwid_3": "c"}
    assert numbers_chosen(params) == (1, 2, 3)
    seen = [(one["wwid"], one["scanned_serial"]) for one in (about(params, number) for number in NUMBERS)]
    assert seen == [("a", "A"), ("b", "B"), ("c", ""), ("", "")]


@pytest.mark.parametrize("title", [NVME, NVME_WIDE])
def test_each_disk_without_a_bay_is_scanned_before_anything_is_written(title, stages):
    end = stages(title).end
    for number in range(1, COUNTS[title] + 1):
        walk = stages(title).at(key("scan", number, "-"))
        other = walk.node.disk(chosen(walk.state.params)[number % COUNTS[title]]).serial
        assert any("is not the disk that was chosen" in v.reason for v in walk.step.judges(walk.facts(), walk.state.params, other))
        assert end.state.params[key("scanned_serial", number)] == end.node.disk(end.state.params[key("wwid", number)]).serial


def test_disks_in_known_bays_are_not_scanned(stages):
    assert [one.step for one in stages(SPECIAL).end.state.finished if one.step.startswith("scan") and not one.passed_over] == []


def test_the_run_holds_every_disk_and_every_bay(stages):
    walk = stages(SPECIAL).at("add")
    keys = walk.runbook.locks(walk.facts(), walk.state.params)
    assert [one.partition(":")[0] for one in keys].count("disk") == [one.partition(":")[0] for one in keys].count("bay") == 3
    gone = disk("wwid_2", wwid=UNREAD)(walk.facts(), walk.state.params)
    assert walk.runbook.locks(gone, walk.state.params) == ()


@pytest.mark.parametrize(
    ("name", "field", "words"),
    [("disk 1", "wwid", "the disk that comes"), ("disk 2", "serial", "its serial"), ("disk 3", "bay", "its bay")],
)
def test_a_plan_that_means_another_disk_is_not_taken(name, field, words, stages):
    walk = stages(SPECIAL).at("confirm")
    plan, agrees = walk.state.plan, walk.runbook.step("plan-add").agrees
    assert not blockers(agrees(walk.facts(), walk.state.params, plan))
    other = {**plan, name: {**plan[name], field: "another"}}
    assert any(words in verdict.reason for verdict in blockers(agrees(walk.facts(), walk.state.params, other)))
    fewer = {key: value for key, value in plan.items() if key != name}
    assert blockers(agrees(walk.facts(), walk.state.params, fewer))


def test_a_plan_with_the_disks_in_another_order_is_not_taken(stages):
    walk = stages(SPECIAL).at("confirm")
    plan = {**walk.state.plan, "argv": [*walk.state.plan["argv"][:-2], *reversed(walk.state.plan["argv"][-2:])]}
    assert blockers(walk.runbook.step("plan-add").agrees(walk.facts(), walk.state.params, plan))


def test_by_hand_the_snippet_compares_every_disk_and_that_none_has_a_label(stages):
    walk = stages(SPECIAL).at("confirm")
    found = grounds.of(walk.facts(), "oss01", walk.state.plan)
    assert [(one.wwid, one.label) for one in found.disks] == [(wwid, NONE) for wwid in chosen(walk.state.params)]
    text = snippet.make({**walk.state.plan, "by_hand": found.to_plan()}, "0" * 32, 1795252000)
    assert "zpool add -o ashift=12 ost_0 special mirror /dev/disk/by-id/" in text
    assert all(text.count(f"  disk /dev/disk/by-id/wwn-0x{wwid.removeprefix('naa:')} ") == 1 for wwid in chosen(walk.state.params))


def test_it_is_offered_where_the_node_has_disks_enough(stages):
    walk = stages(WIDE).at("choose")

    def roles(count: int) -> list[str]:
        with walk.changing() as node:
            node.disks[:] = [one for one in node.disks if one.partitions] + [one for one in node.disks if not one.partitions][:count]
        offers = manual_start.of_pool(walk.facts(), "oss01", "ost_0")
        return [one.params["role"] for one in offers if one.runbook.slug == "add-special"]

    assert roles(4) == ["special", "dedup"]
    assert roles(3) == []
