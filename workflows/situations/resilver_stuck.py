"""A resilver that does not get on: it stands still, begins anew, is over and has not finished the replacement, or never came.

That it stands still, or never came, is known only from an earlier look; that it ended badly is seen at once, from a replacement that stays.
"""

from collections.abc import Iterator

from workflows.engine.core import Answer, Cure, Evidence, Severity, Situation
from workflows.facts import REPAIRS, FleetFacts, NodeFacts, PoolFacts, ScanFacts, VdevFacts, known
from workflows.facts.read.scan_progress import size
from workflows.situations import _cures, _pools, _replacements, _words
from workflows.situations._resilver import Running, running

SLUG = "resilver-stuck"
MANUALS: tuple[str, ...] = ("resilver-tuning", "begin-resilver", "finish-replacement")
IDLE_SECONDS = 300  # a resilver begins seconds after a replacement, and the old half leaves seconds after its end


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    moving = [_standstill(one) for one in running(fleet) if one.stands_still] + [_anew(one) for one in running(fleet) if one.restarted]
    return (*moving, *_left_over(fleet))


def _standstill(one: Running) -> Situation:
    advance = one.scan.advance
    assert known(advance)
    minutes = f"{advance.seconds / 60:.0f} minutes"
    most = f", at most {size(advance.issued.high)}" if advance.issued.high else ""
    meaning = (
        f"{one.pool.name}: {one.done()}, and in the last {minutes} it issued nothing that shows{most}. "
        "Something holds it: a disk that answers slowly or not at all, scans that were suspended, or a pool that is itself stuck. "
        "Look for a disk that stands out, then at the kernel's log. Take nothing out of the pool: the disk that is being filled does not count yet."
    )
    return _make(
        one.node,
        one.pool,
        "act",
        f"{one.pool.name}: the resilver has not moved for {minutes}",
        meaning,
        one.line(),
        cures=_of_standstill(one.pool),
    )


def _anew(one: Running) -> Situation:
    meaning = (
        f"{one.pool.name}: {one.done()}; when it was looked at before it was further or had begun earlier. A resilver begins anew when a disk is "
        "attached, comes back or drops out while it runs. Stop adding changes, one replacement at a time, and look for a disk that comes and goes. "
        "If it happens again it will not end by itself."
    )
    return _make(one.node, one.pool, "watch", f"{one.pool.name}: the resilver began anew", meaning, one.line(), cures=_of_anew(one.pool))


def _left_over(fleet: FleetFacts) -> Iterator[Situation]:
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            if not _pools.scans_are_whole(pool) or any(s.state in ("running", "paused") for s in pool.scans_read):
                continue
            ended = next((s for s in pool.scans_read if s.function in REPAIRS and (s.state == "canceled" or (s.errors or 0) > 0)), None)
            for vdev in (v for _, top in pool.tops_read for v in top.walk() if v.kind == "replacing" and _both_there(v)):
                halves = tuple(child.name for child in vdev.children)
                if ended is not None:
                    yield _unfinished(node, pool, vdev, ended)
                elif known(pool.idle) and pool.idle.get(halves, 0) >= IDLE_SECONDS:
                    yield _never_came(node, pool, vdev, pool.idle[halves])


def _both_there(vdev: VdevFacts) -> bool:
    """Where the new disk failed, that leaf is a situation of its own."""
    return len(vdev.children) > 1 and vdev.children[-1].state in ("ONLINE", "DEGRADED")


def _unfinished(node: NodeFacts, pool: PoolFacts, vdev: VdevFacts, ended: ScanFacts) -> Situation:
    old, new = (child.short for child in (vdev.children[0], vdev.children[-1]))
    how = "was canceled" if ended.state == "canceled" else f"ended with {_words.plural(ended.errors or 0, 'error')}"
    meaning = (
        f"{pool.name}: the resilver {how}, so {vdev.name} stays: {new} does not hold everything that {old} held, and ZFS keeps both. "
        "`zpool status -v` names the files that could not be read; restore or delete them, scrub twice, and look again. "
        f"Do not detach {old} before a scrub found no errors: it may hold the only good copy of something."
    )
    line = _words.evidence(node, "zpool_status", ended.text.replace("\n", " "))
    return _make(
        node,
        pool,
        "act",
        f"{pool.name}: the resilver {how} and the replacement did not finish",
        meaning,
        line,
        f":{vdev.name}",
        _of_unfinished(pool),
        _answers(node, pool, vdev, ended),
    )


def _never_came(node: NodeFacts, pool: PoolFacts, vdev: VdevFacts, seconds: float) -> Situation:
    old, new = (child.short for child in (vdev.children[0], vdev.children[-1]))
    last = pool.scans_read[0].text.replace("\n", " ") if pool.scans_read else ""
    meaning = (
        f"{pool.name}: {new} stands beside {old} in {vdev.name} for {seconds / 60:.0f} minutes or longer, and no resilver runs that would fill it"
        f"{f'; the last scan was: {last}' if last else ''}. None begins by itself any more. ZFS can begin one as a scrub when the pool's devices are "
        f"being reopened at that moment. `zpool resilver {pool.name}` begins it, once you know that no disk comes and goes. "
        f"Detach neither: {new} does not hold what {old} held."
    )
    line = _words.evidence(node, "zpool_status", last or f"{vdev.name}  {vdev.state}")
    return _make(
        node,
        pool,
        "act",
        f"{pool.name}: nothing fills the new disk of {vdev.name}",
        meaning,
        line,
        f":{new}",
        _of_never_came(pool),
        _answers(node, pool, vdev),
    )


def _answers(node: NodeFacts, pool: PoolFacts, vdev: VdevFacts, ended: ScanFacts | None = None) -> tuple[Answer, ...]:
    """After errors neither: what could not be read is read again by a scrub, and nothing is detached before."""
    if ended is not None and ended.errors:
        return ()
    undone = _replacements.finished(
        node, pool, vdev, "It ends the replacement as it is: the new disk is taken out again, or the old one let go."
    )
    return (*_replacements.resilvered(node, pool), *undone)


def _of_standstill(pool: PoolFacts) -> tuple[Cure, ...]:
    text = "Look for a disk that takes many times longer than its peers, and at what the kernel says of it."
    return (
        _cures.look(text, ("zpool", "iostat", "-v", "-l", pool.name, "5", "3"), ("dmesg",)),
        _cures.reseat("the disk that stands out"),
        _cures.wait("When that is mended it goes on by itself, from where it was. Take nothing out of the pool until it has ended."),
    )


def _of_anew(pool: PoolFacts) -> tuple[Cure, ...]:
    return (
        _cures.look("Look for a disk that comes and goes.", ("zpool", "events", "-v", pool.name), ("dmesg",)),
        _cures.reseat("that disk"),
        _cures.wait("Change nothing else in the pool until the resilver has ended."),
    )


def _of_unfinished(pool: PoolFacts) -> tuple[Cure, ...]:
    return (
        _cures.look("See which files could not be read; restore or delete them.", ("zpool", "status", "-v", pool.name)),
        _cures.scrub(
            pool, "Then scrub it, twice: the first pass may still list what is gone. The old half leaves when nothing is missing any more."
        ),
    )


def _of_never_came(pool: PoolFacts) -> tuple[Cure, ...]:
    return (
        _cures.look("See that no disk comes and goes.", ("zpool", "events", "-v", pool.name), ("dmesg",)),
        Cure(
            "resilver",
            "Begin the resilver that fills the new disk.",
            (("zpool", "resilver", pool.name),),
            releases="0.8 and newer",
            needs="No scan of the pool is running, and no disk comes and goes.",
        ),
    )


def _make(
    node: NodeFacts,
    pool: PoolFacts,
    severity: Severity,
    title: str,
    meaning: str,
    line: Evidence,
    more: str = "",
    cures: tuple[Cure, ...] = (),
    answers: tuple[Answer, ...] = (),
) -> Situation:
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}{more}",
        node=node.node,
        severity=severity,
        title=title,
        meaning=meaning,
        evidence=(line,),
        subject=_words.subject(node, pool),
        cures=cures,
        answers=answers,
    )
