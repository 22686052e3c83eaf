"""Destroy one snapshot: `zfs destroy DATASET@SNAPSHOT`. What it alone holds is freed and gone.

Exactly one: the name has no `%` and no `,`, which stand for a range and a list (cmd/zfs/zfs_main.c:zfs_do_destroy, snapspec_cb in
lib/libzfs/libzfs_iter.c), and no option is given: -r and -R take others with it, -d only marks it. ZFS asks by name alone, so the node reads
guid and createtxg again right before. A hold or a clone is refused here, and by the kernel (module/zfs/dsl_destroy.c:
dsl_destroy_snapshot_check_impl, zfs-0.8.6 to zfs-2.4.0).
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import zfs_snapshots, zpool_status_errors
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.zfs_snapshots import Snapshot
from agents.domain.times import iso
from agents.host.host import Host
from agents.operations import _member, _pool, _released
from agents.operations._member import judge, versions
from agents.operations.base import GUID, GUID_MAX, NONE, Probe, Unread, check_guid, known

NAME = "zfs_destroy_snapshot"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "snapshot", "snapshot_guid", "createtxg")
TIMEOUT_SECONDS = 300.0
ASK_SECONDS = 30.0
FACTS = (
    *("pool.guid", "pool.suspended", "snapshot.guid", "snapshot.createtxg", "snapshot.holds", "snapshot.clones"),
    *("zfs.userland", "zfs.module"),
)

aftermath = _pool.aftermath


def check(params: Mapping[str, str]) -> str:
    bad = _member.check(params, PARAMS) or check_guid("snapshot_guid", params["snapshot_guid"])
    if bad:
        return bad
    if GUID.fullmatch(params["createtxg"]) is None or int(params["createtxg"]) > GUID_MAX:
        return f"{params['createtxg']!r} is no number of a transaction group."
    name = params["snapshot"]
    if zpool_status_errors.SNAPSHOT.fullmatch(name) is None or len(name) > 255:
        return f"{name!r} is no name of one snapshot."
    if name.partition("@")[0].partition("/")[0] != params["pool"]:
        return f"{name} is no snapshot of {params['pool']}."
    return ""


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zfs", "destroy", params["snapshot"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(host, params, _asked(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    asked = _asked(host, params)
    shown = {
        "snapshot": params["snapshot"],
        "guid": known(lambda: str(_read(asked).guid)),
        "created": known(lambda: iso(_read(asked).created)),
        "frees": known(lambda: f"{_read(asked).used_bytes} bytes"),
        "refers to": known(lambda: f"{_read(asked).referenced_bytes} bytes"),
    }
    return {"outgoing": shown, "incoming": {}, "preconditions": _facts(host, params, asked)}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool, name = params["pool"], params["snapshot"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (NONE,), f"{pool} is suspended by: {{}}. A command to it would hang."),
        (
            "snapshot.guid",
            (params["snapshot_guid"],),
            f"{name} has the guid {{}} now, not {params['snapshot_guid']}: it is another snapshot.",
        ),
        ("snapshot.createtxg", (params["createtxg"],), f"{name} was made in txg {{}}, not {params['createtxg']}: it is another snapshot."),
        ("snapshot.holds", ("0",), f"{name} is held {{}} times. `zfs holds {name}` shows by whom; whoever holds it needs it."),
        ("snapshot.clones", (NONE,), f"{name} has clones: {{}}. They need it; promote or destroy them first."),
    )
    return (*judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    asked = _asked(host, params)
    evidence = (asked, *_pool.aftermath(host, params))
    try:
        if _pool.guid(host, params["pool"]) != params["pool_guid"]:
            raise Unread(f"the pool {params['pool']} imported here is another one")
        there = None if asked.outcome == "failed" and zfs_snapshots.GONE in asked.stderr else _read(asked)
    except Unread as unread:
        return Probe("cannot_tell", evidence, f"Whether it took place is not known: {unread}.")
    if there is None:
        return Probe("did", evidence, f"{params['snapshot']} is gone.")
    if str(there.guid) != params["snapshot_guid"]:
        return Probe("cannot_tell", evidence, f"{params['snapshot']} is another snapshot now, with the guid {there.guid}.")
    return Probe("did_not", evidence, f"{params['snapshot']} is still there.")


def _asked(host: Host, params: Mapping[str, str]) -> Capture:
    return ask(host, zfs_snapshots.NAME, (*zfs_snapshots.ARGV, params["snapshot"]), ASK_SECONDS)


def _read(asked: Capture) -> Snapshot:
    """Raises Unread."""
    parsed = zfs_snapshots.parse(asked.text) if asked.outcome == "data" else Unparsed(f"{asked.reason}: {asked.stderr.strip()}")
    if isinstance(parsed, Unparsed) or len(parsed) != 1:
        why = parsed.reason if isinstance(parsed, Unparsed) else f"it prints {len(parsed)} snapshots"
        raise Unread(f"the snapshot cannot be read: {why}")
    return parsed[0]


def _facts(host: Host, params: Mapping[str, str], asked: Capture) -> dict[str, str]:
    return {
        "pool.guid": known(lambda: _pool.guid(host, params["pool"])),
        "pool.suspended": known(lambda: _pool.suspended(host, params["pool"])),
        "snapshot.guid": known(lambda: str(_read(asked).guid)),
        "snapshot.createtxg": known(lambda: str(_read(asked).createtxg)),
        "snapshot.holds": known(lambda: str(_read(asked).holds)),
        "snapshot.clones": known(lambda: ", ".join(_read(asked).clones) or NONE),
        **versions(host),
    }
