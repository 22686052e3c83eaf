"""Have one disk test itself for two minutes: `smartctl -t short /dev/disk/by-id/wwn-0x…`. It goes on serving, and a little slower.

Never the long test, which takes a day on a large disk, and never while one runs: beginning anew would break that off.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import sg_logs
from agents.collectors.base import Capture
from agents.domain.wwid import by_id_path
from agents.host.host import Host
from agents.operations import _candidate
from agents.operations._tree import understood
from agents.operations.base import UNKNOWN, Probe, Unread, check_guid, check_names, check_pool, check_wwid, known, unknowns

NAME = "smart_self_test"
EFFECT = "idempotent"  # a second one finds the first running, or in the log, and is refused
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "wwid")  # the pool that is slowed a little
TIMEOUT_SECONDS = 60.0
RUNNING = 15
FACTS = ("disk.wwid", "disk.by_id", "disk.serial", "test.newest", "test.running")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    return check_wwid(params["wwid"])


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("smartctl", "-t", "short", str(by_id_path(params["wwid"])))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "disk.wwid": known(lambda: _candidate.find(host, params["wwid"]).wwid),
        "disk.by_id": known(lambda: _candidate.find(host, params["wwid"]).by_id),
        "disk.serial": known(lambda: _candidate.same(_candidate.find(host, params["wwid"]), "serial")),
        "test.newest": known(lambda: _newest(host, params)),
        "test.running": known(lambda: "yes" if _runs(host, params) else "no"),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = preconditions(host, params)
    return {
        "outgoing": {"wwid": params["wwid"], "serial": pre["disk.serial"]},
        "incoming": {},
        "topology_before": [f"newest self-test: {pre['test.newest']}"],
        "topology_after": ["newest self-test: short, running"],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    missing = {name: f"{UNKNOWN}it was not read" for name in FACTS if name not in pre}
    verdicts = list(unknowns({**pre, **missing}))
    if pre.get("disk.wwid", UNKNOWN) not in (params["wwid"],) and not pre.get("disk.wwid", UNKNOWN).startswith(UNKNOWN):
        verdicts.append(("refuse", f"The disk is {pre['disk.wwid']} and {params['wwid']} was meant."))
    if pre.get("test.running") == "yes":
        verdicts.append(("refuse", f"A self-test runs on {params['wwid']} already. Wait until it ends."))
    if pre.get("test.running") == "no":
        verdicts.append(("pass", "No self-test runs on it."))
    return tuple(verdicts)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        newest, runs = _newest(host, params), _runs(host, params)
    except Unread as unread:
        return Probe("cannot_tell", aftermath(host, params), f"Whether it took place is not known: {unread}.")
    begun = runs or newest != pre.get("test.newest")
    return Probe("did" if begun else "did_not", aftermath(host, params), f"The newest self-test of {params['wwid']} is: {newest}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    try:
        return tuple(sg_logs.collect_one(host, path.name) for path in _candidate.find(host, params["wwid"]).paths[:1])
    except Unread:
        return ()


def _tests(host: Host, params: Mapping[str, str]) -> tuple[sg_logs.SelfTest, ...]:
    name = _candidate.find(host, params["wwid"]).paths[0].name
    parsed = understood(sg_logs.collect_one(host, name), sg_logs.parse, f"the logs of {name}")
    if parsed.self_tests is None:
        raise Unread(f"{name} keeps no log of self-tests, so the result of one could not be read")
    return parsed.self_tests


def _newest(host: Host, params: Mapping[str, str]) -> str:
    tests = _tests(host, params)
    return f"{tests[0].what} at {tests[0].hours} h: {tests[0].text}" if tests else "none"


def _runs(host: Host, params: Mapping[str, str]) -> bool:
    tests = _tests(host, params)
    return bool(tests) and tests[0].result == RUNNING
