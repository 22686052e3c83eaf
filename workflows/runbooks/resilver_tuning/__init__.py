"""Speed up a scrub or resilver for a while: one tunable, measured before and after, and put back by itself.

    slow -> measured -> set -> read back -> worth it? -> kept for a while -> put back -> as it was

There is no point of no return: the run carries the value before, and its way back needs no person. What is set here counts for all pools
of the node, and ends at the next boot at the latest. Nothing is written to modprobe.d.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agents.collectors.zpool_status import HISTORY_SECONDS
from agents.domain.tunables import HOUR, SCAN_KNOBS, TUNABLES, Tunable, number
from agents.operations import set_tunable
from workflows.analysis import scan_speed
from workflows.engine.core import (
    CheckStep,
    DecideStep,
    ExecuteStep,
    Option,
    Params,
    PlanStep,
    Progress,
    Runbook,
    Verdict,
    VerifyStep,
    WaitStep,
    ask,
    blockers,
    ok,
    refuse,
    unknown,
)
from workflows.facts import FleetFacts, TunablesFacts, known, release_numbers
from workflows.guards import tuning
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.subject import the_pool
from workflows.guards.tuning import Setting
from workflows.runbooks._settings import SET_SOURCES, plan_is_for_this_setting, raised, set_params, way_back

MEASURE_SECONDS = HISTORY_SECONDS + 120  # until nothing of what the portal compares with is from before
WINDOWS = (HOUR, 4 * HOUR, 8 * HOUR, 24 * HOUR)


def settings_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """The values this node may be given, the gentlest first; below them every other tunable, and why it is none."""
    tunables = tuning.the_tunables(facts, params)
    if not known(tunables):
        return ()
    found = [option for name in SCAN_KNOBS for option in _offered(facts, params, tunables, TUNABLES[name])]
    named = {option.value.split(" ")[0] for option in found}
    rest = [_named_only(facts, params, tunable) for name, tunable in TUNABLES.items() if name not in named]
    return (*sorted(found, key=lambda option: bool(blockers(option.verdicts))), *rest)


def _offered(facts: FleetFacts, params: Params, tunables: TunablesFacts, tunable: Tunable) -> Iterator[Option]:
    shown = tunables.get(tunable.name)
    before = number(shown.value) if shown is not None else None
    if before is None:
        return
    up = tunable.steps[-1] > tunable.steps[0] if len(tunable.steps) > 1 else True
    for value in tunable.steps:
        if value != before and (value > before) == up:
            setting = Setting(tunable, before, value)
            verdict = tuning.judged(facts.nodes[params["node"]], tunables, setting)
            yield Option(
                setting.text, f"{tunable.name}: {before} → {value} {tunable.unit}", f"{tunable.meaning}. {tunable.cost}", (verdict,)
            )


def _named_only(facts: FleetFacts, params: Params, tunable: Tunable) -> Option:
    numbers = release_numbers(facts.nodes[params["node"]].zfs_module)
    if known(numbers) and not tunable.is_in(numbers):
        verdict = refuse(tuning.absent(tunable, numbers))
    elif tunable.why_not:
        verdict = refuse(f"{tunable.name} is not set from here: {tunable.why_not}.")
    else:
        verdict = unknown(f"{params['node']} shows no {tunable.name}, or it is as far as it may go already.")
    return Option(tunable.name, tunable.name, f"{tunable.meaning}.", (verdict,))


def the_measure_of_now(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    pool = the_pool(facts, params)
    taken = scan_speed.take(pool) if known(pool) else pool
    if not known(taken):
        return (Option("now", "As it is now", "There is nothing to compare with later.", (unknown(taken.reason),)),)
    return (Option("now", "As it is now", taken.words, (ok(f"Measured: {taken.words}."),), fixes={"baseline": taken.text}),)


def windows_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    setting = tuning.the_setting(params)
    return tuple(_window(seconds, setting.tunable) for seconds in WINDOWS) if known(setting) else ()


def _window(seconds: int, tunable: Tunable) -> Option:
    hours, longest = seconds // HOUR, tunable.window_seconds // HOUR
    fits = seconds <= tunable.window_seconds
    verdict = ok(f"It is put back after {hours} h.") if fits else refuse(f"{tunable.name} stays raised for {longest} h at most.")
    return Option(str(seconds), f"{hours} h at most", "It is put back earlier when the scan ends or others wait too long.", (verdict,))


def window_seconds(params: Params) -> int:
    return int(params["window_seconds"])


def measure_seconds(params: Params) -> int:
    return MEASURE_SECONDS


def what_it_costs(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    setting, before = tuning.the_setting(params), scan_speed.read(params.get("baseline", ""))
    cost = setting.tunable.cost if known(setting) else setting.reason
    bound = f"{before.wait_max_ns // 1_000_000} ms" if known(before) else "unknown"
    return {"cost": {"why": cost, "before": params.get("baseline", ""), "a_read_may_wait": bound}}


def how_it_goes(facts: FleetFacts, params: Params) -> Progress:
    """The scan beside what it was, and what others wait."""
    pool, before = the_pool(facts, params), scan_speed.read(params.get("baseline", ""))
    if not known(pool):
        return Progress(pool.reason)
    now = scan_speed.take(pool)
    if not known(before):
        return Progress(before.reason)
    if not known(now):
        return Progress(now.reason)
    percent = next((scan.percent for scan in (pool.progress if known(pool.progress) else ())), None)
    return Progress(before.compared(now), float(percent) if percent else None)


def it_is_worth_keeping(facts: FleetFacts, params: Params) -> Verdict:
    """Whether it stays raised after the measure. Not knowing puts it back."""
    over = tuning.the_reason_to_tune_is_over(facts, params)
    if over.outcome == "pass":
        return refuse(over.reason)
    verdicts = ask((tuning.the_scan_gained, tuning.others_do_not_wait_too_long), facts, params)
    against = blockers(verdicts)
    return refuse(against[0].reason) if against else ok(" ".join(v.reason for v in verdicts))


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """The pool, and the tunables of the node: they count for all its pools, and two who tune at once learn nothing."""
    return (f"pool:{params['pool_guid']}", f"tunables:{params['node']}")


RAISED = raised()

RUNBOOK = Runbook(
    slug="resilver-tuning",
    title="Speed up a scrub or resilver for a while",
    purpose="A pool stays exposed while its resilver crawls, and no single disk is to blame. This gives one tunable of the node another "
    "value for a while, measures whether it helps and what others pay for it, and puts it back by itself.",
    states="slow -> measured -> set -> read back -> worth it? -> kept for a while -> put back -> as it was",
    point_of_no_return="",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    undo="plan-back",
    steps=(
        CheckStep(
            slug="check",
            title="Check that tuning can help",
            why=(
                "A scan must run, no parameter may stop it, and no single slow disk may limit it: more load makes a slow disk slower. "
                "No other run may tune this node, or the effect cannot be measured."
            ),
            guards=(*tuning.MAY_TUNE_GUARDS, allowed(set_tunable), released(set_tunable)),
        ),
        DecideStep(
            slug="choose",
            title="Choose one tunable and its value",
            why=(
                "Every tunable of scans is listed, with what it does, what it costs other reads, and the reason where it cannot be "
                "chosen. One at a time, the one with the least effect on others first."
            ),
            guards=(tuning.what_tuning_reads_is_fresh,),
            param="setting",
            options=settings_there_are,
        ),
        DecideStep(
            slug="measure",
            title="Take the measure of now",
            why="The speed of the scan and the waiting time of reads are recorded, so that the effect can be compared afterwards.",
            guards=(tuning.what_tuning_reads_is_fresh,),
            param="measured",
            options=the_measure_of_now,
            learned=("baseline",),
        ),
        DecideStep(
            slug="window",
            title="Choose for how long",
            why="When the time is over the value is put back, whether or not a person is present.",
            guards=(tuning.what_tuning_reads_is_fresh,),
            param="window_seconds",
            options=windows_there_are,
        ),
        PlanStep(
            slug="plan",
            title="Have the node plan it",
            why="The node reads its present value and shows what it would write. It changes nothing.",
            guards=(*tuning.SET_GUARDS, allowed(set_tunable), released(set_tunable)),
            operation="set_tunable",
            params=set_params,
            agrees=plan_is_for_this_setting,
            adds=what_it_costs,
        ),
        ExecuteStep(
            slug="set",
            title="Set the tunable",
            why="One value is written and read back. It counts at once, for all pools of the node, until it is put back or the node reboots.",
            guards=(*tuning.SET_GUARDS, allowed(set_tunable), released(set_tunable)),
            operation="set_tunable",
            effect="idempotent",
            params=set_params,
            opens=RAISED,
        ),
        VerifyStep(
            slug="read-back",
            title="Read it back",
            why="The kernel may accept a value and keep another, and it ignores names that it does not know.",
            guards=(tuning.the_tunable_reads_as_set, tuning.nothing_else_is_tuned),
            sources=SET_SOURCES,
        ),
        WaitStep(
            slug="compare",
            title="Measure what it does",
            why=(
                "Half an hour shows whether the scan gains at least a fifth, and whether other reads wait more than twice as long. If "
                "they do, the measurement ends at once."
            ),
            until=tuning.the_reason_to_tune_is_over,
            progress=how_it_goes,
            lasts=measure_seconds,
            deadline_seconds=2 * MEASURE_SECONDS,
        ),
        WaitStep(
            slug="keep",
            title="Keep it while it helps",
            why=(
                "It stays while the scan runs and other reads do not wait too long, and no longer than was chosen. To put it back now, "
                "end the run."
            ),
            needed=it_is_worth_keeping,
            until=tuning.the_reason_to_tune_is_over,
            progress=how_it_goes,
            lasts=window_seconds,
            deadline_seconds=25 * HOUR,
        ),
        # the way back
        *way_back(tuning.PUT_BACK_GUARDS, closes=(RAISED.slug,)),
    ),
)
