"""Take over the pools of a head that is dead: prove that it has no power and that nobody writes, then import by force, once.

    the head is silent -> looked -> checked -> shown to have no power -> a minute apart, nobody wrote -> approved -> imported by force
      -> what it serves is started by hand -> the head is kept from it -> the head returns, and cannot import it

`-f` overrides what protects a pool from two hosts, so everything that it overrides is proven before. That the head has no power is shown by a text
of its management controller, by its outlets or at the rack, with its serial number, and is good for ten minutes; the portal holds no password of
a controller and switches nothing off. From "import" on there is only forward: the labels name this node. A head that comes back and imports the
pool too destroys it, so that stays open until it reports again and cannot.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_import_fenced
from workflows.engine.core import CheckStep, ConfirmStep, Loop, ManualStep, Params, Runbook, WaitStep
from workflows.facts import FleetFacts, known
from workflows.guards.importing import (
    no_imported_pool_has_its_name,
    no_other_system_writes_to_it,
    the_listing_shows_the_pool_once,
    the_node_has_a_hostid,
    the_pool_is_not_imported_here,
    this_software_can_read_it,
    what_can_be_imported_is_fresh,
)
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.runbooks._imported import AFTERWARDS, SOURCES
from workflows.runbooks._orders import order, verify, what_must_be_held
from workflows.runbooks._starting import SERVES, start
from workflows.runbooks.take_over.guards import (
    WHAT_TO_PASTE,
    a_minute_lies_between_the_looks,
    dead,
    every_label_names_the_dead_node,
    every_member_is_here_and_can_be_read,
    its_hostid_is_another,
    its_serial_numbers_are_known,
    no_host_wrote_to_it_meanwhile,
    no_third_node_has_or_may_have_it,
    no_third_node_imports_it_by_itself,
    since_when_it_is_fenced,
    the_dead_node_is_silent,
    the_first_look,
    the_head_cannot_import_it,
    the_head_does_not_have_it_too,
    the_head_has_no_power,
    the_head_is_kept_from_it,
    what_fenced_it_is_fresh,
    what_is_kept,
)

GUARDS = (
    what_can_be_imported_is_fresh,
    the_dead_node_is_silent,
    its_hostid_is_another,
    the_node_has_a_hostid,
    the_listing_shows_the_pool_once,
    no_other_system_writes_to_it,
    every_label_names_the_dead_node,
    every_member_is_here_and_can_be_read,
    no_third_node_has_or_may_have_it,
    no_third_node_imports_it_by_itself,
    no_imported_pool_has_its_name,
    this_software_can_read_it,
    the_pool_is_not_imported_here,
)
PROVEN = (*GUARDS, what_fenced_it_is_fresh, no_host_wrote_to_it_meanwhile)
WAIT_SECONDS_MAX = 180
RETURNS_SECONDS_MAX = 14 * 86400


def what_is_taken(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    head = dead(facts, params)
    host, hostid = (head.hostname, head.hostid) if known(head) else ("", "")
    return {
        "pool": params["pool"],
        "pool_guid": params["pool_guid"],
        "host": host if known(host) else "",
        "hostid": hostid if known(hostid) else "",
        **{name: params.get(name, "") for name in ("fence", "fenced_at", "rings", "looked_at")},
    }


def the_pool_and_the_head(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['pool']} from {params['dead_node']}"


RETURNING = Loop(
    slug="returning",
    what=lambda params: f"{params['pool']} was taken over from {params['dead_node']}, which must not import it when it has power again.",
    undo="Unplug its SAS cables, or mask its zfs-import units and remove its cache file, before it boots. Then have its agent report.",
    over=the_head_cannot_import_it,
)
RETURN_WHY = (
    "A head that boots with its SAS cables and its old cache file imports the pool again, and two hosts write to it. Before its power returns: unplug "
    "its SAS cables; or boot it from a rescue system, remove /etc/zfs/zpool.cache, and mask `zfs-import-cache.service` "
    "and `zfs-import-scan.service`. Stop a cluster manager from starting the pool there."
)


def _returned(slug: str, undoes: str = "") -> WaitStep:
    return WaitStep(
        slug=slug,
        title="Wait until the head reports and cannot import the pool",
        why="It may take days. To give the pool back then: export it here, and import it there with import-pool; never force it there.",
        until=the_head_cannot_import_it,
        alarm=the_head_does_not_have_it_too,
        deadline_seconds=RETURNS_SECONDS_MAX,
        closes=(RETURNING.slug,),
        undoes=undoes,
    )


RUNBOOK = Runbook(
    slug="take-over",
    title="Take over a pool of a dead head",
    purpose="A head died with its pools imported, and another one at the same shelf is to serve them. This proves that the dead one has no power and gets "
    "none by itself, that its labels stand still, and that no third node has the pool; then two people have it imported by force, once.",
    states="silent -> checked -> shown to have no power -> nobody writes -> approved -> imported -> started by hand -> the head is kept from it -> the head returned",
    point_of_no_return="import",
    params={
        "node": "the node that takes the pool over",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "dead_node": "the node that had it and is dead",
    },
    locks=what_must_be_held,
    undo="returned-after-all",
    steps=(
        verify(
            "look",
            "Have the node read the listing, every label and every uberblock",
            "What is decided rests on what is on the disks now. Looking imports nothing.",
            (what_can_be_imported_is_fresh,),
            sources=SOURCES,
        ),
        CheckStep(
            slug="check",
            title="Check that the head is silent and that this node may have the pool",
            why="A head that reports is not dead. Every label must name it, every member must be here, and no third node may have the pool. Multihost "
            "activity refuses, and nothing overrides that. What is not known counts as no.",
            guards=(*GUARDS, its_serial_numbers_are_known, allowed(zpool_import_fenced), released(zpool_import_fenced)),
        ),
        ManualStep(
            slug="fence",
            title="Switch the head off, and show that it has no power",
            why="The portal switches nothing off: do it by the head's management controller, at its outlets, or unplug it. What shows it is good for ten minutes, "
            "and must have the serial number that the head itself reported. A controller must be set never to switch it on again, and its watchdog off. "
            "Wake on LAN and a clock that wakes it are not seen there: unplugging rules those out too.",
            guards=(the_dead_node_is_silent,),
            asks=WHAT_TO_PASTE,
            judges=the_head_has_no_power,
            reads=what_is_kept,
            keeps=since_when_it_is_fenced,
            learned=("fenced_at",),
            param="fence",
            again="still",
        ),
        WaitStep(
            slug="still",
            title="Wait a minute between two looks at the uberblocks",
            why="A host that has the pool writes an uberblock every few seconds. What every ring holds is kept, and read again after a minute.",
            until=a_minute_lies_between_the_looks,
            keeps=the_first_look,
            learned=("rings", "looked_at"),
            alarm=the_dead_node_is_silent,
            deadline_seconds=WAIT_SECONDS_MAX,
        ),
        verify(
            "stood",
            "Verify that no host wrote meanwhile",
            "The node reads every label and every ring again. One ring that moved ends it: some host has the pool.",
            PROVEN,
            sources=SOURCES,
        ),
        *order(
            "import",
            "Import it by force",
            zpool_import_fenced,
            what_is_taken,
            PROVEN,
            "By guid, with -f, no cache file and no mounts. The node reads labels and rings once more immediately before, and refuses where one moved or "
            "what shows that the head has no power is older than ten minutes; then that is shown again, and planned again.",
            confirm=ConfirmStep(
                slug="confirm-import",
                title="Confirm what is taken from whom",
                why="You type the pool and the head that must never have it again by itself.",
                phrase=the_pool_and_the_head,
                phrase_hint="Type the pool's name, the word from, and the name of the dead node.",
            ),
            approvals=1,
            opens=RETURNING,
        ),
        verify(
            "verify-import",
            "Verify that it is imported for writing",
            "The node looks again.",
            SERVES,
            sources=AFTERWARDS,
        ),
        *start(),
        ManualStep(
            slug="secure",
            title="Keep the head from the pool before its power returns",
            why=RETURN_WHY,
            asks="Say what keeps the head from importing it, and who did that.",
            judges=the_head_is_kept_from_it,
        ),
        _returned("returned"),
        # the way back
        _returned("returned-after-all", undoes=RETURNING.slug),
    ),
)
