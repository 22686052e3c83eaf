"""What replace-boot-member does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors.boot_tool import BootTool
from twin.partitioning import boot_disk
from workflows.analysis import manual_start
from workflows.engine import by_hand
from workflows.engine import events as ev
from workflows.engine.core import blockers
from workflows.guards.partitioned import the_member_has_its_disk_alone
from workflows.guards.policy import Policy
from workflows.runbooks.replace_boot_member.guards import OTHER, the_member_is_a_partition_beside_others, what_the_old_disk_still_serves
from workflows.runbooks.replace_boot_member.tests.stories import STORIES
from workflows.situations import detect_all
from workflows.tests.walks import ANN, BOB, Stages, stages_of

LOST, SERVING, GRUB, MANY = (one.title for one in STORIES)
OBSERVES = Policy("observe", (), (), path="/etc/slotlight/policy.json")
NONCE = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(one for one in STORIES if one.title == title))

    return of


def links(walk):
    new, old = (f"/dev/disk/by-id/wwn-0x{walk.state.params[name].partition(':')[2]}" for name in ("wwid", "from_wwid"))
    return new, old


@pytest.mark.parametrize("title", [LOST, SERVING])
def test_each_command_names_both_disks_by_their_identity_and_the_member_by_its_guid(title, stages):
    walk = stages(title).end
    new, old = links(walk)
    assert walk.commands() == [
        ["sgdisk", f"--replicate={new}", old],
        ["sgdisk", "--randomize-guids", new],
        ["zpool", "replace", "rpool", walk.state.params["vdev_guid"], f"{new}-part3"],
        ["proxmox-boot-tool", "format", f"{new}-part2"],
        ["proxmox-boot-tool", "init", f"{new}-part2"],
    ]
    assert [leaf.path for leaf in walk.node.pool("rpool").leaves()] == [f"{old}-part3", f"{new}-part3"]
    assert not [one for one in detect_all(walk.facts()) if one.severity == "act" and "rpool" in one.title]


def test_the_situation_of_a_lost_one_leads_here_and_to_no_runbook_that_takes_a_whole_disk(stages):
    found = [answer.runbook for one in detect_all(stages(LOST).at("choose").facts()) for answer in one.answers]
    assert found == ["replace-boot-member"]


def test_a_whole_disk_is_not_offered_and_not_taken(stages):
    walk = stages(LOST).at("choose")
    with walk.changing() as node:
        for leaf in node.pool("rpool").leaves():
            leaf.path, leaf.devid = leaf.path.replace("-part3", "-part1"), leaf.devid.replace("-part3", "-part1")
    assert [one for one in manual_start.of_pool(walk.facts(), "pve1", "rpool") if one.runbook.slug == "replace-boot-member"] == []
    assert "take blink-and-replace" in the_member_is_a_partition_beside_others(walk.facts(), walk.state.params).reason


def test_of_a_first_partition_beside_others_neither_runbook_sends_to_the_other(stages):
    walk = stages(LOST).at("choose")
    with walk.changing() as node:
        for leaf in node.pool("rpool").leaves():
            leaf.path, leaf.devid = leaf.path.replace("-part3", "-part1"), leaf.devid.replace("-part3", "-part1")
    reason = the_member_has_its_disk_alone(walk.facts(), walk.state.params).reason
    assert "replace-boot-member" not in reason
    assert "sgdisk" in reason


def test_a_disk_with_partitions_is_not_chosen(stages):
    walk = stages(LOST).at("choose")
    with walk.changing() as node:
        boot_disk(node.disks[-1])
    option = next(one for one in walk.step.options(walk.facts(), walk.state.params) if one.value == walk.node.disks[-1].wwid)
    assert any("Find out whose they are" in verdict.reason for verdict in blockers(option.verdicts))


def test_a_swap_partition_of_the_new_disk_that_came_up_meanwhile_stops_the_replacement(stages):
    walk = stages(LOST).at("replace")
    with walk.changing() as node:
        node.disks[-1].partition(2).swap = True
    assert any("swap" in why for why in walk.why_not())
    assert [argv[0] for argv in walk.commands()] == ["sgdisk", "sgdisk"]


@pytest.mark.parametrize(
    ("title", "boot", "fit"),
    [
        (LOST, None, ["proxmox-uefi", "proxmox-grub"]),
        (LOST, BootTool(("1B21-C4A2",), (("1B21-C4A2", "sda2"),), False), ["proxmox-grub"]),
        (LOST, BootTool(("9999-9999",), (("1B21-C4A2", "sda2"),), True), [OTHER]),
        (GRUB, None, [OTHER]),
    ],
)
def test_what_the_node_reports_decides_what_boots_it(title, boot, fit, stages):
    walk = stages(title).at("boot")
    facts = walk.facts()
    if boot is not None:
        facts = replace(facts, nodes={name: replace(node, boot=boot) for name, node in facts.nodes.items()})
    options = walk.step.options(facts, walk.state.params)
    assert [one.value for one in options if not blockers(one.verdicts)] == fit


def test_what_boots_it_is_not_known_and_nothing_fits(stages):
    walk = stages(LOST).at("boot")
    facts = walk.facts()
    unread = stages(GRUB).at("boot").facts().nodes["pve1"].boot
    facts = replace(facts, nodes={name: replace(node, boot=unread, absent={}) for name, node in facts.nodes.items()})
    assert all(blockers(one.verdicts) for one in walk.step.options(facts, walk.state.params))


def test_what_the_old_disk_still_serves_is_shown_before_it_is_pulled(stages):
    walk = stages(SERVING).at("check")
    text = what_the_old_disk_still_serves(walk.facts(), walk.state.params)
    assert "7D3E-0F55" in text
    assert "`proxmox-boot-tool clean`" in text
    with walk.changing() as node:
        node.disks[1].partition(1).swap = True
    assert "End that before it is pulled" in what_the_old_disk_still_serves(walk.facts(), walk.state.params)


def test_where_no_order_is_made_a_person_gives_the_same_plan(stages):
    """Under the same guards, confirmation and approval; the snippet looks for both disks before it writes to one."""
    walk = stages(LOST).at("check")
    facts = replace(walk.facts(), nodes={name: replace(node, policy=OBSERVES) for name, node in walk.facts().nodes.items()})
    walk.facts = lambda: facts
    walk.must(ev.CheckAsked, by=ANN, facts=facts, by_hand="yes")
    walk.must(ev.PlanByHandAsked, by=ANN, facts=facts)
    walk.answer_the_plan()
    walk.must(ev.Confirmed, by=ANN, text=walk.step.phrase(walk.state.params, walk.state.plan))
    walk.must(ev.Approved, by=BOB, plan_digest=walk.state.plan_digest, accepted=walk._accepted())
    walk.must(ev.ByHandAsked, by=ANN, facts=facts, nonce=NONCE)
    new, old = links(walk)
    text = by_hand.snippet_of(walk.state)
    assert f"  disk {new} naa.{walk.state.params['wwid'].partition(':')[2]} none" in text
    assert f"  disk {old} naa.{walk.state.params['from_wwid'].partition(':')[2]} any" in text
    assert text.index(f"sgdisk --replicate={new} {old}") < text.index(f"sgdisk --randomize-guids {new}")
    assert walk.commands() == []
    assert walk.state.status == "unknown"
