"""Replace a lost pool member whose old name now belongs to another disk.

    lost -> disk chosen -> checked -> planned -> confirmed -> approved -> replacing -> resilvered -> verified

The lost member is known by its vdev guid alone: its old name and its devid prove nothing. The new disk is known by
its WWID and carries no label. Until `replace` nothing on the node has changed. From `replace` on there is only
forward: ZFS has started writing to the new disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_replace
from workflows import redundancy
from workflows.core import Option, Params, Progress, Runbook, Step, Verdict, ask, blockers, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, known, lookup
from workflows.facts.census import title
from workflows.guards import CANDIDATE_GUARDS, TARGET_GUARDS, facts_are_fresh
from workflows.guards.replaced import REPLACED_GUARDS, the_new_disk_has_taken_over
from workflows.guards.subject import the_disk, the_pool, the_target

RESILVER_SECONDS_MAX = 7 * 24 * 3600  # a large, busy raidz takes days; after a week somebody should look


def every_disk(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """All disks the node sees, the fittest first: who looks for a disk that is not offered must find out why."""
    node = lookup.node(facts, params.get("node", ""))
    if not known(node) or not known(node.disks):
        return ()
    options = [(disk, _option(disk, facts, params)) for disk in node.disks]
    return tuple(option for _, option in sorted(options, key=lambda pair: (len(blockers(pair[1].verdicts)), _place(pair[0]))))


def _place(disk: DiskFacts) -> tuple[str, int, tuple[str, ...]]:
    return (disk.bay.enclosure_id, disk.bay.slot, disk.names) if known(disk.bay) else ("~", 0, disk.names)


def _option(disk: DiskFacts, facts: FleetFacts, params: Params) -> Option:
    if not known(disk.wwid):
        nameless = unknown(f"{title(disk)} has no identity that can be trusted: {disk.wwid.reason}")
        return Option(f"no-wwid:{' '.join(disk.names)}", title(disk), _described(disk), (nameless,))
    verdicts = ask(CANDIDATE_GUARDS, facts, {**params, "wwid": disk.wwid})
    return Option(disk.wwid, title(disk), _described(disk), verdicts)


def _described(disk: DiskFacts) -> str:
    size = f"{disk.size_bytes / 1e12:.2f} TB" if known(disk.size_bytes) else "size not known"
    serial = f"serial {disk.serial}" if known(disk.serial) else "serial not known"
    bay = f"bay {disk.bay.slot} of {disk.bay.enclosure_id}" if known(disk.bay) else "bay not known"
    return f"{bay}: {disk.vendor} {disk.model}, {size}, {serial}"


def replace_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return {name: params.get(name, "") for name in zpool_replace.PARAMS}


def plan_is_for_what_was_chosen(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Whether the node means the same vdev, the same disk, the same bay and the same command as we do."""
    wanted = replace_params(facts, params)
    outgoing, incoming = _part(plan, "outgoing"), _part(plan, "incoming")
    if bad := zpool_replace.check(wanted):
        return (refuse(bad),)
    return (
        _same("the command", list(zpool_replace.argv(wanted)), plan.get("argv")),
        _same("the vdev that goes", params["vdev_guid"], outgoing.get("vdev_guid")),
        _same("the disk that comes", params["wwid"], incoming.get("wwid")),
        *_same_as_seen(facts, params, incoming),
    )


def _same_as_seen(facts: FleetFacts, params: Params, incoming: Mapping[str, Any]) -> tuple[Verdict, ...]:
    disk = the_disk(facts, params)
    if not known(disk):
        return (unknown(disk.reason),)
    verdicts = []
    if known(disk.serial):
        verdicts.append(_same("its serial", disk.serial, incoming.get("serial")))
    if known(disk.bay):
        verdicts.append(_same("its bay", f"{disk.bay.enclosure_id}/{disk.bay.slot}", incoming.get("bay")))
    return tuple(verdicts)


def _same(what: str, ours: Any, theirs: Any) -> Verdict:
    if ours == theirs:
        return ok(f"Node and portal agree on {what}.")
    return refuse(f"Of {what} the node says {theirs!r} and the portal {ours!r}. Have the node look again, then ask for a new plan.")


def _part(plan: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = plan.get(name)
    return part if isinstance(part, dict) else {}


def what_is_left_meanwhile(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """How many more losses the vdev survives, now and while the new disk is filled: it counts only when it is full."""
    target = the_target(facts, params)
    if not known(target):
        return {"redundancy": {"margin_now": "unknown", "margin_during": "unknown", "why": target.reason}}
    margin = redundancy.top_margin(target.pool, target.top)
    said = str(margin) if known(margin) else "unknown"
    why = redundancy.explain(target.top, target.pool.scans) if known(margin) else margin.reason
    return {"redundancy": {"margin_now": said, "margin_during": said, "why": f"{why} The new disk counts only when it is filled."}}


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """The pool, the disk and its bay: two runs must not meet in any of them."""
    disk = the_disk(facts, params)
    if not known(disk) or not known(disk.bay):
        return ()
    return (f"pool:{params['pool_guid']}", f"disk:{params['wwid']}", f"bay:{disk.bay.enclosure_id}/{disk.bay.slot}")


def guid_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['vdev_guid'][-6:]} {params['pool']}"


def how_far_the_resilver_is(facts: FleetFacts, params: Params) -> Progress:
    pool = the_pool(facts, params)
    if not known(pool):
        return Progress(pool.reason)
    if not known(pool.scans):
        return Progress(pool.scans.reason)
    running = [scan for scan in pool.scans if scan.function in redundancy.REPAIRS and scan.state in ("running", "paused")]
    if not running:
        return Progress(pool.scans[0].text if pool.scans else f"{pool.name} shows no scan.")
    return Progress(running[0].text, _percent(running[0].percent), running[0].eta)


def _percent(said: str | None) -> float | None:
    try:
        return None if said is None else min(100.0, max(0.0, float(said)))
    except ValueError:
        return None


RUNBOOK = Runbook(
    slug="wwid-mismatch-replace",
    title="Replace a lost member whose old name belongs to another disk",
    purpose="A pool has lost a member, and the name the pool remembers for it leads to a disk that is somebody else now. "
    "This puts a blank disk into the lost member's place, naming both by what cannot move: vdev guid and WWID.",
    states="lost -> disk chosen -> checked -> planned -> confirmed -> approved -> replacing -> resilvered -> verified",
    point_of_no_return="replace",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the lost member",
        "was": "the name the pool remembers for it; a string of the past",
    },
    locks=what_must_be_held,
    steps=(
        Step(
            slug="choose",
            title="Choose the new disk",
            kind="DECIDE",
            why="Every disk the node sees is listed, with what speaks for and against it. Only a blank disk of fitting size in a "
            "known bay can be chosen. Nothing changes on the node.",
            guards=(facts_are_fresh,),
            param="wwid",
            options=every_disk,
        ),
        Step(
            slug="check",
            title="Check pool, lost member and new disk",
            kind="CHECK",
            why="Each question must be answered with yes. What cannot be told counts as no.",
            guards=(*TARGET_GUARDS, *CANDIDATE_GUARDS),
        ),
        Step(
            slug="plan",
            title="Have the node plan it",
            kind="PLAN",
            why="The node reads everything again and says the exact command, what goes, what comes, and how the pool will look. "
            "It changes nothing, and holds itself to these facts when the command runs.",
            guards=(*TARGET_GUARDS, *CANDIDATE_GUARDS),
            operation="zpool_replace",
            params=replace_params,
            agrees=plan_is_for_what_was_chosen,
            adds=what_is_left_meanwhile,
        ),
        Step(
            slug="confirm",
            title="Confirm what is replaced",
            kind="CONFIRM",
            why="You type what you believe is being replaced. It is the guid and not a serial number, because the lost disk cannot "
            "be asked for its serial, and the disk that has its name today is another one.",
            phrase=guid_end_and_pool,
            phrase_hint="Type the last 6 digits of the lost member's guid, a space, and the pool's name.",
        ),
        Step(
            slug="approve",
            title="Have another person approve the plan",
            kind="APPROVE",
            why="Somebody who had no hand in this run reads the plan. The approval is for this plan only; a new plan needs a new one.",
            approvals=1,
        ),
        Step(
            slug="replace",
            title="Replace the disk",
            kind="EXECUTE",
            why="The node checks everything once more and runs the one command of the plan, at most once. All content of the new "
            "disk is overwritten; what the pool holds stays readable meanwhile.",
            guards=(*TARGET_GUARDS, *CANDIDATE_GUARDS),
            operation="zpool_replace",
            effect="at_most_once",
            destructive=True,
            params=replace_params,
        ),
        Step(
            slug="resilver",
            title="Wait for the resilver",
            kind="WAIT",
            why="ZFS fills the new disk and then lets the old member go. Until then the vdev survives no more losses than before.",
            until=the_new_disk_has_taken_over,
            sources=("zpool_status", "zpool_status_guid", "zdb_label"),
            progress=how_far_the_resilver_is,
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        Step(
            slug="verify",
            title="Verify that the pool is whole",
            kind="VERIFY",
            why="The node looks again, and every answer rests on what it says after the command has ended.",
            guards=REPLACED_GUARDS,
            sources=("zpool_status", "zpool_status_guid", "zdb_label", "block"),
        ),
    ),
)
