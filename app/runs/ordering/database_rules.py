"""What the database must look like for runs to be trusted: the triggers under approvals, orders and locks, their sources, the constraints.

`faults()` is asked together with the ledger's own (`app.ledger.grants`): while it names anything, nothing is changed on a node. Only
the owner of the tables can switch these rules off, and then this says so.
"""

import functools
import re
from pathlib import Path

from django.apps import apps
from django.db.backends.utils import CursorWrapper

from workflows.engine.state import ORDER_MOVES, PURE_ORDER_MOVES

# name -> (table, function, when it fires as pg_trigger.tgtype counts it)
TRIGGERS = {
    "runs_run_keeps": ("runs_run", "runs_run_keeps", 27),
    "runs_hand_keep": ("runs_hand", "runs_refuse", 27),
    "runs_plan_begins": ("runs_plan", "runs_plan_begins", 7),
    "runs_plan_keep": ("runs_plan", "runs_refuse", 27),
    "runs_approval_is_anothers": ("runs_approval", "runs_approval_is_anothers", 7),
    "runs_approval_accepts": ("runs_approval", "runs_approval_accepts", 7),
    "runs_approval_keep": ("runs_approval", "runs_refuse", 27),
    "runs_glass_breaks": ("runs_brokenglass", "runs_glass_breaks", 7),
    "runs_glass_accepts": ("runs_brokenglass", "runs_glass_accepts", 7),
    "runs_glass_keeps": ("runs_brokenglass", "runs_glass_keeps", 19),
    "runs_glass_keep": ("runs_brokenglass", "runs_refuse", 11),
    "runs_order_begins": ("runs_order", "runs_order_begins", 7),
    "runs_order_accepts": ("runs_order", "runs_order_accepts", 5),
    "runs_order_moves": ("runs_order", "runs_order_moves", 19),
    "runs_order_keep": ("runs_order", "runs_refuse", 11),
    "runs_order_move_keep": ("runs_order_move", "runs_refuse", 62),
    "runs_fence_rises": ("runs_resourcelock", "runs_fence_rises", 23),
    "runs_fence_keeps": ("runs_lockfence", "runs_fence_keeps", 27),
    "runs_keyrotation_keep": ("runs_keyrotation", "runs_refuse", 27),
}
SQL = sorted(Path(__file__).parent.with_name("migrations").glob("*.sql"))
DEFINITION = re.compile(r"CREATE (?:OR REPLACE )?FUNCTION (\w+)\(.*?\) RETURNS .*? AS \$\$(.*?)\$\$;", re.DOTALL)
MOVES = {(pure, here, there) for pure, moves in ((False, ORDER_MOVES), (True, PURE_ORDER_MOVES)) for here in moves for there in moves[here]}


@functools.cache
def functions() -> dict[str, str]:
    """name -> source of each function, as the migrations wrote it last."""
    return {name: source for path in SQL for name, source in DEFINITION.findall(path.read_text())}


@functools.cache
def constraints() -> frozenset[str]:
    """What the models ask the database to hold, by name."""
    return frozenset(one.name for model in apps.get_app_config("runs").get_models() for one in model._meta.constraints)


def faults(cursor: CursorWrapper) -> list[str]:
    """Sentences that say how rules differ from what they must be; empty when all is well."""
    return [*_triggers(cursor), *_functions(cursor), *_constraints(cursor), *_moves(cursor)]


def _triggers(cursor: CursorWrapper) -> list[str]:
    tables = sorted({table for table, *_ in TRIGGERS.values()})
    cursor.execute(
        "SELECT t.tgname, c.relname, p.proname, t.tgtype::int, t.tgenabled FROM pg_trigger t"
        " JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid"
        " WHERE NOT t.tgisinternal AND c.oid = ANY (%s::regclass[])",
        [[f"public.{table}" for table in tables]],
    )
    found = {name: (tuple(what), enabled) for name, *what, enabled in cursor.fetchall()}
    wrong = [f"The trigger {name} is not as it was made." for name in TRIGGERS if found.get(name) != (TRIGGERS[name], "A")]
    return wrong + [f"The trigger {name} does not belong to runs." for name in found if name not in TRIGGERS]


def _functions(cursor: CursorWrapper) -> list[str]:
    cursor.execute(
        "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = ANY (%s)", [list(functions())]
    )
    found = dict(cursor.fetchall())
    return [f"The function {name} is not as it was made." for name, source in functions().items() if found.get(name) != source]


def _constraints(cursor: CursorWrapper) -> list[str]:
    """A unique constraint with a condition is an index, every other is a constraint."""
    cursor.execute(
        "SELECT conname FROM pg_constraint WHERE convalidated UNION"
        " SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indisunique AND i.indisvalid"
    )
    found = {name for (name,) in cursor.fetchall()}
    return [f"The constraint {name} is not there." for name in sorted(constraints() - found)]


def _moves(cursor: CursorWrapper) -> list[str]:
    cursor.execute("SELECT pure, before, after FROM runs_order_move")
    return [] if set(cursor.fetchall()) == MOVES else ["The moves that an order may make are not those that were written."]
