"""Questions before a pool is taken back in time, and after: is there no other way, is the point whole, did ZFS take that one?

A rewind for writing discards for ever. What can be had by reading only is had that way, and what lies further back than ZFS keeps
what it freed is for writing a person's or the vendor's act, never done from here.
"""

from collections.abc import Callable

from agents.collectors.kstat_txgs import Txg
from workflows.analysis.rewind_points import DEFERRED_TXGS, Point, Timeline, timeline
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, PoolFacts, Unknown, derived, known, lookup, need, release_numbers
from workflows.facts.fleet.divergence import rows
from workflows.guards.importing import (
    IMPORT_GUARDS,
    last_used_elsewhere,
    listed_pool,
    no_disk_tells_another_story,
    the_pool_is_imported_here,
)
from workflows.guards.subject import number, the_pool

LABELS_ARE_RETRIED_SINCE = (0, 8)  # before, a label newer than the txg asked for made its disk unusable
SENTENCE_MIN = 20  # characters of a statement that a person signs
BY_HAND = "For writing only a person or the vendor goes that far, by hand and after images of every disk; nothing here does it."


@guard
def it_does_not_come_in_as_it_is(facts: FleetFacts, params: Params) -> Verdict:
    """A pool that can be imported needs no rewind, and some releases do not rewind such a pool."""
    listed = need(listed_pool(facts, params))
    if listed.state != "FAULTED":
        return refuse(f"`zpool import` calls {listed.name} {listed.state}, so nothing has to be given up. Begin read-only-import instead.")
    return ok(f"`zpool import` calls {listed.name} FAULTED: with its newest data it does not come in.")


@guard
def no_force_is_needed(facts: FleetFacts, params: Params) -> Verdict:
    """No import for writing and no rewind is forced (`-f`) from here."""
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    hostid = need(node.hostid, f"The hostid of {node.node} is not known")
    table = rows(node, guid)
    if not table:
        return unknown(f"No disk of {node.node} is known to carry a label of {params.get('pool', guid)}.")
    if last_used_elsewhere(facts, params):
        hosts = ", ".join(sorted({row.label.hostname or "an unknown host" for row in table if row.label.hostid != int(hostid, 16)}))
        return refuse(f"{hosts} used {params.get('pool', '')} last and never exported it. Do this on that host; it is not forced here.")
    return ok(f"{node.node} used {params.get('pool', '')} last, or it was exported.")


@guard
def every_disk_told_its_uberblocks(facts: FleetFacts, params: Params) -> Verdict:
    line = need(the_timeline(facts, params))
    if line.silent:
        return unknown(f"The uberblocks of {', '.join(line.silent)} are not known. A point in time is judged by all disks; look again.")
    if not line.points:
        return unknown(f"No uberblock of {line.listed.name} can be read.")
    return ok(f"All {line.points[0].disks} disks gave their uberblocks: {len(line.points)} points in time.")


@guard
def no_checkpoint_stands(facts: FleetFacts, params: Params) -> Verdict:
    line = need(the_timeline(facts, params))
    if line.checkpoint:
        return refuse(
            f"{line.listed.name} has a checkpoint of txg {line.checkpoint}, and going back to that is another thing. A person decides between them."
        )
    return ok(f"{line.listed.name} has no checkpoint.")


@guard
def this_zfs_can_go_back(facts: FleetFacts, params: Params) -> Verdict:
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    version = release_numbers(node.zfs_module)
    version = need(version, f"The ZFS version of {node.node} is not known")
    text = ".".join(map(str, version))
    if version >= LABELS_ARE_RETRIED_SINCE:
        return ok(f"OpenZFS {text} tries again without the limit where a label is newer than the point in time.")
    chosen, written = need(number({"txg": agreed(params)}, "txg")), [row.label.txg for row in rows(node, guid)]
    known_txgs = [txg for txg in written if txg is not None]
    if not written or len(known_txgs) < len(written):
        return unknown(
            f"OpenZFS {text} cannot go back before a label was written, and of {params.get('pool', guid)} not every label says when. "
            "Read the disks on a node with 0.8 or newer."
        )
    if max(known_txgs) > chosen:
        return refuse(
            f"OpenZFS {text} cannot go back before a label was written (txg {max(known_txgs)}). Read the disks on a node with 0.8 or newer."
        )
    return ok(f"No label is newer than txg {chosen}, so OpenZFS {text} can go back to it.")


def it_lies_behind_the_newest(facts: FleetFacts, params: Params) -> Verdict:
    def judged(point: Point, line: Timeline) -> Verdict:
        if point is line.points[0]:
            return refuse(f"Txg {point.txg} is the newest there is, and with that the import fails. Choose an older one.")
        return ok(f"Txg {point.txg} lies {point.txgs_back} behind the newest: lose {point.loss}.")

    return _of_the_point(facts, params, judged)


def enough_disks_hold_it(facts: FleetFacts, params: Params) -> Verdict:
    def judged(point: Point, line: Timeline) -> Verdict:
        for top, here, least in point.short:
            return refuse(f"Only {here} disks of {top} hold txg {point.txg}, and {least} are needed. Choose one that more of them hold.")
        return ok(f"{len(point.holders)} of {point.disks} disks hold txg {point.txg}: {', '.join(point.holders)}.")

    return _of_the_point(facts, params, judged)


def its_disks_agree_on_when_it_was(facts: FleetFacts, params: Params) -> Verdict:
    def judged(point: Point, line: Timeline) -> Verdict:
        if len(point.times) > 1:
            apart = point.times[-1] - point.times[0]
            return refuse(
                f"The disks hold two different txgs {point.txg}, {apart} s apart: two systems wrote it. Image the disks; a person decides."
            )
        return ok(f"Every disk that holds txg {point.txg} dates it alike.")

    return _of_the_point(facts, params, judged)


@guard
def it_came_in_at_the_point_chosen(facts: FleetFacts, params: Params) -> Verdict:
    """ZFS goes further back, and prints nothing of it, when it cannot load the txg that was requested."""
    took = need(_taken(facts, params))
    if str(took) != agreed(params):
        return refuse(
            f"{params.get('pool', '')} came in at txg {took}, and {agreed(params) or 'none'} was chosen. What is newer could not be loaded."
        )
    return ok(f"{params.get('pool', '')} came in at txg {took}, as it was chosen.")


def the_log_says_where_it_came_in(facts: FleetFacts, params: Params) -> Verdict:
    took = _taken(facts, params)
    return ok(f"{params.get('pool', '')} came in at txg {took}.") if known(took) else unknown(took.reason)


@guard
def it_landed_further_back(facts: FleetFacts, params: Params) -> Verdict:
    took, chosen = need(_taken(facts, params)), need(number(params, "txg"))
    if took == chosen:
        return refuse(f"{params.get('pool', '')} came in at txg {took}, as it was chosen.")
    if took > chosen or str(took) not in older_points(params):
        return unknown(f"{params.get('pool', '')} came in at txg {took}, which was no point that all its disks hold. End this run.")
    return ok(
        f"{params.get('pool', '')} came in at txg {took}: what is newer could not be loaded. That loses {older_points(params)[str(took)]}."
    )


def agreed(params: Params) -> str:
    """The point that was chosen, or the older one that was accepted when ZFS took that."""
    return params.get("took") or params.get("txg", "")


def older_points(params: Params) -> dict[str, str]:
    """The points older than the one chosen, and what each costs: while the pool is imported the rings are not asked."""
    pairs = (point.partition("=") for point in params.get("older", "").split(";"))
    return {txg: loss for txg, _, loss in pairs if txg and loss}


def what_it_took(facts: FleetFacts, params: Params) -> str:
    took = _taken(facts, params)
    return str(took) if known(took) else ""


@guard
def it_lost_no_more_than_was_agreed(facts: FleetFacts, params: Params) -> Verdict:
    took, least = need(_taken(facts, params)), need(number({"txg": agreed(params)}, "txg"))
    if took < least:
        return refuse(
            f"{params.get('pool', '')} came in at txg {took}, older than the {least} that was agreed to. Write nothing more; compare with the images."
        )
    return ok(f"{params.get('pool', '')} came in at txg {took}; {least} was agreed to.")


def the_rewind_is_short_enough(facts: FleetFacts, params: Params) -> Verdict:
    """`-F` goes back two transaction groups; blocks freed within those are not overwritten yet."""

    def judged(point: Point, line: Timeline) -> Verdict:
        if point.txgs_back > DEFERRED_TXGS:
            return refuse(
                f"Txg {point.txg} lies {point.txgs_back} behind the newest, and a rewind for good goes back {DEFERRED_TXGS}. {BY_HAND}"
            )
        return ok(f"Txg {point.txg} lies {point.txgs_back} behind the newest, which -F reaches.")

    return _of_the_point(facts, params, judged)


def every_disk_is_imaged(facts: FleetFacts, params: Params) -> Verdict:
    """Always refuses without it: a person states where the images are and of how many disks. The number of disks is compared with the pool's."""
    line, images = the_timeline(facts, params), params.get("images", "")
    if not known(line) or not line.points:
        return unknown(f"How many disks there are is not known. {'Have the node look again.' if known(line) else line.reason}")
    number, words = line.points[0].disks, [word.strip(".,;:()") for word in images.split()]
    if str(number) not in words or len(images) < SENTENCE_MIN:
        return refuse(f"{number} disks carry a label of the pool. Say that all {number} are imaged, by whom, and where the images are.")
    return ok(f"{number} disks are said to be imaged: {images}".rstrip(".") + ".")


@guard
def the_pool_is_imported_for_writing(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    if not known(pool.properties) or "readonly" not in pool.properties:
        return unknown(f"Whether {pool.name} is imported for writing is not known.")
    if pool.properties["readonly"] != "off":
        return refuse(f"{pool.name} is imported with readonly {pool.properties['readonly']}, not for writing.")
    return ok(f"{pool.name} is imported for writing.")


@guard
def it_has_passed_what_it_left_behind(facts: FleetFacts, params: Params) -> Verdict:
    """Until then the labels hold newer uberblocks of the history that was given up, and the next import may follow those (OpenZFS #19163)."""
    here, newest = the_pool_is_imported_here(facts, params), number(params, "newest_txg")
    if here.outcome != "pass":
        return unknown(_gone(params, here.reason))
    if not known(newest):
        return unknown(newest.reason)
    writes = need(_writes(facts, params))
    written = [txg.txg for txg in writes if txg.state == "committed" and txg.written_bytes]
    if max(written, default=0) <= newest:
        now = f"It has written txg {max(written)}." if written else "It has written nothing yet."
        return refuse(f"{params.get('pool', '')} must pass txg {newest} before it may be exported or the node rebooted. {now}")
    return ok(f"{params.get('pool', '')} has written txg {max(written)}, and so passed {newest}, which it left behind.")


def it_is_still_imported(facts: FleetFacts, params: Params) -> Verdict:
    here = the_pool_is_imported_here(facts, params)
    return here if here.outcome == "pass" else unknown(_gone(params, here.reason))


def _gone(params: Params, why: str) -> str:
    return f"{why} It had not passed what it left behind, so do not import it again before its disks are compared with the images."


BEFORE_GUARDS = (
    *IMPORT_GUARDS,
    no_force_is_needed,
    it_does_not_come_in_as_it_is,
    no_disk_tells_another_story,
    every_disk_told_its_uberblocks,
    no_checkpoint_stands,
)
POINT_GUARDS = (it_lies_behind_the_newest, enough_disks_hold_it, its_disks_agree_on_when_it_was, this_zfs_can_go_back)


def the_timeline(facts: FleetFacts, params: Params) -> Known[Timeline]:
    guid = number(params, "pool_guid")
    return timeline(facts, params.get("node", ""), guid) if known(guid) else guid


def _of_the_point(facts: FleetFacts, params: Params, judged: Callable[[Point, Timeline], Verdict]) -> Verdict:
    line = the_timeline(facts, params)
    if not known(line):
        return unknown(line.reason)
    point = line.at(agreed(params))
    if point is None:
        return unknown(f"No disk holds the txg {agreed(params)}." if agreed(params) else "No point in time is chosen yet.")
    return judged(point, line)


@derived
def _taken(facts: FleetFacts, params: Params) -> Known[int]:
    pool = need(the_pool(facts, params))
    loads = need(facts.nodes[params["node"]].loads, f"From which txg {pool.name} came in is not known")
    return loads.get(pool.name, Unknown(f"ZFS's own log does not say any more from which txg {pool.name} came in."))


@derived
def _writes(facts: FleetFacts, params: Params) -> Known[tuple[Txg, ...]]:
    pool: Known[PoolFacts] = the_pool(facts, params)
    if not known(pool):
        return pool
    kstats = need(facts.nodes[params["node"]].kstats, f"What {pool.name} writes is not known")
    writes = kstats.writes.get(pool.name, Unknown(f"What {pool.name} writes was not read."))
    if not known(writes) or writes.txgs is None:
        return writes if not known(writes) else Unknown("The kernel keeps no history of transaction groups: zfs_txg_history is 0.")
    return writes.txgs
