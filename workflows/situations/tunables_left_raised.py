"""A module parameter has another value than the next boot would give it: it was tuned for a while and not put back.

Whoever measures or repairs on that node later measures something else than they think, and the next boot undoes it unseen.
Some values do worse: they stop scans or blind them. Those are named even where they are meant to stay.
"""

from collections.abc import Iterator

from agents.domain.tunables import FREEBSD, ILLUMOS, LINUX, TUNABLES
from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import REPAIRS, FleetFacts, NodeFacts, TunableFacts, TunablesFacts, known

SLUG = "tunables-left-raised"
MANUALS: tuple[str, ...] = ("resilver-tuning",)

HARMS = {
    "zfs_scan_suspend_progress": "no scrub and no resilver gets any further",
    "zfs_no_scrub_io": "a scrub or resilver reads nothing and finishes all the same, so its result means nothing",
    "zfs_no_scrub_prefetch": "a scrub or resilver does not read ahead and does less than it says",
    "zfs_scan_ignore_errors": "a resilver that could not repair everything counts as complete, and hides the loss",
    "zfs_max_missing_tvds": "a pool can be imported with top-level vdevs missing",
}
BLINDS = frozenset(("zfs_no_scrub_io", "zfs_no_scrub_prefetch", "zfs_scan_ignore_errors"))  # of HARMS: what ended under them proves nothing
SOURCES = {LINUX: "parameters", FREEBSD: "sysctl", ILLUMOS: "mdb"}
PLACES = {
    LINUX: "by writing the old one to /sys/module/zfs/parameters/NAME, or write it into /etc/modprobe.d",
    FREEBSD: "with `sysctl`, or write it into /etc/sysctl.conf",
    ILLUMOS: "with `echo NAME/W0tVALUE | mdb -kw`, or write it into /etc/system",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for found in _of(node))


def _of(node: NodeFacts) -> Iterator[Situation]:
    if not known(node.tunables):
        return
    harmful = tuple(t for t in node.tunables.known_names if t.name in HARMS and t.value.strip("0"))
    raised = tuple(t for t in node.tunables.known_names if t not in harmful and known(t.differs) and t.differs)
    if harmful or raised or node.tunables.ignored:
        yield _situation(node, node.tunables, harmful, raised)


def _situation(node: NodeFacts, tunables: TunablesFacts, harmful: tuple[TunableFacts, ...], raised: tuple[TunableFacts, ...]) -> Situation:
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}",
        node=node.node,
        severity=_severity(node, harmful, raised),
        title=_title(node, tunables, harmful, raised),
        meaning=" ".join(_meaning(tunables, harmful, raised)),
        evidence=tuple(_evidence(node, tunables, harmful, raised)),
        subject={"node": node.node, "tunables": " ".join(t.name for t in (*harmful, *raised))},
        cures=tuple(_cures_of(tunables, (*harmful, *raised))),
    )


def _cures_of(tunables: TunablesFacts, changed: tuple[TunableFacts, ...]) -> Iterator[Cure]:
    if not changed:
        yield Cure("other", "Take the line out of the boot configuration, or correct its name: this release ignores it.")
        yield Cure("wait", "Nothing need be done today: what is ignored changes nothing.")
        return
    yield Cure("look", "Ask who set it, and see whether a run tunes this node now: such a run puts the value back by itself.")
    back = {one: value for one in changed if (value := _as_at_boot(one)) is not None}
    each = ", ".join(f"{one.name} to {value}" for one, value in back.items()) or "each to the value that the next boot gives it"
    argv = tuple(("sysctl", f"{TUNABLES[one.name].oid}={value}") for one, value in back.items()) if tunables.platform == FREEBSD else ()
    yield Cure(
        "other",
        f"If it is not meant so, set {each}, {PLACES[tunables.platform].partition(',')[0].replace('the old one', 'it')}. It is right from that moment on, without a reboot.",
        argv,
        needs="No run tunes this node.",
        save_first=f"The values as they are now: {', '.join(f'{one.name}={one.value}' for one in changed)}.",
    )
    if blind := [one.name for one in changed if one.name in BLINDS]:
        yield Cure(
            "scrub",
            f"Then scrub every pool whose last scrub or resilver ended while {' and '.join(blind)} was set so.",
            needs="No resilver runs.",
        )


def _as_at_boot(one: TunableFacts) -> str | None:
    """The value to put back; of one that harms, 0 whatever the boot configuration says. None where it is not known, or is one of several."""
    if one.name in HARMS:
        return "0"
    if one.boot is not None:
        return one.boot.value
    return str(one.defaults[0]) if one.boot_read and known(one.defaults) and len(one.defaults) == 1 else None


def _severity(node: NodeFacts, harmful: tuple[TunableFacts, ...], raised: tuple[TunableFacts, ...]) -> Severity:
    """Urgent while redundancy waits for a repair that cannot get on."""
    if harmful and _is_repairing(node):
        return "act"
    return "watch" if harmful or raised else "info"


def _is_repairing(node: NodeFacts) -> bool:
    scans = [s for p in node.pools_read for s in p.scans_read]
    return any(scan.function in REPAIRS and scan.state in ("running", "paused") for scan in scans)


def _title(node: NodeFacts, tunables: TunablesFacts, harmful: tuple[TunableFacts, ...], raised: tuple[TunableFacts, ...]) -> str:
    if harmful:
        return f"{node.node}: {harmful[0].name} is {harmful[0].value}: {HARMS[harmful[0].name]}"
    if raised:
        more = f" and {len(raised) - 1} more" if len(raised) > 1 else ""
        return f"{node.node}: {raised[0].name} is {raised[0].value}{more}; {raised[0].later}"
    return f"{node.node}: {tunables.ignored[0].name} is set for the next boot, and this release has no such parameter"


def _meaning(tunables: TunablesFacts, harmful: tuple[TunableFacts, ...], raised: tuple[TunableFacts, ...]) -> Iterator[str]:
    for tunable in harmful:
        yield f"While {tunable.name} is {tunable.value}, {HARMS[tunable.name]}; {tunable.later}."
    for tunable in raised:
        yield f"{tunable.name} is {tunable.value}; {tunable.later}."
        if tunable.name == "zfs_multihost_fail_intervals" and not tunable.value.strip("0"):
            yield "At 0 a host that cannot write its sign of life goes on all the same: safe only where partners are fenced by power."
    if not all(tunable.boot_read or tunable.boot for tunable in (*harmful, *raised)):
        yield "Whether something sets it at boot, and means it to stay, was not read."
    if harmful or raised:
        yield (f"If a person is tuning right now, ask them. Else put each value back {PLACES[tunables.platform]} if it is meant to stay.")
    for option in tunables.ignored:
        yield f"{option.where} sets {option.name}={option.value}; the loaded release has no such parameter, and ignores it without an error."


def _evidence(
    node: NodeFacts, tunables: TunablesFacts, harmful: tuple[TunableFacts, ...], raised: tuple[TunableFacts, ...]
) -> Iterator[Evidence]:
    source = SOURCES[tunables.platform]
    digest = node.digests.get(source, "")
    for tunable in (*harmful, *raised):
        called = TUNABLES[tunable.name].oid if tunables.platform == FREEBSD else tunable.name
        yield Evidence(node.node, source, digest, f"{called} = {tunable.value}, at the next boot {tunable.at_boot}")
    for option in tunables.ignored:
        yield Evidence(node.node, source, digest, f"{option.where}: options {option.module} {option.name}={option.value}")
