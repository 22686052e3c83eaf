"""Give a pool a special or dedup vdev: a mirror of blank disks that survives as many losses as the data does.

    wanted -> each disk chosen (-> scanned) -> checked -> planned -> confirmed -> approved -> added -> verified

Such a vdev holds metadata and small blocks, or the table of duplicates: with its last disk the whole pool is lost, and a pool with a raidz or dRAID never
lets it go again. So there are two dangers, and zpool guards against neither where the pool's vdevs differ: fewer disks than the data needs, and the wrong
section. The node asks `zpool add -n` first, and compares the tree that it prints row by row with the one that is meant; any difference refuses.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

from agents.operations import zpool_add_class
from agents.operations._new_disks import MAPS
from workflows.engine.core import CheckStep, ConfirmStep, DecideStep, Guard, ManualStep, Option, Params, Runbook, Verdict, refuse
from workflows.facts import FleetFacts, known
from workflows.guards import facts_are_fresh
from workflows.guards.answers import the_chosen_disk
from workflows.guards.candidate import (
    a_path_is_down,
    no_other_node_uses_the_disk,
    nothing_contradicts_who_the_disk_is,
    nothing_else_uses_the_disk,
    the_bay_of_the_disk_is_not_known,
    the_disk_answers_to_its_wwid,
    the_disk_has_no_partitions,
    the_disk_is_seen_and_running,
    the_disk_sits_in_a_known_bay,
    to_choose,
)
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.healthy import the_disk_is_healthy, the_disk_link_is_as_fast_as_others
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.several import NUMBERS, about, chosen, each, key, numbers_chosen, of_disk
from workflows.guards.subject import the_pool
from workflows.guards.target import (
    no_expansion_is_under_way,
    no_removal_is_under_way,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._orders import order, verify
from workflows.runbooks._replacing import every_disk, its_map, pool_disk_and_bay, scan_chosen, takes_in_each
from workflows.runbooks.add_auxiliary.guards import the_disk_carries_no_label_at_all
from workflows.runbooks.add_special.guards import (
    a_mirror_fits_beside_the_data,
    ashift_of,
    enough_disks_are_chosen,
    it_is_a_class_that_holds_data,
    more_than,
    the_data_has_one_ashift,
    the_disks_are_alike,
    the_disks_are_apart,
    the_mirror_is_in_its_class,
    the_pool_has_no_checkpoint,
    what_it_means,
)

ALWAYS = 2  # disks that every such mirror has
ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth"}
FIRST_GUARDS = (
    facts_are_fresh,
    it_is_a_class_that_holds_data,
    a_mirror_fits_beside_the_data,
    the_data_has_one_ashift,
    the_pool_has_no_checkpoint,
    nothing_of_the_pool_comes_first,
)
POOL_GUARDS = (
    *FIRST_GUARDS,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_pool_is_not_encrypted_below,
    no_removal_is_under_way,
    no_expansion_is_under_way,
)
DISK_GUARDS = (
    the_disk_is_seen_and_running,
    the_disk_answers_to_its_wwid,
    nothing_contradicts_who_the_disk_is,
    the_disk_carries_no_label_at_all,
    no_other_node_uses_the_disk,
    nothing_else_uses_the_disk,
    the_disk_has_no_partitions,
    the_disk_is_healthy,
    the_disk_link_is_as_fast_as_others,
    the_disk_sits_in_a_known_bay,
)
TOGETHER_GUARDS = (the_disks_are_apart, the_disks_are_alike)
GUARDS = (*POOL_GUARDS, enough_disks_are_chosen, *map(each, DISK_GUARDS), *TOGETHER_GUARDS)


def what_is_added(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """The ashift is that of the data. Where that is not known the operation takes no such order, and a guard has refused before."""
    pool = the_pool(facts, params)
    shift = ashift_of(pool) if known(pool) else pool
    named = {name: params.get(name, "") for name in ("pool", "pool_guid", "role")}
    maps = [uuid for number in numbers_chosen(params) for uuid in its_map(facts, about(params, number)).values()]
    wanted = {**named, "ashift": str(shift) if known(shift) else "", "wwids": " ".join(chosen(params))}
    return {**wanted, MAPS: " ".join(maps)} if maps else wanted


def paths_are_down(facts: FleetFacts, params: Params) -> str:
    return "\n".join(filter(None, (a_path_is_down(facts, about(params, number)) for number in numbers_chosen(params))))


def what_comes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"accept": what_it_means(facts, params)}


def serial_ends_class_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    ends = (plan[f"disk {number}"]["serial"][-6:] for number in numbers_chosen(params))
    return f"{' '.join(ends)} {params['role']} {params['pool']}"


def choice(number: int) -> DecideStep:
    def disks_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
        def beside_the_others(one: Guard) -> Guard:
            @wraps(one)
            def asked(facts: FleetFacts, candidate: Params) -> Verdict:
                return one(facts, {**params, key("wwid", number): candidate["wwid"]})

            return asked

        return every_disk(facts, about(params, number), (*to_choose(DISK_GUARDS), *map(beside_the_others, TOGETHER_GUARDS)))

    return DecideStep(
        slug=key("choose", number, "-"),
        title=f"Choose the {ORDINALS[number]} disk",
        why="Every disk the node sees is listed, with the reasons for and against it. Only a blank, healthy disk can be chosen that is like those chosen before "
        "and none of them. One whose bay no source gives is scanned at the rack later. Nothing changes on the node.",
        guards=FIRST_GUARDS,
        needed=more_than(number - 1) if number > ALWAYS else None,
        param=key("wwid", number),
        options=disks_there_are,
    )


def scan(number: int) -> ManualStep:
    @wraps(the_chosen_disk)
    def judges(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
        """The serial number on this disk, which no other one of the node may have too."""
        return the_chosen_disk(facts, about(params, number), answer)

    return replace(
        scan_chosen(key("scan", number, "-")),
        title=f"Scan the {ORDINALS[number]} disk",
        guards=(facts_are_fresh, of_disk(the_disk_is_seen_and_running, number)),
        needed=of_disk(the_bay_of_the_disk_is_not_known, number, refuse),
        judges=judges,
        param=key("scanned_serial", number),
    )


RUNBOOK = Runbook(
    slug="add-special",
    title="Add a special or dedup vdev",
    purpose="A pool is to keep its metadata and small blocks, or its table of duplicates, on disks of their own. This adds a mirror of blank disks as a special "
    "or dedup vdev, with one disk more than the data may lose, after `zpool add -n` has printed the very tree that is meant.",
    states="wanted -> each disk chosen -> checked -> planned -> confirmed -> approved -> added -> verified",
    point_of_no_return="add",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "role": "what the mirror is to hold: special or dedup",
    },
    locks=pool_disk_and_bay,
    steps=(
        *map(choice, NUMBERS),
        *map(scan, NUMBERS),
        CheckStep(
            slug="check",
            title="Check the pool and every disk",
            why="Every guard must pass, for each disk. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(zpool_add_class), released(zpool_add_class)),
            warns=(what_it_means,),
        ),
        *order(
            "add",
            "Add the mirror to the pool",
            zpool_add_class,
            what_is_added,
            GUARDS,
            "All content of the disks is overwritten. The node asks `zpool add -n` once more, and adds them only when the tree it prints is the one that is meant.",
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm every disk and what the mirror is to be",
                why="You type which disks they are and what they are to be, as the pool may need them for as long as it exists.",
                phrase=serial_ends_class_and_pool,
                phrase_hint="Type the last 6 characters of each disk's serial number in the order of the plan, what the mirror is to be (special or dedup), and the "
                "pool's name, with spaces.",
            ),
            approvals=1,
            agrees=takes_in_each(zpool_add_class, what_is_added),
            adds=what_comes,
            warns=(paths_are_down,),
        ),
        verify(
            "verify",
            "Verify that the pool has the mirror in its class",
            "The node looks again: one mirror of exactly these disks is in the class that was meant, and all of them are ONLINE.",
            (the_mirror_is_in_its_class,),
        ),
    ),
)
