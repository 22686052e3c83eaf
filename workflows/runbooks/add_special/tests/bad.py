"""What makes each guard that add-special alone asks refuse, and not know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workflows.engine.core import Params
from workflows.facts import DiskFacts, FleetFacts, known
from workflows.guards.several import NUMBERS, OF_EACH, about, numbers_chosen
from workflows.runbooks.add_auxiliary.tests import bad as of_auxiliary
from workflows.runbooks.add_special import DISK_GUARDS
from workflows.tests import bad_disks
from workflows.tests.bends import UNREAD, Bad, Bend, disk, in_a_node, over_disk, pool, vdevs

LAST = ("wwid_4", "wwid_3", "wwid_2")


def kind_of_data(**changes: object) -> Bend:
    """Every data vdev of another make."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        return pool(tops=lambda tops: tuple((r, replace(top, **changes) if r == "data" else top) for r, top in tops))(facts, params)

    return bent


def one_more_of_the_data(facts: FleetFacts, params: Params) -> FleetFacts:
    """Beside the first vdev there is one like it that writes smaller blocks."""

    def more(tops: tuple) -> tuple:
        first = next(((role, top) for role, top in tops if role == "data" and known(top.ashift)), None)
        return tops if first is None else (*tops, ("data", replace(first[1], guid=4711, name="one-more", ashift=9)))

    return pool(tops=more)(facts, params)


def in_one_bay(facts: FleetFacts, params: Params) -> FleetFacts:
    """The node shows the second disk where the first is."""
    node = facts.nodes.get(params.get("node", ""))
    first = next((one for one in node.disks if one.wwid == params.get("wwid")), None) if node is not None and known(node.disks) else None
    return disk("wwid_2", bay=first.bay)(facts, params) if first is not None else facts


def the_last(**changes: object) -> Bend:
    """The disk that was chosen last."""

    def meant(one: DiskFacts, params: Params) -> bool:
        return known(one.wwid) and one.wwid == next((params[key] for key in LAST if params.get(key)), "")

    return in_a_node("disks", meant, **changes)


def among_the_data(facts: FleetFacts, params: Params) -> FleetFacts:
    role = params.get("role", "")
    return pool(tops=lambda tops: tuple(("data" if one == role else one, top) for one, top in tops))(facts, params)


REFUSED = (
    Bad("a_mirror_fits_beside_the_data", "add-redundancy does that", kind_of_data(kind="disk", children=(), parity=0)),
    Bad("a_mirror_fits_beside_the_data", "adds 4 at the most", kind_of_data(kind="raidz", parity=4)),
    Bad("enough_disks_are_chosen", "Begin again", kind_of_data(kind="raidz", parity=1)),
    Bad("the_data_has_one_ashift", "with different ashifts", one_more_of_the_data),
    Bad("the_disks_are_apart", "look which is there", in_one_bay),
    Bad("the_disks_are_alike", "Choose disks that are alike", the_last(logical_block_bytes=4096)),
    Bad("the_disks_are_alike", "zpool refuses more than 16 MiB", the_last(size_bytes=1 << 42)),
    Bad("the_disks_are_alike", "made for a RAID controller", the_last(logical_block_bytes=520)),
    Bad("the_disks_are_alike", "Choose disks with smaller blocks", kind_of_data(ashift=8)),
    Bad("the_pool_has_no_checkpoint", "gives it up", pool(checkpoint=True)),
    Bad("the_mirror_is_in_its_class", "get help", among_the_data),
    Bad("the_mirror_is_in_its_class", "see what the command answered", over_disk(kind="raidz")),
    Bad("the_mirror_is_in_its_class", "its situation says what helps", vdevs(lambda one, p: known(one.wwid) and one.wwid == p.get("wwid_2"), state="FAULTED")),
)  # fmt: skip
UNSURE = (
    Bad("it_is_a_class_that_holds_data", "The pool guid of a pool on", pool(guid=UNREAD)),
    Bad("a_mirror_fits_beside_the_data", "are not known", pool(tops=UNREAD)),
    Bad("enough_disks_are_chosen", "are not known", pool(tops=UNREAD)),
    Bad("the_disks_are_apart", "does not see the disk", in_a_node("disks", lambda one, params: True, wwid=UNREAD)),
    Bad("the_disks_are_alike", "The block size of", the_last(logical_block_bytes=UNREAD)),
    Bad("the_disks_are_alike", "The size of", the_last(size_bytes=UNREAD)),
    Bad("the_data_has_one_ashift", "is not known", kind_of_data(ashift=UNREAD)),
    Bad("the_pool_has_no_checkpoint", "has a checkpoint is not known", pool(checkpoint=UNREAD)),
    Bad("the_mirror_is_in_its_class", "are not known", pool(tops=UNREAD)),
)


def of_a_disk(bend: Bend, number: int) -> Bend:
    """The same change to this disk; where so many are not chosen, to the last of them."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        there = numbers_chosen(params)
        return bend(facts, about(params, min(number, there[-1])) if there else params)

    return bent


def of_several(own: tuple[Bad, ...], shared: tuple[Bad, ...]) -> Iterator[Bad]:
    """What is asked of each disk alike: made worse in the last one, which an answer about the first would not show."""
    asked = {one.__name__ for one in DISK_GUARDS}
    yield from own
    for bad in shared:
        if bad.guard in asked:
            yield Bad(f"{OF_EACH}{bad.guard}", bad.expected, of_a_disk(bad.bend, NUMBERS[-1]))
        if bad.guard == SCANNED:
            yield from (Bad(f"for_disk_{number}_{bad.guard}", bad.expected, of_a_disk(bad.bend, number)) for number in NUMBERS[1:])


SCANNED = "the_disk_is_seen_and_running"
REFUSED = tuple(of_several(REFUSED, (*bad_disks.REFUSED, *of_auxiliary.REFUSED)))
UNSURE = tuple(of_several(UNSURE, (*bad_disks.UNSURE, *of_auxiliary.UNSURE)))
NEVER: dict[tuple[str, str], str] = {  # (guard, outcome) that cannot be -> why
    (
        f"{OF_EACH}the_disk_sits_in_a_known_bay",
        "refuse",
    ): "It asks whether something can be told at all: there is no wrong answer, only none.",
    ("it_is_a_class_that_holds_data", "refuse"): "What a run is begun with is special or dedup; a test gives it another word.",
}
ANSWERS: dict[str, str] = {}  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
