"""What imports for writing share. They are final: labels are rewritten, the log is replayed, and the way further back is shorter from then on.

Never forced: a pool that another host used last is imported there. Nothing is mounted and no cache file is kept, so the next boot imports
nothing by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.collectors import dbgmsg
from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _importing, _member, _uberblocks
from agents.operations.base import NONE, Probe, Unread, known

PARAMS = ("pool", "pool_guid")
TIMEOUT_SECONDS = 1800.0
OPTIONS = ("-N", "-o", "cachefile=none")
FACTS = (*_importing.FACTS, "uberblocks.newest")

check = partial(_member.check, names=PARAMS)


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        **_importing.preconditions(host, params),
        "uberblocks.newest": known(lambda: _uberblocks.newest(_uberblocks.rings(host, params))),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    facts = preconditions(host, params)
    return {
        **_importing.plan_facts(facts),
        "outgoing": {"pool": params["pool"], "newest": facts["uberblocks.newest"]},
        "preconditions": facts,
    }


def guards(name: str, pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = list(_importing.guards(name, pre, _importing.unforced(params)))
    return (*verdicts, *_member.judge((), {}, [name for name in ("uberblocks.newest",) if name not in pre]))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """Imported for writing, or not imported and not written to. Anything between is for people."""
    evidence, pool = aftermath(host, params), params["pool"]
    try:
        if _importing.imported(host, params) == NONE:
            return _of_the_rings(host, params, pre, evidence)
        guid, readonly = (_importing.setting(host, pool, name) for name in ("guid", "readonly"))
    except Unread as unread:
        return Probe("cannot_tell", evidence, f"Whether it took place is not known: {unread}.")
    if guid != params["pool_guid"] or readonly != "off":
        return Probe(
            "cannot_tell", evidence, f"{pool} is imported with the guid {guid or 'not known'} and readonly {readonly or 'not known'}."
        )
    return Probe("did", evidence, f"{pool} is imported for writing{_from(host, pool)}.")


def _of_the_rings(host: Host, params: Mapping[str, str], pre: Mapping[str, str], evidence: tuple[Capture, ...]) -> Probe:
    before, now = pre.get("uberblocks.newest", ""), _uberblocks.newest(_uberblocks.rings(host, params))
    if now == before:
        return Probe("did_not", evidence, f"{params['pool']} is not imported, and nothing was written to it: its newest is still {now}.")
    reason = f"{params['pool']} is not imported, and its newest was {before or 'not read'} and is {now}: it was written to and let go of."
    return Probe("cannot_tell", evidence, reason)


def _from(host: Host, pool: str) -> str:
    try:
        return f", taken from txg {_uberblocks.took(host, pool)}"
    except Unread:
        return ""


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return (*_importing.aftermath(host, params), *dbgmsg.collect(host))
