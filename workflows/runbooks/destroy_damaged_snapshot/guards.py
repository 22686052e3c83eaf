"""What destroy-damaged-snapshot alone asks: which snapshot is damaged, and that the one that was chosen is still the same and free."""

from agents.collectors.zfs_snapshots import Snapshot
from agents.collectors.zpool_status_errors import snapshot_of, snapshots
from agents.domain.times import iso
from workflows.engine.core import Option, Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, Unknown, derived, known, need
from workflows.facts.read.data_errors import data_errors
from workflows.guards.subject import the_pool

MIB = 1024 * 1024


@derived
def _damaged(facts: FleetFacts, params: Params) -> Known[tuple[str, ...]]:
    """The entries of the pool's list that are in snapshots."""
    pool = need(the_pool(facts, params))
    errors = data_errors(pool)
    if errors is None or not errors.listed:
        return () if errors is None else Unknown(f"Which data of {pool.name} is damaged is not known: its list was not read.")
    return tuple(entry for entry in errors.listed if snapshot_of(entry))


def _read(facts: FleetFacts, params: Params) -> Known[tuple[Snapshot, ...]]:
    pool = the_pool(facts, params)
    return pool.snapshots if known(pool) else pool


@guard
def a_damaged_snapshot_is_known(facts: FleetFacts, params: Params) -> Verdict:
    """Both the list and what each snapshot is: the list names them, `zfs get` says their guids."""
    names = snapshots(need(_damaged(facts, params)))
    if not names:
        return refuse(f"The list of damaged data of {params['pool']} names no snapshot. End this run.")
    read = {one.name for one in need(_read(facts, params))}
    missing = [name for name in names if name not in read]
    if len(missing) == len(names):
        return unknown(f"What {missing[0]} is was not read yet. The node is asked every five minutes.")
    return ok(f"{params['pool']} lists damaged data in {len(names)} {'snapshot' if len(names) == 1 else 'snapshots'}.")


def snapshots_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    entries, read = _damaged(facts, params), _read(facts, params)
    if not known(entries) or not known(read):
        return ()
    count = {name: sum(snapshot_of(entry) == name for entry in entries) for name in snapshots(entries)}
    return tuple(_option(one, count[one.name]) for one in read if one.name in count)


def _option(one: Snapshot, entries: int) -> Option:
    free = f"destroying it frees {one.used_bytes / MIB:,.1f} MiB of the {one.referenced_bytes / MIB:,.1f} MiB that it refers to"
    detail = f"Made {iso(one.created)[:16].replace('T', ' ')} UTC in txg {one.createtxg}, guid {one.guid}; {entries} damaged; {free}."
    return Option(one.name, one.name, detail, (_is_free(one),), fixes={"snapshot_guid": str(one.guid), "createtxg": str(one.createtxg)})


def _is_free(one: Snapshot) -> Verdict:
    if one.clones:
        return refuse(f"{one.name} has clones: {', '.join(one.clones)}. Promote or destroy them first, or leave the snapshot.")
    if one.holds:
        return refuse(
            f"{one.name} is held {one.holds} times. `zfs holds {one.name}` shows by whom. Whoever holds it, a replication for example, needs it."
        )
    return ok(f"{one.name} has no holds and no clones.")


@guard
def the_snapshot_is_the_chosen_one_and_free(facts: FleetFacts, params: Params) -> Verdict:
    """By guid and txg: a rotation can destroy a snapshot and make another of its name in between."""
    name = params.get("snapshot")
    if not name:
        return unknown("No snapshot is chosen yet.")
    found = next((one for one in need(_read(facts, params)) if one.name == name), None)
    if found is None:
        return refuse(f"{name} is not among the damaged snapshots any more. End this run and look at the list.")
    if (str(found.guid), str(found.createtxg)) != (params.get("snapshot_guid"), params.get("createtxg")):
        return refuse(f"{name} is another snapshot now: guid {found.guid} of txg {found.createtxg}. End this run and begin anew.")
    return _is_free(found)


@guard
def the_snapshot_is_gone(facts: FleetFacts, params: Params) -> Verdict:
    name, guid = params.get("snapshot"), params.get("snapshot_guid")
    if not name:
        return unknown("No snapshot is chosen yet.")
    found = [one for one in need(_read(facts, params)) if str(one.guid) == guid]
    return refuse(f"{found[0].name} is still there.") if found else ok(f"{name} is gone. What is left in the list ends with a scrub.")
