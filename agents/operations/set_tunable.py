"""Give one tunable of ZFS another value until the next boot, and read it back: sysfs on Linux, `sysctl` on FreeBSD.

The order names the value before. A node that shows a third value was changed by another person or program and is left alone; putting back is the
same operation with the two values exchanged. Never modprobe.d: what is set here ends at the next boot at the latest.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import parameters, sysctl
from agents.collectors.base import Capture
from agents.domain.tunables import FREEBSD, LINUX, TUNABLES, number, path_of
from agents.host.host import Host, Ran
from agents.operations import _member, _node, _released
from agents.operations.base import UNKNOWN, Probe, Unread, check_guid, check_names, check_pool, known, unknowns, write_attribute

NAME = "set_tunable"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "platform", "name", "before", "value")  # the pool it is done for; the tunable counts for all of the node
TIMEOUT_SECONDS = 20.0
FACTS = ("tunable.value", "zfs.module")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    if params["platform"] not in (LINUX, FREEBSD):
        return f"{params['platform']!r} is no platform on which an agent sets tunables."
    tunable, value = TUNABLES.get(params["name"]), number(params["value"])
    if tunable is None:
        return f"{params['name']!r} is no tunable that we know."
    if value is None or number(params["before"]) is None:
        return f"{params['name']}: {params['value']!r} and {params['before']!r} must both be plain whole numbers."
    if tunable.safe is None:
        return f"{params['name']} is not set by an order: {tunable.why_not}."
    if params["platform"] == FREEBSD and not tunable.oid:
        return f"FreeBSD has no {params['name']}."
    low, high = tunable.safe
    return "" if tunable.may_be(value) else f"{params['name']} may be set from {low} to {high}, not to {value}."


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    if params["platform"] == FREEBSD:
        return ("sysctl", f"{TUNABLES[params['name']].oid}={params['value']}")
    return ("write", path_of(params["name"]), params["value"])


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    if params["platform"] == FREEBSD:
        return host.run(argv(params), TIMEOUT_SECONDS)
    return write_attribute(host, argv(params))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    value = known(lambda: _node.tunable(host, params["platform"], params["name"]))
    return {"tunable.value": value, "zfs.module": _member.versions(host)["zfs.module"]}


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = preconditions(host, params)
    return {
        "outgoing": {"name": params["name"], "value": pre["tunable.value"]},
        "incoming": {"name": params["name"], "value": params["value"]},
        "topology_before": [f"{params['name']} = {pre['tunable.value']}"],
        "topology_after": [f"{params['name']} = {params['value']}"],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    missing = {name: f"{UNKNOWN}it was not read" for name in FACTS if name not in pre}
    verdicts = list(unknowns({**pre, **missing}))
    now, name = pre.get("tunable.value", UNKNOWN), params["name"]
    if not now.startswith(UNKNOWN):
        expected = now in (params["before"], params["value"])
        reason = (
            f"{name} is {now}."
            if expected
            else f"{name} is {now}, not {params['before']}: another person or program set it. Find out who, and ask them."
        )
        verdicts.append(("pass" if expected else "refuse", reason))
    return (*verdicts, *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """Decided by the value itself, unless the order changed nothing."""
    try:
        now = _node.tunable(host, params["platform"], params["name"])
    except Unread as unread:
        return Probe("cannot_tell", aftermath(host, params), f"Whether it took place is not known: {unread}.")
    result = {params["value"]: "did", params["before"]: "did_not"}.get(now, "cannot_tell")
    return Probe(result, aftermath(host, params), f"{params['name']} is {now}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    found: tuple[Capture, ...] = (sysctl if params["platform"] == FREEBSD else parameters).collect(host)
    return found
