"""What a scrub of this run came to: what it repaired, on which members, what is left, and what to do next.

The counters of the members are compared with those from before the scrub. `zpool clear` sets them back, and then nothing can be told by them.
"""

from collections.abc import Iterator

from workflows.engine.core import Params
from workflows.facts import REPAIRS, FleetFacts, PoolFacts, ScanFacts, VdevFacts, known
from workflows.guards.subject import the_pool

REPAIRING = "(repairing)"
KINDS = ("read", "write", "checksum")
NOT_KNOWN = "?"


def counters(facts: FleetFacts, params: Params) -> str:
    """The error counters of each member, as a run carries them: "GUID:0,0,0 GUID:0,0,12"; "" where the tree is not known."""
    return " ".join(f"{guid}:{_figures(leaf)}" for guid, leaf in _leaves(facts, params))


def repairing(facts: FleetFacts, params: Params) -> str:
    """The guids of the members that were ever seen to be repaired."""
    seen = {str(guid) for guid, leaf in _leaves(facts, params) if REPAIRING in leaf.note}
    return " ".join(sorted({*params.get("repairing", "").split(), *seen}))


def _leaves(facts: FleetFacts, params: Params) -> Iterator[tuple[int, VdevFacts]]:
    pool = the_pool(facts, params)
    for _, top in pool.tops if known(pool) and known(pool.tops) else ():
        yield from ((leaf.guid, leaf) for leaf in top.leaves() if known(leaf.guid))


def _figures(leaf: VdevFacts) -> str:
    return ",".join(map(str, leaf.errors)) if known(leaf.errors) else NOT_KNOWN


def lines(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """For the page: first the scan's own line, then each member concerned, then what to do next."""
    pool = the_pool(facts, params)
    if not known(pool):
        return (f"What the scrub came to is not known: {pool.reason}",)
    if not known(pool.scans):
        return (f"What the scrub came to is not known: {pool.scans.reason}",)
    scan = of_the_run(pool)
    if scan is None:
        return (f"{pool.name} shows no scrub.",)
    members = tuple(_members(facts, params))
    return (scan.text.split("\n")[0], *(text for _, text in members), *_next(pool, scan, tuple(leaf for leaf, _ in members)))


def of_the_run(pool: PoolFacts) -> ScanFacts | None:
    """The scrub, or the resilver that took its place: ZFS keeps one line for both."""
    scans = pool.scans if known(pool.scans) else ()
    wanted = [scan for scan in scans if scan.function in ("scrub", "resilver")]
    return wanted[0] if wanted else None


def _members(facts: FleetFacts, params: Params) -> Iterator[tuple[VdevFacts | None, str]]:
    before = dict(word.split(":", 1) for word in params.get("errors_before", "").split() if ":" in word)
    mended = params.get("repairing", "").split()
    if not before:
        yield None, "Which members counted errors before the scrub is not known, so what each of them repaired is not known."
    for guid, leaf in _leaves(facts, params):
        grown = _grown(before.get(str(guid), NOT_KNOWN), _figures(leaf)) if before else ""
        note = "it was seen being repaired" if str(guid) in mended else ""
        if grown or note:
            yield leaf, f"{leaf.short} ({guid}): {', '.join(filter(None, (grown, note)))}."


def _grown(before: str, now: str) -> str:
    """How the counters moved; "" when they did not."""
    if NOT_KNOWN in (before, now):
        return f"its counters cannot be compared, {before} before and {now} now"
    pairs = [(kind, int(b), int(n)) for kind, b, n in zip(KINDS, before.split(","), now.split(","), strict=True)]
    if any(n < b for _, b, n in pairs):
        return f"its counters were cleared meanwhile, {before} before and {now} now"
    return ", ".join(f"{kind} errors {b} → {n}" for kind, b, n in pairs if n > b)


def _next(pool: PoolFacts, scan: ScanFacts, members: tuple[VdevFacts | None, ...]) -> Iterator[str]:
    disks = [leaf for leaf in members if leaf is not None]
    if scan.function in REPAIRS:
        yield "A resilver took the place of the scrub. Let it end, then begin a scrub anew: what the scrub had not read is unchecked."
    elif scan.state == "canceled":
        yield "The scrub was cancelled. What it had not read is unchecked. Find out who cancelled it and why, then begin it anew."
    elif scan.state == "paused":
        yield "The scrub is paused and never goes on by itself. Begin this runbook again, or `zpool scrub`, to let it go on where it stopped."
    elif scan.state == "running":
        yield "The scrub still runs. What it came to shows at its end."
    elif scan.errors is None:
        yield "How many errors remain is not known: the scan line does not say."
    elif scan.errors:
        yield f"{scan.errors} errors remain. Read `zpool status -v {pool.name}`, restore or delete what it names, and scrub twice to its end."
    else:
        yield from _mended(pool, scan, disks)


def _mended(pool: PoolFacts, scan: ScanFacts, disks: list[VdevFacts]) -> Iterator[str]:
    if disks and len(disks) > 1:
        yield "Several members counted at once: look for memory, an HBA, a cable or an expander before any disk is replaced. Then scrub again."
    elif disks:
        yield f"Look at the SMART report and the link of {disks[0].short}. Scrub again; when it counts again, replace it while it still serves."
    elif scan.repaired is None:
        yield "How much was repaired is not known: the scan line does not say."
    elif scan.repaired.rstrip("BKMGTPE").strip("0."):
        yield f"{scan.repaired} were repaired, and no member counts more than before: `zpool events -v {pool.name}` shows which it was. Scrub again."
    else:
        yield "Nothing was repaired and no error remains. Nothing more is to be done until the next scrub is due."
