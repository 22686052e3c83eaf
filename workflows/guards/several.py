"""Questions about one chosen disk, asked of several: the first is the run parameter `wwid`, those after it are `wwid_2`, `wwid_3` and so on."""

from collections.abc import Callable
from functools import wraps

from workflows.engine.core import Guard, Params, Verdict, ok, unknown
from workflows.facts import FleetFacts

NUMBERS = (1, 2, 3, 4)
OF_EACH = "for_each_disk_"  # before the name of a guard that is asked of all of them
OF_A_DISK = ("wwid", "scanned_serial")  # run parameters that each disk has of its own


def key(name: str, number: int, mark: str = "_") -> str:
    return name if number == 1 else f"{name}{mark}{number}"


CHOSEN = tuple(key("wwid", number) for number in NUMBERS)  # run parameters that name a disk which is taken into a pool


def chosen(params: Params) -> tuple[str, ...]:
    """The WWIDs in the order in which they were chosen."""
    return tuple(params[key("wwid", number)] for number in numbers_chosen(params))


def numbers_chosen(params: Params) -> tuple[int, ...]:
    return tuple(number for number in NUMBERS if params.get(key("wwid", number)))


def about(params: Params, number: int) -> Params:
    """The same parameters with this disk's own under the names that a question about one disk reads."""
    return {**params, **{name: params.get(key(name, number), "") for name in OF_A_DISK}}


def each(one: Guard) -> Guard:
    """Asked of every disk that was chosen, under a name of its own: it passes where all do, and the first that does not pass is the answer."""

    @wraps(one)
    def of_every_disk(facts: FleetFacts, params: Params) -> Verdict:
        verdicts = [one(facts, about(params, number)) for number in numbers_chosen(params)]
        if not verdicts:
            return unknown("No disk is chosen yet.")
        against = next((verdict for verdict in verdicts if verdict.outcome != "pass"), None)
        return against or ok(" ".join(verdict.reason for verdict in verdicts))

    of_every_disk.__name__ = f"{OF_EACH}{one.__name__}"
    return of_every_disk


def of_disk(one: Guard, number: int, not_chosen: Callable[[str], Verdict] = unknown) -> Guard:
    """Asked of one of them alone, under a name of its own; `not_chosen` where there are fewer. The first is what it is asked of anyhow."""
    if number == 1:
        return one

    @wraps(one)
    def of_this_disk(facts: FleetFacts, params: Params) -> Verdict:
        if not params.get(key("wwid", number)):
            return not_chosen(f"No disk {number} is chosen for this mirror.")
        return one(facts, about(params, number))

    of_this_disk.__name__ = f"for_disk_{number}_{one.__name__}"
    return of_this_disk
