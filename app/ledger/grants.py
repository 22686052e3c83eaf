"""What the database must look like for the ledger to be trusted: tables, triggers, the source of their functions, and who may write what.

`apply()` runs after every migration, as the owner. `faults()` asks the running connection and names what differs;
mutating work stops while it names anything.
"""

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

# What the app role may do. Everything not written here it may not do.
GRANTS = {
    "ledger_event": "SELECT, INSERT (body)",
    "ledger_chain": "SELECT",
    "ledger_head": "SELECT",
    "ledger_checkpoint": "SELECT, INSERT",
    "ledger_blob": "SELECT, INSERT",
    "ledger_node": "SELECT, INSERT",
    "ledger_lane": "SELECT",
}
CALLS = "ledger_number()"  # the one function the app role may call
WRITES = ("UPDATE", "DELETE", "TRUNCATE", "TRIGGER")
# name -> (table, function, when it fires as pg_trigger.tgtype counts it, deferred to COMMIT)
TRIGGERS = {
    "ledger_event_read": ("ledger_event", "ledger_read_body", 7, False),
    "ledger_event_seal": ("ledger_event", "ledger_seal", 5, True),
    "ledger_checkpoint_follows": ("ledger_checkpoint", "ledger_checkpoint_follows", 7, False),
    "ledger_event_keep": ("ledger_event", "ledger_refuse", 42, False),
    "ledger_event_redact": ("ledger_event", "ledger_event_redact", 19, False),
    "ledger_chain_keep": ("ledger_chain", "ledger_refuse", 58, False),
    "ledger_head_keep": ("ledger_head", "ledger_refuse", 42, False),
    "ledger_checkpoint_keep": ("ledger_checkpoint", "ledger_refuse", 58, False),
    "ledger_blob_keep": ("ledger_blob", "ledger_refuse", 42, False),
    "ledger_blob_redact": ("ledger_blob", "ledger_blob_redact", 19, False),
    "ledger_node_keep": ("ledger_node", "ledger_refuse", 58, False),
    "ledger_lane_keep": ("ledger_lane", "ledger_refuse", 58, False),
}


ALSO: list[
    Callable[[CursorWrapper], list[str]]
] = []  # what other apps have under their tables; each adds its `faults(cursor)` when it is ready

SQL = sorted(Path(__file__).with_name("migrations").glob("*.sql"))
DEFINITION = re.compile(r"CREATE (?:OR REPLACE )?FUNCTION (\w+)\(\) (.*?) AS \$\$(.*?)\$\$;", re.DOTALL)


@functools.cache
def functions() -> dict[str, tuple[str, bool, str]]:
    """name -> (source, runs with its owner's rights, search path) of each trigger function, as the migrations wrote it last."""
    found = {}
    for path in SQL:
        for name, head, source in DEFINITION.findall(path.read_text()):
            found[name] = (source, "SECURITY DEFINER" in head, head.partition("SET search_path = ")[2])
    return found


def app_role() -> str:
    """The database role the portal runs as; migrations run as another, the owner."""
    return urlsplit(settings.DATABASE_URL).username or "slotlight_app"


def one_role() -> bool:
    """Whether a person stated explicitly that this installation has one database role only."""
    return os.environ.get("SLOTLIGHT_ONE_ROLE") == "1"


def apply(**_: object) -> None:
    """Give the app role exactly `GRANTS`, if that role exists and we own the ledger."""
    role = app_role()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_user <> %s AND pg_has_role(current_user, relowner, 'MEMBER') AND EXISTS (SELECT FROM pg_roles WHERE rolname = %s)"
            " FROM pg_class WHERE oid = to_regclass('public.ledger_event')",
            [role, role],
        )
        if cursor.fetchone() != (True,):
            return
        name = connection.ops.quote_name(role)
        for table, rights in GRANTS.items():
            cursor.execute(f"REVOKE ALL ON {table} FROM {name}, PUBLIC; GRANT {rights} ON {table} TO {name}")
        cursor.execute(f"GRANT EXECUTE ON FUNCTION {CALLS} TO {name}")


def faults() -> list[str]:
    """Sentences that say how triggers and rights differ from what they must be; empty when all is well."""
    with connection.cursor() as cursor:
        found = [*table_faults(cursor), *trigger_faults(cursor), *function_faults(cursor)]
        found += [sentence for faults_of in ALSO for sentence in faults_of(cursor)]
        return found if found or one_role() else right_faults(cursor)


def table_faults(cursor: CursorWrapper) -> list[str]:
    """Each table is an ordinary, durable one, and nothing rewrites or hides its rows."""
    cursor.execute(
        "SELECT wanted.name, c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relrowsecurity"
        "       AND NOT EXISTS (SELECT FROM pg_rewrite r WHERE r.ev_class = c.oid)"
        "       AND NOT EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))"
        " FROM unnest(%s::text[]) AS wanted (name) LEFT JOIN pg_class c ON c.oid = to_regclass('public.' || wanted.name)",
        [list(GRANTS)],
    )
    return [f"The table {name} is not as it was made." for name, well in cursor.fetchall() if not well]


def function_faults(cursor: CursorWrapper) -> list[str]:
    """The triggers' functions say what the migrations wrote, and belong to whom the ledger belongs to."""
    cursor.execute(
        "SELECT p.proname, p.prosrc, p.prosecdef, p.proconfig, p.proowner = c.relowner, l.lanname"
        " FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang, pg_class c"
        " WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (%s) AND c.oid = 'public.ledger_event'::regclass",
        [list(functions())],
    )
    found = {name: what for name, *what in cursor.fetchall()}
    expected = {name: [source, definer, [f"search_path={path}"], True, "plpgsql"] for name, (source, definer, path) in functions().items()}
    return [f"The function {name} is not as it was made." for name in expected if found.get(name) != expected[name]]


def trigger_faults(cursor: CursorWrapper) -> list[str]:
    cursor.execute(
        "SELECT t.tgname, c.relname, p.proname, t.tgtype::int, t.tgdeferrable AND t.tginitdeferred, t.tgenabled"
        " FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid"
        " WHERE NOT t.tgisinternal AND c.oid = ANY (%s::regclass[])",
        [[f"public.{table}" for table in GRANTS]],
    )
    found = {name: (tuple(what), enabled) for name, *what, enabled in cursor.fetchall()}
    absent = [f"The trigger {name} is not as it was made." for name in TRIGGERS if found.get(name) != (TRIGGERS[name], "A")]
    return absent + [f"The trigger {name} does not belong to the ledger." for name in found if name not in TRIGGERS]


def right_faults(cursor: CursorWrapper) -> list[str]:
    cursor.execute(
        "SELECT current_user, wanted.name, wanted.may_insert, pg_has_role(c.relowner, 'MEMBER'), has_table_privilege(wanted.name, 'SELECT'),"
        "       has_any_column_privilege(wanted.name, 'INSERT'),"
        "       ARRAY(SELECT r FROM unnest(%s::text[]) r WHERE has_table_privilege(wanted.name, r)"
        "             OR r = 'UPDATE' AND has_any_column_privilege(wanted.name, r))"
        " FROM unnest(%s::text[], %s::bool[]) AS wanted (name, may_insert) JOIN pg_class c ON c.oid = to_regclass('public.' || wanted.name)",
        [list(WRITES), list(GRANTS), ["INSERT" in rights for rights in GRANTS.values()]],
    )
    return [sentence for row in cursor.fetchall() if (sentence := right_fault(*row))]


def right_fault(role: str, table: str, may_insert: bool, owns: bool, reads: bool, inserts: bool, writes: list[str]) -> str:
    if owns:
        return f"The table {table} belongs to the database role {role}, which could change it. Run the portal as {app_role()}."
    if writes:
        return f"The database role {role} may {', '.join(writes)} {table}. Run the portal as {app_role()}, which may not."
    if not reads or inserts != may_insert:
        return f"The database role {role} has not the rights on {table} that the ledger expects. Run `migrate` as the owner again."
    return ""
