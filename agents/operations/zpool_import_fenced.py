"""Import for writing a pool whose last host is without power: `zpool import -f -N -o cachefile=none -d /dev/disk/by-id GUID`.

The one operation that forces an import for writing. `-f` skips one check, that of the hostid in the pool (cmd/zpool/zpool_main.c:do_import,
ZFS_IMPORT_ANY_HOST); of a pool with multihost on the kernel looks for another host all the same (module/zfs/spa.c:spa_activity_check). The order carries which host was fenced, by
what that is known and since when, and what every ring of uberblocks held at a first look. The node reads all of it again immediately before:

    every label names that host and that hostid, and no other
    every ring is as it was at the first look, which is 60 s ago at least: nobody has written since
    what shows that the host has no power is less than 10 minutes old

A host that writes changes a ring within seconds, by its txgs or, with multihost on, by the time in its uberblocks (module/zfs/mmp.c:mmp_write_uberblock).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agents.host.host import Host
from agents.operations import _importing, _member, _uberblocks, _writing
from agents.operations.base import NONE, UNKNOWN, known, once

NAME = "zpool_import_fenced"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "host", "hostid", "fence", "fenced_at", "rings", "looked_at")
TIMEOUT_SECONDS = _writing.TIMEOUT_SECONDS
STILL_SECONDS = 60  # many times what a host with the pool leaves between two writes: txgs end after 5 s, multihost writes every second
FENCE_SECONDS_MAX = 600
CLOCK_SECONDS_MAX = 120  # how far this node's clock may be behind the portal's
OF_ITS_OWN = ("uberblocks.rings", "uberblocks.stood", "fence.age", "import.absent")
FACTS = (*_writing.FACTS, *OF_ITS_OWN)
FRESH, YES = f"less than {FENCE_SECONDS_MAX} s", "yes"
_HOST, _HOSTID, _MOMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}"), re.compile(r"[0-9a-f]{8}"), re.compile(r"[1-9][0-9]{0,11}")
_TEXT_CHARS_MAX = 1000

probe = _writing.probe
aftermath = _writing.aftermath


def check(params: Mapping[str, str]) -> str:
    bad = _member.check(params, PARAMS)
    if bad:
        return bad
    if _HOST.fullmatch(params["host"]) is None:
        return f"{params['host']!r} is no name of a host."
    if _HOSTID.fullmatch(params["hostid"]) is None or int(params["hostid"], 16) == 0:
        return f"{params['hostid']!r} is no hostid of a host; it has eight hexadecimal digits, and is not zero."
    for name in ("fenced_at", "looked_at"):
        if _MOMENT.fullmatch(params[name]) is None:
            return f"The parameter {name} is {params[name]!r}; it must be Unix time in seconds."
    for name in ("fence", "rings"):
        if len(params[name]) > _TEXT_CHARS_MAX or not (params[name].isascii() and params[name].isprintable()):
            return f"The parameter {name} is no line of printable ASCII."
    return ""


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "import", "-f", *_writing.OPTIONS, *_importing.WHERE, params["pool_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    rings = once(lambda: _uberblocks.rings_by_guid(host, params))
    return {
        **_importing.preconditions(host, params, {"import.absent": _importing.absent}),
        "uberblocks.newest": known(lambda: _uberblocks.newest(dict(enumerate(ring for _, ring in rings())))),
        "uberblocks.rings": known(lambda: _uberblocks.fingerprint(rings())),
        "uberblocks.stood": YES if host.now() - int(params["looked_at"]) >= STILL_SECONDS else "no",
        "fence.age": _age(host.now() - int(params["fenced_at"])),
    }


def _age(seconds: float) -> str:
    """In words that stay the same while it is good, as a plan and its order are compared by them."""
    if seconds < -CLOCK_SECONDS_MAX:
        return f"{UNKNOWN}the clock of this node is {-seconds:.0f} s behind that of the portal"
    return FRESH if seconds < FENCE_SECONDS_MAX else f"{FENCE_SECONDS_MAX} s or more"


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    facts = preconditions(host, params)
    fenced = {name: params[name] for name in ("host", "hostid", "fence")}
    return {
        **_importing.plan_facts(facts),
        "outgoing": {"pool": params["pool"], "newest": facts["uberblocks.newest"]},
        "fenced": {**fenced, "age": facts["fence.age"], "named_by_labels": facts["labels.writers"], "rings": facts["uberblocks.rings"]},
        "preconditions": facts,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    forced = {**params, "force": "yes"}
    own = _member.judge(_questions(params), pre, (*OF_ITS_OWN, "uberblocks.newest"))
    return (*_importing.guards(NAME, pre, forced), *own, *_of_this_host(pre, params))


def _questions(params: Mapping[str, str]) -> tuple[_member.Question, ...]:
    pool, host = params["pool"], f"{params['host']} ({params['hostid']})"
    return (
        (
            "import.says",
            (_importing.FORCE,),
            f"Of {pool} `zpool import` says: {{}}. It is forced only where ZFS asks for that because another host used it last.",
        ),
        (
            "import.absent",
            (NONE,),
            f"Of {pool} not every member is here: {{}}. Whether a host writes to those cannot be seen. Bring them back first.",
        ),
        ("labels.writers", (host,), f"The labels of {pool} name {{}}; {host} was fenced. Fence whoever is named, or get help."),
        (
            "uberblocks.rings",
            (params["rings"],),
            f"{pool} was written to since the first look: it held {params['rings']}, and holds {{}}. Some host has it. Import it nowhere.",
        ),
        ("uberblocks.stood", (YES,), f"The first look at the rings is not {STILL_SECONDS} s old. Plan again in a minute."),
        ("fence.age", (FRESH,), f"What shows that {params['host']} has no power is {{}} old. Have it shown again, and plan again."),
    )


def _of_this_host(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    own = pre.get("node.hostid", UNKNOWN)
    if own.startswith(UNKNOWN):
        return ()  # among what is not known already
    if own == params["hostid"]:
        return (("refuse", f"This node has the hostid {own} too. Give each host one of its own before any pool is moved."),)
    if int(own, 16) == 0:
        return (("refuse", "This node has no hostid, so no other host could see that it has the pool. Run `zgenhostid` first."),)
    return (("pass", f"This node has a hostid of its own, {own}."),)
