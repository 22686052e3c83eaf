"""What damaged-data alone asks: what the pool lists as damaged, and whether anything is left."""

from workflows.analysis import damaged_data
from workflows.engine.core import Option, Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, PoolFacts, Unknown, known, need
from workflows.facts.read.data_errors import NONE, DataErrors, data_errors
from workflows.guards.subject import the_pool


def _errors(pool: PoolFacts) -> Known[DataErrors | None]:
    """None where the pool says that it has none."""
    found = data_errors(pool)
    if found is None and pool.errors != NONE:
        return Unknown(
            f"Whether data of {pool.name} is damaged is not known: {pool.errors.partition(chr(10))[0] or 'no errors: line was read.'}"
        )
    return found


@guard
def the_damage_is_listed(facts: FleetFacts, params: Params) -> Verdict:
    """`zpool status` counts them; which they are is asked beside it, and can be some minutes older."""
    pool = need(the_pool(facts, params))
    errors = need(_errors(pool))
    if errors is None:
        return refuse(f"{pool.name} lists no damaged data. End this run.")
    if not errors.listed:
        why = pool.error_list.reason if not known(pool.error_list) else "The list was asked before the errors were counted."
        return unknown(
            f"Which data of {pool.name} is damaged is not known: {why} Wait for the next list, or type `zpool status -v {pool.name}`."
        )
    return ok(f"{pool.name} lists: {damaged_data.amount(pool, errors)}.")


@guard
def something_is_still_listed(facts: FleetFacts, params: Params) -> Verdict:
    """Asked after the first scrub. What that found is listed anew, and what it did not find is gone."""
    pool = need(the_pool(facts, params))
    errors = need(_errors(pool))
    if errors is None:
        return refuse(f"{pool.name} lists no damaged data any more.")
    return ok(f"{pool.name} still lists: {damaged_data.amount(pool, errors)}.")


@guard
def nothing_is_listed_any_more(facts: FleetFacts, params: Params) -> Verdict:
    """After two scrubs, what is listed is damaged now."""
    pool = need(the_pool(facts, params))
    errors = need(_errors(pool))
    if errors is None:
        return ok(f"{pool.name} lists no damaged data.")
    return refuse(
        f"{pool.name} still lists {damaged_data.amount(pool, errors)}: a scrub found them damaged now. End this run, restore or delete them, and begin anew."
    )


def what_was_done(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """Neither can be checked here: only a scrub shows whether a block can be read."""
    shown = (the_damage_is_listed(facts, params),)
    return (
        Option(
            "done", "Everything listed was restored, written anew or deleted", "What was missed is listed again after the scrub.", shown
        ),
        Option("nothing", "Nothing was done: see whether it is still damaged", "Entries of what is gone since end with the scrub.", shown),
    )


def what_brings_it_back(facts: FleetFacts, params: Params) -> str:
    """Each kind of entry that the list has, the gravest first, and what helps; a line each."""
    pool = the_pool(facts, params)
    if not known(pool):
        return f"Which data is damaged is not known: {pool.reason}"
    errors = data_errors(pool)
    if errors is None or not errors.listed:
        return f"Which data of {pool.name} is damaged is not known. Look on the node: `zpool status -v {pool.name}`."
    return "\n".join(group.words for group in damaged_data.groups(errors.listed))
