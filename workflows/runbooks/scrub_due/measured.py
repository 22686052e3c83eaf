"""What a run of scrub-due measures: reads before the scrub and during it, and what the scrub came to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workflows.analysis import read_tail, scrub_result
from workflows.engine.core import Params, Progress
from workflows.facts import FleetFacts, Known, known, lookup
from workflows.guards import tuning
from workflows.runbooks._replacing import how_far_the_scrub_is

BEFORE = ("reads_first", "reads_before", "errors_before")
DURING = ("reads_began", "reads_now", "repairing", "result")
FACTOR, FLOOR_NS = 4, 20_000_000  # from where on a pause is advised: two buckets more, and felt by people
KNOBS = (  # what gives a scrub less; those that this node does not have are left out
    *("zfs_vdev_nia_delay", "zfs_vdev_nia_credit", "zfs_vdev_scrub_min_active", "zfs_vdev_scrub_max_active"),
    *("zfs_vdev_sync_read_min_active", "zfs_scrub_min_time_ms", "zfs_scan_vdev_limit"),
    *("zfs_scrub_delay", "zfs_scan_idle", "zfs_top_maxinflight", "zfs_scan_min_time_ms"),  # 0.7 and older
)


def before(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    return {"errors_before": scrub_result.counters(facts, params), **_sampled(facts, params, at, "reads_first", "reads_before")}


def during(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    kept = {"repairing": scrub_result.repairing(facts, params), **_sampled(facts, params, at, "reads_began", "reads_now")}
    known_now = {**params, **kept}
    lines = (*scrub_result.lines(facts, known_now), *_cost(facts, known_now))
    return {**kept, "result": "\n".join(lines)}


def _sampled(facts: FleetFacts, params: Params, at: float, first: str, last: str) -> Mapping[str, str]:
    """The first sample stays, the last one is the newest. Without a sample both stay as they are."""
    sample = read_tail.take(facts, params, at)
    kept = {name: params.get(name, "") for name in (first, last)}
    if not known(sample):
        return kept
    return {first: kept[first] or sample.text, last: sample.text}


def how_it_goes(facts: FleetFacts, params: Params) -> Progress:
    shown = how_far_the_scrub_is(facts, params)
    return replace(shown, lines=(*_hours(facts, params), *_cost(facts, params)))


def _hours(facts: FleetFacts, params: Params) -> Iterator[str]:
    """Until when the policy of the node lets it run; nothing where it may at any time."""
    node = lookup.node(facts, params["node"])
    if known(node) and known(node.policy) and known(facts.at) and (until := node.policy.scrubs_until(facts.at)):
        yield until


def how_reads_wait(facts: FleetFacts, params: Params) -> Progress:
    tail = _tail(params, "reads_first", "reads_before")
    return Progress(f"Before the scrub, {tail.words}." if known(tail) else f"How reads wait is not measured yet: {tail.reason}")


def _tail(params: Params, first: str, last: str) -> Known[read_tail.Tail]:
    return read_tail.between(read_tail.read(params.get(first, "")), read_tail.read(params.get(last, "")))


def _cost(facts: FleetFacts, params: Params) -> Iterator[str]:
    """Beside each other, and what to do when people feel it. A percentile is the bound of a bucket."""
    was, now = _tail(params, "reads_first", "reads_before"), _tail(params, "reads_began", "reads_now")
    yield f"Before the scrub, {was.words}." if known(was) else f"How reads waited before the scrub is not known: {was.reason}"
    yield f"During the scrub, {now.words}." if known(now) else f"How reads wait during the scrub is not known: {now.reason}"
    if known(now) and now.p99_ns >= FLOOR_NS and (not known(was) or now.p99_ns >= FACTOR * was.p99_ns):
        yield (
            "That is felt by whoever reads. End this run to pause the scrub, which then goes on where it stopped when the runbook is begun "
            f"again; or give it less: {_values(facts, params)}"
        )
    if known(was) or known(now):
        yield "Each wait is the upper bound of a bucket of `zpool iostat -w`, and buckets double."


def _values(facts: FleetFacts, params: Params) -> str:
    tunables = tuning.the_tunables(facts, params)
    if not known(tunables):
        return f"the tunables of the node are not known. {tunables.reason}"
    found = [f"{name} is {one.value}" for name in KNOBS if (one := tunables.get(name)) is not None]
    return f"{', '.join(found)}." if found else "the node shows no tunable of scrubs."
