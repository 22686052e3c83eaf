"""A scrub was paused and waits: it never goes on by itself, only when `zpool scrub` is given again. OpenZFS 0.7 and newer."""

from workflows.engine.core import Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, ScanFacts, known
from workflows.situations import _pools, _words
from workflows.situations._limits import SCRUB_PAUSED_DAYS
from workflows.situations._pools import Wording, cure

SLUG = "scrub-paused"
MANUALS: tuple[str, ...] = ("scrub-due", "stop-scrub")
DAY = 86400.0


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(fleet, node, pool, scan)
        for node, pool in _pools.pools(fleet)
        for scan in _pools.scans(pool)
        if scan.function == "scrub" and scan.state == "paused"
    )


def _situation(fleet: FleetFacts, node: NodeFacts, pool: PoolFacts, scan: ScanFacts) -> Situation:
    since = _pools.stamp(scan.text)
    days = (fleet.at - since.timestamp()) / DAY if known(fleet.at) and since is not None else None
    old = days is not None and days > SCRUB_PAUSED_DAYS
    done = f" at {scan.percent} %" if scan.percent else ""
    ago = f" {days:.0f} days ago" if days is not None and days >= 1 else f" on {since:%Y-%m-%d}" if since is not None else ""
    errors_only = scan.text.startswith("error scrub")  # of the blocks that are known to be damaged, 2.2 and newer
    what, argv = ("error scrub", ("zpool", "scrub", "-e")) if errors_only else ("scrub", ("zpool", "scrub"))
    meaning = (
        f"The {what} of {pool.name} on {node.node} was paused{ago}{done}. It never goes on by itself, also not after a reboot; what it has not read yet stays "
        "unchecked, and an old error there shows first when a disk has to be rebuilt from the others."
    )
    wording = Wording(
        "watch" if old else "info",
        f"{pool.name}: its {what} is paused{done}",
        meaning,
        (_pools.line(node, "scan", scan.text),),
        ()
        if _pools.stands_still(pool)
        else (
            cure(
                "scrub",
                "Let it go on where it stopped, when the reason for the pause is over.",
                (*argv, pool.name),
                releases="2.2 and newer" if errors_only else "0.7 and newer",
            ),
            cure(
                "other",
                "Or stop it for good; the next one begins anew.",
                ("zpool", "scrub", "-s", pool.name),
                save_first="the list of damaged data, if there is one: what this scrub had not read is listed no more",
                runbook="" if errors_only else "stop-scrub",
            ),
        ),
    )
    answers = (
        ()
        if errors_only or not known(fleet.at)
        else (
            *_words.pool_answers(
                node, pool, "scrub-due", "It checks that nothing forbids it, lets the scrub go on where it stopped, and waits for its end."
            ),
            *_words.pool_answers(
                node, pool, "stop-scrub", "It says what is lost with it, has another person agree, and stops it for good."
            ),
        )
    )
    return _pools.situation(SLUG, node, pool, wording, answers=answers)
