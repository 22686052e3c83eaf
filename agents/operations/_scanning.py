"""What the operations on the scan of a pool share, scrub and resilver, pause and stop: the plan, what must run or not, and whether it took place.

To scrub and to resilver may be ordered any number of times: the order names the scan that was there when it was planned, so once another has begun the same
order finds that one and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from agents.host.host import Host
from agents.operations import _pool, _released
from agents.operations._member import Question, judge
from agents.operations.base import NONE, UNKNOWN, Probe, Unread


def describe(pool: str, pre: Mapping[str, str], becomes: str) -> dict[str, object]:
    return {
        "outgoing": {"pool": pool, "scan": pre["pool.scan"]},
        "incoming": {"pool": pool, "scan": becomes},
        "topology_before": [f"{pool}: {pre['pool.scan']}"],
        "topology_after": [f"{pool}: {becomes}"],
        "preconditions": dict(pre),
    }


def guards(
    operation: str,
    pre: Mapping[str, str],
    params: Mapping[str, str],
    function: str,
    names: Iterable[str] = _pool.FACTS,
    more: tuple[Question, ...] = (),
    resumes: str = "",
) -> tuple[tuple[str, str], ...]:
    """`resumes` is how the scan begins that the command lets go on where it stopped; any other that runs or is paused refuses."""
    pool = params["pool"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (NONE,), f"{pool} is suspended by: {{}}. No {function} begins before it goes on."),
        *more,
    )
    return (*judge(questions, pre, names), *_nothing_runs(pre, pool, resumes), *_released.verdicts(operation, pre))


def guards_of_a_scrub(
    operation: str, pre: Mapping[str, str], params: Mapping[str, str], begins: tuple[str, ...], there: str, otherwise: str
) -> tuple[tuple[str, str], ...]:
    """There must be a scrub whose scan begins so; `there` and `otherwise` say that it is and that it is not."""
    pool = params["pool"]
    questions = (
        ("pool.guid", (params["pool_guid"],), f"The pool {pool} imported here has the guid {{}}, not {params['pool_guid']}."),
        ("pool.suspended", (NONE,), f"{pool} is suspended by: {{}}. A command to it would hang. Its scrub stands still meanwhile."),
    )
    scan = pre.get("pool.scan", UNKNOWN)
    found = (("pass", there),) if scan.startswith(begins) else (("refuse", f"{otherwise} Its scan: {scan}."),)
    return (*judge(questions, pre, _pool.FACTS), *(() if scan.startswith(UNKNOWN) else found), *_released.verdicts(operation, pre))


def _nothing_runs(pre: Mapping[str, str], pool: str, resumes: str) -> tuple[tuple[str, str], ...]:
    scan = pre.get("pool.scan", UNKNOWN)
    if scan.startswith(UNKNOWN):
        return ()
    if resumes and scan.startswith(resumes):
        return (("pass", "A scrub is paused, and goes on where it stopped."),)
    runs = scan.split(":")[0].endswith((" running", " paused"))
    return (("refuse", f"{pool} is scanned already: {scan}. Wait until that ends."),) if runs else (("pass", "No scan runs."),)


def began(function: str) -> Callable[[str, str], bool]:
    """Whether, by the scans of before and now, one of this function was begun or went on."""

    def is_so(was: str, now: str) -> bool:
        stopped = was.startswith(f"{function} paused") and now.startswith(
            f"{function} canceled"
        )  # by another person or program, paused or not
        return now.startswith(f"{function} ") and not stopped

    return is_so


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str], took_place: Callable[[str, str], bool]) -> Probe:
    """`took_place` is asked of the scans of before and now, where they differ."""
    try:
        now = _pool.scan(_pool.status(host, params["pool"]))
    except Unread as unread:
        return Probe("cannot_tell", _pool.aftermath(host, params), f"Whether it took place is not known: {unread}.")
    was = pre.get("pool.scan", "")
    result = "did_not" if now == was else "did" if took_place(was, now) else "cannot_tell"
    return Probe(result, _pool.aftermath(host, params), f"{params['pool']}: {now}.")
