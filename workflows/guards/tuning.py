"""Questions about tuning a scan: is there one, does tuning help it, may this value be set, and is it back where it was?

Which tunables there are, since when, how far and at what cost is in `agents/domain/tunables.py`. A run carries a setting as
"NAME BEFORE VALUE", so that the value to put back is on record.
"""

from dataclasses import dataclass

from agents.domain.tunables import FREEBSD, ILLUMOS, SCAN_KNOBS, SEQUENTIAL, TUNABLES, Tunable, by_hand_on_illumos, number
from workflows.analysis import scan_speed
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, NodeFacts, TunablesFacts, Unknown, derived, known, lookup, need, release_numbers
from workflows.facts.read.latency import duration
from workflows.guards.fresh import stale
from workflows.guards.subject import the_pool
from workflows.guards.target import the_pool_is_not_suspended
from workflows.situations import slow_disk
from workflows.situations.tunables_left_raised import HARMS

SOURCES = ("zpool_status", "zpool_iostat", "node")
SOURCE_OF = {FREEBSD: "sysctl", ILLUMOS: "mdb"}


@dataclass(frozen=True)
class Setting:
    """One tunable, its value before and the one it shall have."""

    tunable: Tunable
    before: int
    value: int

    @property
    def text(self) -> str:
        return f"{self.tunable.name} {self.before} {self.value}"

    @property
    def words(self) -> str:
        return f"{self.tunable.name} from {self.before} to {self.value}"


def the_setting(params: Params) -> Known[Setting]:
    words = params.get("setting", "").split(" ")
    if len(words) != 3 or words[0] not in TUNABLES or number(words[1]) is None or number(words[2]) is None:
        return Unknown("The run names no tunable with its values yet.")
    return Setting(TUNABLES[words[0]], int(words[1]), int(words[2]))


@derived
def the_tunables(facts: FleetFacts, params: Params) -> Known[TunablesFacts]:
    node = need(lookup.node(facts, params.get("node", "")))
    tunables = need(node.tunables, f"The tunables of {node.node} are not known")
    return tunables


@derived
def value_now(facts: FleetFacts, params: Params, name: str) -> Known[int]:
    tunables = need(the_tunables(facts, params))
    shown = tunables.get(name)
    if shown is None:
        return Unknown(f"{params.get('node', '')} shows no {name}.")
    value = number(shown.value)
    return Unknown(f"{name} on {params.get('node', '')} is {shown.value!r}, which is no plain number.") if value is None else value


@guard
def what_tuning_reads_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    platform = node.tunables.platform if known(node.tunables) else ""
    if why := stale(node, (*SOURCES, SOURCE_OF.get(platform, "parameters"))):
        return unknown(why)
    return ok(f"{node.node} reported {node.age_seconds:.0f} s ago, and what tuning rests on is as fresh as it gets.")


@guard
def a_scan_is_running(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    progress = need(pool.progress, f"Whether {pool.name} is scanned is not known")
    if not progress:
        return refuse(f"No scrub and no resilver runs on {pool.name}, so there is nothing to speed up.")
    return ok(f"A {progress[0].function} runs on {pool.name}.")


@guard
def no_single_disk_holds_it_up(facts: FleetFacts, params: Params) -> Verdict:
    """One slow disk limits the whole scan, and more load makes it slower."""
    pool = need(the_pool(facts, params))
    need(pool.latency, f"Whether one disk of {pool.name} is slower than its peers is not known")
    node = facts.nodes[params["node"]]
    found = [s for s in slow_disk.detect(FleetFacts({node.node: node})) if s.subject.get("pool") == pool.name and s.severity == "act"]
    if found:
        return refuse(f"{found[0].title}. It sets the pace, whatever is tuned. Look into that disk first.")
    return ok(f"No disk of {pool.name} stands out among its peers.")


@guard
def no_parameter_stops_scans(facts: FleetFacts, params: Params) -> Verdict:
    tunables = need(the_tunables(facts, params))
    bad = [t for t in tunables.known_names if t.name in HARMS and t.value.strip("0")]
    if bad:
        return refuse(f"{bad[0].name} is {bad[0].value}: {HARMS[bad[0].name]}. Put that back first.")
    return ok("No parameter stops or blinds scans.")


@guard
def nothing_else_is_tuned(facts: FleetFacts, params: Params) -> Verdict:
    """With two changes at once the effect of each cannot be measured."""
    tunables, setting = need(the_tunables(facts, params)), the_setting(params)
    mine = setting.tunable.name if known(setting) else ""
    others = [t for t in tunables.known_names if t.name != mine and t.name in SCAN_KNOBS]
    raised = [t for t in others if known(t.differs) and t.differs]
    if raised:
        return refuse(
            f"{raised[0].name} is {raised[0].value} and {raised[0].later}: another run or person has changed it already. "
            "Put it back, or write it down for the boot if it is meant to stay."
        )
    for other in others:
        need(other.differs, f"Whether {other.name} was changed is not known")
    return ok("No other tunable of scans was changed.")


@guard
def the_value_may_be_set(facts: FleetFacts, params: Params) -> Verdict:
    """The parameter exists in this release and on this node, the value is in its range, and an order can restore the value before."""
    setting, tunables = need(the_setting(params)), need(the_tunables(facts, params))
    return judged(facts.nodes[params["node"]], tunables, setting)


def judged(node: NodeFacts, tunables: TunablesFacts, setting: Setting) -> Verdict:
    tunable, name = setting.tunable, setting.tunable.name
    numbers = release_numbers(node.zfs_module)
    if tunables.platform == ILLUMOS:
        return on_illumos(setting)
    if not known(numbers):
        return unknown(f"Whether {name} is in the release of {node.node} is not known: {numbers.reason}")
    if not tunable.is_in(numbers):
        return refuse(absent(tunable, numbers))
    if tunable.safe is None:
        return refuse(f"{name} is not set from here: {tunable.why_not}.")
    if tunables.get(name) is None:
        return unknown(f"{node.node} shows no {name}, although its release has it. Nothing is written to what cannot be read back.")
    low, high = tunable.safe
    if not low <= setting.value <= high:
        return out_of_range(tunable, setting.value)
    if not tunable.may_be(setting.before):
        return refuse(f"{name} is {setting.before}, which is neither safe nor a default, so no order could put it back. Ask who set it.")
    return ok(f"{setting.words} {tunable.unit}: within {low} to {high}, and {setting.before} can be put back. {tunable.cost}")


def on_illumos(setting: Setting) -> Verdict:
    """No order is given on illumos: what a person does by hand, or why not to."""
    tunable, name = setting.tunable, setting.tunable.name
    if not tunable.illumos:
        return refuse(f"On illumos {name} is not known to be there, so there is no line to type for it. Ask who knows that release.")
    if tunable.safe is None:
        return refuse(f"{name} is not set from here: {tunable.why_not}.")
    if not tunable.safe[0] <= setting.value <= tunable.safe[1]:
        return out_of_range(tunable, setting.value)
    put, back = by_hand_on_illumos(name, setting.value), by_hand_on_illumos(name, setting.before)
    idle = " An illumos with the sequential scan still shows it and makes no use of it." if tunable.gone == SEQUENTIAL else ""
    return refuse(f"On illumos a person does it: `{put}`, and back with `{back}`. Capital W: the small one writes half of the value.{idle}")


def out_of_range(tunable: Tunable, value: int) -> Verdict:
    low, high = tunable.safe or (0, 0)
    return refuse(f"{tunable.name} may be set from {low} to {high} {tunable.unit}; {value} is outside.")


def absent(tunable: Tunable, numbers: tuple[int, ...]) -> str:
    """Why a release does not have it, and what took over."""
    text = ".".join(map(str, numbers))
    if tunable.gone is not None and numbers >= tunable.gone:
        instead = f" What it did is done by {', '.join(tunable.successors)}." if tunable.successors else ""
        return f"OpenZFS {text} has no {tunable.name} any more: the kernel would ignore the setting and print no error.{instead}"
    return f"OpenZFS {text} has no {tunable.name} yet; it came with {'.'.join(map(str, tunable.since))}."


def the_tunable_is_as_it_was(facts: FleetFacts, params: Params) -> Verdict:
    """Before it is set: what the run wrote down as the value before is the value now."""
    return _reads(facts, params, "before", "Another run or person set it meanwhile. Go back and choose again.")


def the_tunable_reads_as_set(facts: FleetFacts, params: Params) -> Verdict:
    """The kernel may accept a value and keep another."""
    return _reads(facts, params, "value", "The kernel did not take it, or it was changed since.")


def the_tunable_is_back(facts: FleetFacts, params: Params) -> Verdict:
    return _reads(facts, params, "before", "It is not back yet.")


@guard
def the_tunable_is_ours_to_put_back(facts: FleetFacts, params: Params) -> Verdict:
    """Restoring must not undo a change that another person made meanwhile."""
    setting = need(the_setting(params))
    now = need(value_now(facts, params, setting.tunable.name))
    if now in (setting.value, setting.before):
        return ok(f"{setting.tunable.name} is {now}; this run set it to {setting.value}.")
    return refuse(
        f"{setting.tunable.name} is {now}, and this run set it to {setting.value}: it was changed from outside this run. Find out by whom, ask them, and put it back by hand."
    )


def _reads(facts: FleetFacts, params: Params, which: str, otherwise: str) -> Verdict:
    setting = the_setting(params)
    if not known(setting):
        return unknown(setting.reason)
    now, wanted = value_now(facts, params, setting.tunable.name), getattr(setting, which)
    if not known(now):
        return unknown(now.reason)
    if now != wanted:
        return refuse(f"{setting.tunable.name} on {params['node']} is {now}, not {wanted}. {otherwise}")
    return ok(f"{setting.tunable.name} on {params['node']} is {now}.")


@guard
def others_do_not_wait_too_long(facts: FleetFacts, params: Params) -> Verdict:
    """Compared with the measurement before: the latency of other reads may rise by a limited factor only."""
    pool, before = need(the_pool(facts, params)), need(scan_speed.read(params.get("baseline", "")))
    waits = need(scan_speed.waits_of(pool))
    if max(waits) > before.wait_max_ns:
        return refuse(
            f"A read waits {duration(max(waits))} on the slowest member of {pool.name}; {duration(before.wait_max_ns)} is the bound, as it waited "
            f"{duration(before.worst_ns)} before. Put the tunable back."
        )
    return ok(f"A read waits {duration(max(waits))} at worst; {duration(before.wait_max_ns)} is the bound.")


@guard
def the_scan_gained(facts: FleetFacts, params: Params) -> Verdict:
    pool, before = need(the_pool(facts, params)), need(scan_speed.read(params.get("baseline", "")))
    rate = need(scan_speed.rate_of(pool))
    # The slowest that the rounded figures allow: a gain that may be none is none.
    gain = rate.low / before.rate - 1 if before.rate else float("inf")
    if gain < scan_speed.GAIN_MIN:
        return refuse(
            f"The scan goes {100 * gain:+.0f} %, and {100 * scan_speed.GAIN_MIN:.0f} % is the least that is worth it. Put the tunable back."
        )
    return ok(f"The scan goes {100 * gain:+.0f} %." if before.rate else "The scan moves, which it did not before.")


def the_reason_to_tune_is_over(facts: FleetFacts, params: Params) -> Verdict:
    """Ends the wait early: no scan runs any more, the pool has a fault, or other reads wait too long."""
    suspended, running = the_pool_is_not_suspended(facts, params), a_scan_is_running(facts, params)
    if suspended.outcome == "refuse":
        return ok(f"{suspended.reason} The tunable is put back.")
    if running.outcome == "refuse":
        return ok(f"{running.reason} The tunable is put back.")
    if running.outcome == "unknown":
        return unknown(running.reason)
    waits = others_do_not_wait_too_long(facts, params)
    if waits.outcome == "refuse":
        return ok(waits.reason)
    return refuse(f"{running.reason} {waits.reason}")


MAY_TUNE_GUARDS = (
    what_tuning_reads_is_fresh,
    the_pool_is_not_suspended,
    a_scan_is_running,
    no_single_disk_holds_it_up,
    no_parameter_stops_scans,
    nothing_else_is_tuned,
)
SET_GUARDS = (*MAY_TUNE_GUARDS, the_value_may_be_set, the_tunable_is_as_it_was)
PUT_BACK_GUARDS = (what_tuning_reads_is_fresh, the_tunable_is_ours_to_put_back)
