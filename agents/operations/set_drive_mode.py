"""Switch one mode of one disk and save it: `sdparm --clear=EN_BMS --save /dev/disk/by-id/wwn-0x…`.

Only of a disk that serves nothing at the moment: a member that is OFFLINE, or a hot spare. A write cache is switched off, never on:
sdparm goes past the kernel, which would not learn of the cache, would never flush it, and would lose what it had acknowledged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.collectors import drive_modes
from agents.collectors.base import Capture
from agents.collectors.drive_modes import Mode
from agents.domain.wwid import by_id_path
from agents.host.host import Host
from agents.operations import _candidate, _member, _released, _tree
from agents.operations._candidate import Candidate
from agents.operations._tree import Member, understood
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, check_guid, check_names, check_pool, check_wwid, known, unknowns

NAME = "set_drive_mode"
EFFECT = "at_most_once"
DESTRUCTIVE = True  # of what a power cut leaves, and for good
PARAMS = ("pool", "pool_guid", "vdev_guid", "wwid", "mode", "value")
TIMEOUT_SECONDS = 60.0
MODES = {"WCE": ("0",), "EN_BMS": ("0", "1")}  # mode -> the values an order may give it
RESTING = ("OFFLINE", "AVAIL")
FACTS = (
    *("pool.guid", "target.state", "target.label", "disk.wwid", "disk.by_id", "disk.paths", "disk.serial", "disk.model", "disk.mounts"),
    *("mode.current", "mode.saved", "mode.changeable"),
    *_released.FACTS,
)


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"])
    bad = bad or check_guid("pool_guid", params["pool_guid"]) or check_guid("vdev_guid", params["vdev_guid"])
    if bad:
        return bad
    if bad := check_wwid(params["wwid"], ("naa",)):
        return bad
    if params["mode"] not in MODES:
        return f"{params['mode']!r} is no mode that is switched by an order; there are {', '.join(MODES)}."
    if params["value"] in MODES[params["mode"]]:
        return ""
    if params["mode"] == "WCE" and params["value"] == "1":
        return "A write cache is not switched on by an order: the kernel would not learn of it, and would never flush it."
    return f"{params['mode']} is switched to 0 or 1, not to {params['value']!r}."


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    verb = "--set" if params["value"] == "1" else "--clear"
    return ("sdparm", f"{verb}={params['mode']}", "--save", str(by_id_path(params["wwid"])))


@dataclass(frozen=True)
class Scene:
    host: Host
    params: Mapping[str, str]

    def disk(self) -> Candidate:
        return _candidate.find(self.host, self.params["wwid"])

    def member(self) -> Member:
        trail = self.pool().find(self.params["vdev_guid"])
        if not trail:
            raise Unread(f"{self.params['pool']} has no vdev {self.params['vdev_guid']}")
        return trail[-1]

    def pool(self) -> _tree.PoolTree:
        return _tree.read(_tree.captures(self.host)).pool(self.params["pool"])

    def mode(self) -> Mode:
        """As all paths to the disk report alike."""
        modes = {_mode(self.host, path.name, self.params["mode"]) for path in self.disk().paths}
        if len(modes) != 1:
            raise Unread(f"the paths to the disk report different values of {self.params['mode']}")
        return modes.pop()


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    scene = Scene(host, params)
    return {
        "pool.guid": known(lambda: _tree.pool_guid(host, scene.pool())),
        "target.state": known(lambda: scene.member().state),
        "target.label": known(lambda: _candidate.labels(host, scene.disk())),
        "disk.wwid": known(lambda: scene.disk().wwid),
        "disk.by_id": known(lambda: scene.disk().by_id),
        "disk.paths": known(lambda: str(len(scene.disk().paths))),
        "disk.serial": known(lambda: _candidate.same(scene.disk(), "serial")),
        "disk.model": known(lambda: _candidate.same(scene.disk(), "model")),
        "disk.mounts": known(lambda: _candidate.used(host, scene.disk())),
        "mode.current": known(lambda: _bit(scene.mode().current)),
        "mode.saved": known(lambda: _bit(scene.mode().saved)),
        "mode.changeable": known(lambda: {True: "yes", False: "no", None: "not said"}[scene.mode().changeable]),
        **_member.versions(host),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre, mode = preconditions(host, params), params["mode"]
    return {
        "outgoing": {"mode": mode, "value": pre["mode.current"], "saved": pre["mode.saved"]},
        "incoming": {
            "mode": mode,
            "value": params["value"],
            "wwid": params["wwid"],
            "serial": pre["disk.serial"],
            "model": pre["disk.model"],
        },
        "topology_before": [f"{params['wwid']}: {mode} {pre['mode.current']}, saved {pre['mode.saved']}"],
        "topology_after": [f"{params['wwid']}: {mode} {params['value']}, saved {params['value']}"],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = []
    for name, good, otherwise in _questions(params):
        value = pre.get(name, f"{UNKNOWN}it was not read")
        if not value.startswith(UNKNOWN):
            verdicts.append(("pass", f"{name} is {value}.") if value in good else ("refuse", otherwise.format(value)))
    missing = {name: f"{UNKNOWN}it was not read" for name in FACTS if name not in pre}
    return (*verdicts, *unknowns({**pre, **missing}), *_released.verdicts(NAME, pre))


def _questions(params: Mapping[str, str]) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    pool, guid, mode = params["pool"], params["vdev_guid"], params["mode"]
    labels = (f"pool {pool} ({params['pool_guid']}), vdev {guid}", f"spare or cache device {guid}")
    return (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("target.state", RESTING, f"The member {guid} is {{}}. Only a disk that serves nothing, OFFLINE or a spare, is changed."),
        ("target.label", labels, f"The disk {params['wwid']} carries the label: {{}}. It is not the member {guid}."),
        ("disk.wwid", (params["wwid"],), f"The disk is {{}} and {params['wwid']} was approved."),
        ("disk.mounts", (NONE,), f"The disk {params['wwid']} is in use: {{}}."),
        ("mode.current", ("0", "1"), f"The disk has no {mode}: {{}}."),
        ("mode.changeable", ("yes", "not said"), f"The disk reports that {mode} cannot be changed: {{}}."),
    )


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        mode = Scene(host, params).mode()
    except Unread as unread:
        return Probe("cannot_tell", aftermath(host, params), f"Whether it took place is not known: {unread}.")
    now, saved = _bit(mode.current), _bit(mode.saved)
    reason = f"{params['mode']} of {params['wwid']} is {now}, saved {saved}."
    if now == params["value"] and saved in (params["value"], NONE):
        return Probe("did", aftermath(host, params), reason)
    before = (pre.get("mode.current"), pre.get("mode.saved"))
    return Probe("did_not" if (now, saved) == before else "cannot_tell", aftermath(host, params), reason)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    try:
        return tuple(drive_modes.collect_one(host, path.name) for path in _candidate.find(host, params["wwid"]).paths)
    except Unread:
        return ()


def _mode(host: Host, name: str, mode: str) -> Mode:
    parsed = understood(drive_modes.collect_one(host, name), drive_modes.parse, f"the modes of {name}")
    found = {"WCE": parsed.wce, "EN_BMS": parsed.en_bms}[mode]
    if found is None:
        raise Unread(f"{name} has no {mode}")
    return found


def _bit(value: bool | None) -> str:
    return {True: "1", False: "0", None: NONE}[value]
