"""Import a pool as it was at one transaction group, without writing: `zpool import -T TXG -N -o readonly=on …`.

`-T` is an upper bound: when ZFS cannot load what is asked for it goes on backwards and prints nothing, and a txg that never was imports the
pool, too. So the rings must hold the txg before, and ZFS's log says afterwards which one it took. Read-only discards nothing: the newer
transaction groups stay on the disks. Never with -f, never for writing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agents.collectors import dbgmsg
from agents.collectors.base import Capture
from agents.host.host import Host
from agents.operations import _importing, _member, _uberblocks
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, known, once

NAME = "zpool_import_txg"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "txg")
TIMEOUT_SECONDS = 4 * 3600.0  # so far back ZFS may read all metadata before it accepts them
FACTS = (*_importing.FACTS, "uberblocks.newest", "uberblocks.holders", "uberblocks.times")
_TXG = re.compile(r"[1-9][0-9]{0,18}")


def check(params: Mapping[str, str]) -> str:
    bad = _member.check(params, PARAMS)
    return bad or ("" if _TXG.fullmatch(params["txg"]) else f"{params['txg']!r} is no transaction group.")


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    where = (*_importing.altroot(params), *_importing.WHERE)
    return ("zpool", "import", "-T", params["txg"], *_importing.OPTIONS, *where, params["pool_guid"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    rings, txg = once(lambda: _uberblocks.rings(host, params)), params["txg"]
    return {
        **_importing.preconditions(host, params),
        "uberblocks.newest": known(lambda: _uberblocks.newest(rings())),
        "uberblocks.holders": known(lambda: _uberblocks.holders(rings(), txg)),
        "uberblocks.times": known(lambda: _uberblocks.times(rings(), txg)),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    facts = preconditions(host, params)
    moment = {name: facts[f"uberblocks.{name}"] for name in ("newest", "holders", "times")}
    return {**_importing.plan_facts(facts), "moment": {"txg": params["txg"], **moment}, "preconditions": facts}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = list(_importing.guards(NAME, pre, _importing.unforced(params)))
    verdicts += _member.judge((), {}, [name for name in FACTS if name.startswith("uberblocks.") and name not in pre])
    txg, held, at = params["txg"], pre.get("uberblocks.holders", UNKNOWN), pre.get("uberblocks.times", UNKNOWN)
    if held == NONE:
        verdicts.append(("refuse", f"No disk holds the txg {txg}. ZFS would silently take another one; choose one that is there."))
    if not at.startswith(UNKNOWN) and "," in at:
        verdicts.append(("refuse", f"The disks hold two different txgs {txg}, of {at}. Two systems wrote this pool; image the disks."))
    return tuple(verdicts)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    answer = _importing.probe(host, params, pre)
    if answer.result != "did":
        return answer
    evidence = (*answer.evidence, *dbgmsg.collect(host))
    try:
        took = _uberblocks.took(host, params["pool"])
    except Unread as unread:
        return Probe("did", evidence, f"{answer.reason} From which txg is not known: {unread}.")
    return Probe("did", evidence, f"{answer.reason} ZFS took it from txg {took}; txg {params['txg']} was asked for.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return (*_importing.aftermath(host, params), *dbgmsg.collect(host))
