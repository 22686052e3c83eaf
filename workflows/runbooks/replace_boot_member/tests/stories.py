"""Walks of replace-boot-member: the first one is its transcript."""

from __future__ import annotations

from collections.abc import Callable

from twin.model import Node
from workflows.analysis import manual_start
from workflows.engine.core import Option, Params
from workflows.facts import FleetFacts
from workflows.runbooks.replace_boot_member import rehearsal
from workflows.runbooks.replace_boot_member.guards import OTHER
from workflows.tests.walks import Story, Walk


def the_ill_one(facts: FleetFacts) -> Params:
    """The second member of the mirror: a person begins it at the pool."""
    offers = [one for one in manual_start.of_pool(facts, "pve1", "rpool") if one.runbook.slug == "replace-boot-member"]
    return offers[1].params


def as_it_was(walk: Walk) -> None:
    """Nothing was ordered: nothing is changed before the table is copied."""
    assert walk.commands() == []


def first(options: tuple[Option, ...]) -> str:
    return options[0].value


def by_hand(options: tuple[Option, ...]) -> str:
    return next(one.value for one in options if one.value == OTHER)


def scanned(walk: Walk) -> str:
    return walk.node.disk(walk.state.params["wwid"]).serial


def made_blank(walk: Walk) -> str:
    """As `sgdisk --zap-all` does."""
    with walk.changing() as node:
        node.disk(walk.state.params["wwid"]).partitions.clear()
    return "sgdisk --zap-all was run on it."


def story(name: str, make: Callable[[], Node], boot: Callable[[tuple[Option, ...]], str] = first) -> Story:
    return Story(
        runbook="replace-boot-member",
        twins=lambda: {"pve1": make()},
        params=the_ill_one,
        choices={"boot": boot},
        hands={"scan": scanned, "make-blank": made_blank, "boot-by-hand": lambda walk: "grub-install was run on the new disk."},
        restored=as_it_was,
        name=name,
    )


def without_the_tool() -> Node:
    """Debian with grub in the BIOS boot partition."""
    node = rehearsal.lost_one()
    node.boot_uuids, node.efi = None, False
    return node


LOST = story("", rehearsal.lost_one)
SERVING = story("replace-boot-member, a member that still serves", rehearsal.failing_one)
GRUB = story("replace-boot-member, another boot loader", without_the_tool, by_hand)
MANY = story("replace-boot-member, a raidz2 of partitions without bays", rehearsal.many, by_hand)
STORIES = (LOST, SERVING, GRUB, MANY)
