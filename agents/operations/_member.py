"""What operations on one member of an imported pool read and ask: the pool, the member, and what its vdev can do without.

A fact that cannot be read is "unknown: why". Members are named by guid alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.collectors import node
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host
from agents.operations import _resilver, _tree
from agents.operations._tree import Member, PoolTree, Status, value_of
from agents.operations.base import NONE, UNKNOWN, Unread, check_guid, check_names, check_pool, known, unknowns

SERVING = ("ONLINE", "DEGRADED")
FACTS = (
    *("pool.guid", "pool.state", "pool.removal", "pool.expansion", "pool.checkpoint"),
    *("target.state", "target.was", "target.top", "target.parent", "target.members", "target.margin", "zfs.userland", "zfs.module"),
)
FACTS_OF_A_CHANGE = (*FACTS, "pool.resilver", "target.vdev")  # of what takes a member out or puts one in; not of what brings one back
SERVES = "serves"
Question = tuple[Any, ...]  # (fact, values that pass, what to say otherwise: a text, or what makes one of the value)
_RAIDZ = re.compile(r"(?:raidz|draid)([123])?")


@dataclass(frozen=True)
class Scene:
    """What was read at one moment. In place of what could not be read stands why."""

    host: Host
    params: Mapping[str, str]
    status: Status | Unread

    def pool(self) -> PoolTree:
        if isinstance(self.status, Unread):
            raise self.status
        return self.status.pool(self.params["pool"])

    def trail(self, name: str = "vdev_guid") -> tuple[Member, ...]:
        """From the top-level vdev down to the target."""
        trail = self.pool().find(self.params[name])
        if not trail:
            raise Unread(f"{self.params['pool']} has no vdev {self.params[name]}")
        return trail

    def captures(self) -> tuple[Capture, ...]:
        return _tree.captures(self.host) if isinstance(self.status, Unread) else self.status.captures


def check(params: Mapping[str, str], names: Sequence[str]) -> str:
    """Of parameters that are a pool's name and guids."""
    bad = check_names(params, names) or check_pool(params["pool"])
    guids = () if bad else (name for name in names if name.endswith("guid"))
    return next((why for name in guids if (why := check_guid(name, params[name]))), bad)


def survey(host: Host, params: Mapping[str, str]) -> Scene:
    try:
        return Scene(host, params, _tree.read(_tree.captures(host)))
    except Unread as unread:
        return Scene(host, params, unread)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    """The pools as they are right after the command."""
    return _tree.captures(host)


def facts(scene: Scene) -> dict[str, str]:
    return {
        "pool.guid": known(lambda: _tree.pool_guid(scene.host, scene.pool())),
        "pool.state": known(lambda: scene.pool().state),
        "pool.removal": known(lambda: progress(scene.pool().remove)),
        "pool.expansion": known(lambda: progress(scene.pool().expand)),
        "pool.checkpoint": known(lambda: "exists" if scene.pool().checkpoint else NONE),
        "target.state": known(lambda: scene.trail()[-1].state),
        "target.was": known(lambda: scene.trail()[-1].was or NONE),
        "target.top": known(lambda: f"{scene.trail()[0].name} ({scene.trail()[0].guid})"),
        "target.parent": known(lambda: parent(scene.trail())),
        "target.members": known(lambda: ", ".join(f"{leaf.guid} {leaf.state}" for leaf in scene.trail()[0].leaves())),
        "target.margin": known(lambda: str(margin(scene.trail()[0]))),
        **versions(scene.host),
    }


def facts_of_a_change(scene: Scene) -> dict[str, str]:
    return {**facts(scene), "pool.resilver": known(lambda: resilver(scene)), "target.vdev": known(lambda: vdev(scene.trail()))}


def vdev(trail: tuple[Member, ...]) -> str:
    """Whether its top-level vdev serves, else that vdev's state: one that the kernel cannot open is not made well by another disk."""
    return SERVES if trail[0].state in SERVING else trail[0].state


def its_vdev_serves(params: Mapping[str, str]) -> tuple[Question, ...]:
    reason = f"The top-level vdev of {params['vdev_guid']} is {{}}. Find out why it cannot be opened before any of its disks is changed."
    return (("target.vdev", (SERVES,), reason),)


def judge(questions: Iterable[Question], pre: Mapping[str, str], names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The operation's own guards: (outcome, reason) each. A fact that is missing refuses like any other."""
    verdicts, questions = [], tuple(questions)
    for name, wanted, reason in questions:
        value = pre.get(name, f"{UNKNOWN}it was not read")
        if not value.startswith(UNKNOWN):
            verdicts.append(
                ("pass" if value in wanted else "refuse", f"{name} is {value}." if value in wanted else _otherwise(reason, value))
            )
    asked = (*names, *(name for name, _, _ in questions))
    missing = {name: f"{UNKNOWN}it was not read" for name in asked if name not in pre}
    verdicts += unknowns({**pre, **missing})
    return tuple(verdicts)


def _otherwise(reason: Any, value: str) -> str:
    return str(reason(value) if callable(reason) else reason.format(value))


def of_the_pool(params: Mapping[str, str]) -> tuple[Question, ...]:
    """What every change to a member asks of its pool."""
    pool = params["pool"]
    return (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.state", SERVING, f"{pool} is {{}}. Find out why before anything is changed in it."),
    )


def nothing_under_way(params: Mapping[str, str]) -> tuple[Question, ...]:
    return (*no_removal(params), *no_expansion(params))


def no_removal(params: Mapping[str, str]) -> tuple[Question, ...]:
    return (("pool.removal", (NONE,), f"A vdev is being removed from {params['pool']}. Wait until it ends."),)


def no_expansion(params: Mapping[str, str]) -> tuple[Question, ...]:
    return (("pool.expansion", (NONE,), f"{params['pool']} is being expanded. Wait until it ends."),)


def outgoing(scene: Scene) -> dict[str, str]:
    """The member as a plan shows it."""
    try:
        trail = scene.trail()
    except Unread:
        return {"vdev_guid": scene.params["vdev_guid"], "name": "", "state": "", "was": "", "top": "", "top_kind": ""}
    target, top = trail[-1], trail[0]
    return {
        "vdev_guid": target.guid,
        "name": target.name,
        "state": target.state,
        "was": target.was or "",
        "top": top.name,
        "top_kind": top.kind,
    }


def topologies(scene: Scene, change: Callable[[Member], Member | None]) -> dict[str, list[str]]:
    """The target's top-level vdev as it is, and as it will be; `change` says what becomes of each vdev, None that it goes."""
    try:
        pool, trail = scene.pool(), scene.trail()
    except Unread:
        return {"topology_before": [], "topology_after": []}
    head, after = f"{pool.name}  {pool.state}", _changed(trail[0], change)
    return {"topology_before": [head, *lines(trail[0], 1)], "topology_after": [head, *(lines(after, 1) if after else [])]}


def _changed(member: Member, change: Callable[[Member], Member | None]) -> Member | None:
    children = tuple(new for child in member.children if (new := _changed(child, change)) is not None)
    return change(Member(member.guid, member.name, member.state, member.was, children))


def lines(member: Member, depth: int) -> list[str]:
    note = f"  was {member.was}" if member.was else ""
    line = f"{'  ' * depth}{member.name}  [{member.guid}]  {member.state}{note}"
    return [line, *(text for child in member.children for text in lines(child, depth + 1))]


def resilver(scene: Scene) -> str:
    """What is being filled in the way of the target, or "none"; see `_resilver`."""
    return _resilver.on_the_node(scene.host, scene.pool(), scene.trail()[0])


NO_RESILVER: tuple[Question, ...] = (("pool.resilver", (NONE,), "{}"),)


def progress(text: str) -> str:
    """Of `remove:` and `expand:`, which stay printed after they are done."""
    return "running" if "in progress" in text else NONE


def parent(trail: tuple[Member, ...]) -> str:
    if len(trail) == 1:
        return NONE
    above, target = trail[-2:]
    if above.kind in ("replacing", "spare"):
        place = "oldest" if above.children[0] is target else "newer"
        return f"{above.kind}, {place} child"
    return above.kind.split(":")[0]


def margin(top: Member) -> int:
    """Further losses it survives, by states alone: what counts is a child that is whole. A resilver is asked about apart."""
    whole = [child for child in top.children if _serves(child)]
    match = _RAIDZ.fullmatch(top.kind.split(":")[0])
    if match:
        return int(match.group(1) or 1) - (len(top.children) - len(whole))
    return len(whole) - 1 if top.children else 0


def _serves(member: Member) -> bool:
    return any(_serves(child) for child in member.children) if member.children else member.state == "ONLINE"


def versions(host: Host) -> dict[str, str]:
    capture = node.collect(host)[0]
    parsed = value_of(capture, node.parse)
    if isinstance(parsed, Unparsed):
        return {name: f"{UNKNOWN}{parsed.reason}" for name in ("zfs.userland", "zfs.module")}
    return {
        "zfs.userland": parsed.zfs_userland or f"{UNKNOWN}the zfs tools do not report their version",
        "zfs.module": parsed.zfs_module or f"{UNKNOWN}the kernel module does not report its version",
    }
