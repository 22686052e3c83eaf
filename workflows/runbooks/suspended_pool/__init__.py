"""Get a suspended pool going again without ever having two hosts write to it.

    suspended -> by what -> sick disk named -> partners proven -> resumed or rebooted -> steady -> tuned for a while -> as it was

A pool that I/O errors suspended goes to many-disks-offline, where its disks are brought back and scrubbed. A multihost suspension is
resumed only where this release looks for another host first; everywhere else the node is rebooted, with all that lives on it. While
it is not known what a partner does, nothing is done.
"""

from collections.abc import Mapping

from agents.domain.tunables import TUNABLES, number
from agents.operations import set_tunable, zpool_clear
from agents.operations._pool import MMP
from workflows.engine.core import (
    END,
    CheckStep,
    DecideStep,
    ManualStep,
    Option,
    Params,
    Progress,
    Runbook,
    Verdict,
    WaitStep,
    blockers,
    ok,
    refuse,
    unknown,
)
from workflows.facts import DiskFacts, FleetFacts, known, lookup, title
from workflows.guards import suspended, tuning
from workflows.guards.mass import the_pool_is_suspended
from workflows.guards.modes import nothing_is_lost_together
from workflows.guards.releases import released
from workflows.guards.tuning import Setting
from workflows.runbooks._orders import order, verify
from workflows.runbooks._pulling import find_and_pull
from workflows.runbooks._settings import SET_SOURCES, plan_is_for_this_setting, raised, set_params, way_back
from workflows.situations import _words, pool_suspended

DAY = 24 * 3600
REBOOT_SECONDS = 2 * 3600
FAIL_INTERVALS = "zfs_multihost_fail_intervals"
HOLDS = (1, 7, 14)  # days
PROOF_GUARDS = (
    suspended.what_a_suspension_reads_is_fresh,
    suspended.multihost_suspended_it,
    suspended.no_other_node_has_the_pool,
    suspended.the_pool_can_do_without_the_sick_disk,
)
CLEAR_GUARDS = (*PROOF_GUARDS, suspended.the_sick_disk_is_out, nothing_is_lost_together)
TUNE_GUARDS = (
    tuning.what_tuning_reads_is_fresh,
    tuning.the_value_may_be_set,
    tuning.the_tunable_is_as_it_was,
)
BACK_GUARDS = tuning.PUT_BACK_GUARDS


def kinds_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    multihost = suspended.multihost_suspended_it(facts, params)
    was_io = multihost.outcome == "refuse" and "by I/O errors" in multihost.reason
    io = ok(multihost.reason) if was_io else refuse("It is not known to be that. What is not known is taken for multihost.")
    return (
        Option("multihost", "Multihost suspended it", pool_suspended.WHY[pool_suspended.MMP], (multihost,)),
        Option("io", "I/O errors suspended it", "Go on with many-disks-offline: it brings the disks back, clears, and scrubs.", (io,), END),
    )


def disks_that_may_have_begun_it(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """Those against which the log or the history has evidence, most first; and none, where there is no evidence."""
    found = suspended.suspects(facts, params)
    if not known(found):
        return (Option(suspended.NO_DISK, "No disk is known", found.reason, (unknown(found.reason),)),)
    named = tuple(
        Option(
            wwid,
            _words.where(disk),
            "; ".join(reported) + ".",
            (ok(f"{title(disk)}: {'; '.join(reported)}."),),
            fixes=_what_is_pulled(disk),
        )
        for wwid, (disk, reported) in found.items()
    )
    none = (
        refuse(f"There is evidence against {len(found)} disks. Name the one to take out.")
        if found
        else ok("Neither log nor history names a disk.")
    )
    return (*named, Option(suspended.NO_DISK, "None of them", "It was the HBA, the cable, or the whole shelf.", (none,)))


def _what_is_pulled(disk: DiskFacts) -> Mapping[str, str]:
    """Kept while the node still sees it: what is printed on it, and its bay."""
    serial = {"old_serial": disk.serial} if known(disk.serial) else {}
    place = {"enclosure": disk.bay.enclosure_id, "slot": str(disk.bay.slot)} if known(disk.bay) else {}
    return ({"old_wwid": disk.wwid} if known(disk.wwid) else {}) | serial | place


def ways_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    node = lookup.node(facts, params.get("node", ""))
    boot = node.boot_id if known(node) else node
    reboot = ok("It takes everything on the node down; that is asked next.") if known(boot) else unknown(boot.reason)
    clear = tuple(
        guard(facts, params) for guard in (released(zpool_clear), suspended.the_sick_disk_is_out, suspended.no_other_node_has_the_pool)
    )
    return (
        Option(
            "clear",
            "Let it go on (zpool clear)",
            "Once, and not again: the kernel looks for another writer and may refuse. If it does, this goes on with the reboot.",
            (*clear, *blockers((reboot,))),
            fixes={"boot_id": boot if known(boot) else ""},
        ),
        Option(
            "reboot",
            "Reboot the node",
            "Suspended I/O holds the pool: export hangs, and so does a clean shutdown.",
            (reboot,),
            "others",
            {"boot_id": boot if known(boot) else ""},
        ),
    )


def clear_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "why": MMP}


def keep_the_moment(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    """Since when it runs with nothing amiss, as far as the kernel was asked."""
    node = lookup.node(facts, params.get("node", ""))
    if not known(node) or not known(node.ages) or "kstat_pools" not in node.ages:
        return {}
    seen = int(at - node.ages["kstat_pools"])
    well = suspended.the_pool_is_imported_and_runs(facts, params).outcome == "pass"
    calm = known(node.kstats) and not node.kstats.troubled(params["pool"])
    since = params.get("steady", "").partition(":")[0]
    return {"steady": f"{since if since and well and calm else seen}:{seen}"}


def how_steady_it_is(facts: FleetFacts, params: Params) -> Progress:
    verdict = suspended.its_signs_of_life_get_through(facts, params)
    return Progress(verdict.reason)


def intervals_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """As it is, or longer for a while. Never 0: then a host that stalls goes on writing when it wakes up."""
    tunables, tunable = tuning.the_tunables(facts, params), TUNABLES[FAIL_INTERVALS]
    shown = tunables.get(FAIL_INTERVALS) if known(tunables) else None
    before = number(shown.value) if shown is not None else None
    keep = Option("keep", "Leave it as it is", "The sick disk is out, so nothing has to be tuned.", (ok("Nothing is changed."),), END)
    never = refuse(
        "At 0 a pool is never suspended, and a host that stalls goes on writing. Only where partners are fenced by power, and by a person."
    )
    longer = tuple(
        _longer(facts, params, Setting(tunable, before, value)) for value in tunable.steps if before is not None and value > before
    )
    return (keep, *longer, Option("0", f"{FAIL_INTERVALS}: 0", "Never suspend.", (never,)))


def _longer(facts: FleetFacts, params: Params, setting: Setting) -> Option:
    tunables = tuning.the_tunables(facts, params)
    verdicts = (tuning.judged(facts.nodes[params["node"]], tunables, setting) if known(tunables) else unknown(tunables.reason),)
    text = f"{setting.before} → {setting.value} {setting.tunable.unit}"
    return Option(str(setting.value), f"{FAIL_INTERVALS}: {text}", setting.tunable.cost, verdicts, "", {"setting": setting.text})


def holds_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    return tuple(
        Option(str(days), f"{days} days at most", "Then it is put back.", (ok(f"It is put back after {days} days."),)) for days in HOLDS
    )


def hold_seconds(params: Params) -> int:
    return int(params["hold_days"]) * DAY


def it_may_be_put_back(facts: FleetFacts, params: Params) -> Verdict:
    return refuse("It is held as long as was chosen. To put it back now, end the run.")


def it_was_done_on_the_partners(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    return (suspended.both_nodes_are_set_alike(facts, params),)


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    return (f"pool:{params['pool_guid']}", f"tunables:{params['node']}")


RAISED = raised()

RUNBOOK = Runbook(
    slug="suspended-pool",
    title="Get a suspended pool going again",
    purpose="A pool takes no writes, because its signs of life did not get through. This names the disk that began it, proves that no other "
    "host has the pool, and resumes it where that is safe in this release; else the node is rebooted, with all that lives on it.",
    states="suspended -> by what -> sick disk named -> partners proven -> resumed or rebooted -> steady -> tuned for a while -> as it was",
    point_of_no_return="",
    params={"node": "the node on which the pool is suspended", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    undo="plan-back",
    steps=(
        CheckStep(
            slug="check",
            title="Check that it is suspended",
            why="By the kernel's statistics, which can be read while `zpool` hangs. No other command is sent to a suspended pool.",
            guards=(suspended.what_a_suspension_reads_is_fresh, the_pool_is_suspended),
        ),
        DecideStep(
            slug="kind",
            title="Say what suspended it",
            why="I/O errors and multihost need opposite actions. Where the cause is not known, multihost is assumed.",
            guards=(suspended.what_a_suspension_reads_is_fresh,),
            param="kind",
            options=kinds_there_are,
            branches=(END,),
        ),
        DecideStep(
            slug="sick",
            title="Name the disk that began it",
            why="One disk that stalls can block its whole HBA. While it is present, the pool is suspended again as soon as it runs.",
            guards=(suspended.what_a_suspension_reads_is_fresh,),
            param="sick",
            options=disks_that_may_have_begun_it,
            learned=("old_wwid", "old_serial", "enclosure", "slot"),
        ),
        ManualStep(
            slug="attest",
            title="Answer for the other hosts",
            why=(
                "Any host that can reach these disks may have imported the pool. Stop automatic import there (the HA resource) and "
                "check each with `zpool list`. The portal checks the nodes that report; for the others you answer."
            ),
            asks="Type the names of all other hosts that can reach these disks, with blanks between them, or: none.",
            judges=suspended.the_partners_are_named,
            param="partners",
        ),
        CheckStep(
            slug="proof",
            title="Prove that no other host has the pool",
            why="Two hosts that write to one pool destroy it. Not knowing is a refusal.",
            guards=PROOF_GUARDS,
        ),
        *find_and_pull(
            "find",
            "pull",
            "sick",
            unlit="`zpool offline` hangs on a suspended pool, so the disk is pulled as it is.",
            why="While it is present, the pool is suspended again as soon as it runs.",
            needed=suspended.a_disk_was_named,
        ),
        ManualStep(
            slug="mend",
            title="Mend the cable or the HBA that stalled",
            why="No disk was named, so what all of them hang on stalled. While it does, the pool is suspended again as soon as it runs.",
            needed=suspended.no_disk_was_named,
        ),
        DecideStep(
            slug="way",
            title="Resume, or reboot",
            why="What `zpool clear` does to a multihost suspension differs by release, and in one of them it destroys pools.",
            guards=(suspended.what_a_suspension_reads_is_fresh,),
            param="way",
            options=ways_there_are,
            branches=("others",),
            learned=("boot_id",),
        ),
        *order(
            "clear",
            "Let the pool take writes again",
            zpool_clear,
            clear_params,
            CLEAR_GUARDS,
            "The kernel looks whether another host writes to it, and then goes on. If it refuses, the node is rebooted; it is not tried twice.",
            approvals=1,
            fails_to="others",
            fails_means="The pool stays suspended, and clearing it is not tried twice: it takes a reboot of the node.",
        ),
        WaitStep(
            slug="resumed",
            title="Check that it goes on",
            why="The kernel's statistics show it within seconds.",
            until=suspended.the_pool_is_imported_and_runs,
            sources=("kstat_pools",),
            deadline_seconds=600,
            then="steady",
        ),
        ManualStep(
            slug="others",
            title="Inform the owners of what else runs here",
            why="A reboot takes every pool of the node down.",
            asks="Type the names of the other pools of this node, with blanks between them, or: none.",
            judges=suspended.the_other_pools_are_named,
            param="told",
        ),
        ManualStep(
            slug="reboot",
            title="Reboot the node",
            why=(
                "A clean shutdown may hang on the suspended pool; use the management controller when it does. Leave automatic import "
                "off. State how it was done."
            ),
        ),
        WaitStep(
            slug="rebooted",
            title="Wait for the node",
            why="A new boot id proves that it rebooted and was not only silent.",
            until=suspended.the_node_has_rebooted,
            sources=("node",),
            deadline_seconds=REBOOT_SECONDS,
        ),
        ManualStep(
            slug="import",
            title="Import the pool",
            why="Without the sick disk, by its guid, with no cache file. The import watches for other hosts for ten seconds and more; do not "
            "shorten that.",
            guards=(suspended.the_pool_is_imported_and_runs, suspended.no_other_node_has_the_pool, suspended.the_sick_disk_is_out),
        ),
        WaitStep(
            slug="steady",
            title="Watch it for ten minutes",
            why="If it is suspended a second time, a disk or link still stalls, and clearing it again does not help.",
            until=suspended.its_signs_of_life_get_through,
            alarm=suspended.it_is_not_suspended_again,
            keeps=keep_the_moment,
            learned=("steady",),
            progress=how_steady_it_is,
            sources=("kstat_pools",),
            deadline_seconds=3600,
        ),
        DecideStep(
            slug="tune",
            title="Give it more time, or not",
            why=(
                "With more intervals a stall suspends the pool later, and another host waits longer before it may import. For a limited"
                " time, and with the same value on all hosts. Once the bad disk is out, it is seldom needed."
            ),
            guards=(suspended.what_a_suspension_reads_is_fresh,),
            param="intervals",
            options=intervals_there_are,
            branches=(END,),
            learned=("setting",),
        ),
        DecideStep(
            slug="hold",
            title="Choose for how long",
            why="When the time is over it is put back, whether or not a person is present.",
            guards=(suspended.what_a_suspension_reads_is_fresh,),
            param="hold_days",
            options=holds_there_are,
        ),
        *order(
            "set",
            "Set it here",
            set_tunable,
            set_params,
            TUNE_GUARDS,
            "One value is written and read back. It counts at once, for all pools of the node, until it is put back or the node reboots.",
            agrees=plan_is_for_this_setting,
            opens=RAISED,
        ),
        verify(
            "read-back",
            "Read it back",
            "A kernel may take a value and keep another.",
            (tuning.the_tunable_reads_as_set,),
            SET_SOURCES,
        ),
        ManualStep(
            slug="alike",
            title="Set it alike on the partners",
            why="An importing host uses the value of the last host, which may be any of them.",
            asks="Say on which hosts it was set, or: none.",
            judges=it_was_done_on_the_partners,
        ),
        WaitStep(
            slug="held",
            title="Hold it",
            why="Until the time is over. It is listed among the open loops meanwhile.",
            until=it_may_be_put_back,
            alarm=suspended.it_is_not_suspended_again,
            lasts=hold_seconds,
            deadline_seconds=(max(HOLDS) + 1) * DAY,
        ),
        # the way back
        *way_back(BACK_GUARDS),
        ManualStep(
            slug="alike-again",
            title="Put it back on the partners",
            why="Both hosts must have the same value again.",
            asks="Say on which hosts it was put back, or: none.",
            judges=it_was_done_on_the_partners,
            undoes="raised",
            closes=("raised",),
        ),
    ),
)
